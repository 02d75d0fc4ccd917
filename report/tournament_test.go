package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"polkrepro/compare"
	"polkrepro/experiments"
	"polkrepro/internal/testutil"
	"polkrepro/polk/prune"
	"polkrepro/record"
	"polkrepro/report/plot"
)

// noneLost is for a tournament with all records.
func noneLost(experiments.Contest) bool { return false }

// tournament returns a tournament of made-up records, without those of lost runs.
func tournament(t *testing.T, lost func(experiments.Contest) bool) *compare.Result {
	t.Helper()
	tour, err := experiments.FindTournament("")
	testutil.NoError(t, err)
	plan, err := tour.Plan(experiments.ProfileSmoke)
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
	return compare.New(tour, experiments.ProfileSmoke, plan, records)
}

func TestTournamentWriteAll(t *testing.T) {
	res := tournament(t, noneLost)
	r := NewTournament(res, Input{})
	dir := t.TempDir()
	paths, err := r.WriteAll(dir)
	testutil.NoError(t, err)
	if want := 2 + 4*len(r.Tables) + 4*len(r.Figures); len(paths) != want || paths[0] != filepath.Join(dir, "index.md") {
		t.Errorf("%d files, want %d, %s first", len(paths), want, paths[0])
	}
	if len(r.Tables) != 2*len(res.Fields) || len(r.Figures) != 2*len(res.Fields)+1 {
		t.Errorf("%d tables and %d figures of %d fields", len(r.Tables), len(r.Figures), len(res.Fields))
	}
	runs := 0
	for _, f := range res.Fields {
		for _, e := range f.Entries {
			runs += len(e.Runs)
		}
	}
	if rows := testutil.Rows(t, []byte(r.CSV())); len(rows) != runs {
		t.Errorf("%d rows of CSV, want one for each of %d runs", len(rows), runs)
	}
	svg, err := os.ReadFile(filepath.Join(dir, "figures", res.Fields[0].Name+"-order.svg"))
	testutil.NoError(t, err)
	for _, h := range prune.All() {
		if h.Name != res.Reference && !bytes.Contains(svg, []byte(">"+h.Name+"<")) {
			t.Errorf("the trade-offs do not name %s", h.Name)
		}
	}

	// Heuristics without runs are in the tables with the reason. A figure without panels is not
	// written.
	res = tournament(t, func(c experiments.Contest) bool { return c.Heuristic != "komp" })
	if paths, err = NewTournament(res, Input{}).WriteAll(dir); err != nil {
		t.Fatal(err)
	}
	name := res.Fields[0].Name
	if path := filepath.Join(dir, "figures", name+"-order.png"); slices.Contains(paths, path) {
		t.Errorf("%s is written again", path)
	}
	index, err := os.ReadFile(filepath.Join(dir, "index.md"))
	for _, want := range []string{"random: all runs failed or are missing.", "No picture: no heuristic other than komp has runs."} {
		if err != nil || !bytes.Contains(index, []byte(want)) {
			t.Errorf("the index does not say %q, %v:\n%s", want, err, index)
		}
	}
	if bytes.Contains(index, []byte(name+"-order.svg")) {
		t.Error("the index shows a figure that there is none of")
	}
}

// TestSomeRunsLost checks that the other heuristics have panels.
func TestSomeRunsLost(t *testing.T) {
	res := tournament(t, func(c experiments.Contest) bool {
		return c.Heuristic == "oldest" || c.Heuristic == "surprise" && c.Replicate > 1
	})
	r := NewTournament(res, Input{})
	if _, err := r.WriteAll(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	f := res.Fields[0]
	if n := len(r.Figures[0].Drawing.(*plot.Picture).Panels); n != len(prune.All())-2 {
		t.Errorf("%d panels, want one for each of the %d others that have runs", n, len(prune.All())-2)
	}
	e := f.Entries[1] // one of its models is so small that it would stretch all panels
	e.Points[0].Order = f.Levels[0] / 5
	small := tournamentFigures(res)[0]
	if shown := small.Drawing.(*plot.Picture).Panels[0].Traces[1].Curve; len(shown) != len(e.Points)-1 ||
		!strings.HasSuffix(small.Caption, " In the CSV file alone: 1 point with fewer than a quarter of the least model order compared.") {
		t.Errorf("%d of %d points: %s", len(shown), len(e.Points), small.Caption)
	}
}

// TestVerdictTable checks that every heuristic except the reference has a row, and that only the
// verdicts better and worse have marks.
func TestVerdictTable(t *testing.T) {
	res := tournament(t, noneLost)
	table := verdictTable(res.Fields[0], res.Reference, "heuristic")
	if len(table.Rows) != len(prune.All())-1 {
		t.Errorf("%d rows", len(table.Rows))
	}
	for i, row := range table.Rows {
		c := res.Fields[0].Entries[i+1].Compared[compare.ErrorAtOrder]
		if marked := strings.HasSuffix(row[1], string(c.Verdict)); marked != (c.Verdict == compare.Better || c.Verdict == compare.Worse) {
			t.Errorf("%s is %s: %q", row[0], c.Verdict, row[1])
		}
		if len(row) != len(table.Header) {
			t.Errorf("%s: %d cells", row[0], len(row))
		}
	}
}

// TestBadges checks that no two of many heuristics look the same, and that further heuristics
// change the looks of few others.
func TestBadges(t *testing.T) {
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("heuristic-%d", i))
	}
	before := badges(names[:30], "komp")
	after := badges(names, "komp")
	var seen []plot.Look
	changed := 0
	for name, b := range after {
		if slices.ContainsFunc(seen, func(o plot.Look) bool { return o.Color == b.Color && o.Marker == b.Marker }) {
			t.Errorf("%s looks like another", name)
		}
		seen = append(seen, b)
		if old, ok := before[name]; ok && (old.Color != b.Color || old.Marker != b.Marker) {
			changed++
		}
	}
	if changed > 10 {
		t.Errorf("ten more heuristics change %d of 30 others", changed)
	}
	if after["komp"].Color != lookOf("polk", 0).Color {
		t.Error("the reference is not POLK's blue")
	}
}
