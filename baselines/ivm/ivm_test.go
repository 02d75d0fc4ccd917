package ivm

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/baselines/learnertest"
	"polkrepro/kernel"
)

// TestRevised: imports and objectives equal those of literal, a transcription of the authors'
// revised algorithm.
func TestRevised(t *testing.T) {
	for _, classes := range []int{2, 3, 4} {
		p := blobs(uint64(classes), 30, 2, classes)
		p.MaxPoints = 6
		p.Tolerance = 1e-12
		got := p.train(t)
		l := &literal{problem: p}
		for k := range p.MaxPoints {
			h := l.grow()
			if !(math.Abs(h-got.Trace[k]) <= 1e-8*h) {
				t.Fatalf("%d classes: H = %v after import %d, want %v", classes, got.Trace[k], k, h)
			}
		}
		if !slices.Equal(got.Imported, l.index) {
			t.Errorf("%d classes: imported %v, want %v", classes, got.Imported, l.index)
		}
		if got.Reason != Full {
			t.Errorf("ended because %s", got.Reason)
		}
	}
}

// TestCertificate: the objective is that of the expansion, and a fit of its coefficients from
// scratch ends no lower than the certified bound.
func TestCertificate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := blobs(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(8, 40).Draw(t, "n"), 2, rapid.IntRange(2, 4).Draw(t, "classes"))
		p.MaxPoints = rapid.IntRange(1, 4).Draw(t, "points")
		r := p.train(t)
		if !(r.Gap <= polishGap*r.Objective) {
			t.Fatalf("gap %v with objective %v", r.Gap, r.Objective)
		}
		l := &literal{problem: p}
		if h := l.objective(r.Imported, r.Expansion.W); !(math.Abs(h-r.Objective) <= 1e-9*h) {
			t.Fatalf("objective %v, of the expansion %v", r.Objective, h)
		}
		if h := l.fit(r.Imported, make([]float64, len(r.Expansion.W))); !(h >= r.Objective-r.Gap-1e-9) {
			t.Fatalf("objective %v with gap %v, but there is %v", r.Objective, r.Gap, h)
		}
	})
}

// TestStoppingRule: imports end with the first k at which H changes, relative to its value, by
// less than ε.
func TestStoppingRule(t *testing.T) {
	p := blobs(1, 80, 2, 3)
	p.Tolerance = 0.02
	r := p.train(t)
	if r.Reason != Converged {
		t.Fatalf("ended because %s", r.Reason)
	}
	for k := 1; k < len(r.Trace); k++ {
		small := (r.Trace[k-1]-r.Trace[k])/r.Trace[k] < p.Tolerance
		if last := k == len(r.Trace)-1; small != last {
			t.Errorf("import %d of %d: change is small: %v", k+1, len(r.Trace), small)
		}
	}
}

// TestCandidates: a subsample of the candidates depends on the seed and raises H only a little.
func TestCandidates(t *testing.T) {
	p := blobs(6, 400, 2, 3)
	p.MaxPoints = 8
	p.Tolerance = 1e-12
	all := p.train(t)
	p.Candidates = 20
	p.Seed = 1
	one := p.train(t)
	p.Seed = 2
	two := p.train(t)
	if slices.Equal(one.Imported, two.Imported) {
		t.Error("two seeds import the same points")
	}
	// 400 + 399 + … + 393 candidates, none of them in the span.
	if want := int64(8*400-28) * 400; all.KernelEvals != want {
		t.Errorf("%d kernel evaluations, want %d", all.KernelEvals, want)
	}
	for _, r := range []*Result{one, two} {
		if want := int64(8 * 20 * 400); r.KernelEvals != want {
			t.Errorf("%d kernel evaluations, want %d", r.KernelEvals, want)
		}
		if !(r.Objective <= 1.1*all.Objective) {
			t.Errorf("H = %v with 20 candidates, %v with all", r.Objective, all.Objective)
		}
		imported := slices.Sorted(slices.Values(r.Imported))
		if len(slices.Compact(imported)) != 8 {
			t.Errorf("imported %v", r.Imported)
		}
	}
}

