package loss

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// example is a random loss with scores and a target that it accepts.
type example struct {
	loss Loss
	f    []float64
	y    float64
}

func draw(t *rapid.T, bound float64) example {
	l, err := ByName(rapid.SampledFrom(Names()).Draw(t, "loss"))
	if err != nil {
		t.Fatal(err)
	}
	classes := rapid.IntRange(2, 6).Draw(t, "classes")
	e := example{loss: l, f: rapid.SliceOfN(rapid.Float64Range(-bound, bound), l.Outputs(classes), l.Outputs(classes)).Draw(t, "f")}
	switch {
	case len(e.f) > 1:
		e.y = float64(rapid.IntRange(0, classes-1).Draw(t, "y"))
	case l.Name() == "squared-error":
		e.y = rapid.Float64Range(-5, 5).Draw(t, "y")
	default:
		e.y = rapid.SampledFrom([]float64{-1, 1}).Draw(t, "y")
	}
	return e
}

func dot(a, b []float64) float64 {
	var s float64
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// kinked reports whether ℓ has a kink within d of f.
func (e example) kinked(d float64) bool {
	if e.loss.Name() != "multi-hinge" {
		return false
	}
	y := int(e.y)
	r := Rival(e.f, y)
	if math.Abs(1+e.f[r]-e.f[y]) < d {
		return true
	}
	for c, v := range e.f {
		if c != y && c != r && e.f[r]-v < d {
			return true
		}
	}
	return false
}

// Central differences of step 1e-5 have an error near 1e-10 times the third
// derivative, plus 1e-16·|ℓ|/1e-5 of cancellation: 1e-6 is generous for |f| ≤ 20.
func TestGradientIsTheDerivative(t *testing.T) {
	const h = 1e-5
	rapid.Check(t, func(t *rapid.T) {
		e := draw(t, 20)
		if e.kinked(4 * h) {
			return
		}
		g := make([]float64, len(e.f))
		e.loss.Gradient(g, e.f, e.y)
		for c := range g {
			up, down := append([]float64(nil), e.f...), append([]float64(nil), e.f...)
			up[c] += h
			down[c] -= h
			want := (e.loss.Value(up, e.y) - e.loss.Value(down, e.y)) / (2 * h)
			if !(math.Abs(g[c]-want) <= 1e-6*(1+math.Abs(want))) {
				// The second derivative of the squared hinge is bounded but jumps, which adds an
				// error of at most h.
				if e.loss.Name() == "squared-hinge" && math.Abs(g[c]-want) < 2*h {
					continue
				}
				t.Fatalf("%s: ∂ℓ/∂f_%d = %v, differences give %v at f=%v y=%v", e.loss.Name(), c, g[c], want, e.f, e.y)
			}
		}
	})
}

// The subgradient inequality ℓ(v) ≥ ℓ(u) + g(u)·(v − u) holds everywhere, including at kinks, if
// and only if ℓ is convex and g is a subgradient.
func TestSubgradientInequality(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := draw(t, 20)
		v := rapid.SliceOfN(rapid.Float64Range(-20, 20), len(e.f), len(e.f)).Draw(t, "v")
		if rapid.Bool().Draw(t, "onKink") {
			moveToKink(e)
		}
		g, d := make([]float64, len(e.f)), make([]float64, len(e.f))
		value := e.loss.Gradient(g, e.f, e.y)
		for c := range d {
			d[c] = v[c] - e.f[c]
		}
		if got, least := e.loss.Value(v, e.y), value+dot(g, d); !(got >= least-1e-10*(1+math.Abs(least))) {
			t.Fatalf("%s: ℓ(v) = %v below its tangent %v (u=%v v=%v y=%v)", e.loss.Name(), got, least, e.f, v, e.y)
		}
	})
}

// moveToKink puts the scores exactly where the hinge bends.
func moveToKink(e example) {
	if e.loss.Outputs(2) == 1 {
		e.f[0] = e.y
		return
	}
	for c := range e.f {
		e.f[c] = 2
	}
	e.f[int(e.y)] = 3
}

func TestGradientReturnsTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := draw(t, 1e4)
		g := make([]float64, len(e.f))
		if a, b := e.loss.Gradient(g, e.f, e.y), e.loss.Value(e.f, e.y); a != b || !(a >= 0) {
			t.Fatalf("%s: Gradient returns %v, Value %v", e.loss.Name(), a, b)
		}
	})
}

func TestMultiClassGradientsSumToZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := draw(t, 1e4)
		if e.loss.Outputs(2) == 1 {
			return
		}
		g := make([]float64, len(e.f))
		e.loss.Gradient(g, e.f, e.y)
		var sum float64
		for _, v := range g {
			sum += v
		}
		if !(math.Abs(sum) <= 1e-15) {
			t.Fatalf("%s: gradient %v sums to %v", e.loss.Name(), g, sum)
		}
	})
}

