package prune

import (
	"context"
	"fmt"
	"math"

	"polkrepro/kernel"
)

func init() {
	Register(Heuristic{
		Name:  "komp-loss",
		About: "KOMP to a fixed order that removes what the loss on recent samples misses least",
		Params: []Param{Order, {
			Name: "tried", About: "elements whose loss is looked at, the cheapest ones", Integer: true,
			Least: Bound(1), Most: Bound(1000), Default: Bound(8),
		}},
		NewInverse: func(p Params) InversePruner { return &kompLoss{order: p.Int("order"), tried: p.Int("tried")} },
	})
}

// kompLoss removes, of the elements that cost least in the norm, the one whose removal leaves
// the least loss on the previous mini-batch. Removing j subtracts u_j(x)·w_j from the scores at
// x, with u_j(x) = Σ_i κ(x, x_i)·P_ij/P_jj.
//
// The step's own samples would show no difference: those with a gradient are elements, and the
// refit preserves f̃ at the elements that stay.
type kompLoss struct {
	order, tried int
	last         recent
}

// recent is the previous mini-batch.
type recent struct {
	X []float32
	Y []float64
}

// check reports samples of a saved state that don't fit this learner.
func (r *recent) check(step Step) error {
	if len(r.X) != len(r.Y)*(len(step.X)/step.N) {
		return fmt.Errorf("prune: the saved state has %d features and %d targets", len(r.X), len(r.Y))
	}
	for _, y := range r.Y {
		if y-y != 0 || step.Outputs > 1 && (y != math.Trunc(y) || y < 0 || y >= float64(step.Outputs)) {
			return fmt.Errorf("prune: the saved state has the target %v, and there are %d outputs", y, step.Outputs)
		}
	}
	return nil
}

func (p *kompLoss) Kept() any { return &p.last }

func (p *kompLoss) Prune(ctx context.Context, s InverseState) error {
	step := s.Step()
	defer func() { p.last.X, p.last.Y = append(p.last.X[:0], step.X...), append(p.last.Y[:0], step.Y...) }()
	if s.Len() <= p.order {
		return nil
	}
	if err := p.last.check(step); err != nil {
		return err
	}
	v := newView(s, p.last)
	for s.Len() > p.order {
		if err := ctx.Err(); err != nil {
			return err
		}
		best, least := -1, math.Inf(1)
		for _, j := range shortlist(s, p.tried, s.Cost) {
			// A more expensive element is preferred only if its loss is lower by more than rounding.
			if l := v.loss(s, v.without(s, j)); best < 0 || l < least*(1-1e-9) {
				best, least = j, l
			}
		}
		copy(v.scores, v.without(s, best))
		s.Remove(best)
	}
	return nil
}

// A view holds the scores of samples, and the kernel values that update them.
type view struct {
	y      []float64
	k      []float64 // κ between elements and samples, Total×N
	scores []float64 // N×C
	column []float64
	u      []float64 // u_j at the samples
	moved  []float64 // N×C: result of without
}

func newView(s InverseState, of recent) *view {
	step := s.Step()
	n, c, dim := len(of.Y), step.Outputs, len(step.X)/step.N
	v := &view{
		y: of.Y,
		k: make([]float64, s.Total()*n), scores: make([]float64, n*c),
		column: make([]float64, s.Total()), u: make([]float64, n), moved: make([]float64, n*c),
	}
	samples, x := kernel.NewPoints(dim), make([]float64, dim)
	for i := range n {
		samples.Append(of.X[i*dim : (i+1)*dim])
	}
	for j := range s.Total() {
		kernel.Widen(x, s.Point(j))
		row := v.k[j*n : (j+1)*n]
		samples.Block64(step.Kernel, kernel.MatrixOf(1, dim, x), kernel.MatrixOf(1, n, row), 1)
		for i, k := range row {
			axpy(k, s.Weights(j), v.scores[i*c:(i+1)*c])
		}
	}
	return v
}

// without returns the scores if j were removed, valid until the next call.
func (v *view) without(s InverseState, j int) []float64 {
	s.Column(v.column, j)
	n, c := len(v.u), s.Step().Outputs
	clear(v.u)
	for i, p := range v.column {
		if p != 0 {
			axpy(p*s.Distance(j), v.k[i*n:(i+1)*n], v.u)
		}
	}
	copy(v.moved, v.scores)
	for i, u := range v.u {
		axpy(-u, s.Weights(j), v.moved[i*c:(i+1)*c])
	}
	return v.moved
}

// loss returns the loss of scores over the samples.
func (v *view) loss(s InverseState, scores []float64) (sum float64) {
	step := s.Step()
	for i, y := range v.y {
		sum += step.Loss.Value(scores[i*step.Outputs:(i+1)*step.Outputs], y)
	}
	return sum
}
