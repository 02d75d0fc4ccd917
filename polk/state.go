package polk

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	"polkrepro/internal/gemm"
	"polkrepro/internal/modelfile"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// A learner's state is everything besides its functions that it needs to continue bit for bit.
// For an order M it holds, in this order and little-endian:
//
//	8 bytes   the magic "POLKSTA" and the version of the format, 1
//	4 bytes   length of the header
//	header    JSON: order, loss, pruner, counters, measurements of the supervision of P
//	float64   M: the diagonal of P = K_DD⁻¹
//	float64   rank: the signs of the vectors that are not yet added to the base of P
//	float64   rank×M: these vectors
//	float64   M·(M+1)/2: the lower triangle of the base, row by row
//	32 bytes  SHA-256 of all preceding bytes
//
// The state of a learner without K_DD⁻¹ has none of the float64 parts. K_DD is not saved: it is
// recomputed from the dictionary, with the same bits.
var stateFormat = modelfile.Format{Magic: [8]byte{'P', 'O', 'L', 'K', 'S', 'T', 'A', 1}, Err: ErrState}

// ErrState is wrapped by the errors of Restore that report an incomplete or malformed state, or a
// wrong checksum.
var ErrState = errors.New("polk: saved state is incomplete or corrupt")

// stateHeader is the header of a state.
type stateHeader struct {
	Loss        string `json:"loss"`
	Classes     int    `json:"classes"`
	Steps       int    `json:"steps"`
	KernelEvals int64  `json:"kernel_evals"`
	Health      Health `json:"health"`

	// Of a learner with a pruner.
	Pruner  string  `json:"pruner,omitempty"`
	Entries []entry `json:"entries,omitempty"` // of the elements
	Entered uint64  `json:"entered,omitempty"` // the ID of the next new element

	Order   int             `json:"order"`
	Kept    json.RawMessage `json:"kept,omitempty"` // what the pruner keeps
	Inverse *inverseHeader  `json:"inverse,omitempty"`
}

// inverseHeader is what is known of P.
type inverseHeader struct {
	Rank     int     `json:"rank"`
	Probe    int     `json:"probe"`
	Wait     int     `json:"wait"`
	Settled  float64 `json:"settled,string"`
	Residual float64 `json:"residual,string"`
}

// state returns the header of the learner's state. A P that has overflowed is recomputed first:
// the supervision would find it within the next steps, but a state that holds it could not be
// read again.
func (l *Learner) state() (h stateHeader, err error) {
	d := &l.komp.dict
	if l.cfg.inverse() && !d.finite() {
		d.load()
	}
	h = stateHeader{
		Loss: l.cfg.Loss.Name(), Classes: l.cfg.Classes,
		Steps: l.t, KernelEvals: l.evals, Health: d.health,
		Pruner: l.cfg.prunerName(), Order: l.f.Order(),
	}
	if !(h.Health.Residual <= math.MaxFloat64) {
		h.Health.Residual = math.MaxFloat64
	}
	if l.cfg.inverse() {
		h.Inverse = &inverseHeader{Rank: d.inverse.rank(), Probe: d.probe, Wait: d.wait, Settled: d.freshResidual, Residual: d.residual}
	}
	if l.cfg.Pruner == nil {
		return h, nil
	}
	h.Entered = l.entered
	for j := range l.f.Order() {
		h.Entries = append(h.Entries, l.entries[l.f.Dict.ID(j)])
	}
	h.Kept, err = l.kept()
	return h, err
}

// kept returns the state that the pruner of the configuration keeps, or nil.
func (l *Learner) kept() (state json.RawMessage, err error) {
	if s := l.cfg.stateful(); s != nil {
		if state, err = json.Marshal(s.Kept()); err != nil {
			return nil, fmt.Errorf("polk: pruner %s: %w", l.cfg.prunerName(), err)
		}
	}
	return state, nil
}

// restoreKept restores what kept returned.
func (l *Learner) restoreKept(state json.RawMessage) error {
	if s := l.cfg.stateful(); s != nil {
		if err := json.Unmarshal(state, s.Kept()); err != nil {
			return fmt.Errorf("polk: pruner %s: %w", l.cfg.prunerName(), err)
		}
	}
	return nil
}

