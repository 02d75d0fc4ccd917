package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// results is a file of benchmark results.
type results struct {
	config []setting // "key: value" lines before the first result
	benchs []*bench  // in the order of the file
}

type setting struct{ key, value string }

// bench is all results of one name.
type bench struct {
	pkg   string
	name  string               // without "Benchmark" and the -GOMAXPROCS suffix
	parts []string             // of name, between slashes
	keys  map[string]string    // the parts of the form key=value
	units map[string][]float64 // one value a repetition
}

// parse reads results as go test -bench prints them. Lines that are neither
// settings nor results are skipped, as the format asks.
func parse(r io.Reader) (*results, error) {
	res := &results{}
	pkg := ""
	sc := bufio.NewScanner(r)
	for line := 1; sc.Scan(); line++ {
		text := sc.Text()
		if strings.HasPrefix(text, "Benchmark") {
			if err := res.add(pkg, strings.Fields(text)); err != nil {
				return nil, fmt.Errorf("line %d: %w", line, err)
			}
			continue
		}
		key, value, ok := strings.Cut(text, ": ")
		if !ok || strings.ContainsAny(key, " \t") {
			continue
		}
		if key == "pkg" {
			pkg = value
		} else if !slices.ContainsFunc(res.config, func(s setting) bool { return s.key == key }) {
			res.config = append(res.config, setting{key, value})
		}
	}
	return res, sc.Err()
}

// add adds the fields of one result line: a name, the number of iterations,
// and values each followed by its unit.
func (res *results) add(pkg string, f []string) error {
	if len(f) < 4 || len(f)%2 != 0 {
		return nil // a name alone announces a benchmark that prints
	}
	name := strings.TrimPrefix(f[0], "Benchmark")
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		if _, err := strconv.Atoi(name[i+1:]); err == nil {
			name = name[:i]
		}
	}
	b := res.find(pkg, name)
	for i := 2; i < len(f); i += 2 {
		v, err := strconv.ParseFloat(f[i], 64)
		if err != nil {
			return fmt.Errorf("%s: %q is not a number", name, f[i])
		}
		b.units[f[i+1]] = append(b.units[f[i+1]], v)
	}
	return nil
}

// find returns the entry for a name, a new one if there is none.
func (res *results) find(pkg, name string) *bench {
	for _, b := range res.benchs {
		if b.pkg == pkg && b.name == name {
			return b
		}
	}
	b := &bench{pkg: pkg, name: name, parts: strings.Split(name, "/"), keys: map[string]string{}, units: map[string][]float64{}}
	for _, p := range b.parts {
		if k, v, ok := strings.Cut(p, "="); ok {
			b.keys[k] = v
		}
	}
	res.benchs = append(res.benchs, b)
	return b
}

// of returns the results of one benchmark function of a package, whose path
// ends in pkg.
func (res *results) of(pkg, function string) []*bench {
	var list []*bench
	for _, b := range res.benchs {
		if b.parts[0] == function && strings.HasSuffix(b.pkg, pkg) {
			list = append(list, b)
		}
	}
	return list
}

// median returns the median over repetitions of what was measured in a unit,
// or false if nothing was.
func (b *bench) median(unit string) (float64, bool) {
	v := slices.Sorted(slices.Values(b.units[unit]))
	n := len(v)
	if n == 0 {
		return 0, false
	}
	return (v[(n-1)/2] + v[n/2]) / 2, true
}
