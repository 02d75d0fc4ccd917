package ivm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"polkrepro/internal/dataset"
	"polkrepro/internal/parallel"
	"polkrepro/kernel"
)

// Reason says which rule ended the imports.
type Reason string

// Rules that end the imports.
const (
	Converged Reason = "converged"  // |H_k − H_{k−1}| < ε |H_k|
	Full      Reason = "full"       // MaxPoints are imported
	Exhausted Reason = "exhausted"  // no other training point adds to the span
	Stuck     Reason = "no descent" // no part of the best step lowers H, in floating point
)

// A Result is a trained model with its certificate: no function in the span of
// the import points has an objective below Objective − Gap.
type Result struct {
	Expansion *kernel.Expansion
	Imported  []int     // import points' indices in the training set, in order
	Trace     []float64 // H_1, H_2, …, after each import
	Reason    Reason

	Objective    float64 // H after the last Newton steps
	GradientNorm float64 // of H on the span, in the norm of the Hilbert space
	Gap          float64 // GradientNorm²/(2λ), by strong convexity
	KernelEvals  int64   // evaluations of κ: N for each candidate tried
}

// Train fits n samples: x is n×Dim row-major, y holds class indices 0 … Classes−1. Cancelling the
// context ends training with the context's error.
//
// It fails on an invalid configuration, invalid sizes, features that are not finite, labels that
// are not classes, and a regularizer so small that floating point can't solve for a Newton step.
func Train(ctx context.Context, c Config, n int, x []float32, y []float64) (*Result, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := dataset.Check(n, c.Dim, c.Classes, x, y); err != nil {
		return nil, fmt.Errorf("ivm: %w", err)
	}
	// No kernel value of two points exceeds the larger of their own κ(x, x).
	for i := range n {
		if self := c.Kernel.Self(x[i*c.Dim : (i+1)*c.Dim]); !(self <= math.MaxFloat32) {
			return nil, fmt.Errorf("ivm: sample %d: κ(x, x) = %v is too large", i, self)
		}
	}
	t := newTrainer(c, n, x, y)
	reason, err := t.imports(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.polish(ctx); err != nil {
		return nil, err
	}
	g := norm(t.spanGradient())
	return &Result{
		Expansion: t.expansion(), Imported: t.index, Trace: t.history, Reason: reason,
		Objective: t.objective, GradientNorm: g, Gap: g * g / (2 * t.Regularizer), KernelEvals: t.evals,
	}, nil
}

// A trainer imports points.
type trainer struct {
	*state
	random  *rand.PCG
	pool    []int // candidates, in any order
	blocks  []block
	history []float64
	evals   int64
}

func newTrainer(c Config, n int, x []float32, y []float64) *trainer {
	t := &trainer{state: newState(c.withDefaults(), n, x, y)}
	t.blocks = make([]block, t.Threads)
	t.random = rand.NewPCG(t.Seed, 0)
	for l := range n {
		t.pool = append(t.pool, l)
	}
	return t
}

// imports adds points until a rule ends the imports.
func (t *trainer) imports(ctx context.Context) (Reason, error) {
	for {
		if t.MaxPoints > 0 && t.order() >= t.MaxPoints {
			return Full, nil
		}
		best, err := t.choose(ctx)
		if err != nil {
			return "", err
		}
		if best.index < 0 {
			return Exhausted, nil
		}
		t.add(best.index, best.norm, best.row)
		t.drop([]int{best.index})
		if !t.move(best.dir) {
			return Stuck, nil
		}
		t.history = append(t.history, t.objective)
		if t.Trace != nil {
			if err := t.Trace(len(t.history), t.objective); err != nil {
				return "", err
			}
		}
		if k := len(t.history) - 1; k > 0 && t.history[k-1]-t.history[k] < t.Tolerance*t.history[k] {
			return Converged, nil
		}
	}
}

// choose tries candidates and returns the best; its index is −1 if there is none. If a draw holds
// only points of the span, choose draws again.
func (t *trainer) choose(ctx context.Context) (trial, error) {
	best := trial{index: -1}
	e, err := t.newton()
	for err == nil && best.index < 0 && len(t.pool) > 0 {
		before := len(t.pool)
		for _, found := range t.try(ctx, e, t.draw()) {
			t.drop(found.rejected)
			if found.index >= 0 && (best.index < 0 || found.objective < best.objective) {
				best = found
			}
		}
		err = ctx.Err()
		if err == nil && best.index < 0 && len(t.pool) == before {
			err = fmt.Errorf("ivm: the objective of none of %d candidates is finite: the kernel's values or the regularizer are too small", len(t.draw()))
		}
	}
	return best, err
}

// draw moves the candidates for an import, drawn without replacement, to the
// front of the pool and returns them.
func (t *trainer) draw() []int {
	if t.Candidates == 0 || t.Candidates >= len(t.pool) {
		return t.pool
	}
	r := rand.New(t.random)
	for i := range t.Candidates {
		k := i + int(r.Uint64N(uint64(len(t.pool)-i)))
		t.pool[i], t.pool[k] = t.pool[k], t.pool[i]
	}
	return t.pool[:t.Candidates]
}

// drop takes candidates out of the pool.
func (t *trainer) drop(candidates []int) {
	for _, l := range candidates {
		i := slices.Index(t.pool, l)
		t.pool = slices.Delete(t.pool, i, i+1)
	}
}

// try tries the candidates block by block.
func (t *trainer) try(ctx context.Context, e *newton, index []int) []trial {
	index = slices.Clone(index) // drop changes the pool
	t.evals += int64(len(index)) * int64(t.n)
	trials := make([]trial, (len(index)+blockSize-1)/blockSize)
	parallel.Do(t.Threads, len(trials), func(w, u int) {
		trials[u].index = -1
		if ctx.Err() == nil {
			trials[u] = t.blocks[w].try(w, t.state, e, index[u*blockSize:min((u+1)*blockSize, len(index))])
		}
	})
	return trials
}

const (
	// polishGap is the gap, as a fraction of the objective, at which Newton's method ends.
	polishGap   = 1e-6
	polishSteps = 50
)

// polish takes Newton steps over the import points until the gap is small or
// no step lowers the objective any more.
func (t *trainer) polish(ctx context.Context) error {
	for range polishSteps {
		if err := ctx.Err(); err != nil {
			return err
		}
		e, err := t.newton()
		if err != nil {
			return err
		}
		g := norm(e.gradient)
		if g*g <= 2*t.Regularizer*polishGap*t.objective || !t.move(e.direction(t.order(), t.dims())) {
			return nil
		}
	}
	return nil
}
