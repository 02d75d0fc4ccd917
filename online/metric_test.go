package online

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"polkrepro/data/rows"
)

// Relevances are the root mean squares of derivatives, here by central differences.
func TestRelevances(t *testing.T) {
	for _, outputs := range []int{1, 3} {
		const n, dim = 40, 3
		f, x, y := problem(3, 15, n, dim, outputs, 1.5)
		sumUp(f, x, y).solve()
		got := relevances(f, 1.5, n, x)
		const h = 1.0 / 64
		for p := range dim {
			squares := 0.0
			for i := range n {
				at := func(step float32) []float64 {
					moved := slices.Clone(x[i*dim : (i+1)*dim])
					moved[p] += step
					scores := make([]float64, outputs)
					for j := range f.Order() {
						k := f.Kernel.Eval(moved, f.Dict.At(j))
						for q, w := range f.Weights(j) {
							scores[q] += w * k
						}
					}
					return scores
				}
				up, down := at(h), at(-h)
				for q := range outputs {
					d := up[q] - down[q]
					if outputs > 1 {
						d -= value(up) - value(down)
					}
					squares += d * d / (4 * h * h)
				}
			}
			if want := math.Sqrt(squares / float64(n*outputs)); !(math.Abs(got[p]-want) <= 2e-3*want) {
				t.Errorf("%d functions, feature %d: %v, want %v", outputs, p, got[p], want)
			}
		}
	}
}

// noisy returns rows of two spirals beside columns of noise, on very different scales, with a
// header.
func noisy(n int, seed uint64) []string {
	rng := rand.New(rand.NewPCG(seed, 8))
	lines := []string{"noise a,across,noise b,along,noise c,arm"}
	for _, row := range spirals(n, seed) {
		f := strings.Split(row, ",")
		lines = append(lines, fmt.Sprintf("%.3f,%s,%.3f,%s000,%.3f,%s", rng.NormFloat64(), f[0], 100*rng.Float64(), f[1], rng.ExpFloat64(), f[2]))
	}
	return lines
}

// A metric is learned where it helps, named, saved with the model, and left out if another
// scaling is asked for.
func TestLearnedMetric(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: arithmetic alone, and the race detector makes it a minute")
	}
	opt := tuning("multi-hinge", file(t, noisy(1200, 1)))
	opt.Order, opt.Epochs, opt.Settings.LearningRate = 40, 20, 32 // what remains is scaling and bandwidth
	notes := noted(&opt)
	m := reread(t, mustTrain(t, opt))
	r := m.Settings().Relevances
	if m.Settings().Scale != ScaleLearned || len(r) != 5 || max(r[0], r[2], r[4]) > 0.2 || min(r[1], r[3]) < 0.5 {
		t.Errorf("scaling %s, relevances %.2f", m.Settings().Scale, r)
	}
	if !strings.Contains(notes.String(), `relevance of the features, the largest 1: "a`) {
		t.Errorf("%s", notes)
	}
	with := evaluation(t, m, noisy(1000, 2))
	opt.Settings.Scale = rows.ScaleStandard
	m = mustTrain(t, opt)
	if m.Settings().Relevances != nil {
		t.Errorf("%+v", m.Settings())
	}
	if without := evaluation(t, m, noisy(1000, 2)); !(with.Error < without.Error/2) {
		t.Errorf("error %.4f with a metric, %.4f without", with.Error, without.Error)
	}
}

// A metric is not learned where the rows do not ask for one.
func TestMetricThatDoesNotHelp(t *testing.T) {
	opt := tuning("multi-hinge", file(t, spirals(300, 1)))
	opt.Order = 20
	if set := mustTrain(t, opt).Settings(); set.Scale == ScaleLearned {
		t.Errorf("relevances %v", set.Relevances)
	}
}

// The metric stretches features in addition to their scaling, and the median distance stays.
func TestStretched(t *testing.T) {
	b := scaledSample{model: &Model{}, dim: 2, x: []float32{0, 0, 1, 2, 3, 1, -1, 4}, y: make([]float64, 4)}
	b.model.settings.Scale = rows.ScaleStandard
	once := b.stretched([]float64{1, 0.5})
	twice := once.stretched([]float64{0.5, 1})
	ratio := twice.metric.factors[0] / twice.metric.factors[1]
	if math.Abs(ratio-1) > 1e-12 || math.Abs(once.metric.factors[0]/once.metric.factors[1]-2) > 1e-12 {
		t.Errorf("factors %v, %v", once.metric.factors, twice.metric.factors)
	}
	if d := twice.distance(4) / b.distance(4); math.Abs(d-1) > 1e-6 {
		t.Errorf("the median distance is %v times that before", d)
	}
	if s := b.stretched([]float64{0, 0}); s != nil {
		t.Errorf("all rows are equal: %v", s)
	}
	if r := twice.metric.relevances(); slices.Max(r) != 1 {
		t.Errorf("relevances %v", r)
	}
}