// At scores of ±10⁴, where a naive exponential overflows, losses and gradients have their
// asymptotic values.
func TestExtremeScores(t *testing.T) {
	const b = 1e4
	tests := []struct {
		loss  Loss
		f     []float64
		y     float64
		value float64
		grad  []float64
	}{
		{MultiHinge{}, []float64{b, -b, 0}, 0, 0, []float64{0, 0, 0}},
		{MultiHinge{}, []float64{b, -b, 0}, 1, 1 + 2*b, []float64{1, -1, 0}},
		{MultiLogistic{}, []float64{b, -b, 0}, 0, 0, []float64{0, 0, 0}},
		{MultiLogistic{}, []float64{b, -b, 0}, 1, 2 * b, []float64{1, -1, 0}},
		{MultiLogistic{}, []float64{-b, -b, -b}, 2, math.Log(3), []float64{1. / 3, 1. / 3, -2. / 3}},
		{MultiLogistic{}, []float64{40, 0}, 0, math.Exp(-40), []float64{-math.Exp(-40), math.Exp(-40)}},
		{BinaryLogistic{}, []float64{b}, 1, 0, []float64{0}},
		{BinaryLogistic{}, []float64{b}, -1, b, []float64{1}},
		{BinaryLogistic{}, []float64{-b}, 1, b, []float64{-1}},
		{BinaryLogistic{}, []float64{40}, 1, math.Exp(-40), []float64{-math.Exp(-40)}},
		{SquaredHinge{}, []float64{b}, 1, 0, []float64{0}},
		{SquaredHinge{}, []float64{-b}, 1, (1 + b) * (1 + b), []float64{-2 * (1 + b)}},
		{SquaredError{}, []float64{b}, -b, 2 * b * b, []float64{2 * b}},
	}
	for _, tt := range tests {
		g := make([]float64, len(tt.f))
		value := tt.loss.Gradient(g, tt.f, tt.y)
		if !near(value, tt.value) {
			t.Errorf("%s(%v, %v) = %v, want %v", tt.loss.Name(), tt.f, tt.y, value, tt.value)
		}
		for c := range g {
			if !near(g[c], tt.grad[c]) {
				t.Errorf("%s(%v, %v): gradient %v, want %v", tt.loss.Name(), tt.f, tt.y, g, tt.grad)
			}
		}
	}
}

// near accepts a relative error of 1e-12.
func near(got, want float64) bool { return math.Abs(got-want) <= 1e-12*math.Abs(want) }

func TestMultiHingeTies(t *testing.T) {
	g := make([]float64, 4)
	MultiHinge{}.Gradient(g, []float64{1, 1, 1, 1}, 1)
	if g[0] != 1 || g[1] != -1 || g[2] != 0 || g[3] != 0 {
		t.Errorf("gradient %v, want the lowest index to be the rival", g)
	}
	if v := (MultiHinge{}).Gradient(g, []float64{0, 1}, 1); v != 0 || g[0] != 0 {
		t.Error("a margin of exactly 1 has a gradient")
	}
	if Predict([]float64{1, 3, 3}) != 1 || Predict([]float64{-1}) != 0 {
		t.Error("Predict does not give ties to the lowest index")
	}
}

func TestProbabilities(t *testing.T) {
	p := make([]float64, 3)
	MultiLogistic{}.Probabilities(p, []float64{1e4, 1e4, -1e4})
	if p[0] != 0.5 || p[1] != 0.5 || p[2] != 0 {
		t.Errorf("probabilities %v", p)
	}
	BinaryLogistic{}.Probabilities(p[:2], []float64{-1e4})
	if p[0] != 1 || p[1] != 0 {
		t.Errorf("probabilities %v", p[:2])
	}
	// A binary model is the two-class model with scores (0, f).
	q := make([]float64, 2)
	BinaryLogistic{}.Probabilities(p[:2], []float64{0.7})
	MultiLogistic{}.Probabilities(q, []float64{0, 0.7})
	if !near(p[1], q[1]) {
		t.Errorf("P(+1) = %v, the two-class model says %v", p[1], q[1])
	}
}

func TestByName(t *testing.T) {
	for _, name := range Names() {
		if l, err := ByName(name); err != nil || l.Name() != name {
			t.Errorf("ByName(%q) = %v, %v", name, l, err)
		}
	}
	if _, err := ByName("hinge"); err == nil {
		t.Error("an unknown name is accepted")
	}
	name := Names()[0]
	defer func() {
		if v := recover(); v != "loss: loss "+name+" is already registered" {
			t.Errorf("a second %s: %v", name, v)
		}
	}()
	Register(registered[name])
}

func TestDecide(t *testing.T) {
	for _, tt := range []struct {
		f    []float64
		want float64
	}{
		{[]float64{0, 0, 0}, 0},
		{[]float64{-3, 2, 2}, 1},
		{[]float64{-0.5}, -1},
		{[]float64{0}, 1},
		{[]float64{0.5}, 1},
	} {
		if got := Decide(tt.f); got != tt.want {
			t.Errorf("Decide(%v) = %v, want %v", tt.f, got, tt.want)
		}
	}
}
