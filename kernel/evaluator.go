package kernel

// An Evaluator evaluates the successive models of a training run on fixed sets of points.
// Between evaluations it keeps the float32 kernel values of points and dictionary elements,
// which it recognizes by their [Points.ID], and computes values only for new elements.
//
// Scores and norms have the same bits as [Scorer.Scores] and [Expansion.NormSq], whatever was
// evaluated before and for any number of threads. An Evaluator must not be shared by goroutines.
type Evaluator struct {
	limit  int
	sets   []columns
	kernel Gaussian // of the kept values
	ids    []uint64 // of the dictionary of the kept values
	change change
	scorer Scorer
}

// NewEvaluator returns an evaluator of functions of dim features on sets of points. Each set is a
// row-major matrix of dim columns, which must not change. The kept values take 4 bytes for every pair
// of a point and an element, plus an eighth for growth. If that exceeds limit bytes, or if a [Scorer]
// would compute in float64, the evaluator keeps no values and computes all of them every time.
func NewEvaluator(dim, limit int, sets ...[]float32) *Evaluator {
	v := &Evaluator{limit: limit}
	for _, x := range sets {
		v.sets = append(v.sets, columns{points: MatrixOf(len(x)/dim, dim, x)})
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
		n := c.points.Len()
		c.scores = grow(c.scores, n*e.Outputs)
		if keep {
			c.evaluate(e, &v.change, &v.scorer.single, threads)
		} else {
			c.blocks = nil
			v.scorer.Scores(e, n, c.points.Data(), c.scores, threads)
		}
		scores = append(scores, c.scores)
	}
	return scores, e.NormSq(threads)
}

// fits reports whether the kernel values of a dictionary may be kept.
func (v *Evaluator) fits(order int) bool {
	points := 0
	for i := range v.sets {
		points += v.sets[i].points.Len()
	}
	return 4*points*spare(order) <= v.limit
}
