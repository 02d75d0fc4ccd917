package polk

import (
	"fmt"
	"io"
	"reflect"

	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// meta is what a saved learner holds beside its functions.
type meta struct {
	Learner     string `json:"learner"`
	Loss        string `json:"loss"`
	Classes     int    `json:"classes"`
	Steps       int    `json:"steps"`
	KernelEvals int64  `json:"kernel_evals"`
	Health      Health `json:"health"`

	// Of a learner with a pruner.
	Pruner string `json:"pruner,omitempty"`
	Params string `json:"pruner_params,omitempty"`
	Born   []int  `json:"born,omitempty"` // the step in which each element entered
	// Of one that is a prune.Stateful, what [prune.Elements.ID] returns for each
	// element, and for the next new one.
	IDs     []uint64 `json:"ids,omitempty"`
	Entered uint64   `json:"entered,omitempty"`
	State   []byte   `json:"pruner_state,omitempty"` // what a prune.Stateful keeps
}

// describePruner fills in what m says of the pruner of cfg.
func (m *meta) describePruner(cfg *Config) {
	if p := cfg.Pruner; p != nil {
		m.Pruner, m.Params = p.Heuristic.Name, p.Params.String()
	}
}

// Save writes the learner to w in the format of kernel.Expansion.Write. It
// also computes K_DD⁻¹ afresh and forgets the samples' norms, so that this
// learner and one that Load reads from w go on alike, bit for bit.
//
// A learner that keeps K_DD⁻¹ can be saved with up to MaxOrder elements.
func (l *Learner) Save(w io.Writer) error {
	if err := l.cfg.checkOrder(l.f.Order()); err != nil {
		return err
	}
	if l.cfg.inverse() {
		l.komp.load()
	}
	l.boundNorms()
	m := l.meta()
	var err error
	if m.State, err = l.describeElements(&m); err != nil {
		return err
	}
	if len(m.State) > mostState {
		return fmt.Errorf("polk: pruner %s keeps %d bytes, and a saved model has room for %d", m.Pruner, len(m.State), mostState)
	}
	return l.f.Write(w, m)
}

// meta describes the learner, but for its elements.
func (l *Learner) meta() meta {
	m := meta{
		Learner: "polk", Loss: l.cfg.Loss.Name(), Classes: l.cfg.Classes,
		Steps: l.t, KernelEvals: l.evals, Health: l.komp.health,
	}
	m.describePruner(&l.cfg)
	return m
}

// describeElements notes in m what the pruner needs to go on with the elements,
// and returns what it keeps beside them.
func (l *Learner) describeElements(m *meta) ([]byte, error) {
	p := l.cfg.Pruner
	if p == nil {
		return nil, nil
	}
	for j := range l.f.Order() {
		m.Born = append(m.Born, l.entries[l.f.Dict.ID(j)].step)
	}
	s, ok := p.Pruner.(prune.Stateful)
	if !ok {
		return nil, nil
	}
	m.Entered = l.entered
	for j := range l.f.Order() {
		m.IDs = append(m.IDs, l.entries[l.f.Dict.ID(j)].id)
	}
	kept, err := s.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("polk: pruner %s: %w", m.Pruner, err)
	}
	return kept, nil
}

// MaxOrder is the largest model order of a saved learner that keeps K_DD and its
// inverse. A file of one is small, but loading it takes 16 bytes for every pair
// of elements: 4 GiB at this order.
const MaxOrder = 1 << 14

// checkOrder reports more elements than a saved learner may have.
func (cfg *Config) checkOrder(order int) error {
	if cfg.inverse() && order > MaxOrder {
		return fmt.Errorf("polk: a saved learner of %d elements, want at most %d", order, MaxOrder)
	}
	return nil
}

// mostState is what the header of a saved model holds beside the rest.
const mostState = 1 << 23

