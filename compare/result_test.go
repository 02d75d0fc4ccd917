package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"polkrepro/evidence/stats"
	"polkrepro/internal/testutil"
	"polkrepro/internal/words"
	"polkrepro/polk/prune"
	"polkrepro/record"
	"polkrepro/spec"
)

// These heuristics are never run: the tests make up their records.
func init() {
	for _, name := range []string{"test-a", "test-b", "test-c", "test-d", "test-e", "test-f", "test-g", "test-h", "test-i", "test-j", "test-k"} {
		prune.Register(prune.Heuristic{
			Name: name, Identity: "test", About: "does nothing, in a test", Params: []prune.Param{prune.Order},
			New: func(prune.Params) prune.Pruner { panic("not to be run") },
		})
	}
}

// made returns a comparison of the given heuristics on one data set, with size parameters 8, 16 and 32. The
// first heuristic is the reference.
func made(t testing.TB, replicates int, heuristics ...string) (*spec.Comparison, []spec.ComparedRun) {
	t.Helper()
	return planned(t, "orders: [8, 16, 32], values: {order: [8, 16, 32]}", fmt.Sprintf(`data: {name: glyphs}
kernel: {type: gaussian, bandwidth: 1}
defaults: {polk: {learning_rate: 1, batch_size: 32}}
stopping: {samples: 100}
evaluation: {every: 50}
repeats: {seeds: %d}`, replicates), heuristics...)
}

// planned returns a comparison on a data set.
func planned(t testing.TB, orders, rest string, heuristics ...string) (*spec.Comparison, []spec.ComparedRun) {
	t.Helper()
	src := fmt.Sprintf("name: made\ntitle: Made up\ntask: ksvm\nregularizer: 1e-6\ncompare: {reference: %s, heuristics: [%s], %s}\n%s\n", heuristics[0], strings.Join(heuristics, ", "), orders, rest)
	tour, err := spec.ParseComparison("made.yaml", []byte(src))
	testutil.NoError(t, err)
	plan, err := tour.Plan(spec.ProfileSmoke)
	testutil.NoError(t, err)
	return tour, plan
}

// recorded makes a record of each run: error in per cent, order and seconds.
func recorded(plan []spec.ComparedRun, of func(spec.ComparedRun) (err, order, seconds float64)) map[string]*record.Record {
	out := make(map[string]*record.Record)
	for _, c := range plan {
		e, order, seconds := of(c)
		out[c.ID] = &record.Record{
			Points: []record.Point{
				{Samples: 50, TestError: 2 * e / 100, ModelOrder: int(order)},
				{Samples: 100, TestError: e / 100, ModelOrder: int(order)},
			},
			Final: record.Final{TestError: e / 100, ModelOrder: order, Timing: record.Timing{CPU: seconds}},
		}
	}
	return out
}

// wobble returns the noise of an error: a replicate's part, the same for all heuristics, and a
// small part of the heuristic's.
func wobble(c spec.ComparedRun) float64 {
	return float64(c.Replicate%3) + 0.01*math.Sin(float64(c.Replicate)*c.Value*float64(len(c.Heuristic)+int(c.Heuristic[5])))
}

// TestDirection checks that less error, less time and a lower rank are better.
func TestDirection(t *testing.T) {
	tour, plan := made(t, 5, "test-a", "test-b", "test-c")
	shift := map[string]float64{"test-a": 0, "test-b": -1, "test-c": 1}
	res := New(tour, spec.ProfileSmoke, plan, recorded(plan, func(c spec.ComparedRun) (float64, float64, float64) {
		d := shift[c.Heuristic]
		return 20 - 2*math.Log2(c.Value) + d + wobble(c), c.Value, c.Value * math.Exp(d) * (1 + 0.01*wobble(c))
	}))
	f := res.DataSets[0]
	for i, want := range []Verdict{Better, Worse} {
		e := f.Entries[i+1]
		for _, m := range []Measure{ErrorAtOrder, Anytime, Time} {
			if got := e.Compared[m].Verdict; got != want {
				t.Errorf("%s by %v: %s, want %s", e.Name, m, got, want)
			}
		}
	}
	within(t, "difference", float64(f.Entries[1].Compared[ErrorAtOrder].Difference), -1, 0.02)
	within(t, "difference over the stream", float64(f.Entries[1].Compared[Anytime].Difference), -1.5, 0.03)
	within(t, "ratio of times", float64(f.Entries[2].Compared[Time].Difference), 1, 0.03)
	if !slices.Equal(res.Standing.Ranks, []Rank{{"test-b", 1}, {"test-a", 2}, {"test-c", 3}}) {
		t.Errorf("ranks: %+v", res.Standing)
	}
	document, err := json.Marshal(res.Standing)
	testutil.NoError(t, err)
	says(t, string(document), `{"ranks":[{"name":"test-b","mean_rank":1},{"name":"test-a","mean_rank":2},{"name":"test-c","mean_rank":3}],"absent":[],"blocks":5,"p":0,"critical_difference":1.`)
	says(t, strings.Join(res.Summary(), "\n"),
		"Better than test-a on at least one and worse on none: test-b.", "Worse on at least one and better on none: test-c.")
}

