package compare

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"polkrepro/data"
	"polkrepro/data/rows"
	"polkrepro/harness"
	"polkrepro/internal/golden"
	"polkrepro/internal/testutil"
	"polkrepro/spec"
)

// table returns n rows of two classes that a Gaussian kernel separates.
func table(n int) string {
	var b strings.Builder
	b.WriteString("x,y,kind\n")
	for i := range n {
		x, y := i*37%101, i*53%89
		fmt.Fprintf(&b, "%d,%d,%s\n", x, y, map[bool]string{true: "elm", false: "oak"}[(x-50)*(x-50)+(y-44)*(y-44) > 900])
	}
	return b.String()
}

// options returns the options of a small comparison on a file in a new folder.
func options(t *testing.T, n int) Options {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "rows.csv")
	testutil.NoError(t, os.WriteFile(path, []byte(table(n)), 0o666))
	return Options{
		Sources: []data.Source{data.Source{Train: path, Label: rows.Column{Name: "kind"}, Holdout: 0.2, Scale: rows.ScaleStandard}.WithDefaults()},
		Task:    spec.TaskKSVM, Budget: time.Second, Spec: filepath.Join(dir, "results", "bench-rows.yaml"),
		Note: func(string, ...any) {},
	}
}

// TestTuneOrdered: of rows that are ordered by time, the last ones are the test rows of all runs, and the
// search holds out the last of those before.
func TestTuneOrdered(t *testing.T) {
	opt := options(t, 250)
	opt.Sources[0].Ordered, opt.Sources[0].SplitSeed = true, 0
	text, err := TuneMethods(t.Context(), opt)
	testutil.NoError(t, err)
	_, set, err := open(opt, opt.Sources[0], Resplits)
	testutil.NoError(t, err)
	plan, err := runsOf(opt.Spec, string(text))
	testutil.NoError(t, err)
	seeds := make(map[uint64]bool)
	for _, p := range plan {
		seeds[p.Run.Seed] = true
		if held, _ := p.Run.Data.Files.HeldOut(250); len(held) != 50 || held[0] != 200 {
			t.Fatalf("test rows %v", held)
		}
	}
	if len(seeds) < 3 || set.Train.N != 200 || !strings.Contains(string(text), "holdout: 0.2, ordered: true,") {
		t.Errorf("%d seeds, the search sees %d rows, spec\n%s", len(seeds), set.Train.N, text)
	}
}

// TestLabelsOfTestRowsAlone checks the warning about a class that only test rows have.
func TestLabelsOfTestRowsAlone(t *testing.T) {
	var said strings.Builder
	opt := options(t, 250)
	opt.Note = func(format string, args ...any) { fmt.Fprintf(&said, format, args...) }
	for i := range 250 {
		lines := strings.SplitAfter(table(250), "\n")
		lines[i+1] = "1,1,yew\n"
		testutil.NoError(t, os.WriteFile(opt.Sources[0].Train, []byte(strings.Join(lines, "")), 0o666))
		if _, _, err := open(opt, opt.Sources[0], 0); err != nil {
			t.Fatal(err)
		}
		if said.Len() > 0 {
			break
		}
	}
	if want := `warning: test rows with a label that no training row has: 1, such as "yew"`; !strings.Contains(said.String(), want) {
		t.Errorf("said %q, want %q", said.String(), want)
	}
}

