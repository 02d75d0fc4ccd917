package harness

import (
	"strings"
	"testing"

	"polkrepro/loss"
)

// TestOverWeights: a step of L-BFGS over weights is one iteration on the whole training set; a
// smaller batch is an error. The model is scored like any other.
func TestOverWeights(t *testing.T) {
	run, set := codeRuns()["method lbfgs-weights"], smallSet()
	l := newLearner(t, run, set)
	if _, err := l.Step(t.Context(), 10, nil, nil); err == nil || !strings.Contains(err.Error(), "a step of 10 samples: want the whole training set of 60") {
		t.Errorf("a part of the training set: %v", err)
	}
	before, _ := risk(l.Model(), loss.MultiLogistic{}, set.Train)
	for i := 1.0; i <= 20; i++ {
		if _, err := l.Step(t.Context(), 60, nil, nil); err != nil {
			t.Fatal(err)
		}
		if got := l.Health()["iterations"]; got != i {
			t.Fatalf("%v iterations after %v steps", got, i)
		}
	}
	if after, _ := risk(l.Model(), loss.MultiLogistic{}, set.Train); !(after < before/2) || l.Model().Order() != 60 {
		t.Errorf("risk %v, at first %v, on %d points", after, before, l.Model().Order())
	}
	run.Params.BatchSize = 32
	if _, err := newTrainer(run, set, Methods(), newCores(1, 1), nil); err == nil || !strings.Contains(err.Error(), "mini-batches of 32 samples") {
		t.Errorf("with mini-batches: %v", err)
	}
}
