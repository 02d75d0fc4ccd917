package lbfgs

import (
	"cmp"
	"slices"

	"polkrepro/internal/gemm"
	"polkrepro/internal/parallel"
	"polkrepro/loss"
)

// The hinge's gradient is exactly 0 at samples outside the margin, which soon are most samples.
// The samples farthest outside are set aside: an iteration then reads only the rows and columns
// of K of the samples that are kept. The bound holds for all samples whichever are set aside,
// because a dual point may be 0 at any sample. The objective, however, leaves out the loss at
// samples set aside. So all samples are scored at intervals and before a run ends, and the choice
// is repeated if samples set aside have a loss.
const (
	// keptSamples samples are kept for each sample with a gradient, but at least 1/leastKept of
	// all samples and at most mostKept. No sample is set aside if more than two thirds of the
	// samples to be kept have a gradient.
	keptSamples = 3
	leastKept   = 4

	// The first choice is made after firstChoice iterations; earlier margins predict
	// little. Samples are scored again after shortWait iterations, then after twice as
	// many each time, up to longWait.
	firstChoice         = 20
	shortWait, longWait = 25, 200

	// unseenLoss is the largest loss at samples set aside, relative to the gap, for which a
	// choice stays. A new choice discards the correction pairs.
	unseenLoss = 0.1
)

// mostKept returns the largest number of samples, out of n, that are kept if any are set aside:
// their part of K is a sixth of it.
func mostKept(n int) int { return 2 * n / 5 }

// A selection is the choice of samples, with the state needed to return to all samples.
type selection struct {
	samples []int   // indices of the kept samples, hardest first; nil if all are kept
	origin  element // f on all samples at the time of the choice
	checked int     // iteration at which all samples were last scored
	wait    int     // number of iterations until they are scored again
	whole   bool    // the objective is that of all samples
}

// due reports whether it is time to score all samples.
func (s *solver) due() bool {
	return s.iterations >= max(firstChoice, s.selection.checked+s.selection.wait)
}

// reconsider scores all samples. It repeats the choice of samples if f has a loss at samples set
// aside, or if the run has converged on the kept samples.
func (s *solver) reconsider(converged bool) {
	f, u := s.expand()
	objective := s.all.exactSums(f.kw, nil).exact/s.total + float64(s.lambda/2*s.inner(f, f))
	s.selection.checked = s.iterations
	if objective-s.bound.value() <= s.config.Tolerance*objective {
		s.now.objective, s.selection.whole = objective, true
		return
	}
	unseen := objective-s.now.objective > unseenLoss*s.gap()
	if s.selection.samples != nil && !unseen && !converged {
		s.selection.wait = min(2*s.selection.wait, longWait)
		return
	}
	s.selection.wait = shortWait
	margins, active := s.all.margins(f.kw)
	keep := max(keptSamples*active, s.all.n/leastKept)
	if s.selection.samples != nil {
		keep = max(keep, s.n)
		if unseen {
			keep = max(keep, s.n*3/2)
		}
	}
	keep = min(keep, mostKept(s.all.n))
	switch {
	case 3*active <= 2*keep:
		order := make([]int, s.all.n)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(margins[i], margins[j]) })
		s.keep(order[:keep], f, u)
	case s.selection.samples != nil:
		s.keepAll(f, u)
	}
	s.selection.whole = true
}

// margins returns f_y − max_{c≠y} f_c for every sample, and the number of margins less than 1:
// the samples with a gradient.
func (p *problem) margins(scores []float64) (margins []float64, active int) {
	margins = make([]float64, p.n)
	fi := make([]float64, p.outputs)
	for i := range margins {
		p.column(fi, scores, i)
		y := int(p.y[i])
		margins[i] = fi[y] - fi[loss.Rival(fi, y)]
		if margins[i] < 1 {
			active++
		}
	}
	return margins, active
}

// expand returns f, and the bound's dual point, on all samples.
func (s *solver) expand() (f element, u []float64) {
	if s.selection.samples == nil {
		return s.now.f, s.bound.u
	}
	// With r the factor of the weights set aside, f − r·origin has weights only on the kept
	// samples.
	r := s.now.f.w[s.n*s.outputs]
	origin := s.selection.origin
	change := newElement(len(origin.w))
	u = make([]float64, len(origin.w))
	weights, dual, started := s.all.byClass(change.w), s.all.byClass(u), s.all.byClass(origin.w)
	keptWeights, keptDual := s.byClass(s.now.f.w), s.byClass(s.bound.u)
	for c := range s.outputs {
		for j, i := range s.selection.samples {
			weights.Set(c, i, keptWeights.At(c, j)-float64(r*started.At(c, i)))
			dual.Set(c, i, keptDual.At(c, j))
		}
	}
	s.all.gram.mul(change.kw, change.w)
	s.products++
	s.mix(change, 1, change, r, origin)
	return change, u
}

