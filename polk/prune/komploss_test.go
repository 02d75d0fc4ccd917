package prune

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"strings"
	"testing"

	"polkrepro/internal/hostile"
	"polkrepro/internal/testutil"
)

// larger is a dictionary of one element that implements Step and Len alone.
type larger struct {
	InverseState
	step Step
}

func (s larger) Step() Step { return s.step }
func (s larger) Len() int   { return 1 }

// encoded returns a saved state.
func encoded(t testing.TB, r recent) []byte {
	var b bytes.Buffer
	testutil.NoError(t, gob.NewEncoder(&b).Encode(r))
	return b.Bytes()
}

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
		p := new(kompLoss)
		testutil.NoError(t, p.UnmarshalBinary(encoded(t, r)))
		if err := p.last.check(step); err == nil {
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

// FuzzUnmarshalState: no bytes make UnmarshalBinary panic, or allocate more than a multiple of
// their length and of the 10 MB with which gob starts to read a long message. What it reads is
// written and read again with the same lengths.
func FuzzUnmarshalState(f *testing.F) {
	f.Add(encoded(f, recent{X: []float32{1, 2, 3, 4}, Y: []float64{0, 2}}))
	f.Add(encoded(f, recent{}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		p := new(kompLoss)
		var err error
		hostile.AtMost(t, 64*len(b)+32<<20, func() { err = p.UnmarshalBinary(b) })
		if err != nil {
			return
		}
		out, err := p.MarshalBinary()
		testutil.NoError(t, err)
		again := new(kompLoss)
		if err := again.UnmarshalBinary(out); err != nil || len(again.last.X) != len(p.last.X) || len(again.last.Y) != len(p.last.Y) {
			t.Errorf("written and read again: %v", err)
		}
	})
}
