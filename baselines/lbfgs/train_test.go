package lbfgs

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// bothLosses holds the losses of the two tasks.
var bothLosses = []loss.Loss{loss.MultiHinge{}, loss.MultiLogistic{}}

func train(t rapid.TB, c Config, n int, x []float32, y []float64) *Result {
	t.Helper()
	r, err := Train(context.Background(), c, n, x, y)
	testutil.NoError(t, err)
	return r
}

// converged fails unless the gap is certified to the tolerance.
func converged(t rapid.TB, c Config, r *Result) {
	t.Helper()
	if tolerance := c.withDefaults().Tolerance; !r.Converged || !(r.Gap >= 0 && r.Gap <= tolerance*r.Objective) {
		t.Fatalf("converged %v: gap %v of objective %v, after %d iterations", r.Converged, r.Gap, r.Objective, r.Iterations)
	}
}

// reached is converged for randomly drawn problems. Their minimum may be tiny compared with P(0),
// which is about 1, so that rounding ends the run before the tolerance is met.
func reached(t rapid.TB, c Config, r *Result) {
	t.Helper()
	tolerance := c.withDefaults().Tolerance * r.Objective
	if r.Converged != (r.Gap <= tolerance) || !(r.Gap >= 0 && r.Gap <= max(tolerance, 1e-6)) {
		t.Fatalf("converged %v: gap %v of objective %v, after %d iterations", r.Converged, r.Gap, r.Objective, r.Iterations)
	}
}

// scoresOf computes the scores of e, n×C, with Eval alone.
func scoresOf(e *kernel.Expansion, x []float32) []float64 {
	dim := e.Dict.Dim()
	var f []float64
	for i := range len(x) / dim {
		f = append(f, testutil.Score(e, x[i*dim:(i+1)*dim])...)
	}
	return f
}

// scoreError bounds the error of a float32 score at any of the points x by 170 roundings of the
// largest Σ_j |w_j| κ(x, d_j). Features are not negative: nothing cancels in xᵀx' + b.
func scoreError(e *kernel.Expansion, x []float32) float64 {
	sizes := e.Clone()
	for i, w := range sizes.W {
		sizes.W[i] = math.Abs(w)
	}
	return 1e-5 * slices.Max(scoresOf(sizes, x))
}

// risk is the mean loss of scores, n×C.
func risk(l loss.Loss, f, y []float64) float64 {
	classes := len(f) / len(y)
	var sum float64
	for i, label := range y {
		sum += l.Value(f[i*classes:(i+1)*classes], label)
	}
	return sum / float64(len(y))
}

// TestObjective: the objective is that of the returned expansion, both by Eval in float64 and by
// the scorer that evaluates all models.
func TestObjective(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, n, x, y := drawConfig(t, 40)
		c.Kernel = drawKernel(t)
		r := train(t, c, n, x, y)
		reached(t, c, r)
		norm := c.Regularizer / 2 * r.Expansion.NormSq(1)
		literal := risk(c.Loss, scoresOf(r.Expansion, x), y) + norm
		// The tolerance allows for weights of opposite signs on kernel values of up to 1,000.
		if !(math.Abs(r.Objective-literal) <= 1e-10*(1+literal)) {
			t.Fatalf("objective %v, literally %v", r.Objective, literal)
		}
		f := make([]float64, n*c.Classes)
		r.Expansion.Scores(n, x, f, 2)
		scored := risk(c.Loss, f, y) + norm
		// A loss changes by at most twice the change of a score.
		bound := 2*scoreError(r.Expansion, x) + 1e-12
		if !(math.Abs(r.Objective-scored) <= bound) {
			t.Fatalf("objective %v, by the scorer %v, whose error is at most %v", r.Objective, scored, bound)
		}
	})
}

// near fails unless r and s can be solutions of one problem; a and b are their scores at the same
// points. P is λ-strongly convex, so ‖f − f*‖² ≤ 2·gap/λ, and a score is at most √κ(x, x)‖f‖.
func near(t *testing.T, c Config, r, s *Result, a, b []float64) {
	t.Helper()
	converged(t, c, r)
	converged(t, c, s)
	if d := math.Abs(r.Objective - s.Objective); !(d <= max(r.Gap, s.Gap)) {
		t.Errorf("objectives %v and %v, gaps %v and %v", r.Objective, s.Objective, r.Gap, s.Gap)
	}
	bound := math.Sqrt(2*r.Gap/c.Regularizer) + math.Sqrt(2*s.Gap/c.Regularizer)
	for i, v := range a {
		if !(math.Abs(v-b[i]) <= bound) {
			t.Fatalf("score %d is %v and %v, no more than %v apart are possible", i, v, b[i], bound)
		}
	}
}

// threeClasses is a problem of 60 samples, some of which coincide.
func threeClasses(l loss.Loss) (c Config, x []float32, y []float64) {
	c = Config{
		Kernel: kernel.Gaussian{Bandwidth: 0.6}, Loss: l, Classes: 3, Dim: 4, Regularizer: 1e-2, Tolerance: 1e-6,
	}
	x, y = samples(rand.New(rand.NewPCG(5, 5)), 60, c.Dim, c.Classes)
	return c, x, y
}

