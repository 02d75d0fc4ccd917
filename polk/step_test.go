package polk

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"polkrepro/baselines/learnertest"
	"polkrepro/internal/race"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// TestBudgetNearDependence: the budget holds to 1 % even if the batch is so dense in the plane or
// on the line that its Gram matrix is numerically singular, as is usual for multidist.
func TestBudgetNearDependence(t *testing.T) {
	streams := 300
	if race.Enabled {
		streams = 30
	}
	steps, over, worst := 0, 0, 0.0
	for seed := range uint64(streams) {
		r := rand.New(rand.NewPCG(seed, 7))
		cfg := testConfig(logistic)
		cfg.Dim = 1 + r.IntN(2)
		cfg.Kernel = kernel.Gaussian{Bandwidth: 0.5 + 1.7*r.Float64()}
		cfg.Budget = Parsimony(math.Pow(10, -4+3.5*r.Float64()))
		m := newMixture(r, cfg.Dim, 3)
		l := mustNew(t, cfg)
		n := 5 + r.IntN(15)
		for range 6 {
			x, y := m.batch(n)
			for i := 1; i < n; i++ { // a quarter are copies of earlier ones, moved by between 1e-4 and 1e-1
				if r.IntN(4) == 0 {
					copy(x[i*cfg.Dim:(i+1)*cfg.Dim], x[r.IntN(i)*cfg.Dim:])
					x[i*cfg.Dim+r.IntN(cfg.Dim)] += float32(math.Pow(10, -1-3*r.Float64()))
				}
			}
			u := newTilde(l, n, x, y)
			mustStep(t, l, n, x, y)
			steps++
			dist, _ := distance(u.f, l.Expansion())
			worst = max(worst, dist/l.Last().Budget)
			if !(dist <= 1.01*l.Last().Budget) {
				over++
				t.Errorf("seed %d, step %d: ‖f − f̃‖ = %.4g, reported %.4g, budget %.4g; order %d of %d", seed, l.Steps(), dist, l.Last().Error, l.Last().Budget, l.f.Order(), u.f.Order())
			}
		}
	}
	t.Logf("%d of %d steps over budget, at most %.4f of it spent", over, steps, worst)
}

// size returns Σ_j ‖w_j‖·‖κ(d_j, ·)‖, the scale of rounding errors.
func size(u *kernel.Expansion) (sum float64) {
	for j := range u.Order() {
		sum += math.Sqrt(u.Kernel.Self(u.Dict.At(j)) * sumSquares(u.Weights(j)))
	}
	return sum
}

