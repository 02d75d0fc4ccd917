package harness

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"polkrepro/data"
	"polkrepro/evidence/theory"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/polk"
	"polkrepro/record"
	"polkrepro/spec"
)

// measuredRun is a run on the points of smallSet that is measured against f*.
func measuredRun(method string) spec.Run {
	run := spec.Run{
		Data: data.Ref{Name: "small"}, Task: spec.TaskKLR, Method: method, Seed: 3, Samples: 1000,
		Params: spec.Params{
			Kernel:      spec.Kernel{Type: "gaussian", Bandwidth: 0.7},
			Regularizer: 0.05, LearningRate: 0.5, Schedule: spec.ScheduleConstant, BatchSize: 1,
		},
		Sampling:   spec.SamplingReplacement,
		Evaluation: spec.Evaluation{Minimizer: true},
	}
	if method == spec.MethodPOLK {
		run.Params.Parsimony = 0.1
	}
	return run
}

// smallSet has 60 points in three clusters of the plane, for both training and testing.
func smallSet() *data.Set {
	r := rand.New(rand.NewPCG(7, 8))
	s := &data.Split{N: 60, Dim: 2}
	for i := range s.N {
		y := float64(i % 3)
		s.Y = append(s.Y, y)
		s.X = append(s.X, float32(y+r.Float64()), float32(y*y/2+r.Float64()))
	}
	return &data.Set{Name: "small", Classes: 3, Train: s, Test: s, Sums: map[string]string{"small": "00"}}
}

func smallMinimizer(t *testing.T) *minimizer {
	t.Helper()
	m, err := newMinimizer(t.Context(), measuredRun(spec.MethodPOLK), smallSet(), 1)
	testutil.NoError(t, err)
	return m
}

// smallLearner returns a learner that is measured against f*.
func smallLearner(t *testing.T, run spec.Run, star *minimizer) *measured {
	t.Helper()
	m, err := newMeasured(newLearner(t, run, smallSet()), star)
	testutil.NoError(t, err)
	return m
}

// learn takes steps on points drawn by s.
func (m *measured) learn(t *testing.T, steps int, s func() int) {
	t.Helper()
	for range steps {
		i := s()
		if _, err := m.Step(t.Context(), 1, m.star.Train.Row(i), m.star.Train.Y[i:i+1]); err != nil {
			t.Fatal(err)
		}
	}
}

// star returns f*.
func (m *minimizer) star() *kernel.Expansion {
	f := kernel.NewExpansion(m.Kernel, m.Dim, m.Classes)
	for i := range m.Train.N {
		f.Append(m.Train.Row(i), m.best[i*m.Classes:(i+1)*m.Classes])
	}
	return f
}

// inner returns Σ_c ⟨f_c, g_c⟩ by its definition.
func inner(f, g *kernel.Expansion) float64 {
	var sum float64
	for j := range g.Order() {
		v := testutil.Score(f, g.Dict.At(j))
		for q, w := range g.Weights(j) {
			sum += w * v[q]
		}
	}
	return sum
}

// literal measures f by definitions alone.
func (m *minimizer) literal(f *kernel.Expansion) map[string]float64 {
	lambda := m.Params.Regularizer
	var risk, square float64
	grad := make([]float64, m.Classes)
	for i := range m.Train.N {
		x := m.Train.Row(i)
		risk += m.Loss.Gradient(grad, testutil.Score(f, x), m.Train.Y[i])
		// ∇̂ as a function: λf plus the gradient on the sample.
		g := f.Clone()
		for k := range g.W {
			g.W[k] *= lambda
		}
		g.Append(x, grad)
		square += inner(g, g)
	}
	d := f.Clone()
	for i := range m.Train.N {
		w := make([]float64, m.Classes)
		for q := range w {
			w[q] = -m.best[i*m.Classes+q]
		}
		d.Append(m.Train.Row(i), w)
	}
	n, normSq := float64(m.Train.N), inner(f, f)
	return map[string]float64{
		theory.Distance: math.Sqrt(inner(d, d)),
		theory.Excess:   risk/n + lambda/2*normSq - m.facts[theory.StarRisk],
		theory.Norm:     math.Sqrt(normSq),
		theory.Gradient: square / n,
	}
}

