package main

import (
	"bytes"
	"fmt"
	"strings"
)

// table is a Markdown table with a heading and a sentence of explanation.
type table struct {
	title, note string
	head        []string
	rows        [][]string
}

// none stands for what was not measured.
const none = "—"

// markdown writes all tables for which there are results.
func markdown(res *results) []byte {
	var out bytes.Buffer
	out.WriteString("# Benchmarks\n\nMade from `bench.txt` by `make bench`. A value is the median of its repetitions; the two sides of a ratio come from the same run.\n\n")
	for _, s := range res.config {
		fmt.Fprintf(&out, "- %s: %s\n", s.key, s.value)
	}
	for _, t := range []table{
		productTable(res), skinnyTable(res), expTable(res), stepTable(res), literalTable(res), bsgdTable(res),
		memoryTable(res),
	} {
		if len(t.rows) > 0 {
			t.write(&out)
		}
	}
	return out.Bytes()
}

func (t *table) write(out *bytes.Buffer) {
	fmt.Fprintf(out, "\n## %s\n\n%s\n\n| %s |\n|%s\n", t.title, t.note, strings.Join(t.head, " | "), strings.Repeat(" --- |", len(t.head)))
	for _, row := range t.rows {
		fmt.Fprintf(out, "| %s |\n", strings.Join(row, " | "))
	}
}

