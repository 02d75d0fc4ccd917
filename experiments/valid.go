package experiments

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"polkrepro/polk/prune"
)

// maxDegree bounds the degree of a polynomial kernel.
const maxDegree = 1000

// Check reports what no spec could have planned of a run. It is for runs that
// were read from a file.
func (r Run) Check() error {
	m := lookupMethod(r.Method)
	switch e := r.Evaluation; {
	case m == nil:
		return fmt.Errorf("no method %q", r.Method)
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
	if err := checkRef(r.Data); err != nil {
		return err
	}
	if err := r.Params.Kernel.check(); err != nil {
		return err
	}
	return r.Params.check(m)
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

// check reports a kernel that specs can't name. The bandwidth is among the
// methods' hyper-parameters.
func (k Kernel) check() error {
	switch {
	case k.Type == KernelGaussian:
		return nil
	case k.Type != KernelPolynomial:
		return fmt.Errorf("kernel is %q, want one of %s", k.Type, list([]string{KernelGaussian, KernelPolynomial}))
	case k.Degree < 1 || k.Degree > maxDegree:
		return fmt.Errorf("degree is %d, want 1 to %d", k.Degree, maxDegree)
	case !(k.Offset >= 0) || math.IsInf(k.Offset, 0):
		return fmt.Errorf("offset is %v, want a number of at least 0", k.Offset)
	}
	return nil
}

// check reports a hyper-parameter that the method uses and whose value is out
// of range, or does not go with the others.
func (p Params) check(m *MethodInfo) error {
	for i := range m.Params {
		q := &m.Params[i]
		if q.used != nil && !q.used(p) {
			continue
		}
		if wrong := q.check(p.get(q.Name)); wrong != "" {
			return errors.New(wrong)
		}
	}
	given := p.PrunerParams
	if _, why := p.conflict(m.Name); why != "" {
		return errors.New(why)
	}
	if !maps.Equal(given, p.PrunerParams) {
		return fmt.Errorf("pruner_params is %v, want values of all: %v", given, p.PrunerParams)
	}
	return nil
}