// TestStepErrors: an invalid batch is an error that says what is wrong. It leaves the learner
// unchanged: the learner continues like a twin that never saw the batch, bit for bit.
func TestStepErrors(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	r := rand.New(rand.NewPCG(3, 3))
	m := newMixture(r, 2, 3)
	faulty := &faultyLoss{Loss: logistic}
	cfg := testConfig(faulty)
	l, twin := mustNew(t, cfg), mustNew(t, cfg)
	set := func(x []float32, i int, v float32) []float32 { x[i] = v; return x }
	label := func(y []float64, i int, v float64) []float64 { y[i] = v; return y }
	step := func(n int, x []float32, y []float64) error { _, err := l.Step(t.Context(), n, x, y); return err }
	for _, c := range []struct {
		name string
		call func(x []float32, y []float64) error
		want string
	}{
		{"NaN feature", func(x []float32, y []float64) error { return step(8, set(x, 5, nan), y) }, "polk: feature 1 of sample 2 is NaN"},
		{"infinite feature", func(x []float32, y []float64) error { return step(8, set(x, 14, inf), y) }, "polk: feature 0 of sample 7 is +Inf"},
		{"label C", func(x []float32, y []float64) error { return step(8, x, label(y, 3, 3)) }, "polk: sample 3: label 3 is not a class 0 … 2"},
		{"label −1", func(x []float32, y []float64) error { return step(8, x, label(y, 7, -1)) }, "polk: sample 7: label -1 is not a class 0 … 2"},
		{"label ½", func(x []float32, y []float64) error { return step(8, x, label(y, 0, 0.5)) }, "polk: sample 0: label 0.5 is not a class 0 … 2"},
		{"NaN label", func(x []float32, y []float64) error { return step(8, x, label(y, 2, math.NaN())) }, "polk: sample 2: label NaN is not a class 0 … 2"},
		{"few features", func(x []float32, y []float64) error { return step(8, x[:15], y) }, "polk: step on 8 samples (want at least 1): want 16 features and 8 targets, got 15 and 8"},
		{"few targets", func(x []float32, y []float64) error { return step(8, x, y[:7]) }, ""},
		{"no samples", func(x []float32, y []float64) error { return step(0, x, y) }, ""},
		{"NaN loss", func(x []float32, y []float64) error { return faulty.step(l, x, y, math.NaN(), 1) }, "polk: scores are no longer finite: the iterates have diverged"},
		{"infinite loss", func(x []float32, y []float64) error { return faulty.step(l, x, y, math.Inf(1), 1) }, "polk: scores are no longer finite: the iterates have diverged"},
		{"NaN gradient", func(x []float32, y []float64) error { return faulty.step(l, x, y, 1, math.NaN()) }, "polk: scores are no longer finite: the iterates have diverged"},
		{"infinite gradient", func(x []float32, y []float64) error { return faulty.step(l, x, y, 1, math.Inf(-1)) }, "polk: scores are no longer finite: the iterates have diverged"},
	} {
		for range 3 {
			m.step(t, 8, l, twin)
		}
		last, health := l.Last(), l.komp.dict.health
		x, y := m.batch(8)
		err := c.call(x, y)
		if err == nil || c.want != "" && err.Error() != c.want {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if l.Last() != last || l.komp.dict.health != health {
			t.Errorf("%s: last step or health changed", c.name)
		}
		sameState(t, c.name, l, twin)
	}
}

// A faultyLoss returns a wrong value and gradient for the last sample of a batch while it is on.
type faultyLoss struct {
	loss.Loss
	on              bool
	samples         int
	value, gradient float64
}

func (f *faultyLoss) step(l *Learner, x []float32, y []float64, value, gradient float64) error {
	*f = faultyLoss{f.Loss, true, len(y), value, gradient}
	defer func() { f.on = false }()
	_, err := l.Step(context.Background(), len(y), x, y)
	return err
}

func (f *faultyLoss) Gradient(g, s []float64, y float64) float64 {
	v := f.Loss.Gradient(g, s, y)
	if f.samples--; f.on && f.samples == 0 {
		g[len(g)-1] = f.gradient
		return f.value
	}
	return v
}

// TestStepStops: wherever the context of a step ends, the learner stays as it was, bit for bit,
// or the step is taken as if the context had not ended. A step that repairs P is taken, and so is
// one with a pruner that has begun.
func TestStepStops(t *testing.T) {
	for _, cost := range []loss.Loss{hinge, logistic} {
		m := newMixture(rand.New(rand.NewPCG(15, 15)), 2, 3)
		cfg := testConfig(cost)
		l, twin := mustNew(t, cfg), mustNew(t, cfg)
		for range 20 {
			m.step(t, 8, l, twin)
		}
		x, y := m.batch(2 * watchedRows)
		for i := 8; i < len(x); i += 4 { // some new elements depend on others
			x[i], x[i+1] = x[i-8]+1e-7, x[i-7]
		}
		stopped := 0
		for ; ; stopped += 1 + stopped/4 {
			_, err := l.Step(&learnertest.Countdown{Context: t.Context(), Left: stopped}, len(y), x, y)
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			sameState(t, fmt.Sprintf("%s, stopped at %d", cost.Name(), stopped), l, twin)
			if l.komp.dict.supervision != twin.komp.dict.supervision {
				t.Fatalf("%s, stopped at %d: health %v, want %v", cost.Name(), stopped, l.Health(), twin.Health())
			}
		}
		if stopped < 100 {
			t.Errorf("%s: the step looked at its context %d times", cost.Name(), stopped)
		}
		mustStep(t, twin, len(y), x, y)
		sameState(t, cost.Name()+", taken", l, twin)

		l.komp.dict.inverse.base.Row(0)[0]++
		l.komp.dict.wait, l.komp.dict.probe = 0, l.f.Order()-1 // the next probe is of element 0
		x, y = m.batch(8)
		if _, err := l.Step(&learnertest.Countdown{Context: t.Context(), Left: 2}, 8, x, y); err != nil || l.Health().Repairs != 1 {
			t.Errorf("%s: a step that repairs: %v, %v", cost.Name(), err, l.Health())
		}
	}
}

// TestDivergence: a learning rate that is far too large for the loss ends in ErrDiverged, and
// the failed step leaves the model unchanged.
func TestDivergence(t *testing.T) {
	cfg := testConfig(loss.SquaredError{})
	cfg.Regularizer, cfg.LearningRate = 0, Constant(1e3)
	l := mustNew(t, cfg)
	m := newMixture(rand.New(rand.NewPCG(4, 4)), 2, 3)
	var err error
	for range 500 {
		x, y := m.batch(4)
		before := modelBytes(t, l.f)
		if _, err = l.Step(t.Context(), 4, x, y); err != nil {
			if string(modelBytes(t, l.f)) != string(before) {
				t.Error("the failed step changed the model")
			}
			break
		}
	}
	if !errors.Is(err, ErrDiverged) {
		t.Fatalf("after %d steps: %v", l.Steps(), err)
	}
	t.Logf("diverged after %d steps", l.Steps())
}

// TestOverflowingKernel: features for which a polynomial kernel is infinite are an error that
// leaves the model unchanged, even in the first step, which has no scores yet. If κ(x, x) is
// merely huge, the step succeeds or fails in the same way. All numbers stay finite.
func TestOverflowingKernel(t *testing.T) {
	cfg := testConfig(logistic)
	for _, degree := range []int{1, 2, 4, 8} {
		cfg.Kernel = kernel.Polynomial{Offset: 1, Degree: degree}
		for _, first := range []float32{1, 1e30} {
			l := mustNew(t, cfg)
			for i, x := range [][]float32{{first, 0, 0, 1}, {1e30, -1e30, 1e35, 1}, {1, 2, 3, 4}} {
				before := modelBytes(t, l.f)
				infinite := math.IsInf(cfg.Kernel.Self(x[:2]), 1)
				_, err := l.Step(t.Context(), 2, x, []float64{0, 2})
				if infinite && err == nil {
					t.Errorf("degree %d, step %d on %v: no error", degree, i, x)
				}
				if err != nil && string(modelBytes(t, l.f)) != string(before) {
					t.Errorf("degree %d, step %d on %v: failed and changed the model", degree, i, x)
				}
				for _, w := range append(l.f.W, l.Last().Error) {
					if w-w != 0 {
						t.Fatalf("degree %d, step %d on %v: weights %v, error %v", degree, i, x, l.f.W, l.Last().Error)
					}
				}
			}
		}
	}
}

// A sample's weight is a factor on its gradient: 2 has the effect of a doubled learning rate, and 1 none.
func TestStepWeighted(t *testing.T) {
	for _, of := range []loss.Loss{hinge, logistic} {
		cfg, fast, small := testConfig(of), testConfig(of), func() float64 { return 1e-3 }
		cfg.Regularizer, fast.Regularizer = 0, 0
		cfg.Budget, fast.Budget = budget(small), budget(small)
		fast.LearningRate = Constant(2 * cfg.LearningRate.Rate(0))
		plain, ones, twos, faster := mustNew(t, cfg), mustNew(t, cfg), mustNew(t, cfg), mustNew(t, fast)
		m := newMixture(rand.New(rand.NewPCG(54, 0)), cfg.Dim, 3)
		for range 10 {
			x, y := m.batch(8)
			mustStep(t, plain, 8, x, y)
			mustStep(t, faster, 8, x, y)
			for l, weight := range map[*Learner]float64{ones: 1, twos: 2} {
				if _, err := l.StepWeighted(t.Context(), 8, x, y, slices.Repeat([]float64{weight}, 8)); err != nil {
					t.Fatal(err)
				}
			}
		}
		sameState(t, "weights of 1", plain, ones)
		if plain.f.Order() == 0 || !slices.Equal(twos.f.W, faster.f.W) {
			t.Errorf("%s: weights of 2 are no doubled rate", of.Name())
		}
	}
}