// stateful returns the pruner if it keeps a state, or nil.
func (c *Config) stateful() prune.Stateful {
	if c.Pruner == nil {
		return nil
	}
	s, _ := c.Pruner.Pruner().(prune.Stateful)
	return s
}

// prunerName returns the name and the parameters of the pruner, or "" if there is none.
func (cfg *Config) prunerName() string {
	if cfg.Pruner == nil {
		return ""
	}
	return fmt.Sprintf("%s (%v)", cfg.Pruner.Heuristic().Name, cfg.Pruner.Params())
}

// parts returns the numbers of P that a state holds, in the order of the format. They are slices
// of P.
func (g *inverseGram) parts() [][]float64 {
	parts := [][]float64{g.diag[:g.order()], g.signs[:g.rank()]}
	for i := range g.rank() {
		parts = append(parts, g.updates.Row(i))
	}
	for i := range g.order() {
		parts = append(parts, g.base.Row(i)[:i+1])
	}
	return parts
}

// finite reports whether P and its measured residuals are finite.
func (d *dictionary) finite() bool {
	parts := append(d.inverse.parts(), []float64{d.freshResidual, d.residual})
	return !slices.ContainsFunc(parts, func(part []float64) bool {
		return slices.ContainsFunc(part, func(v float64) bool { return v-v != 0 })
	})
}

// StateSize returns the number of bytes that WriteState writes: about 4·M² for a model order M if
// the learner keeps K_DD⁻¹.
func (l *Learner) StateSize() (int64, error) {
	h, err := l.state()
	if err != nil {
		return 0, err
	}
	head, err := json.Marshal(h)
	numbers := 0
	if h.Inverse != nil {
		m, rank := h.Order, h.Inverse.Rank
		numbers = m + rank + rank*m + m*(m+1)/2
	}
	return modelfile.Size(len(head), 8*int64(numbers)), err
}

// WriteState writes everything that the learner needs to continue except its functions, which
// [kernel.Expansion.Write] saves. From both, [Restore] makes a learner that continues bit for
// bit like this one.
func (l *Learner) WriteState(w io.Writer) error {
	h, err := l.state()
	if err != nil {
		return err
	}
	return stateFormat.Write(w, h, func(w io.Writer) {
		if h.Inverse != nil {
			for _, part := range l.komp.dict.inverse.parts() {
				binary.Write(w, binary.LittleEndian, part)
			}
		}
	})
}

// Restore returns the learner whose functions are f and whose state, written by WriteState, is
// read from r. The learner owns f from then on. The configuration is not saved: kernel, loss,
// dimension, classes and pruner of cfg must be those of the saved learner. K_DD and its inverse
// take 16 bytes per pair of elements, four times the size of the state; a corrupt state is an
// error before they are allocated.
//
// The state may come from an untrusted source, with any numbers in place of P. A P that is far
// from K_DD⁻¹ is not used but recomputed.
func Restore(f *kernel.Expansion, r io.Reader, cfg Config) (*Learner, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	var h stateHeader
	d, err := stateFormat.Open(r, &h)
	if err != nil {
		return nil, err
	}
	if err := h.check(f, &cfg); err != nil {
		return nil, err
	}
	var parts [][]float64
	if h.Inverse != nil {
		if parts, err = readInverse(d, h.Order, h.Inverse.Rank); err != nil {
			return nil, err
		}
	}
	if err := d.Close(); err != nil {
		return nil, err
	}
	l := newLearner(cfg, f)
	l.t, l.evals = h.Steps, h.KernelEvals
	if err := l.restorePruner(&h); err != nil {
		return nil, err
	}
	if h.Inverse != nil {
		l.komp.dict.restore(h.Inverse, parts, d.Sum())
	}
	l.komp.dict.health = h.Health
	return l, nil
}