// Load reads a learner that Save wrote. The configuration is not part of what
// is saved; kernel, loss, dimension and classes of cfg must be the saved ones.
// A damaged file is an error, whoever wrote it: see kernel.ReadExpansion.
func Load(r io.Reader, cfg Config) (*Learner, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	var m meta
	f, err := kernel.ReadExpansion(r, &m)
	if err != nil {
		return nil, err
	}
	if err := m.check(f, &cfg); err != nil {
		return nil, err
	}
	if err := cfg.checkOrder(f.Order()); err != nil {
		return nil, err
	}
	l := newLearner(cfg, f)
	l.t, l.evals = m.Steps, m.KernelEvals
	if err := l.restorePruner(&m); err != nil {
		return nil, err
	}
	if cfg.inverse() {
		l.komp.load()
	}
	l.komp.health = m.Health
	return l, nil
}

// check reports a description that is not of a learner with functions f and this
// configuration.
func (m *meta) check(f *kernel.Expansion, cfg *Config) error {
	switch {
	case m.Learner != "polk":
		return fmt.Errorf("polk: the saved model is of learner %q", m.Learner)
	case !reflect.DeepEqual(f.Kernel, cfg.Kernel):
		return fmt.Errorf("polk: the saved model has kernel %+v, not %+v", f.Kernel, cfg.Kernel)
	case m.Loss != cfg.Loss.Name() || m.Classes != cfg.Classes || f.Dict.Dim() != cfg.Dim || f.Outputs != cfg.Loss.Outputs(cfg.Classes):
		return fmt.Errorf("polk: the saved model has loss %s, %d classes and dimension %d, not %s, %d and %d",
			m.Loss, m.Classes, f.Dict.Dim(), cfg.Loss.Name(), cfg.Classes, cfg.Dim)
	case m.Steps < 0 || m.KernelEvals < 0:
		return fmt.Errorf("polk: the saved model has taken %d steps with %d kernel evaluations", m.Steps, m.KernelEvals)
	}
	return nil
}

// checkIDs reports IDs that no learner has given its elements.
func (m *meta) checkIDs() error {
	if len(m.IDs) != len(m.Born) {
		return fmt.Errorf("polk: the saved model has %d elements and %d IDs", len(m.Born), len(m.IDs))
	}
	seen := make(map[uint64]bool, len(m.IDs))
	for _, id := range m.IDs {
		if id >= m.Entered || seen[id] {
			return fmt.Errorf("polk: the saved model has an element of ID %d, which is another's or of none of the %d that entered", id, m.Entered)
		}
		seen[id] = true
	}
	return nil
}

// restorePruner takes over what was saved of the pruner.
func (l *Learner) restorePruner(m *meta) error {
	var want meta
	want.describePruner(&l.cfg)
	if m.Pruner != want.Pruner || m.Params != want.Params {
		return fmt.Errorf("polk: the saved model has pruner %q (%s), not %q (%s)", m.Pruner, m.Params, want.Pruner, want.Params)
	}
	if l.cfg.Pruner == nil {
		return nil
	}
	if len(m.Born) != l.f.Order() {
		return fmt.Errorf("polk: the saved model has %d elements and the ages of %d", l.f.Order(), len(m.Born))
	}
	if m.IDs == nil { // not needed, or not saved by an earlier version
		for j := range m.Born {
			m.IDs = append(m.IDs, uint64(j))
		}
		m.Entered = max(m.Entered, uint64(len(m.Born)))
	}
	if err := m.checkIDs(); err != nil {
		return err
	}
	for j, t := range m.Born {
		l.entries[l.f.Dict.ID(j)] = entry{t, m.IDs[j]}
	}
	l.entered = m.Entered
	if s, ok := l.cfg.Pruner.Pruner.(prune.Stateful); ok {
		if err := s.UnmarshalBinary(m.State); err != nil {
			return fmt.Errorf("polk: pruner %s: %w", m.Pruner, err)
		}
	}
	return nil
}
