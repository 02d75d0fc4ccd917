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
	"context"
	"errors"
	"fmt"
	"math"

	"polkrepro/baselines/internal/stream"
	"polkrepro/internal/dataset"
	"polkrepro/internal/factor"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// smallest is the smallest eigenvalue of a direction, relative to the largest. Kernel values,
// accurate to 2⁻³⁵, are divided by its square root, so features are accurate to at least 3e-6.
const smallest = 1e-10

// A Config is everything that determines a Learner.
type Config struct {
	Kernel       kernel.Kernel // κ
	Loss         loss.Loss     // ℓ, of C scores
	Classes      int           // C
	Dim          int           // p, features of a sample
	Landmarks    int           // B
	Rank         int           // k ≤ B; 0 for all directions
	Every        bool          // landmarks are the first B samples, with gradient or without
	Regularizer  float64       // λ ≥ 0; 0 for NOGD as published
	LearningRate polk.Schedule // η_t < 1/λ
}

// Validate returns all errors in c, joined, or nil if c is valid.
func (c Config) Validate() error {
	p := dataset.Problems{Package: "nogd"}
	p.Model(c.Kernel, c.Classes, c.Dim)
	p.Loss(c.Loss, c.Classes)
	p.Descent(c.LearningRate, c.Regularizer)
	p.If(c.Landmarks < 1, "Landmarks", c.Landmarks, "at least 1")
	p.If(c.Rank < 0 || c.Rank > c.Landmarks, "Rank", c.Rank, fmt.Sprintf("at least 0 and at most Landmarks, %d", c.Landmarks))
	return p.Err()
}

// A Learner runs NOGD and holds its current function f_t.
type Learner struct {
	m       *stream.Model
	cfg     Config
	descent stream.Descent
	project []float64      // D_k^{−1/2} V_kᵀ, k×B, once there are B landmarks
	linear  *stream.Linear // W; nil until there are B landmarks
	phi     []float64
	none    []float64 // zero weights, of a landmark without gradient
}

// New returns a learner with f_0 = 0. It fails if the configuration is invalid.
func New(c Config) (*Learner, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	l := &Learner{cfg: c, descent: stream.Descent{Loss: c.Loss, Rates: c.LearningRate, Lambda: c.Regularizer}, none: make([]float64, c.Classes)}
	l.m = stream.NewModel("nogd", c.Kernel, c.Classes, c.Dim, l.learn)
	return l, nil
}

// Step learns from n samples, one after another: x is n×Dim in row-major order, y holds n classes
// 0 … C−1. It returns the scores of each sample, n×C, computed before learning from that sample;
// they are valid until the next Step. If a sample is invalid, Step learns from none. If a score, loss
// or learning rate is not finite, or ctx ends, it fails at that sample, has learned from those before
// it, and can go on.
func (l *Learner) Step(ctx context.Context, n int, x []float32, y []float64) ([]float64, error) {
	return l.m.Step(ctx, n, x, y)
}

// SetThreads sets the number of goroutines that a step may use, at least 1, which is the default.
// The results do not depend on it.
func (l *Learner) SetThreads(n int) { l.m.SetThreads(n) }

// KernelEvals returns the number of evaluations of κ in steps so far.
func (l *Learner) KernelEvals() int64 { return l.m.Evals }

func (l *Learner) learn(x []float32, y float64) error {
	if l.linear != nil {
		l.features(x)
		err := l.linear.Descend(l.m.T, l.descent, l.phi, y)
		l.m.Saw(l.linear.Scores)
		return err
	}
	entered, err := l.m.Descend(l.descent, x, y)
	if err != nil {
		return err
	}
	if !entered && l.cfg.Every {
		l.m.F.Append(x, l.none)
	}
	if l.m.F.Order() == l.cfg.Landmarks {
		return l.embed()
	}
	return nil
}

// features sets phi to φ(x).
func (l *Learner) features(x []float32) {
	k := l.m.Row(x)
	for i := range l.phi {
		l.phi[i] = gemm.Dot(l.project[i*len(k):(i+1)*len(k)], k)
	}
}

// embed switches from the kernel expansion to the features of the landmarks.
func (l *Learner) embed() error {
	b, c := l.m.F.Order(), l.m.F.Outputs
	gram := gemm.NewMatrix[float64](b, b)
	for i := range b {
		for j, v := range l.m.Row(l.m.F.Dict.At(i))[:i+1] {
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
			for q, a := range l.m.F.Weights(j) {
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
		return l.m.F
	}
	b, rank := l.m.F.Order(), len(l.phi)
	for q := range l.m.F.Outputs {
		column := make([]float64, b)
		for i, w := range l.linear.W[q*rank : (q+1)*rank] {
			gemm.Axpy(w, l.project[i*b:(i+1)*b], column)
		}
		for j, a := range column {
			l.m.F.Weights(j)[q] = a
		}
	}
	return l.m.F
}

// Model returns the Expansion.
func (l *Learner) Model() kernel.Model { return l.Expansion() }

// Health returns the number of features, 0 until all landmarks are found.
func (l *Learner) Health() map[string]float64 { return map[string]float64{"rank": float64(len(l.phi))} }