// check reports a state that does not match the functions or the configuration.
func (h *stateHeader) check(f *kernel.Expansion, cfg *Config) error {
	switch i := h.Inverse; {
	case !reflect.DeepEqual(f.Kernel, cfg.Kernel):
		return fmt.Errorf("polk: the saved model has kernel %+v, not %+v", f.Kernel, cfg.Kernel)
	case h.Loss != cfg.Loss.Name() || h.Classes != cfg.Classes || f.Dict.Dim() != cfg.Dim || f.Outputs != cfg.Loss.Outputs(cfg.Classes):
		return fmt.Errorf("polk: the saved model has loss %s, %d classes and dimension %d, not %s, %d and %d",
			h.Loss, h.Classes, f.Dict.Dim(), cfg.Loss.Name(), cfg.Classes, cfg.Dim)
	case h.Steps < 0 || h.KernelEvals < 0:
		return fmt.Errorf("polk: saved state of %d steps and %d kernel evaluations: none may be negative", h.Steps, h.KernelEvals)
	case h.Order != f.Order():
		return fmt.Errorf("polk: saved state of %d elements, but the functions have %d", h.Order, f.Order())
	case (i != nil) != cfg.inverse():
		return fmt.Errorf("%w: its data do not fit the configured pruner", ErrState)
	case h.Pruner != cfg.prunerName():
		return fmt.Errorf("polk: the saved model has pruner %q, not %q", h.Pruner, cfg.prunerName())
	case i != nil && (i.Settled < 0 || i.Residual < 0 || i.Rank < 0 || i.Rank > maxRank || i.Probe < 0 || i.Probe > 1<<30 || i.Wait < -1 || i.Wait > 1<<14):
		return fmt.Errorf("%w: inverse of rank %d, probe %d, wait %d: out of range", ErrState, i.Rank, i.Probe, i.Wait)
	}
	return nil
}

// restorePruner restores the entries of the elements and the pruner's own state.
func (l *Learner) restorePruner(h *stateHeader) error {
	if l.cfg.Pruner == nil {
		return nil
	}
	if len(h.Entries) != l.f.Order() {
		return fmt.Errorf("polk: saved state of %d elements with the entries of %d", l.f.Order(), len(h.Entries))
	}
	for j, e := range h.Entries {
		l.entries[l.f.Dict.ID(j)] = e
	}
	l.entered = h.Entered
	return l.restoreKept(h.Kept)
}

// readInverse reads the parts of P for an order m and a rank. It allocates memory only for
// numbers that it reads.
func readInverse(d *modelfile.Reader, m, rank int) ([][]float64, error) {
	lengths := append([]int{m, rank}, slices.Repeat([]int{m}, rank)...)
	for i := range m {
		lengths = append(lengths, i+1)
	}
	var parts [][]float64
	for _, n := range lengths {
		part, err := modelfile.Floats[float64](d, n)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// restore computes K, with the same bits as before, and takes over the parts of P that were
// read, unless P is far from K⁻¹. sum is the checksum of the bytes that they were read from.
func (d *dictionary) restore(h *inverseHeader, parts [][]float64, sum []byte) {
	g := &d.inverse
	*g = inverseGram{}
	g.enlarge((d.f.Order() + 64) &^ 7) // a large state must not take more memory than necessary
	d.computeK()
	g.size(g.order(), h.Rank)
	for i, part := range g.parts() {
		copy(part, parts[i])
	}
	for i := range g.order() { // the upper triangle of the base
		for j, v := range g.base.Row(i)[:i] {
			g.base.Set(j, i, v)
		}
	}
	d.freshResidual, d.residual, d.probe, d.wait = h.Settled, h.Residual, h.Probe, h.Wait
	if !d.plausible(sum) {
		d.load()
	}
}

// plausible reports whether P·(K·r) is r, with a much wider tolerance than that of the
// supervision. The vector r is random, with a seed that depends on everything that was read, so
// a forged P can't have been fitted to it.
func (d *dictionary) plausible(sum []byte) bool {
	most := min(0.1+float64(100*float64(d.inverse.order())*d.freshResidual), 1e3)
	rng := rand.New(rand.NewChaCha8([32]byte(sum)))
	m := d.inverse.order()
	r, u, v := gemm.NewMatrix[float64](1, m), gemm.NewMatrix[float64](1, m), gemm.NewMatrix[float64](1, m)
	want := r.Row(0)
	for i := range want {
		want[i] = rng.NormFloat64()
	}
	gemm.MulABT(1, r, d.inverse.gram, 0, u, d.threads)
	d.inverse.mul(u, 0, v, d.threads)
	for i, x := range v.Row(0) {
		if !(math.Abs(x-want[i]) <= most) {
			return false
		}
	}
	return true
}
