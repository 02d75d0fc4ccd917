package polk

import (
	"fmt"
	"io"
	"reflect"

	"polkrepro/kernel"
)

// meta is what a saved learner holds beside its functions.
type meta struct {
	Learner     string `json:"learner"`
	Loss        string `json:"loss"`
	Classes     int    `json:"classes"`
	Steps       int    `json:"steps"`
	KernelEvals int64  `json:"kernel_evals"`
	Health      Health `json:"health"`
}

// Save writes the learner to w in the format of kernel.Expansion.Write. It
// also computes K_DD⁻¹ afresh, so that this learner and one that Load reads
// from w go on alike, bit for bit.
func (l *Learner) Save(w io.Writer) error {
	l.komp.load()
	return l.f.Write(w, meta{"polk", l.cfg.Loss.Name(), l.cfg.Classes, l.t, l.evals, l.komp.health})
}

// Load reads a learner that Save wrote. The configuration is not part of what
// is saved; kernel, loss, dimension and classes of cfg must be the saved ones.
func Load(r io.Reader, cfg Config) (*Learner, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	var m meta
	f, err := kernel.ReadExpansion(r, &m)
	if err != nil {
		return nil, err
	}
	switch {
	case m.Learner != "polk":
		return nil, fmt.Errorf("polk: the saved model is of learner %q", m.Learner)
	case !reflect.DeepEqual(f.Kernel, cfg.Kernel):
		return nil, fmt.Errorf("polk: the saved model has kernel %+v, not %+v", f.Kernel, cfg.Kernel)
	case m.Loss != cfg.Loss.Name() || m.Classes != cfg.Classes || f.Dict.Dim() != cfg.Dim || f.Outputs != cfg.Loss.Outputs(cfg.Classes):
		return nil, fmt.Errorf("polk: the saved model has loss %s, %d classes and dimension %d, not %s, %d and %d",
			m.Loss, m.Classes, f.Dict.Dim(), cfg.Loss.Name(), cfg.Classes, cfg.Dim)
	}
	l := newLearner(cfg, f)
	l.t, l.evals = m.Steps, m.KernelEvals
	l.komp.load()
	l.komp.health = m.Health
	return l, nil
}