// TestTune checks that the spec is the golden one, wherever the files are, and that a finished
// search is not repeated.
func TestTune(t *testing.T) {
	var said []string
	opt := options(t, 250)
	opt.Note = func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	text, err := TuneMethods(t.Context(), opt)
	testutil.NoError(t, err)
	golden.Check(t, "testdata/spec.yaml", string(text))
	for _, line := range said {
		if !strings.Contains(string(text), "# "+line+"\n") {
			t.Errorf("%q is not in the spec", line)
		}
	}

	// The search must not see a row that is a test row of any split.
	s, _, err := open(opt, opt.Sources[0], Resplits)
	testutil.NoError(t, err)
	_, seen := s.ref.Files.HeldOut(250)
	plan, err := runsOf(opt.Spec, string(text))
	testutil.NoError(t, err)
	splits := make(map[uint64]bool)
	for _, p := range plan {
		splits[p.Run.Data.Files.SplitSeed] = true
		tests, _ := p.Run.Data.Files.HeldOut(250)
		if len(tests) != 50 || slices.ContainsFunc(tests, func(row int) bool { return slices.Contains(seen, row) }) {
			t.Fatalf("the search sees the rows %v, of which %v are test rows", seen, tests)
		}
	}
	if len(splits) != 5 || len(seen) < 60 {
		t.Errorf("%d splits, the search sees %d rows", len(splits), len(seen))
	}

	said = nil
	opt.Before = text
	again, err := TuneMethods(t.Context(), opt)
	if err != nil || !bytes.Equal(again, text) || len(said) != 1 {
		t.Errorf("again: %v, said %q", err, said)
	}
	opt.Order = 12
	if _, err := TuneMethods(t.Context(), opt); !errors.Is(err, harness.ErrUsage) {
		t.Errorf("another order, the spec of the first: %v", err)
	}
}

// TestTuneSeveral checks that each of two files has the settings that it has alone with half the budget,
// as a variant below the keys in common, and that a finished search is not repeated.
func TestTuneSeveral(t *testing.T) {
	opt := options(t, 250)
	alone, err := TuneMethods(t.Context(), opt)
	testutil.NoError(t, err)
	other := opt.Sources[0]
	other.Name, other.Train = "others", filepath.Join(filepath.Dir(other.Train), "others.csv")
	testutil.NoError(t, os.WriteFile(other.Train, []byte(table(200)), 0o666))
	opt.Sources, opt.Budget = append(opt.Sources, other), 2*opt.Budget
	text, err := TuneMethods(t.Context(), opt)
	testutil.NoError(t, err)
	specs, err := spec.Parse(opt.Spec, text)
	testutil.NoError(t, err)
	if len(specs) != 2 || specs[0].Name != "bench-rows-others-rows" || specs[1].Name != "bench-rows-others-others" || specs[1].Data.Name != "others" {
		t.Fatalf("specs\n%s", text)
	}
	_, methods, _ := strings.Cut(string(alone), "\nmethods:")
	if !strings.Contains(string(text), strings.ReplaceAll("\nmethods:"+strings.TrimSuffix(methods, "\n"), "\n", "\n    ")) || strings.Count(string(text), "\nregularizer: 1e-6\n") != 1 {
		t.Errorf("alone\n%s\nwith another file\n%s", alone, text)
	}
	opt.Before = text
	if again, err := TuneMethods(t.Context(), opt); err != nil || !bytes.Equal(again, text) {
		t.Errorf("again: %v", err)
	}
}

// TestTuneRegression checks that the methods for regression are POLK, twice, and KRLS.
func TestTuneRegression(t *testing.T) {
	opt := options(t, 200)
	opt.Task, opt.Sources[0].Regression, opt.Sources[0].Label = spec.TaskRegression, true, rows.Column{Name: "y"}
	opt.Sources[0].Ignore = []rows.Column{{Name: "kind"}}
	text, err := TuneMethods(t.Context(), opt)
	testutil.NoError(t, err)
	if n := strings.Count(string(text), "- {method:"); n != 3 || strings.Count(string(text), "- {method: polk") != 2 || strings.Count(string(text), "- {method: krls") != 1 {
		t.Errorf("%d methods:\n%s", n, text)
	}
}

