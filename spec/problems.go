package spec

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"polkrepro/data"
	"polkrepro/internal/lists"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// maxDegree bounds the degree of a polynomial kernel.
const maxDegree = 1000

// A Problem is an invalid setting of a run.
type Problem struct {
	Path    string // keys of the run's JSON, separated by dots: params.learning_rate
	Message string
}

// problems collects the problems of a run.
type problems []Problem

func (p *problems) add(path, format string, args ...any) {
	*p = append(*p, Problem{path, fmt.Sprintf(format, args...)})
}

// Problems returns all problems of a run, whether it was read from a spec, a comparison,
// flags or a record. Hyper-parameters that depend on each other are compared only if the
// kernel and all hyper-parameters are valid.
func (r Run) Problems() []Problem {
	var out problems
	m := Method(r.Method)
	_, err := TaskLoss(r.Task)
	switch {
	case m == nil:
		out.add("method", "%s", unknownMethod(r.Method))
	case err == nil && !slices.Contains(m.Tasks, r.Task):
		out.add("method", "%s does not fit task %s, only %s", m.Name, r.Task, list(m.Tasks))
	}
	if err != nil {
		out.add("task", "%v", err)
	}
	out.data(&r)
	if r.Sampling != "" && r.Sampling != SamplingReplacement {
		out.add("sampling", "sampling is %q, want one of %s, %s", r.Sampling, samplingEpochs, SamplingReplacement)
	}
	out.work(&r, m)
	before := len(out)
	if kernel.Takes(r.Params.Kernel.Type) == nil {
		out.add("params.kernel.type", "kernel is %q, want one of %s", r.Params.Kernel.Type, list(kernel.Names()))
	} else if err := checkKernel(r.Params.Kernel); err != nil {
		out.add("params.kernel", "%v", err)
	}
	if m != nil {
		out.params(m, r.Params, before)
	}
	return out
}

// data adds the problems of the data, and of the task on these data.
func (p *problems) data(r *Run) {
	if own := r.Data.Own(); own && (r.Task == TaskRegression) != r.Data.Files.Regression {
		p.add("task", "task %s does not fit the labels of %s", r.Task, r.Data)
	} else if !own && r.Task == TaskRegression {
		p.add("task", "task is %s, a regression, and data set %s has classes: want files whose labels are numbers", r.Task, r.Data.Name)
	}
	_, err := r.Data.Resolve()
	if err == nil {
		return
	}
	sets := data.List()
	set := lists.Find(sets, func(s *data.Info) bool { return s.Name == r.Data.Name })
	switch variant := r.Data.Variant; {
	case r.Data.Own():
		p.add("data", "%v", err)
	case set == nil:
		p.add("data.name", "%s", unknownDataSet(r.Data.Name, sets))
	case variant == "" || slices.Contains(set.Variants, variant):
		p.add("data", "%v", err)
	case len(set.Variants) == 0:
		p.add("data.variant", "data set %s has no variants", set.Name)
	default:
		p.add("data.variant", "data set %s has no variant %q, want one of %s", set.Name, variant, list(set.Variants))
	}
}

func unknownDataSet(name string, sets []data.Info) string {
	return fmt.Sprintf("unknown data set %q, want one of %s", name, list(valuesOf(sets, func(s data.Info) string { return s.Name })))
}

// work adds the problems of the samples and the evaluations.
func (p *problems) work(r *Run, m *MethodInfo) {
	e, least := r.Evaluation, 1
	if e.Minimizer || r.Batch() {
		least = 0
	}
	for _, x := range []struct {
		path     string
		n, least int
	}{
		{"samples", r.Samples, 1}, {"evaluation.every", e.Every, least}, {"evaluation.tail", e.Tail, least}, {"evaluation.train_limit", e.TrainLimit, 0},
	} {
		if x.n < x.least || x.n > largest {
			p.add(x.path, "%s is %d, want %d to %d", path.Ext("." + x.path)[1:], x.n, x.least, largest)
		}
	}
	if e.Every > 0 && r.Samples/e.Every+e.Tail+2 > MaxEvaluations {
		p.add("evaluation.every", "%d samples evaluated every %d, with %d in the tail, are more than %d times in all", r.Samples, e.Every, e.Tail, MaxEvaluations)
	}
	if e.Minimizer && e.Every+e.Tail > 0 {
		p.add("evaluation.minimizer", "runs measured against the minimizer take neither every nor tail")
	}
	if why := minimizerConflict(r); e.Minimizer && m != nil && why != "" {
		p.add("evaluation.minimizer", "%s can't be measured against the minimizer: %s", m.Name, why)
	}
}

// minimizerConflict returns why a run can't be measured against the minimizer of its
// training risk, or "". The quantities measured are defined for a smooth risk, and for
// steps of one sample by POLK with its own pruner or by FSGD.
func minimizerConflict(r *Run) string {
	switch p := &r.Params; {
	case r.Task != TaskKLR:
		return fmt.Sprintf("the risk of task %s is not smooth, want task %s", r.Task, TaskKLR)
	case r.Method != MethodPOLK && r.Method != MethodFSGD:
		return fmt.Sprintf("the method is %s, want %s or %s", r.Method, MethodPOLK, MethodFSGD)
	case p.Pruner != "":
		return fmt.Sprintf("the pruner is %s, want %s", p.Pruner, prune.KOMP)
	case p.BatchSize != 1:
		return fmt.Sprintf("batch_size is %d, want 1", p.BatchSize)
	}
	return ""
}

// checkKernel returns an error if the parameters of a kernel are invalid. It ignores
// the bandwidth, which is a hyper-parameter of the methods.
func checkKernel(k Kernel) error {
	k.Bandwidth = 1
	made, err := k.Kernel()
	switch {
	case err != nil:
		return err
	case k.Degree > maxDegree:
		return fmt.Errorf("degree is %d, want at most %d", k.Degree, maxDegree)
	}
	return made.Validate()
}

// params adds the problems of the hyper-parameters that the method uses. before is the
// number of problems before those of the kernel. The hyper-parameters are compared with each
// other only if none has been added since.
func (p *problems) params(m *MethodInfo, given Params, before int) {
	for i := range m.Params {
		q := &m.Params[i]
		if q.Used != nil && !q.Used(given) {
			continue
		}
		if why := q.check(q.load(&given)); why != "" {
			p.add(q.path(), "%s", why)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given.Own)) {
		if q := m.param(name); q == nil || q.field != nil {
			p.add("params.own."+name, "%s takes no %s", m.Name, name)
		}
	}
	if len(*p) > before {
		return
	}
	whole := given
	if name, why := m.conflict(&whole); why != "" {
		p.add(m.param(name).path(), "%s", why)
	} else if !maps.Equal(given.PrunerParams, whole.PrunerParams) {
		p.add("params.pruner_params", "pruner_params is %v, want all parameters: %v", given.PrunerParams, whole.PrunerParams)
	}
}

// path returns the path of the hyper-parameter in a run's JSON; see [Problem].
func (p *ParamInfo) path() string {
	switch {
	case p.field == nil:
		return "params.own." + p.Name
	case p.Name == "bandwidth":
		return "params.kernel." + p.Name
	}
	return "params." + p.Name
}
