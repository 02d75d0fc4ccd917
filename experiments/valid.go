package experiments

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// maxDegree bounds the degree of a polynomial kernel.
const maxDegree = 1000

// Check reports what no spec could have planned of a run. It is for runs that
// were read from a file.
func (r Run) Check() error {
	m := Method(r.Method)
	switch e := r.Evaluation; {
	case m == nil:
		return fmt.Errorf("no method %q%s", r.Method, unregistered())
	case !slices.Contains(m.Tasks, r.Task):
		return fmt.Errorf("method %s does not fit the task %q", r.Method, r.Task)
	case r.Samples < 1 || r.Samples > largest:
		return fmt.Errorf("%d samples, want 1 to %d", r.Samples, largest)
	case min(e.Every, e.Tail, e.TrainLimit) < 0 || max(e.Every, e.Tail, e.TrainLimit) > largest:
		return fmt.Errorf("evaluation every %d samples, %d in the tail, on %d: want 0 to %d", e.Every, e.Tail, e.TrainLimit, largest)
	case e.Every > 0 && evaluations(r.Samples, e.Every, e.Tail) > MaxEvaluations:
		return fmt.Errorf("%d samples evaluated every %d, with %d in the tail, are more than %d times in all", r.Samples, e.Every, e.Tail, MaxEvaluations)
	}
	if r.Sampling != "" && r.Sampling != SamplingReplacement {
		return fmt.Errorf("sampling is %q, want none or %s", r.Sampling, SamplingReplacement)
	}
	if r.Evaluation.Minimizer {
		if why := minimizerConflict(r.Task, r.Method, r.Params); why != "" || r.Evaluation.Every+r.Evaluation.Tail > 0 {
			return fmt.Errorf("measured against the minimizer: %s", cmp.Or(why, "it takes neither every nor tail"))
		}
	}
	if _, err := r.Data.Resolve(); err != nil {
		return err
	}
	if (r.Task == TaskRegression) != r.Data.Files.Regression {
		return fmt.Errorf("task %s does not fit the labels of %s", r.Task, r.Data)
	}
	if kernel.Takes(r.Params.Kernel.Type) == nil {
		return fmt.Errorf("kernel is %q, want one of %s", r.Params.Kernel.Type, list(kernel.Names()))
	}
	if err := r.Params.check(m); err != nil {
		return err
	}
	return checkKernel(r.Params.Kernel)
}

// checkKernel reports parameters that do not make a kernel.
func checkKernel(k Kernel) error {
	made, err := k.Kernel()
	if err != nil {
		return err
	}
	if k.Degree > maxDegree {
		return fmt.Errorf("degree is %d, want at most %d", k.Degree, maxDegree)
	}
	return made.Validate()
}

// minimizerConflict says why a run can't be measured against the minimizer of its
// training risk, or "". What is measured is defined for a smooth risk, and for
// steps of one sample by POLK with its own pruner or by FSGD.
func minimizerConflict(task, method string, p Params) string {
	switch {
	case task != TaskKLR:
		return fmt.Sprintf("the risk of task %s is not smooth, want task %s", task, TaskKLR)
	case method != MethodPOLK && method != MethodFSGD:
		return fmt.Sprintf("the method is %s, want %s or %s", method, MethodPOLK, MethodFSGD)
	case p.Pruner != "":
		return fmt.Sprintf("the pruner is %s, want %s", p.Pruner, prune.KOMP)
	case p.BatchSize != 1:
		return fmt.Sprintf("batch_size is %d, want 1", p.BatchSize)
	}
	return ""
}

// check reports a hyper-parameter that the method uses and whose value is out
// of range, or does not go with the others.
func (p Params) check(m *MethodInfo) error {
	for i := range m.Params {
		q := &m.Params[i]
		if q.Used != nil && !q.Used(p) {
			continue
		}
		if wrong := q.check(q.load(&p)); wrong != "" {
			return errors.New(wrong)
		}
	}
	for name := range p.Own {
		if q := m.param(name); q == nil || q.field != nil {
			return fmt.Errorf("%s takes no %s", m.Name, name)
		}
	}
	given := p.PrunerParams
	if _, why := m.conflict(&p); why != "" {
		return errors.New(why)
	}
	if !maps.Equal(given, p.PrunerParams) {
		return fmt.Errorf("pruner_params is %v, want values of all: %v", given, p.PrunerParams)
	}
	return nil
}
