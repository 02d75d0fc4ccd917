package online

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"polkrepro/data/rows"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// weighed returns rows with a third column of weights.
func weighed(all []string, weight func(i int) any) []string {
	out := make([]string, len(all))
	for i, row := range all {
		f := strings.Split(row, ",")
		out[i] = fmt.Sprintf("%s,%s,%v,%s", f[0], f[1], weight(i), f[2])
	}
	return out
}

// Rows that all weigh the same give the functions that they give without weights, bit for bit, and
// rows that weigh 0 those of a source without them, with all ways to learn.
func TestEqualAndZeroWeights(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: arithmetic alone")
	}
	const n = 300
	for _, name := range []string{"multi-hinge", "multi-logistic", "squared-error"} {
		for _, streams := range []bool{false, true} {
			all := table(n, name, 41)
			train := func(rows []string, column int) (m *Model) {
				opt := tuning(name, file(t, rows))
				if streams {
					opt.Source = stream(rows)
				}
				opt.Order, opt.Settings.Weights.Number = 16, column
				return mustTrain(t, opt)
			}
			want := train(all, 0).functions()
			mixed := slices.Concat(weighed(all[:n/2], func(int) any { return 0.5 }), weighed(table(50, name, 42), func(int) any { return "0" }), weighed(all[n/2:], func(int) any { return 0.5 }))
			got := train(mixed, 3).functions()
			if same := slices.Equal(got.W, want.W); !same || got.Order() == 0 {
				t.Errorf("%s, stream %v: other weights of %d elements", name, streams, got.Order())
			}
		}
	}
}

// A weighted row counts in the sums of least squares as often as its weight says.
func TestWeightedSums(t *testing.T) {
	f, x, y := problem(3, 6, 6, 3, 2, 0.5)
	once, often := newLeastSquares(f), newLeastSquares(f)
	for i, weight := range []int{1, 3} {
		once.add(x[i*3:(i+1)*3], y[i*2:(i+1)*2], float64(weight))
		for range weight {
			often.add(x[i*3:(i+1)*3], y[i*2:(i+1)*2], 1)
		}
	}
	a, b := &once.sums[0], &often.sums[0]
	a.sum(f, once.l)
	b.sum(f, often.l)
	for i, v := range slices.Concat(a.gram, a.right, []float64{a.squares}) {
		if want := slices.Concat(b.gram, b.right, []float64{b.squares})[i]; !(math.Abs(v-want) <= 1e-12*(1+math.Abs(want))) {
			t.Errorf("sum %d: %v, want %v", i, v, want)
		}
	}
}

// rare returns rows of two classes that overlap, one of which has a row in twenty.
func rare(n int, seed uint64) []string {
	rng := rand.New(rand.NewPCG(seed, 3))
	rows := make([]string, n)
	for i := range rows {
		label, at := "common", 0.0
		if rng.IntN(20) == 0 {
			label, at = "rare", 1.3
		}
		rows[i] = fmt.Sprintf("%.3f,%.3f,%s", at+rng.NormFloat64(), at+rng.NormFloat64(), label)
	}
	return rows
}

// Weights of the classes make a model that finds the rare one, and are those of the rows of a column.
// Balanced weights sum to the number of rows. The measure that is tuned is the one that is evaluated.
func TestClassWeights(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: arithmetic alone")
	}
	all := rare(1500, 1)
	counts := map[string]int{}
	for _, row := range all {
		counts[row[strings.LastIndex(row, ",")+1:]]++
	}
	src := file(t, all)
	models := make(map[string]*Model)
	for name, set := range map[string]func(*TrainOptions){
		"none":     func(*TrainOptions) {},
		"balanced": func(o *TrainOptions) { o.Balanced = true },
		"given": func(o *TrainOptions) {
			o.Settings.ClassWeights = map[string]float64{"rare": float64(counts["common"]) / float64(counts["rare"])}
		},
		"f1": func(o *TrainOptions) { o.Balanced, o.Settings.Metric = true, MetricF1 },
	} {
		opt := tuning("multi-hinge", src)
		opt.Order, opt.Settings.Scale, opt.Settings.Bandwidth = 8, rows.ScaleStandard, 1
		set(&opt)
		models[name] = mustTrain(t, opt)
	}
	later := rare(3000, 2)
	of := func(name string) float64 { return float64(evaluation(t, models[name], later).BalancedError) }
	if !(of("none") > 0.25 && of("balanced") < 0.2 && of("given") < 0.2) {
		t.Errorf("balanced error %.3f without weights, %.3f balanced, %.3f with the same ratio", of("none"), of("balanced"), of("given"))
	}
	s := models["balanced"].Settings()
	for label, n := range counts {
		if w := s.ClassWeights[label]; w != 1500/float64(2*n) {
			t.Errorf("%s: weight %v of %d rows", label, w, n)
		}
	}
	h, _ := models["f1"].Settings().HeldOut()
	if f1 := float64(evaluation(t, models["f1"], later).F1); !(math.Abs(1-f1-h.Measure) < 0.05) {
		t.Errorf("1 − F1 is %.3f on held-out rows and %.3f on later ones", h.Measure, 1-f1)
	}
}