func within(a, b, tol float64) bool { return math.Abs(a-b) <= tol*(1+math.Abs(b)) }

// agree reports where a measurement differs from its value by definition.
func agree(t *testing.T, got, want map[string]float64, tol float64) {
	t.Helper()
	for name, v := range want {
		if !within(got[name], v, tol) {
			t.Errorf("%s is %v, by definition %v", name, got[name], v)
		}
	}
}

// TestMeasure compares the measurements of POLK and of FSGD with the definitions.
func TestMeasure(t *testing.T) {
	star := smallMinimizer(t)
	for _, method := range []string{spec.MethodPOLK, spec.MethodFSGD} {
		m := smallLearner(t, measuredRun(method), star)
		s := draws(60, 1)
		for range 4 {
			m.learn(t, 51, s)
			agree(t, m.point(), star.literal(m.Model().(*kernel.Expansion)), 1e-9)
		}
	}
}

// TestMinimizer: the gradient of R vanishes at f*, where the excess risk is 0. By strong convexity,
// (λ/2)‖f − f*‖² ≤ R(f) − R(f*) for every f, up to the certified gap (eq. strong_cvx).
func TestMinimizer(t *testing.T) {
	m := smallMinimizer(t)
	star, gap, lambda := m.star(), m.facts[theory.StarGap], m.Params.Regularizer
	if excess := m.literal(star)[theory.Excess]; !(math.Abs(excess) <= 1e-11) || !(gap <= 1e-11) {
		t.Errorf("excess %v, gap %v", excess, gap)
	}
	if w, h := m.facts[theory.PlaneWidth], m.facts[theory.PlaneHeight]; !(w > 2.5 && w < 3 && h > 2.5 && h < 3) {
		t.Errorf("the points take %v × %v", w, h)
	}
	// w is a weight on point i of E∇̂ = λf* + mean of the gradients.
	grad := make([]float64, m.Classes)
	for i := range m.Train.N {
		m.Loss.Gradient(grad, testutil.Score(star, m.Train.Row(i)), m.Train.Y[i])
		for q, g := range grad {
			if w := lambda*m.best[i*m.Classes+q] + g/float64(m.Train.N); !(math.Abs(w) <= 1e-6) {
				t.Errorf("gradient %v on point %d", w, i)
			}
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		f := star.Clone()
		for k := range f.W {
			f.W[k] += 0.3 * (r.Float64() - 0.5)
		}
		v := m.literal(f)
		if d := v[theory.Distance]; !(lambda/2*d*d <= v[theory.Excess]+gap+1e-12) {
			t.Errorf("distance %v at an excess of %v", d, v[theory.Excess])
		}
		agree(t, m.distances(m.values(f), f.NormSq(1)), v, 1e-9)
	}
}

// TestLemma1 checks the relation of Lemma lemma1,
//
//	E‖f_{t+1} − f*‖² ≤ ‖f_t − f*‖² − 2η[R(f_t) − R(f*)] + 2ε‖f_t − f*‖ + η²σ²,
//
// where σ² = E‖∇̃‖² and the expectation is the mean over the training points, each taken as the
// sample of one step from f_t. It also checks each line of the proof: eq. iterate_square_expand for
// f_{t+1} − f*, not for f_{t+1} as printed; eqs. iterate_prop1_subst and expectation_square_expand
// with ≤, where the paper prints =. For single samples, as if (x_t, y_t) were in the history F_t,
// the relation fails.
func TestLemma1(t *testing.T) {
	run := measuredRun(spec.MethodPOLK)
	star := smallMinimizer(t)
	best, gap := star.star(), star.facts[theory.StarGap]
	m, s := smallLearner(t, run, star), draws(60, 1)
	eta, eps := run.Params.LearningRate, run.Params.Budgets().Epsilon(run.Params.LearningRate)
	n := float64(star.Train.N)
	alone := 0 // samples that violate the relation by themselves
	for range 6 {
		m.learn(t, 7, s)
		f := m.polk.Expansion().Clone()
		now := star.literal(f)
		distance, excess := now[theory.Distance], now[theory.Excess]
		var next, variance, directed, unprojected float64 // means over the samples
		var squares []float64
		for i := range star.Train.N {
			tilde := m.unprojected(star.Train.Row(i), star.Train.Y[i])
			scale(tilde, run.Params.Regularizer, eta)
			after, _, _ := polk.Project(tilde, eps)
			toBest := func(g *kernel.Expansion) float64 { return minus(g, best) }
			square, step := toBest(after), minus(f, after)   // ‖f_{t+1} − f*‖², ‖η∇̃‖²
			along := (distance*distance + step - square) / 2 // ⟨f_t − f*, η∇̃⟩
			squares = append(squares, square)
			next += square / n
			variance += step / (eta * eta) / n
			directed += along / n
			unprojected += (distance*distance + minus(f, tilde) - toBest(tilde)) / 2 / n
			if norm := inner(after, after); !(math.Abs(norm-square) >= 1e-3*square) {
				t.Errorf("sample %d: ‖f_{t+1} − f*‖² = %v is ‖f_{t+1}‖² = %v, as printed", i, square, norm)
			}
		}
		// η⟨f_t − f*, ∇̃⟩ and the same with ∇̂ differ by no more than ε‖f_t − f*‖.
		afterProp1 := distance*distance - 2*unprojected + 2*eps*distance + eta*eta*variance
		bound := distance*distance - 2*eta*excess + 2*eps*distance + eta*eta*variance
		if !(math.Abs(directed-unprojected) <= eps*distance*(1+1e-9)) {
			t.Errorf("E⟨f − f*, η∇̃⟩ = %v, with ∇̂ %v, apart by more than ε‖f − f*‖ = %v", directed, unprojected, eps*distance)
		}
		if !(next < afterProp1) {
			t.Errorf("E‖f_{t+1} − f*‖² = %v, the right side of expectation_square_expand %v: want less", next, afterProp1)
		}
		if !(afterProp1 <= bound+2*eta*gap+1e-9) || !(next <= bound) {
			t.Errorf("E‖f_{t+1} − f*‖² = %v, then %v, the bound of the lemma %v", next, afterProp1, bound)
		}
		for _, v := range squares {
			if v > bound {
				alone++
			}
		}
	}
	if alone == 0 {
		t.Error("every sample by itself fulfils the relation")
	}
}

// minus returns Σ_c‖f_c − g_c‖².
func minus(f, g *kernel.Expansion) float64 { return inner(f, f) - 2*inner(f, g) + inner(g, g) }

// TestMinimizers: the minimizer of a risk is computed once.
func TestMinimizers(t *testing.T) {
	var known minimizers
	run, set := measuredRun(spec.MethodPOLK), smallSet()
	of := func(run spec.Run) *minimizer {
		m, err := known.of(t.Context(), run, set, 1)
		testutil.NoError(t, err)
		return m
	}
	first, other := of(run), run
	other.Method, other.Seed, other.Params.LearningRate = spec.MethodFSGD, 9, 0.1
	if of(other) != first {
		t.Error("one risk has two minimizers")
	}
	other.Params.Regularizer = 0.1
	if of(other) == first {
		t.Error("two risks have one minimizer")
	}
}

// TestDirect: the error of a step computed from f̃ and f agrees with the error that the projection
// reports, and reveals an error that the projection does not report.
func TestDirect(t *testing.T) {
	star := smallMinimizer(t)
	m := smallLearner(t, measuredRun(spec.MethodPOLK), star)
	s := draws(60, 4)
	m.learn(t, 400, s)
	sum := m.final()
	direct := sum[theory.Direct]
	if sum[theory.Checked] != 400 || !(direct <= 1+1e-6) || direct < 0.5 || !(sum[theory.Disagree] <= 1e-6) ||
		!(sum[theory.MaxOrder] > 1 && sum[theory.MaxOrder] < 60) {
		t.Errorf("%v", sum)
	}
	i := s()
	tilde := m.unprojected(star.Train.Row(i), star.Train.Y[i])
	if _, err := m.polk.Step(t.Context(), 1, star.Train.Row(i), star.Train.Y[i:i+1]); err != nil {
		t.Fatal(err)
	}
	last := m.polk.Last()
	scale(tilde, star.Params.Regularizer, last.Rate)
	m.polk.Expansion().W[0] += 2 * last.Budget // κ(x, x) = 1: an error of twice the budget
	if direct := math.Sqrt(difference(tilde, m.polk.Expansion()).NormSq(1)); !(direct > last.Budget) {
		t.Errorf("error %v of a model that was tampered with, budget %v", direct, last.Budget)
	}
	m.note(1.25)
	if got, point := m.final()[theory.Ratio], m.point(); got != 1.25 || point[theory.Ratio] != 1.25 {
		t.Errorf("a violated bound: ratio %v, point %v", got, point)
	}
	m.learn(t, 1, s)
	if point := m.point(); point[theory.Ratio] == 1.25 || point[theory.MeanOrder] != float64(m.order()) {
		t.Errorf("after it: point %v, order %d", point, m.order())
	}
}

// TestMeasuredRun: a measured run has the points of its evaluation, each with measurements, and the
// measurements do not depend on the number of cores.
func TestMeasuredRun(t *testing.T) {
	for _, method := range []string{spec.MethodPOLK, spec.MethodFSGD} {
		run, set := measuredRun(method), smallSet()
		var ends []map[string]float64
		for _, cores := range []*cores{newCores(1, 1), newCores(4, 1)} {
			x := &executor{Options: Options{Results: t.TempDir()}.withDefaults(), minimizers: new(minimizers), cores: cores}
			testutil.NoError(t, x.execute(t.Context(), planned(run), set))
			r, err := record.Read(filepath.Join(RecordsDir(x.Results), planned(run).ID+".jsonl"))
			testutil.NoError(t, err)
			var samples []int
			for _, p := range r.Points {
				samples = append(samples, p.Samples)
				if len(p.Measured) < 5 {
					t.Errorf("%s at %d: %v", method, p.Samples, p.Measured)
				}
			}
			if !slices.Equal(samples, EvaluationPoints(run.Samples, run.Evaluation)) {
				t.Errorf("%s: points %v", method, samples)
			}
			last := r.Points[len(r.Points)-1].Measured
			if risk := r.Final.Measured[theory.StarRisk]; !(last[theory.Excess] > 0) || !within(r.Points[len(r.Points)-1].TrainRisk, risk+last[theory.Excess], 1e-5) {
				t.Errorf("%s: training risk %v, R(f*) = %v, excess %v", method, r.Points[len(r.Points)-1].TrainRisk, risk, last[theory.Excess])
			}
			ends = append(ends, last)
		}
		for name, v := range ends[0] {
			if ends[1][name] != v {
				t.Errorf("%s: %s is %v on one core and %v on four", method, name, v, ends[1][name])
			}
		}
	}
}

// TestNotMeasured: learners of other types and mini-batches can't be measured.
func TestNotMeasured(t *testing.T) {
	star := smallMinimizer(t)
	if _, err := newMeasured(&fake{}, star); err == nil {
		t.Error("a fake is measured")
	}
	m := smallLearner(t, measuredRun(spec.MethodPOLK), star)
	if _, err := m.Step(t.Context(), 2, star.Train.X, star.Train.Y); err == nil || m.polk.Steps() != 0 {
		t.Errorf("a mini-batch of two: error %v after %d steps", err, m.polk.Steps())
	}
}
