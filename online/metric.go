package online

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"polkrepro/data/rows"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
)

// ScaleLearned is the scaling with a learned metric: the features are scaled by their spread, and
// then by how much the class or the target changes with each.
const ScaleLearned rows.Scale = "learned"

// Scales returns all ways to scale features for training.
func Scales() []string { return append(rows.Scales(), string(ScaleLearned)) }

const (
	landmarkShare = 8    // rows of the sample for each landmark, the elements of the functions by which scalings are compared
	fewLandmarks  = 128  // fewest landmarks, of a sample that has so many rows
	landmarks     = 512  // most landmarks: a factorization takes milliseconds
	shapeHeld     = 1000 // held-out rows by which they are compared, if there are so many
	gradientRows  = 1000 // rows at which derivatives are taken: their mean is known to a few percent
	metricRounds  = 6    // most times that a metric is learned from the functions of the metric before
	countsLittle  = 0.01 // relevance, relative to the largest, below which a feature counts as irrelevant
	notedMost     = 8    // most features that a message names
)

// A learnedMetric has a factor for each feature, on top of a scaling by spread.
type learnedMetric struct {
	base    rows.Scale
	factors []float64
	without candidate // the best shape with base alone
}

// relevances returns the factors relative to the largest.
func (m *learnedMetric) relevances() []float64 {
	most := slices.Max(m.factors)
	all := make([]float64, len(m.factors))
	for q, f := range m.factors {
		all[q] = f / most
	}
	return all
}

// shape returns the best scaling and bandwidth. Candidates are functions of random landmarks with
// exact weights of least squares, for classes, too: only their derivatives and ranks matter here.
func (t *tuner) shape(ctx context.Context, s *survey) (*candidate, error) {
	scales := []rows.Scale{t.set.Scale}
	if t.set.Scale == "" || t.set.Scale == ScaleLearned {
		scales = []rows.Scale{rows.ScaleStandard, rows.ScaleUnit}
	}
	var best *fitted
	for i, scale := range scales {
		if err := t.addSample(s, scale); err != nil {
			return nil, err
		}
		start := 0.5
		if best != nil {
			start = best.factor
		}
		now, err := t.fit(ctx, i, start, 2)
		if err != nil {
			return nil, err
		}
		if best == nil || now.score.loss < best.score.loss {
			t.release(best)
			best = now
		} else {
			t.release(now)
		}
	}
	learns := t.set.Scale == "" || t.set.Scale == ScaleLearned
	without := best.candidate
	for round := 0; learns && round < metricRounds && t.addMetric(best, without); round++ {
		now, err := t.fit(ctx, len(t.samples)-1, best.factor, 1)
		if err != nil {
			return nil, err
		}
		forced := round == 0 && t.set.Scale == ScaleLearned
		gain, deviation := difference(best.score.each, now.score.each, false, len(now.score.each))
		if !forced && !(gain > deviation) {
			t.release(now)
			break
		}
		if round > 0 { // the sample without a metric is tried again later
			t.release(best)
		}
		best = now
	}
	t.opt.Note("tuning: scaling %s", t.samples[best.scaling].scale())
	c := best.candidate
	c.score, c.rate = heldOut{}, t.rates[0]
	return &c, nil
}

// release frees the rows of the sample of a candidate that is no longer one. There may be none.
func (t *tuner) release(of *fitted) {
	if of != nil {
		t.samples[of.scaling].x = nil
	}
}

// scale returns the name of the sample's scaling.
func (b *scaledSample) scale() rows.Scale {
	if b.metric != nil {
		return ScaleLearned
	}
	return b.model.settings.Scale
}

// A fitted candidate has the functions of its first fold.
type fitted struct {
	candidate
	f *kernel.Expansion
}

