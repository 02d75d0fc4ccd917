// Package nogd is Nyström online gradient descent (J. Lu, S. Hoi, J. Wang, P. Zhao, Z.-Y. Liu,
// "Large scale online kernel learning", JMLR 17, 2016).
//
// It begins as stochastic gradient descent with the kernel,
//
//	f ← (1 − ηλ)·f − η·ℓ'(f(x), y)·κ(x, ·),
//
// until B samples have entered the dictionary. These samples, the landmarks, then stay fixed.
// With the k largest eigenvalues of their kernel matrix, K ≈ V_k D_k V_kᵀ, the features of all
// later samples are
//
//	φ(x) = D_k^{−1/2} V_kᵀ (κ(d_1, x), …, κ(d_B, x))ᵀ.
//
// Inner products of the features are those of κ(x, ·) projected onto k directions. The function f
// with weights α becomes W = αᵀ V_k D_k^{1/2}, and the steps become
// W ← (1 − ηλ)·W − η·ℓ'(Wφ(x), y)·φ(x)ᵀ.
//
// NOGD as published has λ = 0 and a constant η, and its landmarks are the samples that violate
// their margin. With Every, the landmarks are the first B samples, a uniform draw if the stream
// is shuffled. With Every, λ > 0 and all directions, the method is stochastic gradient descent on
// the Nyström features of Williams and Seeger (NIPS 2000).
//
// The multi-class form is the paper's: one row of W per class, and a loss of all scores, such as
// [loss.MultiHinge].
//
// # Cost
//
// Once the landmarks are found, a sample costs B·p + B·k + 2·k·C multiply-adds, and memory is
// B·p + B·k numbers for landmarks and projection, and k·C weights. Before that, the costs are
// those of the kernel expansion. The change from one to the other costs B³, once. Directions
// whose eigenvalue is below 1e-10 of the largest are dropped. A Learner's results are
// bit-identical for any number of threads. It must not be shared by goroutines.
// [kernel.Expansion.Write] saves its model.
package nogd

import (
	"errors"
	"math"

	"polkrepro/baselines/internal/dataset"
	"polkrepro/baselines/internal/stream"
	"polkrepro/internal/factor"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// smallest is the smallest eigenvalue of a direction, relative to the largest. Kernel values,
// accurate to 2⁻³⁵, are divided by its square root, so features are accurate to at least 3e-6.
const smallest = 1e-10

// A Config is everything that determines a Learner.
type Config struct {
	Kernel      kernel.Kernel       // κ
	Loss        loss.Loss           // ℓ, of C scores
	Classes     int                 // C
	Dim         int                 // p, features of a sample
	Landmarks   int                 // B
	Rank        int                 // k ≤ B; 0 for all directions
	Every       bool                // landmarks are the first B samples, with gradient or without
	Regularizer float64             // λ ≥ 0; 0 for NOGD as published
	Rate        func(t int) float64 // η_t with η_t·λ < 1, for step t = 0, 1, 2, …
}

type base = stream.Model

// A Learner runs NOGD and holds its current function f_t.
type Learner struct {
	*base
	cfg     Config
	t       int
	project []float64      // D_k^{−1/2} V_kᵀ, k×B, once there are B landmarks
	linear  *stream.Linear // W; nil until there are B landmarks
	phi     []float64
	none    []float64 // zero weights, of a landmark without gradient
}

// New returns a learner with f_0 = 0. It fails if the configuration is invalid.
func New(c Config) (*Learner, error) {
	l, p := &Learner{cfg: c}, dataset.Problems{Package: "nogd"}
	p.Descent(c.Loss, c.Classes, c.Rate, c.Regularizer)
	p.If(c.Landmarks < 1, "%d landmarks: want at least 1", c.Landmarks)
	p.If(c.Rank < 0 || c.Rank > c.Landmarks, "rank %d: want 0 to the number of landmarks, %d", c.Rank, c.Landmarks)
	var err error
	if l.base, err = stream.NewModel(p, c.Kernel, c.Classes, c.Dim, l.learn); err != nil {
		return nil, err
	}
	l.none = make([]float64, c.Classes)
	return l, nil
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

// embed switches from the kernel expansion to the features of the landmarks.
func (l *Learner) embed() error {
	b, c := l.F.Order(), l.F.Outputs
	gram := gemm.NewMatrix[float64](b, b)
	for i := range b {
		for j, v := range l.Row(l.F.Dict.At(i))[:i+1] {
			gram.Set(i, j, v)
			gram.Set(j, i, v)
		}
	}
	values, vectors, ok := factor.Eigen(gram)
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
		for j, v := range vectors.Row(i) {
			l.project[i*b+j] = v / root
			for q, a := range l.F.Weights(j) {
				w[q*rank+i] += float64(float64(a*v) * root)
			}
		}
	}
	l.linear = stream.NewLinear(c, w)
	return nil
}

// Expansion returns the current model. It belongs to the learner and is valid until the next
// Step. Once the learner uses W, the weights are α = V_k D_k^{−1/2} Wᵀ.
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