// number writes a median with three significant digits.
func number(v float64, ok bool) string {
	switch {
	case !ok:
		return none
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	case v >= 0.9995 || v == 0:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// scaled writes a median in another unit.
func scaled(b *bench, unit string, factor float64) string {
	v, ok := b.median(unit)
	return number(v*factor, ok)
}

// ratio writes a's median by b's, either of which may be nil.
func ratio(a, b *bench, unit string) string {
	if a == nil || b == nil {
		return none
	}
	x, ok := a.median(unit)
	y, ok2 := b.median(unit)
	return number(x/y, ok && ok2 && y > 0)
}

// group is the implementations of one thing, by name.
type group struct {
	first *bench
	impl  map[string]*bench
}

// groups gathers results that differ in their key impl only, in the order of
// the file.
func groups(list []*bench) []group {
	var gs []group
	at := map[string]int{}
	for _, b := range list {
		key := strings.Replace(b.name, "impl="+b.keys["impl"], "", 1)
		if _, ok := at[key]; !ok {
			at[key] = len(gs)
			gs = append(gs, group{b, map[string]*bench{}})
		}
		gs[at[key]].impl[b.keys["impl"]] = b
	}
	return gs
}

// values writes the medians of the named implementations.
func (g group) values(unit string, impls ...string) []string {
	var row []string
	for _, name := range impls {
		if b := g.impl[name]; b != nil {
			row = append(row, scaled(b, unit, 1))
		} else {
			row = append(row, none)
		}
	}
	return row
}

func productTable(res *results) table {
	t := table{
		title: "A·Bᵀ",
		note: "GFLOP/s for A of m×k and B of n×k. MulABT packs B in each call, Panels keeps it packed, Gaussian is Panels and the kernel's norms and exponential; " +
			"peak is multiply-adds on registers alone.",
		head: []string{"type", "m×k×n", "threads", "MulABT", "Panels", "Gaussian", "OpenBLAS", "gonum", "peak",
			"MulABT ÷ OpenBLAS", "Panels ÷ OpenBLAS", "Panels ÷ gonum", "Panels ÷ peak"},
	}
	for _, g := range groups(res.of("gemm", "Product")) {
		k := g.first.keys
		row := append([]string{k["type"], k["shape"], k["threads"]}, g.values("GFLOP/s", "mulabt", "panels", "gaussian", "openblas", "gonum", "peak")...)
		t.rows = append(t.rows, append(row,
			ratio(g.impl["mulabt"], g.impl["openblas"], "GFLOP/s"), ratio(g.impl["panels"], g.impl["openblas"], "GFLOP/s"),
			ratio(g.impl["panels"], g.impl["gonum"], "GFLOP/s"), ratio(g.impl["panels"], g.impl["peak"], "GFLOP/s")))
	}
	return t
}

func skinnyTable(res *results) table {
	t := table{
		title: "A few rows against a large matrix",
		note:  "m rows of float64 against M×M, which is read once from beyond the second-level cache.",
		head:  []string{"M", "m", "threads", "GB/s", "GFLOP/s", "OpenBLAS GFLOP/s", "MulABT ÷ OpenBLAS"},
	}
	for _, g := range groups(res.of("gemm", "Skinny")) {
		k, own := g.first.keys, g.impl["mulabt"]
		row := append([]string{k["M"], k["m"], k["threads"]}, g.values("GB/s", "mulabt")...)
		row = append(row, g.values("GFLOP/s", "mulabt", "openblas")...)
		t.rows = append(t.rows, append(row, ratio(own, g.impl["openblas"], "GFLOP/s")))
	}
	return t
}

func expTable(res *results) table {
	t := table{title: "exp", note: "ns an element, of 4,096 in [−20, 0].", head: []string{"type", "gemm.Exp", "math.Exp", "math.Exp ÷ gemm.Exp"}}
	for _, g := range groups(res.of("gemm", "Exp")) {
		row := append([]string{g.first.keys["type"]}, g.values("ns/element", "exp", "math.Exp")...)
		t.rows = append(t.rows, append(row, ratio(g.impl["math.Exp"], g.impl["exp"], "ns/element")))
	}
	return t
}

// stepTable takes every benchmark of package polk that reports its floor.
func stepTable(res *results) table {
	t := table{
		title: "POLK's step by its floor",
		note:  "The floor is the step's kernel evaluations alone; M, active samples and changed elements (rank) are means over the steps. MNIST is at steady state.",
		head:  []string{"", "step, ms", "floor, ms", "step ÷ floor", "M", "active", "rank"},
	}
	for _, b := range res.benchs {
		if _, ok := b.median("x-floor"); !ok || !strings.HasSuffix(b.pkg, "polk") {
			continue
		}
		t.rows = append(t.rows, []string{b.name, scaled(b, "ns/op", 1e-6), scaled(b, "floor-ns/op", 1e-6), scaled(b, "x-floor", 1),
			scaled(b, "M", 1), scaled(b, "active/op", 1), scaled(b, "rank/op", 1)})
	}
	return t
}

func literalTable(res *results) table {
	t := table{
		title: "POLK against Algorithm 1 as printed",
		note:  "One projection of M + 32 elements to M, on one thread; where candidates were solved for, the printed algorithm's time is extrapolated from them.",
		head:  []string{"M", "fast, s", "literal, s", "literal ÷ fast", "candidates solved"},
	}
	byOrder := map[string]*bench{}
	for _, b := range res.of("polk", "Project") {
		if len(b.parts) < 3 {
			continue
		}
		if b.parts[1] == "fast" {
			byOrder[b.keys["M"]] = b
			continue
		}
		fast := byOrder[b.keys["M"]]
		if fast == nil {
			continue
		}
		t.rows = append(t.rows, []string{b.keys["M"], scaled(fast, "s/projection", 1), scaled(b, "s/projection", 1),
			ratio(b, fast, "s/projection"), scaled(b, "candidates/op", 1)})
	}
	return t
}

func bsgdTable(res *results) table {
	t := table{
		title: "BSGD's sample by its floor",
		note:  "µs a sample at budget 1,086 on 784 features; the floor is one row of kernel values.",
		head:  []string{"maintenance", "sample, µs", "floor, µs", "sample ÷ floor", "violations a sample"},
	}
	for _, b := range res.of("bsgd", "Step") {
		t.rows = append(t.rows, []string{strings.Join(b.parts[1:], "/"), scaled(b, "µs/sample", 1), scaled(b, "floor-µs/sample", 1),
			scaled(b, "x-floor", 1), scaled(b, "violations/sample", 1)})
	}
	return t
}

func memoryTable(res *results) table {
	t := table{
		title: "Peak memory",
		note:  "Resident set of a process that trains to M on 784 features and ten classes, its data drawn on the way. M = 1 is what the process itself takes.",
		head:  []string{"M", "peak, MB", "dictionary in float32, MB"},
	}
	for _, b := range res.of("polk", "PeakMemory") {
		t.rows = append(t.rows, []string{b.keys["M"], scaled(b, "maxrss-MB", 1), scaled(b, "dictionary-MB", 1)})
	}
	return t
}
