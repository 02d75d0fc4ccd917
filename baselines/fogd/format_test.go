package fogd

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"polkrepro/internal/hostile"
	"polkrepro/kernel"
	"polkrepro/loss"
)

func saved(t *testing.T, m *Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestReadModelRefuses: whole files that hold no random Fourier features.
func TestReadModelRefuses(t *testing.T) {
	gaussian := kernel.Gaussian{Bandwidth: 1}
	for name, f := range map[string]struct {
		kernel         kernel.Kernel
		outputs, order int
		head           any
	}{
		"nothing":         {gaussian, 6, 1, nil},
		"another learner": {gaussian, 6, 1, map[string]any{"csvc": 1}},
		"not our object":  {gaussian, 6, 1, map[string]any{"rff": 3}},
		"one class":       {gaussian, 2, 1, map[string]any{"rff": meta{1}}},
		"other outputs":   {gaussian, 3, 1, map[string]any{"rff": meta{3}}},
		"no frequency":    {gaussian, 6, 0, map[string]any{"rff": meta{3}}},
		"another kernel":  {kernel.Polynomial{Degree: 2}, 6, 1, map[string]any{"rff": meta{3}}},
	} {
		e := kernel.NewExpansion(f.kernel, 2, f.outputs)
		for range f.order {
			e.Append([]float32{1, 2}, make([]float64, f.outputs))
		}
		var b bytes.Buffer
		if err := e.Write(&b, f.head); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadModel(&b); !errors.Is(err, kernel.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzReadModel: no header and payload, rightly sealed, make it panic or allocate
// more than a multiple of them, and what it reads can be written and used.
func FuzzReadModel(f *testing.F) {
	m := newModel(config(loss.MultiHinge{}, 3, 0))
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		f.Fatal(err)
	}
	header, payload := hostile.Parts(b.Bytes())
	f.Add(header, payload)
	f.Fuzz(func(t *testing.T, header string, payload []byte) {
		file := hostile.Model(header, payload)
		var m *Model
		var err error
		hostile.AtMost(t, 64*len(file)+400*len(payload)+1<<20, func() { m, err = ReadModel(bytes.NewReader(file)) })
		if err != nil {
			return
		}
		again, err := ReadModel(bytes.NewReader(saved(t, m)))
		if err != nil || !slices.Equal(again.W, m.W) {
			t.Errorf("written and read again: %v", err)
		}
		m.Scores(1, make([]float32, m.dim), make([]float64, m.Classes), 1)
	})
}
