package spec

import (
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/polk/prune"
)

// TestProblems checks that each problem has the path of its setting, and that all problems
// of a run are found. TestErrors covers the problems of specs, with the places that the paths
// lead to. TestEmbedded checks that planned runs have no problems.
func TestProblems(t *testing.T) {
	good := sampleRun()
	if wrong := good.Problems(); len(wrong) > 0 {
		t.Fatal(wrong)
	}
	minimizer := func(r *Run) { r.Task, r.Params.BatchSize, r.Evaluation = TaskKLR, 1, Evaluation{Minimizer: true} }
	for _, c := range []struct {
		path, want string
		spoil      func(*Run)
	}{
		{"method", `unknown method "plok", want one of `, func(r *Run) { r.Method = "plok" }},
		{"evaluation.tail", "tail is 2000000000", func(r *Run) { r.Evaluation.Tail, r.Evaluation.Every = 2*largest, largest }},
		{"evaluation.train_limit", "train_limit is -1, want 0", func(r *Run) { r.Evaluation.TrainLimit = -1 }},
		{"evaluation.every", "more than 50000 times", func(r *Run) { r.Samples, r.Evaluation.Every = MaxEvaluations, 1 }},
		{"data", "has no draws", func(r *Run) { r.Data = data.Ref{Name: "mnist", Draw: 1} }},
		{"params.kernel", "degree is 1001, want at most 1000", func(r *Run) { r.Params.Kernel = Kernel{Type: "polynomial", Degree: 1001} }},
		{"params.kernel.bandwidth", "bandwidth is 1e+200, want at most 1e+154", func(r *Run) { r.Params.Kernel.Bandwidth = 1e200 }},
		{"params.own.rank", "polk takes no rank", func(r *Run) { r.Params.Own = prune.Params{"rank": 3} }},
		{"params.pruner_params", "want all parameters", func(r *Run) { r.Params.Pruner, r.Params.PrunerParams = "komp-age", prune.Params{"order": 16} }},
		{"params.pruner_params", "takes no parameter nonsense", func(r *Run) { r.Params.PrunerParams = prune.Params{"nonsense": 1} }},
		{"sampling", `sampling is "epochs"`, func(r *Run) { r.Sampling = "epochs" }},
		{"", "", minimizer},
		{"evaluation.minimizer", "the risk of task ksvm", func(r *Run) { minimizer(r); r.Task = TaskKSVM }},
		{"evaluation.minimizer", "the method is norma", func(r *Run) {
			minimizer(r)
			r.Method = "norma"
			r.Params = Params{Kernel: r.Params.Kernel, Regularizer: 1e-6, LearningRate: 1, Budget: 8}
		}},
		{"evaluation.minimizer", "the pruner is none", func(r *Run) { minimizer(r); r.Params.Pruner, r.Params.Parsimony = "none", 0 }},
		{"evaluation.minimizer", "batch_size is 32, want 1", func(r *Run) { minimizer(r); r.Params.BatchSize = 32 }},
		{"evaluation.minimizer", "neither every nor tail", func(r *Run) { minimizer(r); r.Evaluation.Every = 10 }},
	} {
		r := good
		c.spoil(&r)
		wrong := r.Problems()
		if (len(wrong) == 0) != (c.path == "") || len(wrong) > 0 && (wrong[0].Path != c.path || !strings.Contains(wrong[0].Message, c.want)) {
			t.Errorf("problems %v, want %s: %s", wrong, c.path, c.want)
		}
	}
	r := good
	r.Samples, r.Params.BatchSize, r.Params.Parsimony = 0, 0, -1
	if wrong := r.Problems(); len(wrong) != 3 {
		t.Errorf("problems %v, want three", wrong)
	}
}
