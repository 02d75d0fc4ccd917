package experiments

import (
	"cmp"
	"fmt"
	"slices"

	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// PrunerName returns the name of the run's pruner.
func (p *Params) PrunerName() string { return cmp.Or(p.Pruner, prune.KOMP) }

// heuristic returns the pruner of a run.
func (p *Params) heuristic() prune.Heuristic {
	h, _ := prune.Lookup(p.PrunerName())
	return h
}

// usesEpsilon reports whether the pruner keeps to ε.
func usesEpsilon(p Params) bool { return p.heuristic().Epsilon }

// checkPruner returns what is wrong with the name of a pruner, or "".
func checkPruner(name string) string {
	if _, ok := prune.Lookup(name); ok {
		return ""
	}
	return fmt.Sprintf("unknown pruner %q%s", name, hint(name, prune.Names()))
}

// completePruner fills in the defaults of the pruner's parameters. It returns
// which hyper-parameter does not go with the others and why, or "".
func (p *Params) completePruner() (param, why string) {
	h := p.heuristic()
	all, err := h.Complete(p.PrunerParams)
	if err != nil {
		return "pruner_params", err.Error()
	}
	if p.PrunerParams = all; len(all) == 0 {
		p.PrunerParams = nil
	}
	if h.Gaussian && !slices.Contains([]string{"", kernel.Gaussian{}.Name()}, p.Kernel.Type) {
		return "pruner", fmt.Sprintf("pruner %s is defined for the Gaussian kernel only, and the kernel is %s", h.Name, p.Kernel.Type)
	}
	return "", ""
}
