package lbfgs

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"polkrepro/internal/dataset"
	"polkrepro/kernel"
)

// Weights runs L-BFGS on the batch problem as the POLK paper writes it (eq. kernel_batch_opt2):
// over the weights w of all training points, with their Euclidean inner product, on
//
//	P(w) = (1/N) Σ_i ℓ((Kw)_i, y_i) + (λ/2) Σ_c w_cᵀ K w_c,
//	∇P(w) = K(u/N + λw),  u_i = ∂ℓ,
//
// with any subgradient for ∂ℓ at the kinks of the hinge, and steps that satisfy the weak Wolfe
// conditions. It has no stopping rule: every Step takes one iteration.
//
// Its condition number is that of K², [Train]'s is that of K. Use it only to learn how such a
// solver performs when it is stopped early. With the hinge, start should be greater than 0: at
// f = 0 all classes tie, and where kernel values are nearly equal, as on Brodatz's textures, no
// step along the subgradient lowers the risk.
//
// An iteration takes two products with the kernel matrix, of the loss gradients and of
// the direction, so that a trial of the line search takes none. Results don't depend
// on the number of threads. A Weights must not be shared by goroutines.
type Weights struct {
	config     Config
	x          []float32
	problem    *problem // its gram is nil before the first iteration
	points     *kernel.Points
	pairs      memory
	now, next  *iterate
	direction  element
	out        *kernel.Expansion
	iterations int
	trials     int  // evaluations of the objective in line searches
	ended      bool // rounding, or a kink, leaves no step
}

// NewWeights draws initial weights, uniform in ±start, for n samples: x is n×Dim row-major, y
// holds class indices 0 … C−1. Tolerance and MaxIterations of c are ignored. It fails if the
// configuration is invalid or does not fit the samples.
func NewWeights(c Config, start float64, seed uint64, n int, x []float32, y []float64) (*Weights, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if !(start >= 0) || math.IsInf(start, 1) {
		return nil, fmt.Errorf("lbfgs: initial weights in ±%v: must be finite and at least 0", start)
	}
	if err := dataset.Check(n, c.Dim, c.Classes, x, y); err != nil {
		return nil, fmt.Errorf("lbfgs: %w", err)
	}
	l, _ := newDualLoss(c.Loss) // Validate has checked the loss
	points := kernel.NewPoints(c.Dim)
	for i := range n {
		points.Append(x[i*c.Dim : (i+1)*c.Dim])
	}
	c = c.withDefaults()
	c.group = c.Classes // keeps the order of sums of the recorded runs
	size := n * c.Classes
	w := &Weights{
		config: c, x: x, points: points,
		problem: &problem{dualLoss: subgradient{l}, n: n, total: float64(n), outputs: c.Classes, lambda: c.Regularizer, y: y},
		pairs:   memory{size: c.Memory, plain: true},
		now:     newIterate(size), next: newIterate(size), direction: newElement(size),
		out: &kernel.Expansion{Kernel: c.Kernel, Dict: points, Outputs: c.Classes, W: make([]float64, size)},
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range w.now.f.w {
		w.now.f.w[i] = start * (2*r.Float64() - 1)
	}
	w.SetThreads(1)
	return w, nil
}

// subgradient is a loss with its own gradient in the place of the envelope's.
type subgradient struct{ dualLoss }

func (l subgradient) smooth(u, f []float64, y int, _ float64) float64 {
	return l.Gradient(u, f, float64(y))
}

// SetThreads sets the number of goroutines that an iteration may use, at least 1.
func (w *Weights) SetThreads(n int) {
	n = max(n, 1)
	w.config.Threads, w.problem.threads, w.pairs.threads = n, n, n
	if w.problem.gram != nil {
		w.problem.gram.setThreads(n)
	}
}

// Step takes one iteration on the whole training set, which w holds already: n must be its size,
// and Step ignores x and y.
func (w *Weights) Step(ctx context.Context, n int, _ []float32, _ []float64) ([]float64, error) {
	if n != w.problem.n {
		return nil, fmt.Errorf("lbfgs: a step of %d samples: want the whole training set of %d", n, w.problem.n)
	}
	return nil, w.iterate(ctx)
}

// iterate takes an iteration, or none if no step lowers the objective any more. The first
// iteration evaluates the kernel matrix, and fails with the context's error if the context ends.
// iterate also fails if the objective is not finite.
func (w *Weights) iterate(ctx context.Context) error {
	if w.problem.gram == nil {
		if err := w.begin(ctx); err != nil {
			return err
		}
	}
	if w.ended {
		return nil
	}
	step := w.search()
	if step == 0 && len(w.pairs.pairs) > 0 { // retry along the gradient
		w.pairs.forget()
		step = w.search()
	}
	w.ended = step == 0
	if w.ended {
		return nil
	}
	p := w.problem
	p.mix(w.next.f, 1, w.now.f, step, w.direction)
	p.evaluate(w.next)
	// The weak Wolfe conditions make ⟨s, y⟩ positive.
	pair := w.pairs.take(len(w.now.f.w))
	p.scale(pair.s, step, element{w: w.direction.w})
	p.mix(pair.y, 1, w.next.inWeights(), -1, w.now.inWeights())
	w.pairs.push(pair)
	w.now, w.next = w.next, w.now
	w.iterations++
	return w.now.check()
}

// begin evaluates the kernel matrix, and the objective at the first weights.
func (w *Weights) begin(ctx context.Context) error {
	k, err := newGram(ctx, w.config, w.points.Len(), w.x, kernel.NewPoints(w.config.Dim))
	if err != nil {
		return fmt.Errorf("lbfgs: kernel matrix: %w", err)
	}
	w.problem.gram = k
	k.mul(w.now.f.kw, w.now.f.w)
	w.problem.products++
	w.problem.evaluate(w.now)
	return w.now.check()
}

// inWeights returns ∇P(w), as a vector.
func (x *iterate) inWeights() element { return element{w: x.gradient.kw} }

// search sets the direction and returns the step to take, or 0 if there is none.
func (w *Weights) search() float64 {
	p, d := w.problem, w.direction
	w.pairs.direction(element{w: d.w}, w.now.inWeights())
	p.gram.mul(d.kw, d.w)
	p.products++
	l := p.lineFrom(w.now, d)
	value0, slope0 := l.at(0)
	step, trials := bisect(value0, slope0, maxTrials, l.at)
	w.trials += trials
	return step
}

// Expansion returns f on all N points, valid until the next Step.
func (w *Weights) Expansion() *kernel.Expansion {
	for i := range w.problem.n {
		w.problem.column(w.out.Weights(i), w.now.f.w, i)
	}
	return w.out
}

// Model returns the Expansion.
func (w *Weights) Model() kernel.Model { return w.Expansion() }

// KernelEvals returns the number of evaluations of κ so far.
func (w *Weights) KernelEvals() int64 {
	if w.problem.gram == nil {
		return 0
	}
	return int64(w.problem.n) * int64(w.problem.n)
}

// Health returns counters: iterations, evaluations of the objective (one at the start
// and the trials of the line searches), products with the kernel matrix, ended (1 if
// no step was left), the objective, and the Euclidean norm of its gradient.
func (w *Weights) Health() map[string]float64 {
	h := map[string]float64{
		"iterations":    float64(w.iterations),
		"evaluations":   float64(1 + w.trials),
		"products":      float64(w.problem.products),
		"ended":         0,
		"objective":     w.now.objective,
		"gradient_norm": math.Sqrt(w.pairs.inner(w.now.inWeights(), w.now.inWeights())),
	}
	if w.ended {
		h["ended"] = 1
	}
	return h
}
