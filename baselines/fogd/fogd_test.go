package fogd

import (
	"math"
	"testing"

	"polkrepro/baselines/learnertest"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

const eta = 0.5

func config(l loss.Loss, d int, lambda float64) Config {
	return Config{
		Kernel: kernel.Gaussian{Bandwidth: 1}, Loss: l, Classes: 3, Dim: 2, Frequencies: d, Seed: 4,
		Regularizer: lambda, LearningRate: polk.Constant(eta),
	}
}

// TestEqualsThePaper: after every step, the scores equal those of FOGD as in the authors' program:
// with features z(x) = (sin(u_1ᵀx), cos(u_1ᵀx), …), not divided by √D, and the learning rate η/D.
// The same holds for the update with λ.
func TestEqualsThePaper(t *testing.T) {
	for _, l := range []loss.Loss{loss.MultiHinge{}, loss.MultiLogistic{}} {
		for _, lambda := range []float64{0, 0.01} {
			const n, d = 200, 25
			c := config(l, d, lambda)
			x, y := learnertest.Blobs(1, n, c.Dim, c.Classes)
			fogd := learnertest.New(t, New, c)
			u := frequencies(t, c)
			w := make([][]float64, c.Classes)
			for q := range w {
				w[q] = make([]float64, 2*d)
			}
			got := make([]float64, c.Classes)
			for i := range n {
				x := x[i*c.Dim : (i+1)*c.Dim]
				z := make([]float64, 2*d)
				for j, u := range u {
					phase := u[0]*float64(x[0]) + u[1]*float64(x[1])
					z[2*j], z[2*j+1] = math.Sin(phase), math.Cos(phase)
				}
				f, g := make([]float64, c.Classes), make([]float64, c.Classes)
				for q := range f {
					for j, v := range z {
						f[q] += w[q][j] * v
					}
				}
				fogd.Model().Scores(1, x, got, 1)
				for q, v := range f {
					if !(math.Abs(got[q]-v) <= 1e-4*(1+math.Abs(v))) { // scores are float32
						t.Fatalf("%s, λ = %v, step %d: scores %v, want %v", l.Name(), lambda, i, got, f)
					}
				}
				l.Gradient(g, f, y[i])
				for q := range w {
					for j, v := range z {
						w[q][j] = (1-eta*lambda)*w[q][j] - eta/d*g[q]*v
					}
				}
				learnertest.Step(t, fogd, x, y[i:i+1])
			}
		}
	}
}

// frequencies returns the u_j drawn from the learner's seed. The phase of a unit vector is a
// coordinate of u_j. Unit vectors are scaled down so that phases are below π in magnitude.
func frequencies(t *testing.T, c Config) [][2]float64 {
	const small = 1.0 / 16
	phi := make([]float32, 4*c.Frequencies)
	newModel(c).features(2, []float32{small, 0, 0, small}, phi, 1)
	u := make([][2]float64, c.Frequencies)
	for j := range u {
		for q := range 2 {
			row := phi[q*2*c.Frequencies:]
			u[j][q] = math.Atan2(float64(row[c.Frequencies+j]), float64(row[j])) / small
		}
	}
	return u
}

// estimates returns the errors of the kernel values estimated with d frequencies of a seed, for
// all pairs of points of c.Dim features.
func estimates(c Config, x []float32, d int, seed uint64) (out []float64) {
	c.Frequencies, c.Seed = d, seed
	n := len(x) / c.Dim
	phi := make([]float32, n*2*d)
	newModel(c).features(n, x, phi, 1)
	for i := range n {
		for k := range i {
			var dot float64
			for j, v := range phi[i*2*d : (i+1)*2*d] {
				dot += float64(v) * float64(phi[k*2*d+j])
			}
			out = append(out, dot-c.Kernel.Eval(x[i*c.Dim:(i+1)*c.Dim], x[k*c.Dim:(k+1)*c.Dim]))
		}
	}
	return out
}

// TestDecay: the mean squared error of the estimates is the variance of D independent cosines,
// (1 − κ²)²/(2D) (Sutherland and Schneider, Section 3), so there is no bias.
func TestDecay(t *testing.T) {
	c := config(nil, 1, 0)
	x, _ := learnertest.Blobs(2, 2, c.Dim, 2)
	k := c.Kernel.Eval(x[:2], x[2:4])
	for _, d := range []int{10, 160} {
		var square float64
		const seeds = 3000
		for seed := range uint64(seeds) {
			e := estimates(c, x, d, seed)[0]
			square += e * e / seeds
		}
		want := (1 - k*k) * (1 - k*k) / (2 * float64(d))
		if ratio := square / want; !(ratio >= 0.85) || ratio > 1.15 {
			t.Errorf("D = %d: mean squared error %v, want %v", d, square, want)
		}
	}
}
