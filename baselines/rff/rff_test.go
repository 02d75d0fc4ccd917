package rff

import (
	"context"
	"math"
	"strings"
	"testing"

	"polkrepro/baselines/learnertest"
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
	return &set{Config{
		Kernel: kernel.Gaussian{Bandwidth: 1}, Loss: loss.MultiLogistic{}, Classes: classes, Dim: dim,
		Regularizer: 1e-3, Frequencies: 30,
	}, n, x, y}
}

func (s *set) train(t *testing.T) *Result {
	t.Helper()
	r, err := Train(context.Background(), s.Config, s.n, s.x, s.y, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// estimates returns the kernel values of all pairs of points that d
// frequencies of a seed give, less the true ones.
func (s *set) estimates(d int, seed uint64) []float64 {
	c := s.Config
	c.Frequencies, c.Seed = d, seed
	phi := make([]float32, s.n*2*d)
	newFeatures(c).of(s.n, s.x, phi, 1)
	var out []float64
	for i := range s.n {
		for k := range i {
			var dot float64
			for j, v := range phi[i*2*d : (i+1)*2*d] {
				dot += float64(v) * float64(phi[k*2*d+j])
			}
			out = append(out, dot-s.Kernel.Eval(s.x[i*s.Dim:(i+1)*s.Dim], s.x[k*s.Dim:(k+1)*s.Dim]))
		}
	}
	return out
}

// TestUnbiased: over many seeds the mean error of every kernel value is within
// five of its standard errors of 0.
func TestUnbiased(t *testing.T) {
	s := blobs(1, 5, 3, 3)
	const d, seeds = 10, 2000
	sum := make([]float64, s.n*(s.n-1)/2)
	square := make([]float64, len(sum))
	for seed := range uint64(seeds) {
		for i, e := range s.estimates(d, seed) {
			sum[i] += e / seeds
			square[i] += e * e / seeds
		}
	}
	for i, mean := range sum {
		if standard := math.Sqrt(square[i] / seeds); math.Abs(mean) > 5*standard {
			t.Errorf("pair %d: mean error %v, standard error %v", i, mean, standard)
		}
	}
}

// TestDecay: the mean squared error is that of D independent cosines,
// (1 − κ²)²/(2D) (Sutherland and Schneider, Section 3).
func TestDecay(t *testing.T) {
	s := blobs(2, 2, 2, 2)
	k := s.Kernel.Eval(s.x[:2], s.x[2:4])
	for _, d := range []int{10, 160} {
		var square float64
		const seeds = 3000
		for seed := range uint64(seeds) {
			e := s.estimates(d, seed)[0]
			square += e * e / seeds
		}
		want := (1 - k*k) * (1 - k*k) / (2 * float64(d))
		if ratio := square / want; ratio < 0.85 || ratio > 1.15 {
			t.Errorf("D = %d: mean squared error %v, want %v", d, square, want)
		}
	}
}

// TestScores: a model's scores are its weights times cosines and sines of the
// frequencies, and its objective the one reported.
func TestScores(t *testing.T) {
	for _, l := range []loss.Loss{loss.MultiHinge{}, loss.MultiLogistic{}} {
		s := blobs(4, 600, 2, 3)
		s.Loss = l
		r := s.train(t)
		m := r.Model
		d := m.Order()
		got := make([]float64, s.n*3)
		m.Scores(s.n, s.x, got, 2)
		omega := make([]float32, 2)
		var sum float64
		for i, y := range s.y {
			var f [3]float64
			for j := range d {
				m.features.panels.Row(omega, j)
				phase := float64(omega[0])*float64(s.x[2*i]) + float64(omega[1])*float64(s.x[2*i+1])
				for c := range f {
					f[c] += (m.W[c*2*d+j]*math.Cos(phase) + m.W[c*2*d+d+j]*math.Sin(phase)) / math.Sqrt(float64(d))
				}
			}
			for c, v := range f {
				if math.Abs(got[3*i+c]-v) > 1e-4*(1+math.Sqrt(m.NormSq())) {
					t.Fatalf("%s: score %v, want %v", l.Name(), got[3*i+c], v)
				}
			}
			sum += l.Value(f[:], y)
		}
		if h := sum/float64(s.n) + s.Regularizer/2*m.NormSq(); math.Abs(h-r.Objective) > 1e-4*h || !r.Converged {
			t.Errorf("%s: objective %v, want %v; gap %v", l.Name(), r.Objective, h, r.Gap)
		}
	}
}

func TestErrors(t *testing.T) {
	for want, spoil := range map[string]func(s *set){
		"lbfgs: 1 classes":     func(s *set) { s.Classes = 1 },
		"lbfgs: dimension":     func(s *set) { s.Dim = 0 },
		"rff: 0 frequencies":   func(s *set) { s.Frequencies = 0 },
		"lbfgs: kernel":        func(s *set) { s.Kernel = kernel.Gaussian{} },
		"rff: sample 1: fea":   func(s *set) { s.x[3] = float32(math.NaN()) },
		"rff: sample 2: lab":   func(s *set) { s.y[2] = -1 },
		"rff: sample 0 is too": func(s *set) { s.x[0], s.Kernel.Bandwidth = 3e38, 1e-3 },
	} {
		s := blobs(1, 10, 2, 3)
		spoil(s)
		_, err := Train(context.Background(), s.Config, s.n, s.x, s.y, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	s := blobs(7, 100, 2, 3)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 2 { // in the first iteration, then before it
		_, err := Train(ctx, s.Config, s.n, s.x, s.y, func(float64, float64) error { cancel(); return nil })
		if err != context.Canceled {
			t.Errorf("cancelled: %v", err)
		}
	}
}
