package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
	"polkrepro/record"
	"polkrepro/spec"
)

// TestPasses checks that the cells' methods, other published budget maintenance and L-BFGS (by
// iterations) have paths, and that the caption names the points nearest to the printed values.
func TestPasses(t *testing.T) {
	in := Input{Records: map[string]*record.Record{}}
	add := func(s shape, change func(*spec.Params)) {
		p := s.planned(0, 1)
		change(&p.Run.Params)
		if s.cell == "" {
			p.Cells = nil
		}
		p.ID = spec.ID(p.Run)
		p.Group += p.ID
		in.Planned = append(in.Planned, p)
		in.Records[p.ID] = s.record(p)
	}
	polk := shape{"brodatz", "ksvm", "polk", "POLK, K = 0.01", "table3.brodatz.ksvm.polk", "", nil, 1, 80000, 800, 0.01, 0.03, 1000, 1.3, 0}
	bsgd := shape{"brodatz", "ksvm", "bsgd", "BSGD, B = 1171", "table3.brodatz.ksvm.bsgd", "", nil, 1, 80000, 800, 0.01, 0.03, 1171, 1, 0}
	lbfgs := shape{"brodatz", "ksvm", "lbfgs", "L-BFGS", "table3.brodatz.ksvm.lbfgs", "", nil, 1, 10000, 20000, 0.03, 0.04, 10000, 1, 0}
	add(polk, func(*spec.Params) {})
	add(bsgd, func(p *spec.Params) { p.Maintenance = "merging" })
	add(lbfgs, func(*spec.Params) {})
	bsgd.cell, lbfgs.cell, polk.cell = "", "", ""
	add(bsgd, func(p *spec.Params) { p.Maintenance = "projection" })
	add(bsgd, func(p *spec.Params) { p.Maintenance = "keep-newest" })
	add(bsgd, func(p *spec.Params) { p.Maintenance = "merging"; p.Budget = 305 })
	add(polk, func(p *spec.Params) { p.Parsimony = 1 })
	for _, n := range []int{16, 4} {
		add(lbfgs, func(p *spec.Params) { p.Iterations = n })
	}
	f := figureNamed(t, built(in), "passes-ksvm")
	_, nearest, _ := strings.Cut(f.Caption, "distance: ")
	var got []string
	for of := range strings.SplitSeq(nearest, "; ") {
		name, _, _ := strings.Cut(of, " (")
		got = append(got, name)
	}
	rows := testutil.Rows(t, []byte(f.CSV()))
	off := func(row map[string]string) float64 {
		v, err := strconv.ParseFloat(row["largest_relative_distance"], 64)
		if err != nil {
			t.Error(err)
		}
		return v
	}
	for i, name := range []string{"POLK", "BSGD, merging", "BSGD, projection", "L-BFGS"} {
		rows := slices.DeleteFunc(slices.Clone(rows), func(row map[string]string) bool { return row["series"] != name })
		best := slices.MinFunc(rows, func(a, b map[string]string) int { return cmp.Compare(off(a), off(b)) })
		if want := name + " after " + best["samples_or_iterations"]; i >= len(got) || !strings.HasPrefix(got[i], want) {
			t.Errorf("%q: want %s and on", got, want)
		}
	}
	if n := len(got); n != 4 {
		t.Errorf("%d paths: %q", n, got)
	}
}