// The mean of the costs is the measure, as Evaluate computes it of the same predictions.
func TestCosts(t *testing.T) {
	class, called := []int32{0, 0, 0, 1, 1, 2, 0, 2}, []int32{0, 1, 0, 1, 1, 1, 0, 0}
	want := map[string]float64{ // recalls 3/4, 1, 0; F1 3/4·2/(1+1)…: 6/8, 4/6, 0
		"": 3. / 8, MetricError: 3. / 8, MetricBalanced: 1 - (3./4+1+0)/3, MetricF1: 1 - (6./8+4./6+0)/3,
	}
	h := heldOut{class: class, called: called}
	e := evaluator{m: &Model{settings: Settings{Labels: []string{"a", "b", "c"}}, loss: loss.MultiHinge{}, f: kernel.NewExpansion(kernel.Gaussian{}, 1, 3)}, confusion: [][]int{make([]int, 3), make([]int, 3), make([]int, 3)}, rows: len(class)}
	for i, c := range class {
		wrong := 0.0
		if c != called[i] {
			wrong = 1
		}
		h.each, h.weight = append(h.each, 2*wrong), append(h.weight, 2)
		e.confusion[c][called[i]]++
	}
	for metric, want := range want {
		u := tuner{loss: loss.MultiHinge{}, set: Settings{Metric: metric}}
		if got := value(u.costs(&h, len(class))); !(math.Abs(got-want) < 1e-12) {
			t.Errorf("%q: %v, want %v", metric, got, want)
		}
	}
	if r := e.result(); !(math.Abs(float64(r.BalancedError)-want[MetricBalanced]) < 1e-12 && math.Abs(1-float64(r.F1)-want[MetricF1]) < 1e-12) {
		t.Errorf("evaluated: %v, F1 %v", r.BalancedError, r.F1)
	}
}

// A stream warns of a drift also after it was resumed. With Restart it makes a new model, which learns the
// rows in their new unit.
func TestDrift(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: arithmetic alone")
	}
	unit := func(i int) float64 { return map[bool]float64{false: 1, true: 1000}[i >= 1600] }
	var lines []string
	for i, row := range table(4000, "multi-hinge", 44) {
		f := strings.Split(row, ",")
		var x float64
		_, err := fmt.Sscan(f[0], &x)
		testutil.NoError(t, err)
		lines = append(lines, fmt.Sprintf("%v,%s,%s", x*unit(i), f[1], f[2]))
	}
	opt := tuning("multi-hinge", stream(lines[:1500]))
	opt.Order = 20
	first := mustTrain(t, opt)
	errors := make(map[bool]float64)
	for _, restart := range []bool{false, true} {
		var said []string
		rest := TrainOptions{Source: stream(lines[1500:]), Resume: reread(t, first), Settings: first.Settings(), Restart: restart}
		rest.Note = func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
		m := mustTrain(t, rest)
		errors[restart] = float64(evaluation(t, m, lines[3000:]).Error)
		if all := strings.Join(said, "\n"); strings.Count(all, "warning: line 128: column 1 is far outside its range") != 1 || strings.Contains(all, "a new model, with settings from 1000 rows from line 129 on") != restart {
			t.Errorf("restart %v: said %s", restart, all)
		}
		if want := int64(len(lines) - 1500 - 128); restart && m.Rows() != want {
			t.Errorf("%d rows, want the %d after the drift", m.Rows(), want)
		}
	}
	if !(errors[true] < 0.1 && errors[false] > 0.3) {
		t.Errorf("error %.3f with a new model, %.3f without", errors[true], errors[false])
	}
}
