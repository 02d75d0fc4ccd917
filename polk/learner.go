package polk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"polkrepro/internal/dataset"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk/prune"
)

// ErrDiverged is wrapped by the error of a step, also of the learners of other packages, of which a
// score or a gradient is no longer a finite number. Such a step leaves the model as it was.
var ErrDiverged = errors.New("scores are no longer finite: the iterates have diverged")

// Config configures a Learner, which minimizes the expected loss plus (λ/2)·Σ‖f_c‖². Kernel,
// Loss, Dim, LearningRate and Budget are required, and so is Classes for a multi-class loss;
// [Config.Validate] reports all missing and out-of-range values in one error.
type Config struct {
	Kernel       kernel.Kernel // κ; any implementation, also of another package
	Loss         loss.Loss     // ℓ; any implementation
	Classes      int           // C ≥ 2 for the multi-class losses; not negative and ignored for the others
	Dim          int           // p, the length of a feature vector
	Regularizer  float64       // λ ≥ 0 of (λ/2)·Σ‖f_c‖²
	LearningRate Schedule      // η_t < 1/λ
	Budget       BudgetRule    // ε_t

	// Pruner makes the dictionary smaller after each step; nil means the paper's KOMP. An
	// Instance must not be shared between learners.
	Pruner *prune.Instance
	Seed   uint64 // seed of the pruner's random numbers

	// In steps FixedFrom ≤ t < FixedTo the dictionary does not change, and each gradient is
	// projected on its span. This requires a pruner that keeps the inverse.
	FixedFrom, FixedTo int

	Threads int // goroutines a step may use; 0 means 1. The result does not depend on it.
}

// Validate returns all errors in c, joined, or nil if c is valid.
func (c Config) Validate() error {
	p := dataset.Problems{Package: "polk"}
	p.Kernel(c.Kernel)
	p.If(c.Loss == nil, "Loss", nil, "set")
	if c.Loss != nil {
		c.checkClasses(&p)
	}
	p.If(c.Dim < 1, "Dim", c.Dim, "at least 1")
	p.Descent(c.LearningRate, c.Regularizer)
	p.If(c.Budget == nil, "Budget", nil, "set")
	if c.LearningRate != nil && c.Budget != nil {
		p.Add("Budget", checkBudget(0, c.Budget.Epsilon(c.LearningRate.Rate(0))))
	}
	if c.Pruner != nil {
		c.checkPruner(&p)
	}
	p.If(c.FixedFrom < 0, "FixedFrom", c.FixedFrom, "at least 0")
	p.If(c.FixedTo < 0 || c.FixedTo > 0 && !c.inverse(), "FixedTo", c.FixedTo, "at least 0, and 0 without the inverse kernel matrix")
	p.If(c.Threads < 0, "Threads", c.Threads, "at least 0")
	return p.Err()
}

// checkClasses reports a loss with other than one function, or one for each of two or more classes.
func (c *Config) checkClasses(p *dataset.Problems) {
	if loss.Multiclass(c.Loss) {
		p.If(c.Classes < 2, "Classes", c.Classes, "at least 2 for the loss "+c.Loss.Name())
		p.Loss(c.Loss, c.Classes)
		return
	}
	n := c.Loss.Outputs(c.Classes)
	p.If(n != 1, "Loss", c.Loss.Name(), fmt.Sprintf("a loss of one function, or one for each class, and has %d", n))
	p.If(c.Classes < 0, "Classes", c.Classes, "at least 0")
}

// checkPruner reports a pruner that was not made by package prune, or not for the kernel.
func (c *Config) checkPruner(p *dataset.Problems) {
	if c.Pruner.Pruner() == nil {
		p.If(true, "Pruner", "without a heuristic", "made by prune.New or prune.Find")
		return
	}
	if c.Kernel == nil || !c.Pruner.Heuristic().Gaussian {
		return
	}
	g, ok := c.Kernel.(kernel.Gaussian)
	p.If(!ok, "Pruner", c.prunerName(), fmt.Sprintf("used with the %s kernel, not the %s", g.Name(), c.Kernel.Name()))
}

// checkBudget reports an invalid budget of step t.
func checkBudget(t int, eps float64) error {
	if !(eps >= 0) || math.IsInf(eps, 1) {
		return fmt.Errorf("budget ε = %v in step %d: must be finite and at least 0", eps, t)
	}
	return nil
}

