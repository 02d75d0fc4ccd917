package experiments

import (
	"math"
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/polk/prune"
)

// TestCheckAcceptsWhatIsPlanned: every run of every embedded spec passes.
func TestCheckAcceptsWhatIsPlanned(t *testing.T) {
	specs, err := EmbeddedAll()
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	for _, s := range specs {
		for _, profile := range Profiles() {
			plan, err := s.Plan(profile, PlanOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range plan {
				runs++
				if err := p.Run.Check(); err != nil {
					t.Errorf("%s, %s: %v", s.Name, p.Label, err)
				}
			}
		}
	}
	if runs == 0 {
		t.Error("no run was checked")
	}
}

func TestCheckRefuses(t *testing.T) {
	good := Run{
		Data: data.Ref{Name: "multidist", Variant: data.Calibrated}, Task: TaskKSVM, Method: MethodPOLK,
		Params: Params{
			Kernel: Kernel{Type: "gaussian", Bandwidth: 0.6}, Regularizer: 1e-6, LearningRate: 6,
			Schedule: ScheduleConstant, BatchSize: 32, Parsimony: 0.04,
		},
		Seed: 1, Samples: 1000,
	}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Run){
		`no method "nonsense"`:             func(r *Run) { r.Method = "nonsense" },
		"method ivm does not fit the task": func(r *Run) { r.Method = "ivm" },
		"0 samples":                        func(r *Run) { r.Samples = 0 },
		"2000000000 samples":               func(r *Run) { r.Samples = 2 * largest },
		"evaluation every -1":              func(r *Run) { r.Evaluation.Every = -1 },
		"2000000000 in the tail":           func(r *Run) { r.Evaluation.Tail = 2 * largest },
		"more than 50000 times":            func(r *Run) { r.Samples, r.Evaluation.Every = MaxEvaluations, 1 },
		`unknown data set "nonsense"`:      func(r *Run) { r.Data.Name = "nonsense" },
		"nonsense":                         func(r *Run) { r.Data.Variant = "nonsense" },
		`kernel is "linear"`:               func(r *Run) { r.Params.Kernel.Type = "linear" },
		"degree 0 is below 1":              func(r *Run) { r.Params.Kernel.Type = "polynomial" },
		"offset -1 is not":                 func(r *Run) { r.Params.Kernel = Kernel{Type: "polynomial", Degree: 2, Offset: -1} },
		"bandwidth is 0":                   func(r *Run) { r.Params.Kernel.Bandwidth = 0 },
		"batch_size is 0":                  func(r *Run) { r.Params.BatchSize = 0 },
		"batch_size is 2000000000":         func(r *Run) { r.Params.BatchSize = 2 * largest },
		"parsimony is NaN":                 func(r *Run) { r.Params.Parsimony = math.NaN() },
		"learning_rate is 10000000":        func(r *Run) { r.Params.LearningRate = 1e7 },
		`schedule is "often"`:              func(r *Run) { r.Params.Schedule = "often" },
		`unknown pruner "shears"`:          func(r *Run) { r.Params.Pruner = "shears" },
		`sampling is "epochs"`:             func(r *Run) { r.Sampling = "epochs" },
		`epsilon is "constant"`:            func(r *Run) { r.Params.Epsilon = "constant" },
		"the risk of task ksvm":            func(r *Run) { r.Evaluation.Minimizer = true },
		"the method is lbfgs":              func(r *Run) { r.Evaluation.Minimizer, r.Task, r.Method = true, TaskKLR, "lbfgs" },
		"the pruner is komp-lazy":          func(r *Run) { r.Evaluation.Minimizer, r.Task, r.Params.Pruner = true, TaskKLR, "komp-lazy" },
		"batch_size is 32, want 1":         func(r *Run) { r.Evaluation.Minimizer, r.Task = true, TaskKLR },
		"neither every nor tail": func(r *Run) {
			r.Evaluation, r.Task, r.Params.BatchSize = Evaluation{Minimizer: true, Every: 10}, TaskKLR, 1
		},
		"want values of all":          func(r *Run) { r.Params.Pruner, r.Params.PrunerParams = "komp-lazy", prune.Params{"order": 16} },
		"takes no parameter nonsense": func(r *Run) { r.Params.PrunerParams = prune.Params{"nonsense": 1} },
	} {
		r := good
		spoil(&r)
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
