package record

import (
	"bytes"
	"math"
	"testing"
	"time"

	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/polk/prune"
	"polkrepro/spec"
)

// framed is one run of POLK with seed 2, one of other code that diverged with seed 1, and one
// of C-SVC, which has no risk.
func framed() map[string]*Record {
	polk := spec.Run{
		Data: data.Ref{Name: "multidist", Variant: "calibrated", Draw: 36},
		Task: "ksvm", Method: "polk", Seed: 2, Samples: 640,
		Params: spec.Params{
			Kernel: spec.Kernel{Type: "gaussian", Bandwidth: 0.6}, Regularizer: 1e-6,
			LearningRate: 6, Schedule: "constant", BatchSize: 32, Parsimony: 0.04, PrunerParams: prune.Params{"budget": 17},
		},
	}
	diverged := polk
	diverged.Seed = 1
	csvc := polk
	csvc.Method, csvc.Seed = "csvc", 1
	csvc.Params = spec.Params{Kernel: polk.Params.Kernel, Cost: 1, Tolerance: 0.001}
	out := make(map[string]*Record)
	for id, run := range map[string]spec.Run{"aaa": polk, "bbb": diverged, "ccc": csvc} {
		r := &Record{Header: Header{ID: id, Run: run, Started: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
			Provenance: Provenance{Module: "polkrepro", Revision: "0123", GOOS: "linux", GOARCH: "amd64", CPU: "a \"fast\", one", Cores: 2}}}
		r.Points = []Point{
			{Samples: 320, TrainRisk: 1.0 / 3, TestRisk: 0.25, TestError: 0.05, ModelOrder: 16, KernelEvals: 1 << 60, Timing: Timing{Wall: 0.5, CPU: 0.25}},
			{Samples: 640, TrainRisk: 0.125, TestRisk: 0.2, TestError: 0.04, ModelOrder: 17, Timing: Timing{Wall: 1, CPU: 0.5}},
		}
		r.Final = Final{Samples: 640, TrainRisk: 0.125, TestRisk: 0.2, TestError: 0.04, ModelOrder: 16.5, KernelEvals: 99, Timing: Timing{Wall: 1.5}}
		out[id] = r
	}
	out["aaa"].Points[1].Measured = map[string]float64{"distance": 0.75}
	out["aaa"].Points[1].Timing.Pruner = 0.125
	out["aaa"].Points[1].Diagnostics = Diagnostics{
		NormSq: new(12.5), Prequential: &Prequential{Loss: 0.5, Error: 0.0625}, Reliability: &Reliability{LogLoss: 0.75, CalibrationError: 0.25},
	}
	out["bbb"].Header.Run.Code = "method polk: version 2, pruner mygo: source 066bb907832e"
	out["bbb"].Points[1].TrainRisk = math.NaN()
	out["bbb"].Points[1].TestRisk = math.Inf(1)
	out["bbb"].Final.TrainRisk = math.NaN()
	return out
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	testutil.NoError(t, CSV(&b, framed()))
	rows := testutil.Rows(t, b.Bytes())
	if len(rows) != 6 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, want := range []map[string]string{
		0: {
			"run_id": "bbb", "idx_rep": "1", "objective_name": "ksvm[kernel_bandwidth=0.6,kernel_type=gaussian,regularizer=0.000001]",
			"solver_name":  "polk[batch_size=32,learning_rate=6,parsimony=0.04,pruner_params_budget=17,schedule=constant]",
			"dataset_name": "multidist[draw=36,variant=calibrated]", "sampling_strategy": "Callback", "stop_val": "320", "time": "0.5", "time_cpu": "0.25",
			"objective_value": "0.3333333333333333", "objective_test_risk": "0.25", "objective_test_error": "0.05",
			"objective_model_order": "16", "objective_kernel_evals": "1152921504606846976",
			"p_obj_kernel_type": "gaussian", "p_obj_kernel_bandwidth": "0.6", "p_obj_regularizer": "0.000001",
			"p_solver_learning_rate": "6", "p_solver_schedule": "constant", "p_solver_batch_size": "32", "p_solver_parsimony": "0.04", "p_solver_pruner_params_budget": "17",
			"p_solver_pruner": "komp", "p_solver_cost": "", "run_code": "method polk: version 2, pruner mygo: source 066bb907832e",
			"series": "polk[code=method polk: version 2, pruner mygo: source 066bb907832e]", "task": "ksvm",
			"p_dataset_variant": "calibrated", "p_dataset_draw": "36", "run_date": "2026-01-02T03:04:05Z",
			"benchmark-git-tag": "0123", "platform": "linux", "platform-architecture": "amd64", "system-cpus": "2", "system-processor": `a "fast", one`,
		},
		1: {"run_id": "bbb", "stop_val": "640", "objective_value": "NaN", "objective_test_risk": "+Inf"},
		2: {"run_id": "aaa", "idx_rep": "2", "run_code": "the recorded versions", "objective_norm_sq": "", "objective_prequential_loss": "", "objective_calibration_error": ""},
		3: {"run_id": "aaa", "stop_val": "640", "objective_model_order": "17", "objective_distance": "0.75", "time_process": "0.125",
			"objective_norm_sq": "12.5", "objective_prequential_loss": "0.5", "objective_prequential_error": "0.0625",
			"objective_log_loss": "0.75", "objective_calibration_error": "0.25",
			"objective_numbers_kept": "408"}, // 17 elements of 2 features and 5 weights, and the inverse
		4: {"run_id": "ccc", "series": "csvc", "solver_name": "csvc[cost=1,tolerance=0.001]", "objective_value": "", "objective_test_risk": "", "objective_test_error": "0.05", "p_obj_regularizer": "",
			"objective_distance": "", "objective_numbers_kept": "", "time_process": "0", "p_solver_cost": "1", "p_solver_pruner": ""},
	} {
		for column, value := range want {
			if got, ok := rows[i][column]; !ok || got != value {
				t.Errorf("row %d: %s is %q, want %q", i, column, got, value)
			}
		}
	}
}