// A Learner is POLK (Algorithm 2). It is not safe for concurrent use.
type Learner struct {
	cfg     Config
	f       *kernel.Expansion
	komp    komp
	pruner  *prune.Instance // of the configuration, or KOMP
	source  rand.PCG
	rand    *rand.Rand       // of source, for the pruner
	entries map[uint64]entry // by the elements' IDs in the dictionary; nil without a pruner of the configuration
	entered uint64           // number of new elements that the pruner has seen
	ahead   *Learner         // takes the steps of Preview

	previewed int // in the learner of Preview: the step
	t         int
	evals     int64
	last      Step

	before []float64 // weights before the step
	scores []float64 // n×C
	grad   []float64
	x64    matrix // n×dim
	kx     matrix // n×M: kernel values
}

// A Step describes one step of Algorithm 2. With KOMP, unless the dictionary is fixed, Error is at
// most Budget plus the cost of numerically dependent elements. With another pruner, it is the cost
// of the pruner's removals with a refit.
type Step struct {
	Active  int     // samples whose gradient is not zero
	Removed int     // number of removed elements: old, new, entered by a pruner, or dropped because K_DD was singular
	Error   float64 // ‖f_{t+1} − f̃_{t+1}‖ with KOMP
	Budget  float64 // ε_t
	Rate    float64 // η_t
}

// Health counts what the numerical supervision of K_DD⁻¹ measured and did.
type Health struct {
	Residual    float64 // largest |P·K·e_i − e_i| that was tolerated
	Refinements int     // steps that refined their solutions with P
	Repairs     int     // factorizations of K_DD from scratch
	Folded      int     // new elements that were numerically linear combinations of the others
	Dropped     int     // dictionary elements removed because K_DD was numerically singular
}

// New returns a learner for f₀ = 0. It fails if the configuration is not valid.
func New(cfg Config) (*Learner, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return newLearner(cfg, kernel.NewExpansion(cfg.Kernel, cfg.Dim, cfg.Loss.Outputs(cfg.Classes))), nil
}

func newLearner(cfg Config, f *kernel.Expansion) *Learner {
	cfg.Threads = max(cfg.Threads, 1)
	l := &Learner{f: f, komp: komp{dict: dictionary{f: f, threads: cfg.Threads}, in: newEntering(cfg.Dim)}}
	l.rand = rand.New(&l.source)
	l.use(cfg)
	if cfg.Pruner != nil {
		l.entries = make(map[uint64]entry)
	}
	return l
}

// use sets the configuration.
func (l *Learner) use(cfg Config) {
	l.cfg, l.pruner = cfg, cfg.Pruner
	l.komp.undoable = cfg.Pruner == nil
	if l.komp.undoable {
		l.pruner, _ = prune.Find(prune.KOMP, nil) // it is registered, and takes no parameter
	}
	l.komp.dict.ridge = l.pruner.Ridge()
}

// Expansion returns the current functions f_t. The learner owns them: read them between steps,
// Clone them to keep them.
func (l *Learner) Expansion() *kernel.Expansion { return l.f }

// Model returns the Expansion.
func (l *Learner) Model() kernel.Model { return l.f }

// Steps returns t, the number of steps taken.
func (l *Learner) Steps() int { return l.t }

// Last describes the last step.
func (l *Learner) Last() Step { return l.last }

// SetThreads sets the number of goroutines a step may use, at least 1. The
// result does not depend on it.
func (l *Learner) SetThreads(n int) {
	l.cfg.Threads = max(n, 1)
	l.komp.dict.threads = l.cfg.Threads
}

// KernelEvals returns the number of kernel evaluations so far.
func (l *Learner) KernelEvals() int64 { return l.evals }

// Health returns the counters of all steps so far.
func (l *Learner) Health() Health { return l.komp.dict.health }

// Step takes one step on a mini-batch of n samples, x of n×Dim in row-major
// order and y of n targets:
//
//	f̃ = (1 − η_t λ)·f_t − (η_t/n)·Σ_i ℓ'(f_t(x_i), y_i)·κ(x_i, ·),
//	f_{t+1} = KOMP(f̃, ε_t).
//
// It returns the scores f_t(x_i), n×C, valid until the next step. x and y may be longer.
//
// A non-finite feature, a target that the loss does not have, divergence, and a ctx that ends
// during the step are errors that leave the learner as it was before the step. Two steps are
// taken although ctx has ended: one that finds K_DD⁻¹ inaccurate and repairs it, and one whose
// pruner of the configuration has begun. Such a pruner may stop early: the dictionary is then
// pruned as far as the pruner got, and its error is returned.
func (l *Learner) Step(ctx context.Context, n int, x []float32, y []float64) ([]float64, error) {
	return l.StepWeighted(ctx, n, x, y, nil)
}