// methodsOn returns the result of methods on a data set with the given errors of three replicates. The
// first method is the reference; csvc has a model order of its own.
func methodsOn(name string, errors ...[3]float64) *Result {
	equal := &DataSetResult{Data: name, Task: spec.TaskKLR, Orders: []float64{10}}
	free := &DataSetResult{Data: name, Orders: []float64{10}, OwnOrders: true}
	for i, of := range errors {
		e := equal.entry(string(rune('a' + i)))
		for replicate, v := range of {
			e.Runs = append(e.Runs, Trial{Replicate: replicate, Measured: Measured{Order: 10, Error: words.Nullable(v), Seconds: 1}})
		}
	}
	free.entry("a")
	free.entry("csvc")
	equal.compare()
	return &Result{Reference: "a", DataSets: []*DataSetResult{equal, free}}
}

// TestRanksOverDataSets checks ranks by hand: a block is a data set, methods with the same mean share a
// rank, and a method that is missing on one data set is named.
func TestRanksOverDataSets(t *testing.T) {
	at := func(v float64) [3]float64 { return [3]float64{v, v, v} }
	results := []*Result{
		methodsOn("one", at(10), at(8), at(12), at(1)),                                // ranks 2, 1, 3
		methodsOn("two", [3]float64{10, 10, 10}, [3]float64{10.1, 10.2, 9.7}, at(12)), // 1.5, 1.5, 3
		methodsOn("three", at(10), at(8), at(12)),                                     // 2, 1, 3
		methodsOn("four", at(10), at(12), at(11)),                                     // 1, 3, 2
	}
	s := RankMethods(results)
	if want := []Rank{{"a", 1.625}, {"b", 1.625}, {"c", 2.75}}; !slices.Equal(s.Ranks, want) || s.Blocks != 4 || s.Task != spec.TaskKLR {
		t.Errorf("%+v", s)
	}
	within(t, "p", float64(s.P), math.Pow(1+10.125/4.625/3, -3), 1e-12) // F = 10.125/4.625 with 2 and 6 degrees of freedom
	within(t, "critical difference", s.CD, 2.343*math.Sqrt(0.5), 1e-3)
	says(t, s.Sentence("a"), "Ranked by error at equal model order over 4 data sets (each with its mean over the replicates; Friedman's test: p 0.193), a has mean rank 1.6 of 3",
		"Within it: b, c.", "not comparable everywhere: d.", "their model order can't be chosen: csvc.", "Ranks over so few data sets say little", "at least 5.")
	if s := RankMethods([]*Result{results[0], results[2]}); float64(s.P) != 1.0/6 { // of 6 orders of three, the second data set has that of the first
		t.Errorf("two data sets that rank alike: p %v", s.P)
	}
	for _, same := range [][]*Result{results[:1], {results[0], results[0]}} {
		if s := RankMethods(same); s != nil {
			t.Errorf("one data set: %+v", s)
		}
	}
}