// fit returns the best bandwidth for a sample: it starts at a multiple of the median distance, and
// halves or doubles it as long as that helps, at most the given number of times.
func (t *tuner) fit(ctx context.Context, scaling int, start float64, most int) (*fitted, error) {
	best, err := t.fitBandwidth(ctx, scaling, start)
	if err != nil || t.set.Bandwidth != 0 {
		return best, err
	}
	for _, step := range []float64{0.5, 2} {
		for range most {
			now, err := t.fitBandwidth(ctx, scaling, best.factor*step)
			if err != nil {
				return nil, err
			}
			if now.score.loss >= best.score.loss {
				break
			}
			best = now
		}
		if best.factor != start { // smaller ones helped, so larger ones don't
			break
		}
	}
	return best, nil
}

// fitBandwidth fits a bandwidth on enough folds, each with other rows held out.
func (t *tuner) fitBandwidth(ctx context.Context, scaling int, factor float64) (*fitted, error) {
	now := &fitted{candidate: candidate{scaling: scaling, factor: factor}}
	held := max(1, len(t.perm)/mostShare)
	for fold := 0; len(now.score.each) < min(shapeHeld, len(t.perm)) && fold < mostShare && !(t.ordered && fold > 0); fold++ {
		if ctx.Err() != nil {
			return nil, ErrStopped
		}
		if err := t.fitFold(now, fold, held); err != nil {
			return nil, err
		}
	}
	return now, nil
}

// mostShare is the number of parts that the sample is divided into.
const mostShare = 5

// fitFold fits the functions of a fold and judges them.
func (t *tuner) fitFold(now *fitted, fold, held int) error {
	b := &t.samples[now.scaling]
	out, left := t.fold(fold, held)
	if fold == 0 {
		out = append(out, t.extra...)
	}
	set := t.settings(&now.candidate, 0)
	k, err := set.kernel()
	if err != nil {
		return err
	}
	f := kernel.NewExpansion(k, b.dim, b.model.outputs())
	zero := make([]float64, f.Outputs)
	for _, j := range left[:min(len(left), max(fewLandmarks, min(landmarks, len(t.perm)/landmarkShare)))] {
		f.Append(b.row(j), zero)
	}
	s := newLeastSquares(f)
	for _, j := range left {
		s.add(b.row(j), oneHot(zero, b.y[j]), b.w[j])
	}
	s.solve()
	t.judge(&now.candidate, f, out, func(f []float64, y float64) (sum float64) {
		for q, want := range oneHot(zero, y) {
			d := f[q] - want
			sum += float64(d * d)
		}
		return sum
	})
	if fold == 0 {
		now.f = f
	}
	return nil
}

// oneHot writes the targets of least squares for a target y to dst: of several functions, one for
// each class, they are 1 for the row's class and 0 for the others, minus their mean.
func oneHot(dst []float64, y float64) []float64 {
	if len(dst) == 1 {
		dst[0] = y
		return dst
	}
	for q := range dst {
		dst[q] = -1 / float64(len(dst))
	}
	dst[int(y)]++
	return dst
}

// addMetric adds the sample under the metric of fitted functions. It reports whether there is one:
// none if the sample was rotated, or if no derivative is finite and positive.
func (t *tuner) addMetric(of *fitted, without candidate) bool {
	b := t.samples[of.scaling]
	if b.dim != b.model.settings.Dim || b.model.settings.Scale == rows.ScaleNone {
		return false
	}
	x := make([]float32, 0, gradientRows*b.dim)
	for _, j := range t.perm[:min(len(t.perm), gradientRows)] {
		x = append(x, b.row(j)...)
	}
	set := t.settings(&of.candidate, 0)
	r := relevances(of.f, set.Bandwidth, len(x)/b.dim, x)
	if most := slices.Max(r); !(most > 0) || math.IsInf(most, 0) {
		return false
	}
	out := b.stretched(r)
	if out == nil {
		return false
	}
	out.metric.without = without
	t.samples = append(t.samples, *out)
	return true
}

