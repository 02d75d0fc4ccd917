package kernel

// An Evaluator evaluates the models that training passes through on fixed sets
// of points. From one evaluation to the next it keeps the float32 kernel values
// between points and dictionary, recognizes the elements by their [Points.ID],
// and computes those of new elements only.
//
// Scores and norms have the bits of [Scorer.Scores] and [Expansion.NormSq],
// whatever was evaluated before and on however many threads. An Evaluator must
// not be shared by goroutines.
type Evaluator struct {
	limit  int
	sets   []columns
	kernel Gaussian // of the values that are kept
	ids    []uint64 // and their dictionary
	change change
	scorer Scorer
}

// NewEvaluator returns an evaluator of functions of dim features on sets of
// points, each a row-major matrix of dim columns, which must not change. The
// values it keeps take 4 bytes for every pair of a point and an element, and an
// eighth more to grow into; where this is more than limit bytes, or a [Scorer]
// computes in float64, it keeps none and computes all values every time.
func NewEvaluator(dim, limit int, sets ...[]float32) *Evaluator {
	v := &Evaluator{limit: limit}
	for _, x := range sets {
		v.sets = append(v.sets, columns{n: len(x) / dim, x: x})
	}
	return v
}

// Evaluate computes the scores f_c(x_i) on every set, n×C row-major, and
// Σ_c ‖f_c‖², on at most threads goroutines. The scores are valid until the
// next call.
func (v *Evaluator) Evaluate(e *Expansion, threads int) (scores [][]float64, normSq float64) {
	k, _ := e.Kernel.(Gaussian)
	keep := float32Suffices(e.Kernel, e.W) && v.fits(e.Order())
	if !keep || k != v.kernel {
		v.ids, v.kernel = v.ids[:0], k
	}
	if keep {
		v.change.find(v.ids, e)
		v.ids = append(v.ids[:0], e.Dict.ids...)
	}
	for i := range v.sets {
		c := &v.sets[i]
		c.scores = grow(c.scores, c.n*e.Outputs)
		if keep {
			c.evaluate(e, &v.change, &v.scorer.single, threads)
		} else {
			c.blocks, c.stride = nil, 0
			v.scorer.Scores(e, c.n, c.x, c.scores, threads)
		}
		scores = append(scores, c.scores)
	}
	return scores, e.NormSq(threads)
}

// fits reports whether the kernel values of a dictionary may be kept.
func (v *Evaluator) fits(order int) bool {
	points := 0
	for i := range v.sets {
		points += v.sets[i].n
	}
	return 4*points*spare(order) <= v.limit
}