// TestContradiction: one point has every label once. The minimum is f = 0, where the gradient
// vanishes before the first iteration. All functions f_u are 0, and the bound must still reach the
// minimum.
func TestContradiction(t *testing.T) {
	for _, l := range bothLosses {
		c := Config{Kernel: kernel.Gaussian{Bandwidth: 1}, Loss: l, Classes: 2, Dim: 1, Regularizer: 1}
		r := train(t, c, 2, []float32{3, 3}, []float64{0, 1})
		converged(t, c, r)
		if want := l.Value([]float64{0, 0}, 0); !(math.Abs(r.Objective-want) <= 1e-12) {
			t.Errorf("%s: objective %v, want %v", l.Name(), r.Objective, want)
		}
	}
}

// TestUnreachableTolerance: if rounding keeps the gap above the tolerance, the gap is tiny and
// there is no error.
func TestUnreachableTolerance(t *testing.T) {
	for _, l := range bothLosses {
		c, x, y := threeClasses(l)
		c.Tolerance, c.MaxIterations = 1e-300, 1000
		const n = 30
		r := train(t, c, n, x[:n*c.Dim], y[:n])
		if !(r.Gap <= 1e-8*r.Objective) {
			t.Errorf("%s: ended with gap %v of objective %v after %d iterations", l.Name(), r.Gap, r.Objective, r.Iterations)
		}
	}
}

// TestTrace: trace gets every iteration, and the last objective and gap it gets are the result's.
// A run that ends earlier returns no error and the objective and gap that trace got.
func TestTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: arithmetic alone; TestThreads has the threads")
	}
	for _, l := range bothLosses {
		c, x, y := threeClasses(l)
		var objectives, gaps []float64
		c.Trace = func(objective, gap float64) error {
			objectives, gaps = append(objectives, objective), append(gaps, gap)
			return nil
		}
		r, err := Train(t.Context(), c, len(y), x, y)
		c.Trace = nil
		testutil.NoError(t, err)
		last := len(objectives) - 1
		if r.Iterations != last+1 || !(math.Abs(r.Objective-objectives[last]) <= 1e-10) || !(math.Abs(r.Gap-gaps[last]) <= 1e-10) {
			t.Errorf("result %+v, last traced %v with gap %v of %d", r, objectives[last], gaps[last], last+1)
		}
		if n := int64(len(y)); r.KernelEvals != n*n {
			t.Errorf("%d kernel values", r.KernelEvals)
		}
		for c.MaxIterations = 1; c.MaxIterations <= last; c.MaxIterations += 10 {
			early := train(t, c, len(y), x, y)
			if early.Converged || early.Iterations != c.MaxIterations || !(math.Abs(early.Gap-gaps[c.MaxIterations-1]) <= 1e-10) {
				t.Errorf("iteration %d: %+v, traced gap %v", c.MaxIterations, early, gaps[c.MaxIterations-1])
			}
			e, told := early.Expansion, objectives[c.MaxIterations-1]
			if got := risk(l, scoresOf(e, x), y) + c.Regularizer/2*e.NormSq(1); !(math.Abs(got-told) <= 1e-10) {
				t.Errorf("iteration %d: objective %v, its expansion has %v", c.MaxIterations, told, got)
			}
		}
	}
}

// TestStops: an error from trace ends the run at once, and so does a cancelled context.
func TestStops(t *testing.T) {
	c, x, y := threeClasses(loss.MultiLogistic{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	enough := errors.New("enough")
	for want, stop := range map[error]func() error{
		enough:           func() error { return enough },
		context.Canceled: func() error { cancel(); return nil },
	} {
		on := t.Context()
		if want == context.Canceled {
			on = ctx
		}
		count := 0
		c.Trace = func(float64, float64) error {
			if count++; count == 4 {
				return stop()
			}
			return nil
		}
		r, err := Train(on, c, len(y), x, y)
		if !errors.Is(err, want) || r != nil || count != 4 {
			t.Errorf("%v after %d iterations: result %v, error %v", want, count, r, err)
		}
	}
}

// bits encodes a result as bytes: equal results give equal bytes.
func bits(t *testing.T, r *Result) []byte {
	t.Helper()
	var b bytes.Buffer
	numbers := []float64{r.Objective, r.Gap, r.GradientNorm, r.Smoothing, float64(r.Iterations), float64(r.Products)}
	testutil.NoError(t, r.Expansion.Write(&b, numbers))
	return b.Bytes()
}

// TestThreads: no bit of the result depends on the number of threads, in float64 and in float32,
// with vectors and samples of more than one chunk, and with samples set aside.
func TestThreads(t *testing.T) {
	const n, classes = rowChunk + 100, chunk/rowChunk - 1
	if n*classes <= chunk {
		t.Fatal("all vectors are of one chunk")
	}
	for _, exact := range []int{0, 100} {
		same := func(c Config, x []float32, y []float64) {
			c.exactSize = exact
			want := bits(t, train(t, c, len(y), x, y))
			c.Threads = 3
			if !bytes.Equal(bits(t, train(t, c, len(y), x, y)), want) {
				t.Errorf("%s, %d samples, float64 up to %d: 3 threads give another result than 1", c.Loss.Name(), len(y), exact)
			}
		}
		for _, l := range bothLosses {
			c := Config{
				Kernel: kernel.Gaussian{Bandwidth: 0.6}, Loss: l, Classes: classes, Dim: 3, Regularizer: 1e-3, MaxIterations: 3,
			}
			x, y := samples(rand.New(rand.NewPCG(8, 8)), n, c.Dim, classes)
			same(c, x, y)
		}
		same(farApart(600))
	}
}
