package report

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"polkrepro/compare"
	"polkrepro/internal/testutil"
	"polkrepro/polk/prune"
	"polkrepro/record"
	"polkrepro/report/plot"
	"polkrepro/spec"
)

// noneLost is for a comparison with all records.
func noneLost(spec.ComparedRun) bool { return false }

// comparison returns a comparison of made-up records, without those of lost runs.
func comparison(t *testing.T, lost func(spec.ComparedRun) bool) *compare.Result {
	t.Helper()
	tour, err := spec.FindComparison("")
	testutil.NoError(t, err)
	plan, err := tour.Plan(spec.ProfileSmoke)
	testutil.NoError(t, err)
	records := make(map[string]*record.Record)
	for i, c := range plan {
		if lost(c) {
			continue
		}
		order := 20 / (c.Value + 0.3)
		if p := c.Run.Params.PrunerParams["order"]; p > 0 {
			order = p
		}
		e := 0.04 + 0.5/order + 0.001*float64(len(c.Heuristic)+i%7+c.Replicate)
		records[c.ID] = &record.Record{
			Points: []record.Point{{Samples: 100, TestError: 2 * e, ModelOrder: int(order)}, {Samples: 200, TestError: e, ModelOrder: int(order)}},
			Final:  record.Final{TestError: e, ModelOrder: order, Timing: record.Timing{CPU: order / 100}},
		}
	}
	return compare.New(tour, spec.ProfileSmoke, plan, records)
}

func TestComparisonWriteAll(t *testing.T) {
	res := comparison(t, noneLost)
	r := NewComparison(res, Input{})
	if len(r.Tables) != 2*len(res.DataSets) || len(r.Figures) != 2*len(res.DataSets)+1 {
		t.Errorf("%d tables and %d figures of %d data sets", len(r.Tables), len(r.Figures), len(res.DataSets))
	}
	runs := 0
	for _, f := range res.DataSets {
		for _, e := range f.Entries {
			runs += len(e.Runs)
		}
	}
	if rows := testutil.Rows(t, []byte(r.Runs.CSV())); len(rows) != runs {
		t.Errorf("%d rows of CSV, want one for each of %d runs", len(rows), runs)
	}
	svg, err := r.Figures[0].SVG()
	testutil.NoError(t, err)
	for _, h := range prune.All() {
		if h.Name != res.Reference && !bytes.Contains(svg, []byte(">"+h.Name+"<")) {
			t.Errorf("the trade-offs do not name %s", h.Name)
		}
	}

	// Heuristics without runs are in the tables with the reason. A figure without panels is not
	// written.
	dir := t.TempDir()
	res = comparison(t, func(c spec.ComparedRun) bool { return c.Heuristic != "komp" })
	r = NewComparison(res, Input{})
	paths, err := r.WriteAll(dir, nil)
	testutil.NoError(t, err)
	if path := filepath.Join(dir, "figures", r.Figures[0].Name+".png"); slices.Contains(paths, path) || r.Figures[0].Missing != "no heuristic other than komp has runs" {
		t.Errorf("%s is written, or %q", path, r.Figures[0].Missing)
	}
	if text := r.Text(); !strings.Contains(text, "random: all runs failed or are missing.") {
		t.Errorf("no reason in\n%s", text)
	}
}

// TestSomeRunsLost checks that the other heuristics have panels, and that a point that would
// stretch all panels is left out.
func TestSomeRunsLost(t *testing.T) {
	res := comparison(t, func(c spec.ComparedRun) bool { return c.Heuristic == "oldest" })
	figures := comparisonFigures(res)
	if n := len(figures[0].Drawing.(*plot.Picture).Panels); n != len(prune.All())-2 {
		t.Errorf("%d panels, want one for each of the %d others that have runs", n, len(prune.All())-2)
	}
	f := res.DataSets[0]
	e := f.Entries[1]
	e.Points[0].Order = f.Orders[0] / 5
	small := comparisonFigures(res)[0]
	if shown := small.Drawing.(*plot.Picture).Panels[0].Traces[1].Curve; len(shown) != len(e.Points)-1 ||
		!strings.HasSuffix(small.Caption, " Not drawn: 1 point with fewer than a quarter of the least model order compared.") {
		t.Errorf("%d of %d points: %s", len(shown), len(e.Points), small.Caption)
	}
}

// TestVerdictTable checks that every heuristic except the reference has a row, and that only the
// verdicts better and worse have marks.
func TestVerdictTable(t *testing.T) {
	res := comparison(t, noneLost)
	table := verdictTable(res.DataSets[0], res.Reference, "heuristic")
	if len(table.Rows) != len(prune.All())-1 {
		t.Errorf("%d rows", len(table.Rows))
	}
	for i, row := range table.Rows {
		c := res.DataSets[0].Entries[i+1].Compared[compare.ErrorAtOrder]
		if marked := strings.HasSuffix(row[1], string(c.Verdict)); marked != (c.Verdict == compare.Better || c.Verdict == compare.Worse) {
			t.Errorf("%s is %s: %q", row[0], c.Verdict, row[1])
		}
		if len(row) != len(table.Header) {
			t.Errorf("%s: %d cells", row[0], len(row))
		}
	}
}

// TestBadges checks that no two of many heuristics look the same, and that the reference is
// POLK's blue.
func TestBadges(t *testing.T) {
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("heuristic-%d", i))
	}
	looks := badges(names, "komp")
	seen := make(map[string]bool)
	for _, l := range looks {
		seen[fmt.Sprintf("%v %T", l.Color, l.Marker)] = true
	}
	if len(seen) != 41 || looks["komp"].Color != lookOf("polk", 0).Color {
		t.Errorf("%d looks of 41 heuristics", len(seen))
	}
}
