package experiment

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"polkrepro/convergence"
	"polkrepro/data"
	"polkrepro/harness"
	"polkrepro/kernel"
)

// smallRun is a run on the points of smallProblem.
func smallRun(method, regime string) convergence.Run {
	run := convergence.Run{
		Method: method, Regime: regime, Regularizer: 0.05, Bandwidth: 0.7, Rate: 0.5, Samples: 1000, Seed: 3,
	}
	switch {
	case regime == convergence.Diminishing:
		run.Horizon = 40
	case method == convergence.POLK:
		run.Parsimony = 0.1
	}
	return run
}

// smallProblem is the problem of smallSet.
func smallProblem(t *testing.T, run convergence.Run) *problem {
	t.Helper()
	set, err := smallSet(0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProblem(t.Context(), run, set, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// smallSet is three clusters of 60 points in the plane.
func smallSet(uint64) (*data.Set, error) {
	r := rand.New(rand.NewPCG(7, 8))
	s := &data.Split{N: 60, Dim: 2}
	for i := range s.N {
		y := float64(i % 3)
		s.Y = append(s.Y, y)
		s.X = append(s.X, float32(y+r.Float64()), float32(y*y/2+r.Float64()))
	}
	return &data.Set{Name: "small", Classes: 3, Train: s, Sums: map[string]string{"small": "00"}}, nil
}

// star is f*.
func (p *problem) star() *kernel.Expansion {
	f := kernel.NewExpansion(p.kernel, p.split.Dim, p.classes)
	for i := range p.split.N {
		f.Append(p.split.Row(i), p.best[i*p.classes:(i+1)*p.classes])
	}
	return f
}

// at returns f(x) by its definition.
func at(f *kernel.Expansion, x []float32) []float64 {
	out := make([]float64, f.Outputs)
	for j := range f.Order() {
		for q, w := range f.Weights(j) {
			out[q] += w * f.Kernel.Eval(f.Dict.At(j), x)
		}
	}
	return out
}

// inner returns Σ_c ⟨f_c, g_c⟩ by its definition.
func inner(f, g *kernel.Expansion) float64 {
	var sum float64
	for j := range g.Order() {
		v := at(f, g.Dict.At(j))
		for q, w := range g.Weights(j) {
			sum += w * v[q]
		}
	}
	return sum
}

// literal computes a point by definitions alone.
func literal(p *problem, f *kernel.Expansion) convergence.Point {
	var risk, square float64
	grad := make([]float64, p.classes)
	for i := range p.split.N {
		x := p.split.Row(i)
		risk += p.loss.Gradient(grad, at(f, x), p.split.Y[i])
		// ∇̂ as a function: λf plus the gradient on the sample.
		g := f.Clone()
		for k := range g.W {
			g.W[k] *= p.lambda
		}
		g.Append(x, grad)
		square += inner(g, g)
	}
	d := f.Clone()
	for i := range p.split.N {
		w := make([]float64, p.classes)
		for q := range w {
			w[q] = -p.best[i*p.classes+q]
		}
		d.Append(p.split.Row(i), w)
	}
	n, normSq := float64(p.split.N), inner(f, f)
	return convergence.Point{
		Distance: math.Sqrt(inner(d, d)),
		Excess:   risk/n + p.lambda/2*normSq - p.about.Objective,
		Norm:     math.Sqrt(normSq),
		Gradient: square / n,
	}
}

func close(a, b, tol float64) bool { return math.Abs(a-b) <= tol*(1+math.Abs(b)) }

// TestMeasure compares what is measured of POLK and of plain descent with the
// definitions.
func TestMeasure(t *testing.T) {
	for _, method := range []string{convergence.POLK, convergence.FSGD} {
		run := smallRun(method, convergence.Constant)
		p := smallProblem(t, run)
		l, err := newLearner(run, p)
		if err != nil {
			t.Fatal(err)
		}
		s := newSampler(1, p.split.N)
		for n := range 200 {
			if err := l.step(s.next()); err != nil {
				t.Fatal(err)
			}
			if n%50 != 3 {
				continue
			}
			got, want := l.measure(), literal(p, expansionOf(l))
			if !close(got.Distance, want.Distance, 1e-9) || !close(got.Excess, want.Excess, 1e-9) ||
				!close(got.Norm, want.Norm, 1e-9) || !close(got.Gradient, want.Gradient, 1e-9) {
				t.Errorf("%s after %d: %+v, by definition %+v", method, n+1, got, want)
			}
		}
	}
}

func expansionOf(l learner) *kernel.Expansion {
	switch l := l.(type) {
	case *parsimonious:
		return l.Expansion()
	case *descent:
		f := kernel.NewExpansion(l.kernel, l.split.Dim, l.classes)
		for i := range l.split.N {
			w := make([]float64, l.classes)
			for q := range w {
				w[q] = l.shrink * l.w[q*l.split.N+i]
			}
			f.Append(l.split.Row(i), w)
		}
		return f
	}
	panic("no such learner")
}

// TestMinimizer: f* is where the gradient of R vanishes, at a distance of 0
// from itself; and (λ/2)‖f − f*‖² ≤ R(f) − R(f*) for every f, by strong
// convexity, up to the certified gap (eq. strong_cvx).
func TestMinimizer(t *testing.T) {
	p := smallProblem(t, smallRun(convergence.FSGD, convergence.Constant))
	star := p.star()
	at0 := literal(p, star)
	if math.Abs(at0.Excess) > 1e-11 || p.about.Gap > 1e-11 {
		t.Errorf("excess %v, gap %v", at0.Excess, p.about.Gap)
	}
	// E∇̂ = λf* + mean of the gradients, so its weights on point i are these.
	grad := make([]float64, p.classes)
	for i := range p.split.N {
		p.loss.Gradient(grad, at(star, p.split.Row(i)), p.split.Y[i])
		for q, g := range grad {
			if w := p.lambda*p.best[i*p.classes+q] + g/float64(p.split.N); math.Abs(w) > 1e-6 {
				t.Errorf("gradient %v on point %d", w, i)
			}
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		f := star.Clone()
		for k := range f.W {
			f.W[k] += 0.3 * (r.Float64() - 0.5)
		}
		v := literal(p, f)
		if p.lambda/2*v.Distance*v.Distance > v.Excess+p.about.Gap+1e-12 {
			t.Errorf("distance %v at an excess of %v", v.Distance, v.Excess)
		}
		got := p.measure(p.values(f), f.NormSq(1))
		if !close(got.Distance, v.Distance, 1e-9) || !close(got.Excess, v.Excess, 1e-9) {
			t.Errorf("%+v, by definition %+v", got, v)
		}
	}
}

// TestDescent: plain descent is POLK whose budget is next to nothing, and
// renormalizing changes nothing.
func TestDescent(t *testing.T) {
	run := smallRun(convergence.FSGD, convergence.Constant)
	p := smallProblem(t, run)
	plain := newDescent(run, p)
	run.Method, run.Parsimony = convergence.POLK, 1e-9
	tiny, err := newLearner(run, p)
	if err != nil {
		t.Fatal(err)
	}
	s := newSampler(2, p.split.N)
	for n := range 300 {
		i := s.next()
		if err := errors.Join(plain.step(i), tiny.step(i)); err != nil {
			t.Fatal(err)
		}
		if n == 100 {
			plain.shrink *= 1e-101 // as after very many steps
			for k := range plain.w {
				plain.w[k] *= 1e101
			}
		}
	}
	got, want := plain.measure(), tiny.measure()
	if !close(got.Distance, want.Distance, 1e-6) || !close(got.Excess, want.Excess, 1e-6) || got.Order > p.split.N {
		t.Errorf("without projection %+v, with next to none %+v", got, want)
	}
	if plain.shrink < 1e-100 {
		t.Errorf("shrink is %v", plain.shrink)
	}
}

// TestDirect: the error of a step computed from f̃ and f is that of the
// projection's account, and shows what that account hides.
func TestDirect(t *testing.T) {
	run := smallRun(convergence.POLK, convergence.Constant)
	p := smallProblem(t, run)
	made, err := newLearner(run, p)
	if err != nil {
		t.Fatal(err)
	}
	l := made.(*parsimonious)
	s := newSampler(4, p.split.N)
	removed := 0
	for range 400 {
		if err := l.step(s.next()); err != nil {
			t.Fatal(err)
		}
		removed += l.Last().Removed
	}
	var sum convergence.Summary
	l.summarize(&sum)
	if sum.Checked != 400 || removed == 0 || sum.Direct > 1+1e-6 || sum.Direct < 0.5 || sum.Disagree > 1e-6 {
		t.Errorf("%d removed; %+v", removed, sum)
	}
	i := s.next()
	tilde := unprojected(p, l.Expansion(), i)
	if err := l.Step(1, p.split.Row(i), p.split.Y[i:i+1]); err != nil {
		t.Fatal(err)
	}
	scale(tilde, p.lambda, l.Last().Rate)
	l.Expansion().W[0] += 2 * l.Last().Budget // κ(x, x) = 1: an error of twice the budget
	if direct := math.Sqrt(difference(tilde, l.Expansion()).NormSq(1)); !(direct > l.Last().Budget) {
		t.Errorf("error %v of a model that was tampered with, budget %v", direct, l.Last().Budget)
	}
	l.note(1.25)
	l.summarize(&sum)
	if point := l.measure(); sum.Ratio != 1.25 || point.Ratio != 1.25 || l.measure().Ratio == 1.25 {
		t.Errorf("a violated bound: %+v, point %+v", sum, point)
	}
}

// TestSampler: uniform with replacement, and the same for the same seed.
func TestSampler(t *testing.T) {
	a, b, other := newSampler(1, 10), newSampler(1, 10), newSampler(2, 10)
	counts := make([]int, 10)
	same := 0
	for range 10_000 {
		i := a.next()
		counts[i]++
		if i != b.next() {
			t.Fatal("two samplers of one seed differ")
		}
		if i == other.next() {
			same++
		}
	}
	for i, n := range counts {
		if n < 850 || n > 1150 { // five standard deviations
			t.Errorf("point %d is drawn %d times of 10,000", i, n)
		}
	}
	if same > 1150 {
		t.Errorf("seeds 1 and 2 agree %d times", same)
	}
}

// shortPlan are three short runs.
func shortPlan() []convergence.Run {
	run := convergence.Run{
		Method: convergence.POLK, Regime: convergence.Constant, Draw: data.FigureDraw().Seed,
		Regularizer: 0.05, Bandwidth: 0.6, Rate: 0.3, Parsimony: 0.3, Samples: 1000, Seed: 1,
	}
	second, third := run, run
	second.Seed = 2
	third.Method, third.Parsimony = convergence.FSGD, 0
	return []convergence.Run{run, second, third}
}

// readPlan reads the records of a plan without what differs between two
// executions.
func readPlan(t *testing.T, results string, plan []convergence.Run) []*convergence.Record {
	t.Helper()
	var out []*convergence.Record
	for _, run := range plan {
		r, err := convergence.ReadRecord(recordPath(results, run))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Started, r.Summary.Seconds, r.Summary.Sum = time.Time{}, 0, ""
		out = append(out, r)
	}
	return out
}

// A watcher counts events and may end a context after some of a kind.
type watcher struct {
	mu     sync.Mutex
	seen   map[string]int
	kind   string
	after  int
	cancel context.CancelFunc
}

func (w *watcher) Report(e harness.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[e.Kind]++
	if w.cancel != nil && w.seen[w.kind] == w.after {
		w.cancel()
	}
}

func (*watcher) Close() {}

// TestCarry: one worker and two make the same records; a study that was
// interrupted keeps what was finished and makes the rest, a damaged record
// included.
func TestCarry(t *testing.T) {
	plan := shortPlan()
	whole, parts := t.TempDir(), t.TempDir()
	if err := carry(t.Context(), plan, Options{Results: whole, Workers: 2}, smallSet); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := &watcher{seen: map[string]int{}, kind: harness.EventFinish, after: 1, cancel: cancel}
	err := carry(ctx, plan, Options{Results: parts, Workers: 1, Progress: first}, smallSet)
	if !errors.Is(err, harness.ErrInterrupted) || harness.ExitCode(err) != harness.ExitInterrupted {
		t.Fatalf("error %v", err)
	}
	if files, err := os.ReadDir(convergence.Dir(parts)); err != nil || len(files) != 1 {
		t.Fatalf("%d records of the one run that was finished, error %v", len(files), err)
	}
	second := &watcher{seen: map[string]int{}}
	if err := carry(t.Context(), plan, Options{Results: parts, Workers: 1, Progress: second}, smallSet); err != nil {
		t.Fatal(err)
	}
	if second.seen[harness.EventStart] != 2 || second.seen[harness.EventFinish] != 2 {
		t.Errorf("events %v, want two runs", second.seen)
	}
	if !reflect.DeepEqual(readPlan(t, whole, plan), readPlan(t, parts, plan)) {
		t.Error("records differ")
	}
	if err := os.WriteFile(recordPath(parts, plan[0]), []byte("{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	third := &watcher{seen: map[string]int{}}
	if err := carry(t.Context(), plan, Options{Results: parts, Workers: 1, Progress: third}, smallSet); err != nil {
		t.Fatal(err)
	}
	if third.seen[harness.EventStart] != 1 || third.seen[harness.EventNote] != 1 {
		t.Errorf("events %v, want one run and a note of the damage", third.seen)
	}
}

// TestFailures: a run that can't be made does not keep the others from being
// made; a folder that can't be written stops all.
func TestFailures(t *testing.T) {
	plan := shortPlan()[:1]
	bad := plan[0]
	bad.Rate = 1000
	results := t.TempDir()
	err := carry(t.Context(), append([]convergence.Run{bad}, plan...), Options{Results: results, Workers: 1}, smallSet)
	if !errors.Is(err, harness.ErrRunsFailed) || harness.ExitCode(err) != harness.ExitFailed {
		t.Errorf("error %v", err)
	}
	if _, err := convergence.ReadRecord(recordPath(results, plan[0])); err != nil {
		t.Errorf("the good run: %v", err)
	}
	blocked := t.TempDir()
	if err := os.WriteFile(filepath.Join(blocked, "table1"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := carry(t.Context(), plan, Options{Results: blocked}, smallSet); err == nil || errors.Is(err, harness.ErrRunsFailed) {
		t.Errorf("records' folder is a file: error %v", err)
	}
}