// TestOnlyWhatBothReach checks that nothing is extrapolated, and that only levels that all
// replicates reach are compared.
func TestOnlyWhatBothReach(t *testing.T) {
	tour, plan := made(t, 4, "test-a", "test-b", "test-c")
	res := New(tour, spec.ProfileSmoke, plan, recorded(plan, func(c spec.ComparedRun) (float64, float64, float64) {
		order := c.Value
		switch {
		case c.Heuristic == "test-b" && c.Value == 8 && c.Replicate == 2:
			order = 9
		case c.Heuristic == "test-c":
			order *= 100
		}
		return 10 + wobble(c), order, c.Value
	}))
	f := res.DataSets[0]
	if got := f.Entries[1].Compared[ErrorAtOrder].Levels; !slices.Equal(got, []float64{16, 32}) {
		t.Errorf("compared at %v", got)
	}
	for m, want := range map[Measure]string{
		ErrorAtOrder: "no compared model order that both reach in every replicate: test-a 8 to 32, test-c 800 to 3200",
		Anytime:      "no compared largest model order that both reach in every replicate: test-a 8 to 32, test-c 800 to 3200",
	} {
		if c := f.Entries[2].Compared[m]; c.Verdict != NotComparable || len(c.Levels) != 0 || c.Reason != want {
			t.Errorf("orders that have nothing in common: %+v", c)
		}
	}
	if !slices.Equal(res.Standing.Absent, []string{"test-c"}) {
		t.Errorf("not ranked: %v", res.Standing.Absent)
	}
}

// TestMissingRuns checks that runs without a record are counted, and that means leave them out.
// Replicates of only one heuristic are not compared, and two replicates decide nothing. A heuristic
// without runs is named with the reason, and no sentence has an empty list.
func TestMissingRuns(t *testing.T) {
	tour, plan := made(t, 4, "test-a", "test-b", "test-c")
	have := recorded(plan, func(c spec.ComparedRun) (float64, float64, float64) {
		return 10 - 5*float64(c.Heuristic[5]-'a') + wobble(c), c.Value, 1
	})
	for _, c := range plan {
		if c.Heuristic == "test-c" || c.Heuristic == "test-b" && (c.Replicate > 2 || c.Replicate == 2 && c.Value == 16) {
			delete(have, c.ID)
		}
	}
	res := New(tour, spec.ProfileSmoke, plan, have)
	few := res.DataSets[0].Entries[1]
	if c := few.Compared[ErrorAtOrder]; !maps.Equal(res.Missing, map[string]int{"test-b": 7, "test-c": 12}) || res.MissingRuns != 19 || c.Verdict != TooFew || c.N != 2 || len(few.Points) != 3 {
		t.Errorf("missing %v, %d points, %+v", res.MissingRuns, len(few.Points), c)
	}
	for _, p := range few.Points {
		runs, err := 2, 6.5 // of wobbles of 1 and 2
		if p.Value == 16 {
			runs, err = 1, 6
		}
		within(t, "mean error", float64(p.Error), err, 0.02)
		if p.Runs != runs {
			t.Errorf("%v: %d runs averaged, want %d", p.Value, p.Runs, runs)
		}
	}
	for _, m := range Measures() {
		if c := res.DataSets[0].Entries[2].Compared[m]; c.Verdict != NotComparable || c.Reason != "all runs failed or are missing" {
			t.Errorf("%s: %s (%s)", m, c.Verdict, c.Reason)
		}
	}
	few.Runs[0].Error = words.Nullable(math.NaN())
	document, err := json.Marshal(res)
	testutil.NoError(t, err)
	says(t, string(document), `"missing_runs":19`,
		`{"name":"test-a","size_parameter":"order","comparisons":[],"means":[{"size_parameter":8,"model_order":8,`,
		`"verdict":"too few replicates","reason":"2 replicates in common, and a verdict needs 3","difference":-`, `"low":null,"high":null,"p":1,"p_exact":1,"interpolation_error":0,"replicates":2,"levels":[8,16,32]}`,
		`{"measure":"log_time_at_order","verdict":"not comparable","reason":"all runs failed or are missing","difference":null,"low":null,"high":null,"p":null,"p_exact":null,"interpolation_error":null,"replicates":0,"levels":[]}],"means":[],"runs":[]}`,
		`{"size_parameter":8,"model_order":8,"error_percent":null,"training_seconds":1,`, `"replicate":1,"process_seconds":0}`,
	)
	text := strings.Join(res.Summary(), "\n")
	says(t, text, "By error at equal model order, on 1 data set. Not comparable: test-b, test-c.")
	if strings.Contains(text, "—") || strings.Contains(text, ". .") {
		t.Errorf("an empty list:\n%s", text)
	}
	for _, r := range have {
		r.Points = nil
	}
	for _, have := range []map[string]*record.Record{have, nil} {
		res := New(tour, spec.ProfileSmoke, plan, have)
		if len(res.DataSets) != 0 || res.MissingRuns != len(plan) || len(res.Summary()) == 0 {
			t.Errorf("%d records without evaluations: %+v", len(have), res)
		}
		if document, err := json.Marshal(res); err != nil || !strings.Contains(string(document), `"data_sets":[]`) || strings.Contains(string(document), "standing") {
			t.Errorf("nothing compared: %s, %v", document, err)
		}
	}
}