// keep sets all samples except the given ones aside. f and u are the current function and the
// dual point on all samples.
//
// At samples set aside the gradient is λf, so their weights change by a common factor r. A
// function is therefore represented by its weights on the kept samples and r. Its image is its
// values at the kept samples and its inner product with f₁, the part of the present f on the
// samples set aside. The kernel matrix becomes K's rows and columns of the kept samples, bordered
// by f₁'s values. The dual point becomes 0 at samples set aside, as it is in the end.
func (s *solver) keep(samples []int, f element, u []float64) {
	m := len(samples)
	size := m*s.outputs + 1
	g, dual := newElement(size), newElement(size)
	y := make([]float64, m)
	for j, i := range samples {
		y[j] = s.all.y[i]
	}
	for _, part := range []struct{ kept, all []float64 }{{g.w, f.w}, {g.kw, f.kw}, {dual.w, u}} {
		kept, all := gemm.MatrixOf(s.outputs, m, part.kept), s.all.byClass(part.all)
		for c := range s.outputs {
			row := kept.Row(c)
			for j, i := range samples {
				row[j] = all.At(c, i)
			}
		}
	}
	b := &bordered{vectors: s.vectors, gram: s.all.gram.of(samples), border: make([]float64, size-1)}
	w, kw := g.w[:size-1], g.kw[:size-1]
	// Let f₀ = f − f₁ be the part of f on the kept samples. f₁'s values are f's less f₀'s, and
	// ⟨f₁, f⟩ = ‖f‖² − ⟨f₀, f⟩, ‖f₁‖² = ⟨f₁, f⟩ − ⟨f₀, f₁⟩.
	b.gram.mul(b.border, w)
	b.combine(b.border, 1, kw, -1, b.border)
	g.w[size-1] = 1
	g.kw[size-1] = s.inner(f, f) - s.dot(w, kw)
	b.corner = g.kw[size-1] - s.dot(b.border, w)
	b.mul(dual.kw, dual.w)

	p := *s.problem
	p.n, p.y, p.gram = m, y, b
	p.products += 2
	s.selection.samples, s.selection.origin = slices.Clone(samples), f
	s.begin(&p, g, dual)
}

// keepAll returns to all samples, at f and the dual point u.
func (s *solver) keepAll(f element, u []float64) {
	dual := element{u, make([]float64, len(u))}
	s.all.gram.mul(dual.kw, u)
	s.all.mu, s.all.products = s.mu, s.products+1
	s.selection.samples, s.selection.origin = nil, element{}
	s.begin(s.all, f, dual)
}

// begin makes p the current problem, starting at f, with dual as the dual point of the bound.
func (s *solver) begin(p *problem, f, dual element) {
	size := len(f.w)
	s.problem = p
	s.pairs = &memory{vectors: p.vectors, size: s.config.Memory}
	s.now, s.next, s.direction = newIterate(size), newIterate(size), newElement(size)
	s.now.f = f
	s.evaluate(s.now)
	s.bound = &bound{problem: p}
	s.bound.set(dual)
	s.bound.join(s.now)
}

// bordered is a kernel matrix extended by one function: the function's values at the samples form
// a row and a column, its squared norm the corner.
type bordered struct {
	vectors
	gram
	border []float64 // C×N
	corner float64
}

func (b *bordered) mul(dst, v []float64) {
	n := len(b.border)
	b.gram.mul(dst[:n], v[:n])
	dst[n] = b.dot(b.border, v[:n]) + float64(b.corner*v[n])
	if v[n] != 0 { // always 0 in a dual point
		b.axpy(v[n], b.border, dst[:n])
	}
}

func (m *matrix[T]) of(samples []int) gram {
	n := len(samples)
	if m.part == nil {
		// Allocated at full size: otherwise each choice would leave garbage of its own size.
		m.part = &matrix[T]{width: partCols, group: m.group, k: gemm.NewMatrix[T](mostKept(m.n), mostKept(m.n))}
	}
	p := m.part
	p.n, p.k = n, p.k.Fresh(n, n)
	p.setThreads(m.threads)
	parallel.Do(m.threads, (n+gramRows-1)/gramRows, func(_, unit int) {
		for j := unit * gramRows; j < min((unit+1)*gramRows, n); j++ {
			row, dst := m.k.Row(samples[j]), p.k.Row(j)
			for q, i := range samples {
				dst[q] = row[i]
			}
		}
	})
	return p
}
