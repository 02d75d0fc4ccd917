package experiments

import (
	"cmp"
	"fmt"

	"polkrepro/internal/strictyaml"
	"polkrepro/polk/prune"
)

// The kinds of what names a pruner and of what it takes. As settings they are
// words: the name, and the text of prune.Params.
const (
	KindPruner       ParamKind = "pruner"
	KindPrunerParams ParamKind = "parameters"
)

var (
	paramPruner = ParamInfo{
		Name: "pruner", Kind: KindPruner, Default: prune.KOMP,
		About: "what keeps the dictionary small, one of those that \"runall list pruners\" prints",
	}
	paramPrunerParams = ParamInfo{
		Name: "pruner_params", Kind: KindPrunerParams, Default: "{}",
		About: "what the pruner takes",
	}
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

// prunerSetting returns the setting that names a pruner or its parameters.
func prunerSetting(k ParamKind, n *strictyaml.Node) setting {
	if k == KindPruner {
		return setting{word: n.Text}
	}
	p := make(prune.Params)
	for _, f := range n.Fields {
		if x, ok := f.Value.Float(); ok {
			p[f.Key] = x
		}
	}
	return setting{word: p.String()}
}

// checkPruner returns what is wrong with the name of a pruner, or "".
func checkPruner(name string) string {
	if _, ok := prune.Lookup(name); ok {
		return ""
	}
	hint := strictyaml.Suggest(name, prune.Names())
	if hint == "" {
		hint = ", want one of " + list(prune.Names())
	}
	return fmt.Sprintf("unknown pruner %q%s", name, hint)
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
	if h.Gaussian && p.Kernel.Type == KernelPolynomial {
		return "pruner", fmt.Sprintf("pruner %s is defined for the Gaussian kernel only, and the kernel is %s", h.Name, p.Kernel.Type)
	}
	return "", ""
}

// setPruner stores a pruner's name. The paper's is not stored, so that a run
// whose spec names it is the run whose spec does not.
func (p *Params) setPruner(s setting) {
	if p.Pruner = s.word; p.Pruner == prune.KOMP {
		p.Pruner = ""
	}
}

// setPrunerParams stores the parameters that prunerSetting has put into words.
func (p *Params) setPrunerParams(s setting) {
	all, err := prune.ParseParams(s.word)
	if err != nil {
		panic("experiments: " + err.Error())
	}
	p.PrunerParams = all
}
