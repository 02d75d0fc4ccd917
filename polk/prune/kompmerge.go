package prune

import (
	"context"
	"math"

	"polkrepro/internal/portable"
)

func init() {
	const source = "Algorithm 1 of Koppel, Warnell, Stump and Ribeiro 2016; merging of Wang, Crammer and Vucetic 2012"
	Register(Heuristic{
		Name:     "komp-merge",
		About:    "KOMP that merges the cheapest element with another and refits, where that costs less than to remove it",
		Source:   source,
		Epsilon:  true,
		Gaussian: true,
		NewInverse: func(Params) InversePruner {
			return kompMerge{order: 0, within: func(s Step) float64 { return s.Epsilon * s.Epsilon }}
		},
	})
	Register(Heuristic{
		Name:     "komp-merge-order",
		About:    "komp-merge to a fixed order",
		Source:   source,
		Params:   []Param{Order},
		Gaussian: true,
		NewInverse: func(p Params) InversePruner {
			return kompMerge{order: p.Int("order"), within: func(Step) float64 { return math.Inf(1) }}
		},
	})
}

// kompMerge is Algorithm 1 with a second way to make the dictionary smaller by one: where
// the cheapest element p is not nearly in the span of the others, p and another element q
// are replaced by a point z between them, and all weights are those of the best
// approximation. KOMP moves no element, and merging leaves the weights of the others as
// they are. The cheaper of the two ways is taken.
//
// q and z are those that merging would take, which needs no inverse. What they cost is
// exact: jointCost of p and q with z in the dictionary.
type kompMerge struct {
	order  int                // as many elements are kept whatever they cost
	within func(Step) float64 // squared error that a step may add up to
}

// redundant is the squared distance to the span of the others, relative to κ(x, x), up to
// which an element is removed without a look at merging. It was chosen on data that no
// result is reported of (docs/pruning.md).
const redundant = 0.02

func (k kompMerge) Prune(ctx context.Context, s InverseState) error {
	var column []float64
	most := k.within(s.Step())
	for s.Len() > k.order {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := Least(s, s.Cost)
		removed := s.Spent() + s.Cost(p)
		if q, z := k.merged(s, p); z >= 0 {
			column = append(column[:0], make([]float64, s.Total())...)
			s.Column(column, p)
			merged := s.Spent() + jointCost(s, p, q, column[q])
			if merged < removed && merged <= most {
				s.Remove(p)
				s.Remove(q)
				continue
			}
			s.Remove(z)
		}
		if !(removed <= most) {
			return nil
		}
		s.Remove(p)
	}
	return nil
}

// merged enters the point that p and the best of its partners would be merged to. It
// returns the partner and the new element, −1 if there is none.
func (k kompMerge) merged(s InverseState, p int) (q, z int) {
	if s.Len() < 2 || !(s.Distance(p) > redundant*s.Self(p)) {
		return -1, -1
	}
	row := s.Row(p)
	with, h, least := -1, 0.0, math.Inf(1)
	for _, q := range partners(s, p, row) {
		if at, v := newPair(s, p, q, row[q]).nearSearch(); q != p && v < least {
			with, h, least = q, at, v
		}
	}
	if with < 0 {
		return -1, -1
	}
	return with, s.Enter(between(s.Point(p), s.Point(with), h))
}

// nearSearch returns an h within 1/100 of the best on the side of the heavier element,
// and the squared error of merging there. The refit makes up for the rest.
func (p pair) nearSearch() (h, loss float64) {
	const golden, steps = 0.6180339887498949, 9
	log := portable.Log(p.kappa)
	at := func(h float64) float64 {
		return p.lossAt(portable.Exp(log*(1-h)*(1-h)), portable.Exp(log*h*h))
	}
	lo, hi := 0.0, 0.5
	if p.pp > p.qq {
		lo, hi = 0.5, 1
	}
	a, b := hi-float64(golden*(hi-lo)), lo+float64(golden*(hi-lo))
	atA, atB := at(a), at(b)
	for range steps {
		if atA <= atB {
			hi, b, atB = b, a, atA
			a = hi - float64(golden*(hi-lo))
			atA = at(a)
		} else {
			lo, a, atA = a, b, atB
			b = lo + float64(golden*(hi-lo))
			atB = at(b)
		}
	}
	if atA <= atB {
		return a, atA
	}
	return b, atB
}
