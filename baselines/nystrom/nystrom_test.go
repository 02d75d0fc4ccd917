package nystrom

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"polkrepro/baselines/lbfgs"
	"polkrepro/baselines/learnertest"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// set is a training set for tests.
type set struct {
	Config
	n int
	x []float32
	y []float64
}

// blobs draws n points whose classes overlap.
func blobs(seed uint64, n, dim, classes int) *set {
	x, y := learnertest.Blobs(seed, n, dim, classes)
	return &set{Config{Config: lbfgs.Config{
		Kernel: kernel.Gaussian{Bandwidth: 1}, Loss: loss.MultiLogistic{}, Classes: classes, Dim: dim,
		Regularizer: 1e-3, Tolerance: 1e-3,
	}, Landmarks: n}, n, x, y}
}

func (s *set) train(t *testing.T) *Result {
	t.Helper()
	r, err := Train(context.Background(), s.Config, s.n, s.x, s.y)
	testutil.NoError(t, err)
	return r
}

// objective returns (1/N) Σℓ + (λ/2) Σ‖f_c‖² of an expansion, and the norm of
// its gradient in the Hilbert space.
func (s *set) objective(e *kernel.Expansion) (objective, gradient float64) {
	u := make([]float64, s.Classes)
	g := kernel.NewExpansion(s.Kernel, s.Dim, s.Classes) // λf + (1/N) Σ u_i κ(x_i, ·)
	for j := range e.Order() {
		g.Append(e.Dict.At(j), e.Weights(j))
	}
	for i := range g.W {
		g.W[i] *= s.Regularizer
	}
	for i, y := range s.y {
		x := s.x[i*s.Dim : (i+1)*s.Dim]
		objective += s.Loss.Gradient(u, testutil.Score(e, x), y) / float64(s.n)
		for c := range u {
			u[c] /= float64(s.n)
		}
		g.Append(x, u)
	}
	return objective + s.Regularizer/2*e.NormSq(1), math.Sqrt(max(0, g.NormSq(1)))
}

// TestAllLandmarks: if every sample is a landmark, the expansion is the kernel machine itself. By
// strong convexity, its objective is within ‖∇‖²/(2λ) of the minimum over the Hilbert space.
func TestAllLandmarks(t *testing.T) {
	s := blobs(1, 60, 2, 3)
	s.Tolerance = 1e-4
	r := s.train(t)
	h, g := s.objective(r.Expansion)
	if !(math.Abs(h-r.Objective) <= 1e-3*h) {
		t.Errorf("objective %v on the features, %v of the expansion", r.Objective, h)
	}
	if gap := g * g / (2 * s.Regularizer); !(gap <= 2e-3*h) {
		t.Errorf("objective %v, gap %v in the Hilbert space", h, gap)
	}
}

// TestFewLandmarks: the objective on the features equals the expansion's, for both losses.
func TestFewLandmarks(t *testing.T) {
	for _, l := range []loss.Loss{loss.MultiHinge{}, loss.MultiLogistic{}} {
		s := blobs(2, 200, 2, 3)
		s.Loss, s.Landmarks = l, 12
		r := s.train(t)
		if h, _ := s.objective(r.Expansion); !(math.Abs(h-r.Objective) <= 1e-4*h) {
			t.Errorf("%s: objective %v on the features, %v of the expansion", l.Name(), r.Objective, h)
		}
		if !r.Converged {
			t.Errorf("%s: gap %v of %v", l.Name(), r.Gap, r.Objective)
		}
		if want := int64(12*12 + 200*12); r.KernelEvals != want {
			t.Errorf("%s: %d kernel evaluations, want %d", l.Name(), r.KernelEvals, want)
		}
		for j, i := range r.Landmarks {
			if !slices.Equal(r.Expansion.Dict.At(j), s.x[2*i:2*i+2]) {
				t.Errorf("%s: element %d is not sample %d", l.Name(), j, i)
			}
		}
	}
}

// TestFeatures: the inner product of the features of a landmark and of a sample is their kernel
// value.
func TestFeatures(t *testing.T) {
	s := blobs(3, 30, 3, 2)
	s.Landmarks = 10
	f, err := newFeatures(s.Config, s.n, s.x)
	testutil.NoError(t, err)
	phi, err := f.of(context.Background(), s.n, s.x)
	testutil.NoError(t, err)
	for _, i := range f.index {
		for k := range s.n { // exact as long as one of the two is a landmark
			var dot float64
			for j := range 10 {
				dot += float64(phi[i*10+j]) * float64(phi[k*10+j])
			}
			if want := s.Kernel.Eval(s.x[3*i:3*i+3], s.x[3*k:3*k+3]); !(math.Abs(dot-want) <= 1e-4) {
				t.Fatalf("κ = %v, want %v", dot, want)
			}
		}
	}
}

// TestSample: the numbers drawn are distinct and depend on the seed, and each has the same
// probability.
func TestSample(t *testing.T) {
	count := make([]float64, 10)
	const draws = 4000
	for seed := range uint64(draws) {
		got := slices.Clone(sample(10, 3, seed))
		for _, i := range got {
			count[i]++
		}
		slices.Sort(got)
		if len(slices.Compact(got)) != 3 {
			t.Fatalf("drew %v", got)
		}
	}
	for i, n := range count {
		if !(math.Abs(n-0.3*draws) <= 5*math.Sqrt(draws*0.3*0.7)) {
			t.Errorf("%d was drawn %v times", i, n)
		}
	}
}

func TestErrors(t *testing.T) {
	for want, spoil := range map[string]func(s *set){
		"lbfgs: Classes 1":       func(s *set) { s.Classes = 1 },
		"nystrom: Landmarks 0":   func(s *set) { s.Landmarks = 0 },
		"nystrom: sample 1: fea": func(s *set) { s.x[3] = float32(math.NaN()) },
		"nystrom: sample 2: lab": func(s *set) { s.y[2] = -1 },
		"nystrom: sample 0: κ(x, x)": func(s *set) {
			s.Kernel = kernel.Polynomial{Degree: 30}
			s.x[0] = 1e30
		},
		"nystrom: sample 0: feature": func(s *set) {
			s.Kernel = kernel.Polynomial{Degree: 9}
			s.x[0] = 1e30
			s.Landmarks = 1 // not sample 0
		},
	} {
		s := blobs(1, 10, 2, 3)
		spoil(s)
		_, err := Train(context.Background(), s.Config, s.n, s.x, s.y)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestFarApart: if classes are far apart, the smoothed problem is solved to rounding error long
// before the exact problem. The fit still continues until it converges.
func TestFarApart(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var x []float32
	var y []float64
	for i := range 60 {
		c := float64(i % 3)
		y = append(y, c)
		x = append(x, float32(c+r.Float64()), float32(c*c/2+r.Float64()))
	}
	res, err := Train(context.Background(), Config{Config: lbfgs.Config{
		Kernel: kernel.Gaussian{Bandwidth: 0.5}, Loss: loss.MultiHinge{}, Classes: 3, Dim: 2,
		Regularizer: 1e-3, Tolerance: 1e-3,
	}, Landmarks: 20, Seed: 1}, 60, x, y)
	testutil.NoError(t, err)
	if !res.Converged {
		t.Errorf("gap %v of %v after %d iterations", res.Gap, res.Objective, res.Iterations)
	}
}
