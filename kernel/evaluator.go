package kernel

import "reflect"

// An Evaluator evaluates the models that training passes through on fixed sets
// of points. From one evaluation to the next it keeps the kernel values
// between points and dictionary and among the dictionary, recognizes the
// elements by their [Points.ID], and computes those of new elements only.
//
// Scores and norms have the bits of [Scorer.Scores] and [Expansion.NormSq],
// whatever was evaluated before and on however many threads. An Evaluator must
// not be shared by goroutines.
type Evaluator struct {
	limit  int
	sets   []columns
	gram   gram
	kernel Kernel   // of the values that are kept
	double bool     // whether those of the sets are float64
	ids    []uint64 // and their dictionary
	change change
	scorer Scorer
}

// NewEvaluator returns an evaluator of functions of dim features on sets of
// points, each a row-major matrix of dim columns, which must not change. The
// values it keeps take 4 bytes for every pair of a point and an element, 8 where
// a [Scorer] computes in float64, and 8 for every pair of elements, and an eighth
// more to grow into; where this is more than limit bytes, it keeps none and
// computes all values every time.
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
	double := !float32Suffices(e.Kernel, e.W)
	if v.fits(e.Order(), double) {
		normSq = v.incremental(e, double, threads)
	} else {
		normSq = v.fromScratch(e, threads)
	}
	for i := range v.sets {
		scores = append(scores, v.sets[i].scores)
	}
	return scores, normSq
}

// fits reports whether the kernel values of a dictionary may be kept.
func (v *Evaluator) fits(order int, double bool) bool {
	size, bytes := 4, 8*order
	if double {
		size = 8
	}
	for i := range v.sets {
		bytes += size * v.sets[i].n
	}
	return bytes*spare(order) <= v.limit
}

// incremental evaluates with the values that are kept.
func (v *Evaluator) incremental(e *Expansion, double bool, threads int) (normSq float64) {
	if !reflect.DeepEqual(v.kernel, e.Kernel) { // != panics where a kernel holds a slice
		v.ids, v.kernel = v.ids[:0], e.Kernel
	}
	if double != v.double {
		v.ids, v.double = v.ids[:0], double
		for i := range v.sets {
			v.sets[i].forget()
		}
	}
	v.change.find(v.ids, e)
	for i := range v.sets {
		k := &v.sets[i]
		if double {
			k.double.evaluate(k, e, &v.change, &v.scorer.double, threads)
		} else {
			k.single.evaluate(k, e, &v.change, &v.scorer.single, threads)
		}
	}
	v.gram.update(e, &v.change, threads)
	v.ids = append(v.ids[:0], e.Dict.ids...)
	return v.gram.normSq(e.W, e.Outputs)
}

// fromScratch gives the values up and evaluates without them.
func (v *Evaluator) fromScratch(e *Expansion, threads int) (normSq float64) {
	v.ids, v.gram = nil, gram{}
	for i := range v.sets {
		k := &v.sets[i]
		k.forget()
		k.scores = grow(k.scores, k.n*e.Outputs)
		v.scorer.Scores(e, k.n, k.x, k.scores, threads)
	}
	return e.NormSq(threads)
}
