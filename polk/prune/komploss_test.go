package prune

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// larger is a dictionary of one element that implements Step and Len alone.
type larger struct {
	InverseState
	step Step
}

func (s larger) Step() Step { return s.step }
func (s larger) Len() int   { return 1 }

// TestStateOfAnother: a state whose samples do not fit the learner is an error, not a panic.
func TestStateOfAnother(t *testing.T) {
	step := Step{N: 2, X: make([]float32, 6), Outputs: 3}
	for name, r := range map[string]recent{
		"features":        {X: make([]float32, 5), Y: []float64{0, 1}},
		"no features":     {Y: []float64{0}},
		"no targets":      {X: make([]float32, 3)},
		"a class too far": {X: make([]float32, 3), Y: []float64{3}},
		"no class":        {X: make([]float32, 3), Y: []float64{0.5}},
	} {
		if err := r.check(step); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	p := &kompLoss{last: recent{X: make([]float32, 5)}}
	if err := p.Prune(t.Context(), larger{step: step}); err == nil || !strings.Contains(err.Error(), "5 features and 0 targets") {
		t.Errorf("pruning by another learner's samples: %v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, p := range map[string]InversePruner{"komp": komp{}, "komp-order": kompOrder{}, "komp-capped": kompCapped{}, "komp-each": kompEach{}} {
		if err := p.Prune(stopped, larger{step: step}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s after its end: %v", name, err)
		}
	}
	fine := recent{X: make([]float32, 3), Y: []float64{2}}
	if err := fine.check(step); err != nil {
		t.Error(err)
	}
}