// StepWeighted is Step with a weight for each sample, a finite factor of at least 0 on its gradient
// ℓ'. No weights are weights of 1. Pruners see the samples without their weights.
func (l *Learner) StepWeighted(ctx context.Context, n int, x []float32, y, weights []float64) ([]float64, error) {
	if err := l.check(n, x, y); err != nil {
		return nil, err
	}
	rate := l.cfg.LearningRate.Rate(l.t)
	eps := l.cfg.Budget.Epsilon(rate)
	if err := cmp.Or(dataset.CheckRate(l.t, rate, l.cfg.Regularizer), checkBudget(l.t, eps)); err != nil {
		return nil, fmt.Errorf("polk: %w", err)
	}
	if err := l.score(ctx, n, x); err != nil {
		return nil, err
	}
	if err := l.gradients(ctx, n, x, y, weights, rate); err != nil {
		return nil, err
	}
	k := &l.komp
	k.watched, k.abandoned = ctx, false
	supervision := k.dict.supervision
	l.before = append(l.before[:0], l.f.W...)
	// f̃ = (1 − ηλ)·f_t − η·∇, eq. (param_update): the gradient is taken at f_t, so the weights
	// shrink only now. The batch holds the weights of the new elements.
	shrink := 1 - float64(rate*l.cfg.Regularizer)
	for i := range l.f.W {
		l.f.W[i] *= shrink
	}
	active := k.in.n
	err := l.prune(ctx, prune.Step{
		T: l.t, Len: l.f.Order() + k.in.n, N: n, X: x[:n*l.cfg.Dim], Y: y[:n], Rate: rate, Epsilon: eps,
		Kernel: l.cfg.Kernel, Loss: l.cfg.Loss, Outputs: l.f.Outputs,
	})
	k.watched = nil
	if k.abandoned { // before the dictionary could change
		copy(l.f.W, l.before)
		k.dict.supervision = supervision
		return nil, abandoned(ctx)
	}
	removed := len(k.removed) + k.dict.health.Dropped - supervision.health.Dropped
	l.last = Step{Active: active, Removed: removed, Error: math.Sqrt(k.squaredError), Budget: eps, Rate: rate}
	l.t++
	return l.scores, err
}

// abandoned returns the error of a step whose context has ended, or nil.
func abandoned(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("polk: the step was abandoned: %w", err)
	}
	return nil
}

// watchedRows is the number of rows of kernel values after which a step looks at its context.
const watchedRows = 256

// check reports invalid samples.
func (l *Learner) check(n int, x []float32, y []float64) error {
	if n < 1 || len(x) < n*l.cfg.Dim || len(y) < n {
		return fmt.Errorf("polk: step on %d samples (want at least 1): want %d features and %d targets, got %d and %d", n, n*l.cfg.Dim, n, len(x), len(y))
	}
	for i, v := range x[:n*l.cfg.Dim] {
		if v-v != 0 {
			return fmt.Errorf("polk: feature %d of sample %d is %v", i%l.cfg.Dim, i/l.cfg.Dim, v)
		}
	}
	if err := loss.CheckTargets(l.cfg.Loss, l.f.Outputs, y[:n]); err != nil {
		return fmt.Errorf("polk: %w", err)
	}
	return nil
}

// score computes the kernel values of the n samples to the dictionary and the scores f_t(x_i), in
// float64 because the values enter K_DD.
func (l *Learner) score(ctx context.Context, n int, x []float32) error {
	m, c, dim := l.f.Order(), l.f.Outputs, l.cfg.Dim
	l.x64, l.kx, l.scores = l.x64.Fresh(n, dim), l.kx.Fresh(n, m), grow(l.scores, n*c)
	kernel.Widen(l.x64.Data(), x[:n*dim])
	for lo := 0; lo < n; lo += watchedRows {
		hi := min(lo+watchedRows, n)
		l.f.Dict.Block64(l.cfg.Kernel, l.x64.Rows(lo, hi), l.kx.Rows(lo, hi), l.cfg.Threads)
		if err := abandoned(ctx); err != nil {
			return err
		}
	}
	l.evals += int64(n) * int64(m)
	gemm.MulAB(1, l.kx, l.komp.dict.weights(), 0, gemm.MatrixOf(n, c, l.scores), l.cfg.Threads)
	return nil
}

