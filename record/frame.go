package record

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"polkrepro/internal/words"
	"polkrepro/spec"
)

// leading are the columns that are always there. The others follow in alphabetical order.
var leading = strings.Fields("objective_name solver_name dataset_name idx_rep sampling_strategy stop_val time p_solver_pruner p_dataset_variant")

// CSV writes a data frame for other programs: a header, and a row for every evaluation of every
// record. Rows are sorted by data set, task, method with its parameters, and seed; those of a run
// keep its order. Numbers have enough digits to be read back exactly. The columns are those of a
// benchopt result file (benchopt 1.8 and newer, where the data set's column is dataset_name), with
// these meanings:
//
//	objective_name          task with its parameters: ksvm[kernel_bandwidth=0.6,…]
//	solver_name             method with its parameters: polk[batch_size=32,…]
//	dataset_name            data set with variant and draw: multidist[draw=36,…]
//	idx_rep                 seed of the order in which the stream visits the data
//	sampling_strategy       Callback: the curve of one training
//	stop_val                training samples processed, counting every visit
//	time                    seconds of training so far, evaluations left out
//	objective_value         training risk R(f), the mean loss + λ/2 Σ‖f_c‖²
//	objective_test_risk     the same on the test set
//	objective_test_error    fraction of the test set misclassified
//	objective_model_order   elements of the dictionary
//	objective_kernel_evals  kernel evaluations so far
//	objective_numbers_kept  numbers that a learner of a stream keeps at this model order
//	objective_norm_sq       Σ‖f_c‖²
//	objective_prequential_loss, objective_prequential_error
//	                        mean loss, without a regularizer, and error of a stream's samples
//	                        so far, each scored before its mini-batch was learned
//	objective_log_loss, objective_calibration_error
//	                        of a logistic model on the test set
//	objective_*             additional measurements, named as in package evidence/theory
//	p_obj_*                 parameters of the objective: kernel and λ
//	p_solver_*              all other parameters of the run; p_solver_pruner is komp by default
//	                        and p_solver_pruner_params_* are its parameters
//	p_dataset_*             variant and draw
//	time_cpu                processor time of the training thread so far, seconds
//	time_process            the part of time that training waited for a pruner's own process
//	run_id, run_date        ID of the run, and when it began
//	series                  short name: the method, its parameters that differ between runs of
//	                        the method on the data set and task, and run_code if it differs too
//	task                    the task's name
//	run_code                versions of the code of the run; runs of an edited heuristic differ
//	                        only in it
//	benchmark-git-tag       revision of the program
//	platform, platform-architecture, system-cpus, system-processor
//
// A value that a run does not have is empty: the risks of a method without scores, a parameter that
// is zero because the method does not take it, the numbers kept by a batch method, and everything
// that was not measured. A column without values is left out, except for p_solver_pruner and
// p_dataset_variant. A number that is not finite is NaN, +Inf or -Inf.
func CSV(w io.Writer, records map[string]*Record) error {
	of := make(map[string]map[string]string) // values of a run, by its ID
	others := make(map[string]string)        // has all other columns as keys
	for id, r := range records {
		of[id] = runValues(r.Header)
		maps.Copy(others, of[id])
		for _, p := range r.Points {
			maps.Copy(others, pointValues(r.Header, p))
		}
	}
	nameSeries(records, of)
	others["series"] = ""
	for _, column := range leading {
		delete(others, column)
	}
	columns := slices.Concat(leading, slices.Sorted(maps.Keys(others)))
	key := func(id string) string {
		return of[id]["dataset_name"] + "\x00" + of[id]["objective_name"] + "\x00" + of[id]["solver_name"]
	}
	sorted := slices.SortedFunc(maps.Keys(records), func(x, y string) int {
		return cmp.Or(cmp.Compare(key(x), key(y)), cmp.Compare(records[x].Header.Run.Seed, records[y].Header.Run.Seed), cmp.Compare(x, y))
	})
	out := csv.NewWriter(w)
	out.Write(columns) // out.Error returns its error
	line := make([]string, len(columns))
	for _, id := range sorted {
		for _, p := range records[id].Points {
			values := pointValues(records[id].Header, p)
			for i, column := range columns {
				line[i] = cmp.Or(values[column], of[id][column])
			}
			out.Write(line)
		}
	}
	out.Flush()
	return out.Error()
}

// runValues returns the values that all points of a run have in common, by column.
func runValues(h Header) map[string]string {
	run, v := h.Run, h.Provenance
	objective, solver, dataset := make(map[string]string), fieldsOf(run.Params), fieldsOf(run.Data)
	for name, value := range solver {
		if name == "regularizer" || strings.HasPrefix(name, "kernel_") {
			objective[name] = value
			delete(solver, name)
		}
	}
	delete(dataset, "name")
	out := map[string]string{
		"objective_name":        withParams(run.Task, objective),
		"solver_name":           withParams(run.Method, solver),
		"dataset_name":          withParams(run.Data.Name, dataset),
		"idx_rep":               fmt.Sprint(int64(run.Seed)),
		"sampling_strategy":     "Callback",
		"task":                  run.Task,
		"run_id":                h.ID,
		"run_date":              h.Started.UTC().Format(time.RFC3339),
		"run_code":              spec.CodeName(run.Code),
		"benchmark-git-tag":     v.Revision,
		"platform":              v.GOOS,
		"platform-architecture": v.GOARCH,
		"system-cpus":           fmt.Sprint(v.Cores),
		"system-processor":      v.CPU,
	}
	// Runs leave out the default pruner. It is filled in here, as grouping by pruner would drop
	// rows without one. The method's full name, solver_name, stays without it.
	m := spec.Method(run.Method)
	if m != nil && slices.ContainsFunc(m.Params, func(p spec.ParamInfo) bool { return p.Kind == spec.KindPruner }) {
		solver["pruner"] = run.Params.PrunerName()
	}
	for prefix, params := range map[string]map[string]string{"p_obj_": objective, "p_solver_": solver, "p_dataset_": dataset} {
		for name, value := range params {
			out[prefix+name] = value
		}
	}
	return out
}