// stretched returns the sample with each feature multiplied by r, and by a common factor with which
// the median distance stays. It returns nil if all rows become the same.
func (b *scaledSample) stretched(r []float64) *scaledSample {
	out := *b
	out.metric = &learnedMetric{base: b.model.settings.Scale, factors: slices.Clone(r)}
	if b.metric != nil {
		gemm.Product(out.metric.factors, r, b.metric.factors)
	}
	stretch := func(common float64) {
		out.x = make([]float32, len(b.x))
		for i, v := range b.x {
			out.x[i] = float32(float64(v) * (r[i%b.dim] * common))
		}
	}
	n := min(len(b.y), medianRows)
	stretch(1)
	common := b.distance(n) / out.distance(n)
	if !(common > 0) || math.IsInf(common, 0) {
		return nil
	}
	stretch(common)
	for q := range out.metric.factors {
		out.metric.factors[q] *= common
	}
	return &out
}

// relevances returns, for each feature, the root of the mean over n rows and the functions of the
// square of the functions' derivative: the diagonal of the average gradient outer product
// (Radhakrishnan, Beaglehole, Pandit, Belkin, Science 383, 2024). Of several functions their mean,
// which decides nothing, is subtracted first. The kernel of f is Gaussian, so that
//
//	∇f_c(x) = Σ_j w_jc·κ(x, d_j)·(d_j − x)/c²,
//
// which takes a product of n×M and M×p for each function.
func relevances(f *kernel.Expansion, bandwidth float64, n int, x []float32) []float64 {
	m, c, dim, threads := f.Order(), f.Outputs, f.Dict.Dim(), runtime.GOMAXPROCS(0)
	wide, k := make([]float64, n*dim), make([]float64, n*m)
	kernel.Widen(wide, x[:n*dim])
	f.Dict.Block64(f.Kernel, gemm.MatrixOf(n, dim, wide), gemm.MatrixOf(n, m, k), threads)
	w, kw, gradient := make([]float64, m), make([]float64, n*m), make([]float64, n*dim)
	squares := make([]float64, dim)
	for q := range c {
		for j := range m {
			w[j] = f.W[j*c+q]
			if c > 1 {
				w[j] -= value(f.Weights(j))
			}
		}
		for i := range n {
			gemm.Product(kw[i*m:(i+1)*m], k[i*m:(i+1)*m], w)
		}
		gemm.MulAB(1, gemm.MatrixOf(n, m, kw), f.Dict.Rows64(0, m), 0, gemm.MatrixOf(n, dim, gradient), threads)
		for i := range n {
			addSquares(squares, gradient[i*dim:(i+1)*dim], wide[i*dim:(i+1)*dim], sum(kw[i*m:(i+1)*m]))
		}
	}
	for p, v := range squares {
		squares[p] = math.Sqrt(v/float64(n*c)) / (bandwidth * bandwidth)
	}
	return squares
}

// addSquares adds (g_p − total·x_p)² to each square.
func addSquares(squares, g, x []float64, total float64) {
	for p, v := range g {
		d := v - float64(total*x[p])
		squares[p] += float64(d * d)
	}
}

// sum returns the sum of values.
func sum(values []float64) (total float64) {
	for _, v := range values {
		total += v
	}
	return total
}

// noteRelevances sends the features that count most to Note, and those that hardly count.
func (t *tuner) noteRelevances() {
	if t.set.Relevances == nil {
		return
	}
	order := make([]int, len(t.set.Relevances))
	for q := range order {
		order[q] = q
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.set.Relevances[b], t.set.Relevances[a]) })
	var most []string
	for _, q := range order[:min(len(order), notedMost)] {
		most = append(most, fmt.Sprintf("%s %.2f", t.names(q), t.set.Relevances[q]))
	}
	t.opt.Note("relevance of the features, the largest 1: %s", strings.Join(most, ", "))
	little := slices.DeleteFunc(order, func(q int) bool { return t.set.Relevances[q] >= countsLittle })
	if len(little) > 0 {
		var names []string
		for _, q := range little[:min(len(little), notedMost)] {
			names = append(names, t.names(q))
		}
		if len(little) > notedMost {
			names = append(names, "…")
		}
		t.opt.Note("%d of %d features have a relevance below %v and could be left out: %s", len(little), len(t.set.Relevances), countsLittle, strings.Join(names, ", "))
	}
}
