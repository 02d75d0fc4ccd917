package csvc

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"polkrepro/kernel"
)

// meta is what a saved model holds beside the expansion.
type meta struct {
	Rho    []float64 `json:"rho"`
	Labels []int     `json:"labels"`

	OneVsAll bool `json:"one_vs_all,omitempty"`
}

// savedClasses bounds the classes of a saved model, so that the constants of
// all pairs fit into the header of the file.
const savedClasses = 256

// Write saves the model in the form of kernel.Expansion.Write. It fails, beside
// for what w fails for, on more than 256 classes.
func (m *Model) Write(w io.Writer) error {
	if k := len(m.Labels); k > savedClasses {
		return fmt.Errorf("csvc: a model of %d classes has no saved form, only up to %d", k, savedClasses)
	}
	return m.Expansion.Write(w, map[string]meta{"csvc": {m.Rho, m.Labels, m.OneVsAll}})
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
	if err := json.Unmarshal(head["csvc"], &h); err != nil {
		return nil, fmt.Errorf("csvc: %w: it holds no C-SVC: %v", kernel.ErrFormat, err)
	}
	k := len(h.Labels)
	outputs := k * (k - 1) / 2
	if h.OneVsAll {
		outputs = k
	}
	if k < 2 || len(h.Rho) != outputs || e.Outputs != len(h.Rho) {
		return nil, fmt.Errorf("csvc: %w: %d classes, %d constants and %d outputs", kernel.ErrFormat, k, len(h.Rho), e.Outputs)
	}
	sorted := slices.Sorted(slices.Values(h.Labels))
	if sorted[0] < 0 || len(slices.Compact(sorted)) < k {
		return nil, fmt.Errorf("csvc: %w: the classes %v", kernel.ErrFormat, h.Labels)
	}
	return &Model{Expansion: e, Rho: h.Rho, Labels: h.Labels, OneVsAll: h.OneVsAll}, nil
}