// TestSizes checks that the work fits the budget if possible, that larger budgets never give less,
// and that omitted methods are named.
func TestSizes(t *testing.T) {
	set := &data.Set{Classes: 10, Train: &data.Split{N: 60_000, Dim: 784}, Test: &data.Split{N: 10_000, Dim: 784}}
	for name, tt := range map[string]struct {
		of    func(Options) sizes
		least time.Duration // smallest budget that the work must fit
	}{
		"methods":    {func(opt Options) sizes { return newSizes(set, 0, opt) }, time.Minute},
		"heuristics": {func(opt Options) sizes { return comparisonSizes(set, opt, 20, 10, nil) }, 10 * time.Minute},
	} {
		before := sizes{}
		for _, budget := range []time.Duration{5 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour} {
			z := tt.of(Options{Task: spec.TaskKSVM, Budget: budget})
			if z.order < before.order || z.tried < before.tried || len(z.methods) < len(before.methods) ||
				z.seeds*z.samples*z.order < before.seeds*before.samples*before.order {
				t.Errorf("%s, %v: less than the budget before: %+v, %+v", name, budget, z, before)
			}
			if allowed := budget.Seconds() * speed; budget >= tt.least && z.spent > allowed {
				t.Errorf("%s, %v: %v", name, budget, seconds(z.spent))
			}
			if name == "methods" && !strings.Contains(strings.Join(z.left, "\n"), "lbfgs is left out: it needs 15.9 GiB of memory, more than 2") {
				t.Errorf("%v: left out: %q", budget, z.left)
			}
			if slices.ContainsFunc(z.methods, func(m method) bool { return m.name == "lbfgs" }) {
				t.Errorf("%v: L-BFGS is in it", budget)
			}
			before = z
		}
	}
	if z := newSizes(set, 0, Options{Task: spec.TaskKSVM, Budget: time.Minute, Order: 77}); z.order != 77 || z.small() != 19 {
		t.Errorf("order %d and %d, want 77 and 19", z.order, z.small())
	}
}

func TestTuneErrors(t *testing.T) {
	if _, err := TuneMethods(t.Context(), options(t, 60)); err == nil || !strings.Contains(err.Error(), "rows has 18 rows that are never test rows: want at least 60") {
		t.Errorf("few rows: %v", err)
	}
	opt := options(t, 100)
	opt.Sources[0].Train += ".gone"
	if _, err := TuneMethods(t.Context(), opt); !errors.Is(err, data.ErrNotAvailable) {
		t.Errorf("no file: %v", err)
	}
	opt = options(t, 200)
	opt.Methods = harness.Methods()
	for name, m := range opt.Methods {
		if m.New != nil {
			m.New = func(harness.Problem) (harness.Learner, error) { return nil, errors.New("no") }
			opt.Methods[name] = m
		}
	}
	if _, err := TuneMethods(t.Context(), opt); err == nil || !strings.Contains(err.Error(), "POLK diverged or failed with every setting that was tried") {
		t.Errorf("failing runs: %v", err)
	}
}

// TestPrices checks that a slow process leaves less work for the same budget, and what a step costs
// between the two orders measured, below and above.
func TestPrices(t *testing.T) {
	p := price{order: [2]float64{13, 613}, seconds: [2]float64{0.01, 0.07}, start: 0.125}
	for order, want := range map[float64]float64{10: 0.01, 13: 0.01, 113: 0.02, 613: 0.07, 1213: 0.13} {
		if got := p.at(order); math.Abs(got-want) > 1e-15 {
			t.Errorf("at order %v: %v, want %v", order, got, want)
		}
	}
	set := &data.Set{Classes: 3, Train: &data.Split{N: 16_000, Dim: 16}, Test: &data.Split{N: 4000, Dim: 16}}
	opt := Options{Task: spec.TaskKSVM, Budget: time.Minute, Options: harness.Options{Workers: 1}}
	free, slow := comparisonSizes(set, opt, 2, 0, nil), comparisonSizes(set, opt, 2, 0, []price{p})
	waits := 0.0
	for _, order := range slow.orders() {
		waits += float64(slow.seeds) * (p.start + float64(slow.samples)/batchSize*p.at(float64(order)))
	}
	if allowed := opt.Budget.Seconds(); waits > allowed || slow.spent/speed > allowed || slow.spent/speed < waits || slow.samples >= free.samples {
		t.Errorf("%v s for the process, %v in all, %d samples and %d without it", waits, slow.spent/speed, slow.samples, free.samples)
	}
}
