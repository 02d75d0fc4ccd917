// Package nogd is Nyström online gradient descent (J. Lu, S. Hoi, J. Wang, P. Zhao, Z.-Y. Liu,
// "Large scale online kernel learning", JMLR 17, 2016).
//
// It begins as stochastic gradient descent with the kernel,
//
//	f ← (1 − ηλ)·f − η·ℓ'(f(x), y)·κ(x, ·),
//
// until B samples have entered the dictionary. These landmarks stay. With the k largest
// eigenvalues of their kernel matrix, K ≈ V_k D_k V_kᵀ, the features of all further samples are
//
//	φ(x) = D_k^{−1/2} V_kᵀ (κ(d_1, x), …, κ(d_B, x))ᵀ,
//
// whose inner products are those of κ(x, ·) projected onto k directions; f, of weights α,
// goes on as W = αᵀ V_k D_k^{1/2}, and steps are W ← (1 − ηλ)·W − η·ℓ'(Wφ(x), y)·φ(x)ᵀ.
//
// NOGD as published has λ = 0, a constant η, and takes the samples that violate their
// margin for landmarks. With Every, each of the first B samples is one, which on a
// shuffled stream is a uniform draw, and with λ > 0 and all directions it is stochastic
// gradient descent on the Nyström features of Williams and Seeger (NIPS 2000).
//
// The multi-class form is the paper's: a row of W for each class, and a loss of all
// scores, such as [loss.MultiHinge].
//
// # Cost
//
// Once the landmarks are found: B·p + B·k + 2·k·C multiply-adds a sample, and as memory
// B·p + B·k numbers for landmarks and projection and k·C weights. Before, that of the
// kernel expansion, and between the two B³, once. Directions whose eigenvalue is below
// 1e-10 of the largest are left out. A Learner gives the same bits whatever the number of
// threads. It must not be shared by goroutines. [kernel.Expansion.Write] saves its model.
package nogd

import (
	"errors"
	"fmt"
	"math"

	"polkrepro/baselines/internal/stream"
	"polkrepro/internal/factor"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// smallest is the least eigenvalue of a direction, relative to the largest. Its root
// divides kernel values, which are good to 2⁻³⁵: features are good to 3e-6 at the least.
const smallest = 1e-10

// A Config is everything that determines a Learner.
type Config struct {
	Kernel      kernel.Kernel       // κ
	Loss        loss.Loss           // ℓ, of a function for each class
	Classes     int                 // C
	Dim         int                 // p, features of a sample
	Landmarks   int                 // B
	Rank        int                 // k ≤ B; 0 for as many as there are
	Every       bool                // each of the first B samples is a landmark, not those with a gradient
	Regularizer float64             // λ ≥ 0; 0 for NOGD as published
	Rate        func(t int) float64 // η_t with η_t·λ < 1, of step t = 0, 1, 2, …
}

type base = stream.Model

// A Learner is f_t.
type Learner struct {
	*base
	cfg     Config
	t       int
	project []float64      // D_k^{−1/2} V_kᵀ, k×B, once there are B landmarks
	linear  *stream.Linear // W, from then on
	phi     []float64
	none    []float64 // weights of an element without gradient
}

// New returns the learner of f_0 = 0. It fails if the configuration is not valid.
func New(c Config) (*Learner, error) {
	l := &Learner{cfg: c, none: make([]float64, c.Classes)}
	if c.Landmarks < 1 || c.Rank < 0 || c.Rank > c.Landmarks || !(c.Regularizer >= 0) {
		return nil, fmt.Errorf("nogd: rank %d of %d landmarks and regularizer %v: want 0 to the landmarks, at least 1, and at least 0",
			c.Rank, c.Landmarks, c.Regularizer)
	}
	var err error
	l.base, err = stream.NewModel("nogd", c.Kernel, c.Classes, c.Dim, l.learn)
	return l, err
}

func (l *Learner) learn(x []float32, y float64) error {
	rate := l.cfg.Rate(l.t)
	if l.linear != nil {
		l.features(x)
		if err := l.linear.Descend(l.cfg.Loss, l.phi, y, rate, l.cfg.Regularizer); err != nil {
			return err
		}
		l.Saw(l.linear.Scores)
		l.t++
		return nil
	}
	entered, err := l.Descend(l.cfg.Loss, x, y, rate, l.cfg.Regularizer)
	if err != nil {
		return err
	}
	if !entered && l.cfg.Every {
		l.F.Append(x, l.none)
	}
	l.t++
	if l.F.Order() == l.cfg.Landmarks {
		return l.embed()
	}
	return nil
}

// features sets phi to φ(x).
func (l *Learner) features(x []float32) {
	k := l.Row(x)
	for i := range l.phi {
		l.phi[i] = gemm.Dot(l.project[i*len(k):(i+1)*len(k)], k)
	}
}

// embed goes over to the features of the landmarks that there are.
func (l *Learner) embed() error {
	b, c := l.F.Order(), l.F.Outputs
	gram := make([]float64, b*b)
	for i := range b {
		for j, v := range l.Row(l.F.Dict.At(i))[:i+1] {
			gram[i*b+j], gram[j*b+i] = v, v
		}
	}
	values, vectors, ok := factor.Eigen(b, gram, b)
	if !ok {
		return errors.New("the eigenvalues of the landmarks' kernel matrix were not found")
	}
	rank := 0
	for rank < b && (l.cfg.Rank == 0 || rank < l.cfg.Rank) && values[rank] > smallest*values[0] {
		rank++
	}
	if rank == 0 {
		return errors.New("the landmarks' kernel matrix has no eigenvalue above 0")
	}
	l.project, l.phi = make([]float64, rank*b), make([]float64, rank)
	w := make([]float64, c*rank)
	for i := range rank {
		root := math.Sqrt(values[i])
		for j, v := range vectors[i*b : (i+1)*b] {
			l.project[i*b+j] = v / root
			for q, a := range l.F.Weights(j) {
				w[q*rank+i] += float64(float64(a*v) * root)
			}
		}
	}
	l.linear = stream.NewLinear(c, w)
	return nil
}

// Expansion returns the current model, the learner's own until the next call: of W it
// has the weights α = V_k D_k^{−1/2} Wᵀ.
func (l *Learner) Expansion() *kernel.Expansion {
	if l.linear == nil {
		return l.F
	}
	b, rank := l.F.Order(), len(l.phi)
	for q := range l.F.Outputs {
		column := make([]float64, b)
		for i, w := range l.linear.W[q*rank : (q+1)*rank] {
			gemm.Axpy(w, l.project[i*b:(i+1)*b], column)
		}
		for j, a := range column {
			l.F.Weights(j)[q] = a
		}
	}
	return l.F
}

// Model returns the Expansion.
func (l *Learner) Model() kernel.Model { return l.Expansion() }

// Health returns the number of features, 0 until all landmarks are found.
func (l *Learner) Health() map[string]float64 { return map[string]float64{"rank": float64(len(l.phi))} }