// nameSeries gives runs their series: the method with those of its parameters that differ between its
// runs on a data set and task, and the code if that differs between runs of a heuristic.
func nameSeries(records map[string]*Record, of map[string]map[string]string) {
	alike := make(map[string][]map[string]string)
	for id, r := range records {
		run := r.Header.Run
		of[id]["series"] = run.Method
		key := fmt.Sprint(run.Data.Name, "\x00", run.Data.Variant, "\x00", run.Task, "\x00", run.Method)
		alike[key] = append(alike[key], of[id])
	}
	for _, runs := range alike {
		differs := differing(runs)
		for _, v := range runs {
			shown := make(map[string]string)
			if differs[v["p_solver_pruner"]] {
				shown["code"] = v["run_code"]
			}
			for column, value := range v {
				name, ok := strings.CutPrefix(column, "p_solver_")
				if !ok {
					name, ok = strings.CutPrefix(column, "p_obj_")
				}
				if ok && differs[column] {
					shown[strings.TrimPrefix(name, "pruner_params_")] = value
				}
			}
			v["series"] = withParams(v["series"], shown)
		}
	}
}

// differing returns the columns in which runs differ, and the heuristics whose code differs.
func differing(runs []map[string]string) map[string]bool {
	out, code := make(map[string]bool), make(map[string]string)
	for _, v := range runs {
		for _, has := range []map[string]string{v, runs[0]} {
			for column := range has {
				out[column] = out[column] || v[column] != runs[0][column]
			}
		}
		name := v["p_solver_pruner"]
		out[name] = out[name] || cmp.Or(code[name], v["run_code"]) != v["run_code"]
		code[name] = v["run_code"]
	}
	return out
}

// pointValues returns the values of a point, by column.
func pointValues(h Header, p Point) map[string]string {
	out := map[string]string{
		"stop_val":               fmt.Sprint(p.Samples),
		"time":                   words.Exact(p.Timing.Wall),
		"time_cpu":               words.Exact(p.Timing.CPU),
		"time_process":           words.Exact(p.Timing.Pruner),
		"objective_test_error":   words.Exact(p.TestError),
		"objective_model_order":  fmt.Sprint(p.ModelOrder),
		"objective_kernel_evals": fmt.Sprint(p.KernelEvals),
	}
	measured := maps.Clone(p.Measured)
	if measured == nil {
		measured = make(map[string]float64)
	}
	if h.Run.HasRisk() {
		measured["value"], measured["test_risk"] = p.TrainRisk, p.TestRisk
	}
	if kept := h.Run.Numbers(float64(p.ModelOrder), h.DataFacts); !math.IsNaN(kept) {
		measured["numbers_kept"] = kept
	}
	if p.NormSq != nil {
		measured["norm_sq"] = *p.NormSq
	}
	if q := p.Prequential; q != nil {
		measured["prequential_loss"], measured["prequential_error"] = q.Loss, q.Error
	}
	if q := p.Reliability; q != nil {
		measured["log_loss"], measured["calibration_error"] = q.LogLoss, q.CalibrationError
	}
	for name, v := range measured {
		out["objective_"+name] = words.Exact(v)
	}
	return out
}

// withParams writes name[a=1,b=2] with the parameters in alphabetical order, as benchopt does.
func withParams(name string, params map[string]string) string {
	if len(params) == 0 {
		return name
	}
	var list []string
	for _, param := range slices.Sorted(maps.Keys(params)) {
		list = append(list, param+"="+params[param])
	}
	return name + "[" + strings.Join(list, ",") + "]"
}

// fieldsOf returns the JSON fields of a part of a run, those of a nested object with the object's
// name as a prefix. A field that is zero or empty is left out, because the method does not take it.
func fieldsOf(part any) map[string]string {
	text, err := json.Marshal(part)
	if err != nil {
		panic("record: " + err.Error()) // can't happen: the run was read from JSON
	}
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	d.Decode(&object) // what Marshal wrote
	out := make(map[string]string)
	flatten(out, "", object)
	return out
}

func flatten(out map[string]string, prefix string, object map[string]any) {
	for name, v := range object {
		if inner, ok := v.(map[string]any); ok {
			flatten(out, prefix+name+"_", inner)
		} else if text := fmt.Sprint(v); text != "" && text != "0" && text != "false" {
			out[prefix+name] = text
		}
	}
}
