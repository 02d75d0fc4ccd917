package loss

import (
	"math"
	"testing"
)

// Tests of errata (experiments/ledgers/errata.yaml): the printed form fails, the corrected form
// holds.

// is returns the indicator of y = label.
func is(y, label float64) float64 {
	if y == label {
		return 1
	}
	return 0
}

// labels maps the labels of Examples 1 and 2 to those of BinaryLogistic: f is the log-odds of
// y = 0.
var labels = map[float64]float64{0: +1, 1: -1}

// TestExample1: −log P(y | x) of eq. intro_lrprob is the binary logistic loss. It is the
// expression of eq. intro_loss without the term 𝟙(y = 1).
func TestExample1(t *testing.T) {
	for y, sign := range labels {
		for f := -3.0; f <= 3; f += 0.5 {
			p := math.Exp(f) / (1 + math.Exp(f)) // P(y = 0 | x)
			if y == 1 {
				p = 1 - p
			}
			right := math.Log(1+math.Exp(f)) - f*is(y, 0)
			printed := right - is(y, 1)
			if !(math.Abs(right+math.Log(p)) <= 1e-12) || !(math.Abs(right-BinaryLogistic{}.Value([]float64{f}, sign)) <= 1e-12) {
				t.Errorf("y = %v, f = %v: %v, −log P is %v", y, f, right, -math.Log(p))
			}
			if y == 1 && !(math.Abs(printed+math.Log(p)) >= 0.5) {
				t.Errorf("y = 1, f = %v: the printed %v is −log P = %v", f, printed, -math.Log(p))
			}
		}
	}
}

// TestExample2: by differences, the derivative of that loss is 1/(1 + exp(−f)) − 𝟙(y = 0). Eq.
// logistic_soldd prints the derivative of the logistic function instead.
func TestExample2(t *testing.T) {
	const h = 1e-5
	logistic := func(f float64) float64 { return 1 / (1 + math.Exp(-f)) }
	for y, sign := range labels {
		value := func(f float64) float64 { return BinaryLogistic{}.Value([]float64{f}, sign) }
		for f := -3.0; f <= 3; f += 0.5 {
			differences := (value(f+h) - value(f-h)) / (2 * h)
			right := logistic(f) - is(y, 0)
			printed := math.Exp(-f) / math.Pow(1+math.Exp(-f), 2)
			if !(math.Abs(right-differences) <= 1e-8) {
				t.Errorf("y = %v, f = %v: derivative %v, by differences %v", y, f, right, differences)
			}
			if !(math.Abs(printed-differences) >= 1e-3) {
				t.Errorf("y = %v, f = %v: the printed %v is the derivative", y, f, printed)
			}
			if of := (logistic(f+h) - logistic(f-h)) / (2 * h); !(math.Abs(printed-of) <= 1e-8) {
				t.Errorf("f = %v: the printed %v is not the derivative of the logistic function, %v", f, printed, of)
			}
		}
	}
}

// TestAssumptions: of the losses that the paper names, only the logistic loss fulfils Assumptions
// as:2 (Lipschitz) and as:3 (differentiable). The hinge has a kink, and the slopes of the squared
// hinge and the square loss are unbounded.
func TestAssumptions(t *testing.T) {
	const h = 1e-7
	kink := []float64{-0.5, 0.5} // 1 + f_r − f_y = 0
	value := func(f float64) float64 { return MultiHinge{}.Value([]float64{kink[0], f}, 1) }
	left, right := (value(kink[1])-value(kink[1]-h))/h, (value(kink[1]+h)-value(kink[1]))/h
	if !(math.Abs(left+1) <= 1e-6) || right != 0 {
		t.Errorf("the hinge's slopes at the kink are %v and %v, want −1 and 0", left, right)
	}
	steep := func(l Loss, f float64) float64 {
		g := make([]float64, 1)
		l.Gradient(g, []float64{f}, -1)
		return math.Abs(g[0])
	}
	for _, l := range []Loss{SquaredHinge{}, SquaredError{}} {
		if near, far := steep(l, 10), steep(l, 1e6); !(near >= 10) || !(far >= 1e5*near/2) {
			t.Errorf("%s: slope %v at 10, %v at 10⁶: want it to grow without bound", l.Name(), near, far)
		}
	}
	if far := steep(BinaryLogistic{}, 1e6); !(far <= 1) {
		t.Errorf("the logistic loss has a slope of %v", far)
	}
}