// TestCopiesDifferByChance compares identical heuristics with independent noise. With one
// comparison, one in twenty finds a difference; with ten, at most one comparison in twenty finds
// any.
func TestCopiesDifferByChance(t *testing.T) {
	names := []string{"test-a", "test-b", "test-c", "test-d", "test-e", "test-f", "test-g", "test-h", "test-i", "test-j", "test-k"}
	for _, copies := range []int{1, 10} {
		const comparisons = 300
		r := rand.New(rand.NewPCG(5, uint64(copies)))
		tour, plan := made(t, 5, names[:copies+1]...)
		wrong := 0
		for range comparisons {
			res := New(tour, spec.ProfileSmoke, plan, recorded(plan, func(c spec.ComparedRun) (float64, float64, float64) {
				return math.Round(250*(30/math.Log(c.Value)+0.5*r.NormFloat64()))/250 + wobble(c), c.Value, c.Value
			}))
			if slices.ContainsFunc(res.DataSets[0].Entries[1:], func(e *Entry) bool {
				v := e.Compared[ErrorAtOrder].Verdict
				return v == Better || v == Worse
			}) {
				wrong++
			}
		}
		rate := float64(wrong) / comparisons
		t.Logf("%d copies: %d of %d comparisons call one different: %.1f %%", copies, wrong, comparisons, 100*rate)
		if se := math.Sqrt(stats.Level * (1 - stats.Level) / comparisons); !(rate <= stats.Level+3*se) || copies == 1 && rate < stats.Level-3*se {
			t.Errorf("%d copies: %.1f %% of comparisons call one different", copies, 100*rate)
		}
	}
}

// TestBend checks that the quadratic term is exact for parabolas over the logarithm, and that the
// bend is 0 at samples, in lines and outside the curve.
func TestBend(t *testing.T) {
	parabola := func(x float64) float64 { l := math.Log(x); return 3 - l + 0.7*l*l }
	var c, line Curve
	for _, x := range []float64{1, 3, 10, 20} {
		c, line = append(c, Sample{x, parabola(x)}), append(line, Sample{x, 2 * math.Log(x)})
	}
	for _, x := range []float64{1.5, 5, 15} {
		v, _ := c.At(x)
		within(t, "a parabola less its bend", v-c.Bend(x), parabola(x), 1e-12)
		within(t, "the bend of a line", line.Bend(x), 0, 1e-12)
	}
	for _, x := range []float64{0.5, 1, 10, 20, 30} {
		within(t, "a bend where there is none", c.Bend(x), 0, 0)
	}
}

// TestBentCurvesDecideNothing checks that a reference and its copy are not called different if they
// run at different orders of one trade-off with an elbow.
func TestBentCurvesDecideNothing(t *testing.T) {
	tour, plan := made(t, 8, "test-a", "test-b")
	tradeOff := func(order float64) float64 { return 4 + 200/order }
	res := New(tour, spec.ProfileSmoke, plan, recorded(plan, func(c spec.ComparedRun) (float64, float64, float64) {
		order := c.Value
		if c.Heuristic == "test-a" {
			order = map[float64]float64{8: 7, 16: 12, 32: 40}[c.Value]
		}
		return tradeOff(order) + wobble(c), order, 1
	}))
	c := res.DataSets[0].Entries[1].Compared[ErrorAtOrder]
	if !(c.Difference < -0.1) || c.P == 1 && c.Bend == 0 {
		t.Fatalf("the lines of the reference are not too high: %+v", c)
	}
	if c.Verdict != TooCoarse {
		t.Errorf("the same trade-off: %s by %v with a bend of %v", c.Verdict, c.Difference, c.Bend)
	}
}
