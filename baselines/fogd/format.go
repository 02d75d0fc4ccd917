package fogd

import (
	"encoding/json"
	"fmt"
	"io"

	"polkrepro/internal/gemm"
	"polkrepro/kernel"
)

// meta is what a saved model holds beside frequencies and weights.
type meta struct {
	Classes int `json:"classes"`
}

// Write saves the model in the form of kernel.Expansion.Write, with the
// frequencies for dictionary and, for each, the C weights of its cosine and
// the C weights of its sine. It fails for what w fails for.
func (m *Model) Write(w io.Writer) error {
	d, c := m.Order(), m.Classes
	e := kernel.NewExpansion(m.kernel, m.dim, 2*c)
	frequency, weights := make([]float32, m.dim), make([]float64, 2*c)
	for j := range d {
		m.panels.Row(frequency, j)
		for q := range c {
			weights[q], weights[c+q] = m.W[q*2*d+j], m.W[q*2*d+d+j]
		}
		e.Append(frequency, weights)
	}
	return e.Write(w, map[string]meta{"rff": {c}})
}

// ReadModel reads what Write wrote. Any other file is an error that wraps
// kernel.ErrFormat.
func ReadModel(r io.Reader) (*Model, error) {
	var head map[string]json.RawMessage
	e, err := kernel.ReadExpansion(r, &head)
	if err != nil {
		return nil, err
	}
	var h meta
	if err := json.Unmarshal(head["rff"], &h); err != nil {
		return nil, fmt.Errorf("fogd: %w: it holds no random Fourier features: %v", kernel.ErrFormat, err)
	}
	k, ok := e.Kernel.(kernel.Gaussian)
	if !ok || h.Classes < 2 || e.Outputs != 2*h.Classes || e.Order() < 1 {
		return nil, fmt.Errorf("fogd: %w: %d frequencies of a %s kernel, %d classes and %d outputs",
			kernel.ErrFormat, e.Order(), e.Kernel.Name(), h.Classes, e.Outputs)
	}
	return fromExpansion(e, k, h.Classes), nil
}

// fromExpansion is the inverse of what Write does before it writes.
func fromExpansion(e *kernel.Expansion, k kernel.Gaussian, c int) *Model {
	d, dim := e.Order(), e.Dict.Dim()
	m := &Model{Classes: c, W: make([]float64, c*2*d), kernel: k, dim: dim, panels: gemm.NewPanels[float32](dim)}
	for j := range d {
		m.panels.Append(e.Dict.At(j))
		weights := e.Weights(j)
		for q := range c {
			m.W[q*2*d+j], m.W[q*2*d+d+j] = weights[q], weights[c+q]
		}
	}
	return m
}
