package csvc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"polkrepro/internal/dataset"
	"polkrepro/internal/parallel"
	"polkrepro/kernel"
)

// class is the points of one class, in the order of the training set.
type class struct {
	label  int
	index  []int
	points *kernel.Points
}

// ErrOneClass is the error of Train on samples of a single class.
var ErrOneClass = errors.New("csvc: all samples are of one class")

// A Result is a trained model, with the statistics of its pairs in the order of the model's outputs.
type Result struct {
	*Model
	Pairs []PairStats
}

// Train fits n samples: x is n×Dim row-major, y holds class indices 0 … Classes−1. Cancelling the
// context ends training before the next iteration, with the context's error.
//
// Gaussian kernel values of points far from the origin, compared with the bandwidth, have few
// correct digits in float32: such data should be centred.
//
// It fails on an invalid configuration, invalid sizes, features that are not finite, labels that
// are not classes, a single class, and points so large that kernel values could overflow float32.
func Train(ctx context.Context, c Config, n int, x []float32, y []float64) (*Result, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := dataset.Check(n, c.Dim, c.Classes, x, y); err != nil {
		return nil, fmt.Errorf("csvc: %w", err)
	}
	if err := checkOverflow(c.Kernel, n, c.Dim, x); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	sets := groupByClass(c, n, x, y)
	if len(sets) < 2 {
		return nil, ErrOneClass
	}
	pairs, err := solvePairs(ctx, c, sets)
	if err != nil {
		return nil, err
	}
	r := &Result{Model: newModel(c, sets, pairs)}
	for _, p := range pairs {
		r.Pairs = append(r.Pairs, p.stats)
	}
	return r, nil
}

// checkOverflow fails unless all kernel values are finite in float32. Neither |xᵀx'| nor
// |κ(x, x')| exceeds the larger of its values for (x, x) and (x', x'), and a squared distance is
// at most four times the larger squared norm.
func checkOverflow(k kernel.Kernel, n, dim int, x []float32) error {
	const most = math.MaxFloat32 / 8
	for i := range n {
		point := x[i*dim : (i+1)*dim]
		var norm float64
		for _, v := range point {
			norm += float64(float64(v) * float64(v))
		}
		if self := k.Self(point); !(norm <= most && self <= most) {
			return fmt.Errorf("csvc: sample %d: ‖x‖² = %.3g or κ(x, x) = %.3g is too large for float32", i, norm, self)
		}
	}
	return nil
}

// groupByClass returns the classes that occur, in order of first occurrence. As in LIBSVM, that
// order decides which class of a pair is +1 and which class wins a tied vote.
func groupByClass(c Config, n int, x []float32, y []float64) []*class {
	var sets []*class
	of := make([]*class, c.Classes)
	for i := range n {
		k := int(y[i])
		if of[k] == nil {
			of[k] = &class{label: k}
			sets = append(sets, of[k])
		}
		of[k].index = append(of[k].index, i)
	}
	parallel.Do(c.Threads, len(sets), func(_, k int) {
		set := sets[k]
		set.points = kernel.NewPoints(c.Dim)
		for _, i := range set.index {
			set.points.Append(x[i*c.Dim : (i+1)*c.Dim])
		}
	})
	return sets
}

// pair is the problem of one class against another or against all others, with its solution.
type pair struct {
	sets  []*class  // the class of +1 first
	beta  []float64 // y_i α_i of the points of all sets
	stats PairStats
}

// first returns the index in beta of the first point of a class, or −1 if the class is not in the
// problem.
func (p *pair) first(c *class) int {
	at := 0
	for _, set := range p.sets {
		if set == c {
			return at
		}
		at += set.points.Len()
	}
	return -1
}

// against returns the points labelled −1.
func (p *pair) against() *kernel.Points {
	others := p.sets[1].points
	if len(p.sets) > 2 {
		others = kernel.NewPoints(others.Dim())
		for _, set := range p.sets[1:] {
			for j := range set.points.Len() {
				others.Append(set.points.At(j))
			}
		}
	}
	return others
}

// solvePairs solves the problems of all pairs, or of all classes, Threads at once.
func solvePairs(ctx context.Context, c Config, sets []*class) ([]*pair, error) {
	var pairs []*pair
	for i, set := range sets {
		if c.OneVsAll {
			pairs = append(pairs, &pair{sets: slices.Concat(sets[i:i+1], sets[:i], sets[i+1:])})
			continue
		}
		for _, minus := range sets[i+1:] {
			pairs = append(pairs, &pair{sets: []*class{set, minus}})
		}
	}
	workers := min(c.Threads, len(pairs))
	arenas, errs := make([]arena, workers), make([]error, len(pairs))
	parallel.Do(workers, len(pairs), func(worker, p int) {
		errs[p] = pairs[p].solve(ctx, c, c.Threads/workers, &arenas[worker])
	})
	return pairs, cmp.Or(errs...) // all errors are the context's
}

func (p *pair) solve(ctx context.Context, c Config, threads int, a *arena) error {
	plus, minus := p.sets[0], p.sets[1].label
	if c.OneVsAll {
		minus = -1
	}
	s := newSolver(newRows(c.Kernel, plus.points, p.against(), c.CacheBytes, threads, a), c.C, c.Tolerance)
	if err := s.solve(ctx); err != nil {
		return fmt.Errorf("csvc: classes %d and %d: %w", plus.label, minus, err)
	}
	p.beta, p.stats = s.beta, s.stats()
	p.stats.Plus, p.stats.Minus = plus.label, minus
	return nil
}
