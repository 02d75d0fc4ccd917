// Command benchtables turns the results of make bench, on standard input in the
// format of go test -bench, into Markdown tables of ratios.
//
// It reads results itself: golang.org/x/perf/benchfmt would save some thirty lines,
// for two modules without releases, and renames units (ns/op to sec/op) that the
// tables are made of.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if err := write(os.Stdout, os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "benchtables:", err)
		os.Exit(1)
	}
}

// A row is the results of the benchmarks of a package that differ in their
// implementation only.
type row struct {
	pkg, name string                          // the name without "Benchmark", the implementation and the suffix of GOMAXPROCS
	keys      map[string]string               // the parts of the name of the form key=value
	values    map[string]map[string][]float64 // by unit, then by implementation, "" if there is one
}

// parse reads results and the settings before them, "key: value".
func parse(r io.Reader) (rows []*row, settings []string, err error) {
	pkg := ""
	sc := bufio.NewScanner(r)
	for line := 1; sc.Scan(); line++ {
		f := strings.Fields(sc.Text())
		key, value, ok := strings.Cut(sc.Text(), ": ")
		switch {
		case ok && key == "pkg":
			pkg = value
		case ok && !strings.ContainsAny(key, " \t") && !slices.ContainsFunc(settings, func(s string) bool { return strings.HasPrefix(s, key+": ") }):
			settings = append(settings, sc.Text())
		case len(f) >= 4 && len(f)%2 == 0 && strings.HasPrefix(f[0], "Benchmark"): // a name alone announces one that prints
			if rows, err = add(rows, pkg, f); err != nil {
				return nil, nil, fmt.Errorf("line %d: %w", line, err)
			}
		}
	}
	return rows, settings, sc.Err()
}

// add adds the fields of a line: a name, the number of iterations, and values each
// followed by its unit.
func add(rows []*row, pkg string, f []string) ([]*row, error) {
	name := strings.TrimPrefix(f[0], "Benchmark")
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		if _, err := strconv.Atoi(name[i+1:]); err == nil {
			name = name[:i]
		}
	}
	impl := ""
	keys := make(map[string]string)
	var parts []string
	for p := range strings.SplitSeq(name, "/") {
		if p == "fast" || p == "literal" || strings.HasPrefix(p, "impl=") {
			impl = strings.TrimPrefix(p, "impl=")
			continue
		}
		parts = append(parts, p)
		if k, v, ok := strings.Cut(p, "="); ok {
			keys[k] = v
		}
	}
	name = strings.Join(parts, "/")
	i := slices.IndexFunc(rows, func(r *row) bool { return r.pkg == pkg && r.name == name })
	if i < 0 {
		i, rows = len(rows), append(rows, &row{pkg, name, keys, make(map[string]map[string][]float64)})
	}
	values := rows[i].values
	for j := 2; j < len(f); j += 2 {
		v, err := strconv.ParseFloat(f[j], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is not a number", name, f[j])
		}
		unit := f[j+1]
		if values[unit] == nil {
			values[unit] = make(map[string][]float64)
		}
		values[unit][impl] = append(values[unit][impl], v)
	}
	return rows, nil
}

// median returns the median over repetitions, or false if nothing was measured.
func (r *row) median(impl, unit string) (float64, bool) {
	v := slices.Sorted(slices.Values(r.values[unit][impl]))
	n := len(v)
	if n == 0 {
		return 0, false
	}
	return (v[(n-1)/2] + v[n/2]) / 2, true
}

// A column is a heading and what a row has below it.
type column struct {
	head string
	of   func(r *row) string
}

// key is the column of a part of the name.
func key(head, name string) column {
	return column{head, func(r *row) string { return r.keys[name] }}
}

// rest is the column of the name after the benchmark's function.
func rest(head string) column {
	return column{head, func(r *row) string { return r.name[strings.IndexByte(r.name, '/')+1:] }}
}

// value is the column of an implementation's medians, in another unit.
func value(head, impl, unit string, factor float64) column {
	return column{head, func(r *row) string {
		v, ok := r.median(impl, unit)
		return number(v*factor, ok)
	}}
}

// ratio is the column of one implementation's medians by another's.
func ratio(head, a, b, unit string) column {
	return column{head, func(r *row) string {
		x, okA := r.median(a, unit)
		y, okB := r.median(b, unit)
		return number(x/y, okA && okB && y > 0)
	}}
}