// TestFewPoints: duplicates are imported once.
func TestFewPoints(t *testing.T) {
	p := blobs(8, 3, 2, 3)
	p.Tolerance = 1e-15
	for range 3 {
		p.x, p.y, p.n = append(p.x, p.x...), append(p.y, p.y...), 2*p.n
	}
	if r := p.train(t); r.Expansion.Order() != 3 || r.Reason == Full {
		t.Errorf("%d points imported of 3 different ones, %s", r.Expansion.Order(), r.Reason)
	}
}

func TestTrace(t *testing.T) {
	p := blobs(11, 60, 2, 3)
	p.Tolerance = 1e-12
	ctx := context.Background()
	boom := errors.New("boom")
	p.Trace = func(int, float64) error { return boom }
	if _, err := Train(ctx, p.Config, p.n, p.x, p.y); err != boom {
		t.Errorf("the trace's error became %v", err)
	}
	p.MaxPoints = 3
	var told []float64
	p.Trace = func(points int, objective float64) error {
		if told = append(told, objective); points != len(told) {
			t.Errorf("%d points in call %d", points, len(told))
		}
		return nil
	}
	r, err := Train(ctx, p.Config, p.n, p.x, p.y)
	if err != nil || r.Reason != Full || r.Expansion.Order() != 3 || !slices.Equal(told, r.Trace) {
		t.Errorf("%+v, %v, told %v", r, err, told)
	}
}

func TestCancel(t *testing.T) {
	p := blobs(12, 40, 2, 3)
	for _, left := range []int{0, 1, 3, 5} {
		_, err := Train(&learnertest.Countdown{Context: context.Background(), Left: left}, p.Config, p.n, p.x, p.y)
		if err != context.Canceled {
			t.Errorf("cancelled after %d: %v", left, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for want, spoil := range map[string]func(p *problem){
		"Classes 1":     func(p *problem) { p.Classes = 1 },
		"Regularizer 0": func(p *problem) { p.Regularizer = 0 },
		"Candidates -1": func(p *problem) { p.Candidates = -1 },
		"MaxPoints -1":  func(p *problem) { p.MaxPoints = -1 },
		"Tolerance NaN": func(p *problem) { p.Tolerance = math.NaN() },
		"Threads -1":    func(p *problem) { p.Threads = -1 },
		"label 3":       func(p *problem) { p.y[2] = 3 }, // package dataset tests other invalid samples
		"too large": func(p *problem) {
			p.Kernel = kernel.Polynomial{Degree: 9}
			p.x[0] = 1e30
		},
	} {
		p := blobs(1, 10, 2, 3)
		spoil(p)
		_, err := Train(context.Background(), p.Config, p.n, p.x, p.y)
		if err == nil || !strings.HasPrefix(err.Error(), "ivm: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// BenchmarkTrain measures 40 of the published run's 200 imports, on a tenth of its data.
func BenchmarkTrain(b *testing.B) {
	p := mnist(b, 6000)
	for b.Loop() {
		if _, err := Train(context.Background(), p.Config, p.n, p.x, p.y); err != nil {
			b.Fatal(err)
		}
	}
}

// A faint kernel has values so small that the coefficients of any step overflow when squared.
type faint struct{}

func (faint) Name() string           { return "faint" }
func (faint) Self([]float32) float64 { return 1e-310 }
func (faint) Validate() error        { return nil }

func (faint) Eval(x, y []float32) float64 {
	if slices.Equal(x, y) {
		return 1e-310
	}
	return 0
}

// TestNoFiniteObjective: if the objective of no candidate is finite, training ends with an error.
func TestNoFiniteObjective(t *testing.T) {
	for _, candidates := range []int{0, 5} {
		p := blobs(1, 30, 2, 3)
		p.Kernel, p.Candidates, p.Regularizer = faint{}, candidates, 1e-320
		_, err := Train(&learnertest.Countdown{Context: t.Context(), Left: 1000}, p.Config, 30, p.x, p.y)
		if err == nil || !strings.HasPrefix(err.Error(), "ivm: the objective of none of ") {
			t.Errorf("%d candidates: %v", candidates, err)
		}
	}
}