// gradients makes new elements of the samples whose gradient is not zero, with the weights
// −(η/n)·ℓ', times that of the sample if there are weights. A sample with a zero gradient would enter with weight zero and leave at no cost.
func (l *Learner) gradients(ctx context.Context, n int, x []float32, y, weights []float64, rate float64) error {
	c, dim, in := l.f.Outputs, l.cfg.Dim, &l.komp.in
	in.clear(c)
	l.grad = grow(l.grad, c)
	for i := range n {
		value := l.cfg.Loss.Gradient(l.grad, l.scores[i*c:(i+1)*c], y[i])
		if weights != nil {
			scale(weights[i], l.grad)
		}
		g2 := sumSquares(l.grad)
		if value-value != 0 || g2-g2 != 0 {
			return fmt.Errorf("polk: %w", ErrDiverged)
		}
		if g2 == 0 {
			continue
		}
		w := in.append(i, x[i*dim:(i+1)*dim])
		for q, g := range l.grad {
			w[q] = -rate / float64(n) * g
		}
		copy(l.kx.Row(in.n-1), l.kx.Row(i))
		copy(l.x64.Row(in.n-1), l.x64.Row(i))
	}
	in.toDict = l.kx.Rows(0, in.n)
	return l.batchGram(ctx)
}

// largest bounds κ(x, x), and so every |κ(x, x')| if κ is a kernel. The projection can multiply
// and divide such values without overflow.
const largest = 1e100

// batchGram computes the kernel matrix among the new elements.
func (l *Learner) batchGram(ctx context.Context) error {
	in := &l.komp.in
	in.gram = in.gram.Fresh(in.n, in.n)
	for lo := 0; lo < in.n; lo += watchedRows {
		hi := min(lo+watchedRows, in.n)
		in.points.Block64(l.cfg.Kernel, l.x64.Rows(lo, hi), in.gram.Rows(lo, hi), 1)
		if err := abandoned(ctx); err != nil {
			return err
		}
	}
	for i := range in.n {
		self := l.cfg.Kernel.Self(in.points.At(i))
		if !(self >= 0 && self <= largest) {
			return fmt.Errorf("polk: κ(x, x) of sample %d is %v, want 0 to %v", in.samples[i], self, largest)
		}
		in.gram.Set(i, i, self)
		for j, v := range in.gram.Row(i)[:i] {
			if !(math.Abs(v) <= largest) {
				return fmt.Errorf("polk: κ(x, x') of samples %d and %d is %v: not a kernel value", in.samples[i], in.samples[j], v)
			}
		}
	}
	l.evals += int64(in.n) * int64(in.n)
	return nil
}

// Project returns the approximation of f within eps by Algorithm 1 alone, without a step. It
// also returns the indices of the removed elements of f in the order of removal, and the distance
// ‖f − approx‖. The elements that stay keep their order.
func Project(f *kernel.Expansion, eps float64) (approx *kernel.Expansion, removed []int, distance float64) {
	whole, m := dictionary{f: f, threads: 1}, f.Order()
	whole.inverse.reserve(m)
	whole.computeK()
	k := komp{dict: dictionary{f: kernel.NewExpansion(f.Kernel, f.Dict.Dim(), f.Outputs), threads: 1}}
	k.in = entering{
		n: m, points: f.Dict.Clone(), spare: f.Dict.Clone(),
		weights: gemm.MatrixOf(m, f.Outputs, slices.Clone(f.W)), toDict: gemm.NewMatrix[float64](m, 0), gram: whole.inverse.gram.Clone(),
	}
	for i := range m {
		k.in.samples = append(k.in.samples, i)
	}
	k.begin()
	k.step.Epsilon = eps
	komp, _ := prune.Find(prune.KOMP, nil)
	k.project(context.Background(), komp.Pruner().(prune.InversePruner)) // fails only if its context ends
	return k.dict.f, k.removed, math.Sqrt(k.squaredError)
}