// number writes a median with three significant digits.
func number(v float64, ok bool) string {
	switch {
	case !ok:
		return "—"
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	case v >= 0.9995 || v == 0:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// tables are those of bench.md. A table has the benchmarks of a package whose names
// begin alike, if they have measured a unit.
var tables = []struct {
	title, note, pkg, name, unit string
	columns                      []column
}{
	{"A·Bᵀ", "GFLOP/s for A of m×k and B of n×k. MulABT packs B in each call, Panels keeps it packed, Gaussian is Panels and the kernel's norms and exponential.",
		"gemm", "Product/", "GFLOP/s", []column{
			key("type", "type"), key("m×k×n", "shape"), key("threads", "threads"), value("MulABT", "mulabt", "GFLOP/s", 1), value("Panels", "panels", "GFLOP/s", 1),
			value("Gaussian", "gaussian", "GFLOP/s", 1), value("OpenBLAS", "openblas", "GFLOP/s", 1), value("gonum", "gonum", "GFLOP/s", 1),
			ratio("MulABT ÷ OpenBLAS", "mulabt", "openblas", "GFLOP/s"), ratio("Panels ÷ OpenBLAS", "panels", "openblas", "GFLOP/s"), ratio("Panels ÷ gonum", "panels", "gonum", "GFLOP/s"),
		}},
	{"A few rows against a large matrix", "m rows of float64 against M×M, which is read once from beyond the second-level cache.",
		"gemm", "Skinny/", "GFLOP/s", []column{
			key("M", "M"), key("m", "m"), key("threads", "threads"), value("GB/s", "mulabt", "GB/s", 1), value("GFLOP/s", "mulabt", "GFLOP/s", 1),
			value("OpenBLAS GFLOP/s", "openblas", "GFLOP/s", 1), ratio("MulABT ÷ OpenBLAS", "mulabt", "openblas", "GFLOP/s"),
		}},
	{"exp", "ns an element, of 4,096 in [−20, 0].",
		"gemm", "Exp/", "ns/element", []column{
			key("type", "type"), value("gemm.Exp", "exp", "ns/element", 1), value("math.Exp", "math.Exp", "ns/element", 1), ratio("math.Exp ÷ gemm.Exp", "math.Exp", "exp", "ns/element"),
		}},
	{"POLK's step by its floor", "The floor is the step's kernel evaluations alone; M, active samples and changed elements (rank) are means over the steps. MNIST is at steady state.",
		"polk", "", "x-floor", []column{
			{"", func(r *row) string { return r.name }}, value("step, ms", "", "ns/op", 1e-6), value("floor, ms", "", "floor-ns/op", 1e-6), value("step ÷ floor", "", "x-floor", 1),
			value("M", "", "M", 1), value("active", "", "active/op", 1), value("rank", "", "rank/op", 1),
		}},
	{"POLK against Algorithm 1 as printed", "One projection of M + 32 elements to M, on one thread; where candidates were solved for, the printed algorithm's time is extrapolated from them.",
		"polk", "Project/", "s/projection", []column{
			key("M", "M"), value("fast, s", "fast", "s/projection", 1), value("literal, s", "literal", "s/projection", 1), ratio("literal ÷ fast", "literal", "fast", "s/projection"),
			value("candidates solved", "literal", "candidates/op", 1),
		}},
	{"BSGD's sample by its floor", "µs a sample at budget 1,086 on 784 features; the floor is one row of kernel values.",
		"bsgd", "Step/", "µs/sample", []column{
			rest("maintenance"), value("sample, µs", "", "µs/sample", 1), value("floor, µs", "", "floor-µs/sample", 1), value("sample ÷ floor", "", "x-floor", 1),
			value("violations a sample", "", "violations/sample", 1),
		}},
	{"Peak memory", "Resident set of a process that trains to M on 784 features and ten classes, its data drawn on the way. M = 1 is what the process itself takes.",
		"polk", "PeakMemory/", "maxrss-MB", []column{
			key("M", "M"), value("peak, MB", "", "maxrss-MB", 1), value("dictionary in float32, MB", "", "dictionary-MB", 1),
		}},
}

// write reads results and writes all tables for which there are some.
func write(w io.Writer, r io.Reader) error {
	rows, settings, err := parse(r)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprint(out, "# Benchmarks\n\nMade from `bench.txt` by `make bench`. A value is the median of its repetitions; the two sides of a ratio come from the same run.\n\n")
	for _, s := range settings {
		fmt.Fprintln(out, "-", s)
	}
	for _, t := range tables {
		begun := false
		for _, r := range rows {
			if !strings.HasSuffix(r.pkg, t.pkg) || !strings.HasPrefix(r.name, t.name) || r.values[t.unit] == nil {
				continue
			}
			if !begun {
				begun = true
				fmt.Fprintf(out, "\n## %s\n\n%s\n\n|", t.title, t.note)
				for _, c := range t.columns {
					fmt.Fprintf(out, " %s |", c.head)
				}
				fmt.Fprintf(out, "\n|%s\n", strings.Repeat(" --- |", len(t.columns)))
			}
			fmt.Fprint(out, "|")
			for _, c := range t.columns {
				fmt.Fprintf(out, " %s |", c.of(r))
			}
			fmt.Fprintln(out)
		}
	}
	return out.Flush()
}