// TestSeries checks that series are named by what differs between runs of a method on a data set and task.
func TestSeries(t *testing.T) {
	records := make(map[string]*Record)
	want := make(map[string]string)
	add := func(series, task, method string, bandwidth float64, p spec.Params) {
		p.Kernel = spec.Kernel{Type: "gaussian", Bandwidth: bandwidth}
		run := spec.Run{Data: data.Ref{Name: "letter", Draw: uint64(len(records))}, Task: task, Method: method, Params: p, Seed: uint64(len(records))}
		id := string(rune('a' + len(records)))
		records[id], want[id] = &Record{Header: Header{ID: id, Run: run}, Points: []Point{{Samples: 1}}}, series
	}
	add("polk[order=16]", "ksvm", "polk", 1, spec.Params{Pruner: "oldest", PrunerParams: prune.Params{"order": 16}})
	add("polk[order=40]", "ksvm", "polk", 1, spec.Params{Pruner: "oldest", PrunerParams: prune.Params{"order": 40}})
	add("polk[order=40]", "ksvm", "polk", 1, spec.Params{Pruner: "oldest", PrunerParams: prune.Params{"order": 40}})
	add("bsgd", "ksvm", "bsgd", 1, spec.Params{Budget: 16})
	add("polk[kernel_bandwidth=2,pruner=oldest]", "klr", "polk", 2, spec.Params{Pruner: "oldest"})
	add("polk[kernel_bandwidth=3,pruner=komp]", "klr", "polk", 3, spec.Params{})
	var b bytes.Buffer
	testutil.NoError(t, CSV(&b, records))
	for _, row := range testutil.Rows(t, b.Bytes()) {
		if id := row["run_id"]; row["series"] != want[id] || row["task"] != records[id].Header.Run.Task {
			t.Errorf("%s: series %q, task %q, want %q", id, row["series"], row["task"], want[id])
		}
	}
}
