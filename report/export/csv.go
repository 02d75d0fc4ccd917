package export

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/record"
)

// A field is a named value of a row; the value is empty if there is none.
type field struct{ name, value string }

// CSV writes a header and a row for each point of each record; the package documentation lists
// the columns. Rows are sorted by data set, task, method with its parameters, and seed; those of
// a run keep its order. Numbers have enough digits to be read back exactly.
func CSV(w io.Writer, records map[string]*record.Record) error {
	names := make(map[string]bool) // names of the additional measurements
	var all []named
	for _, r := range records {
		all = append(all, namesOf(r))
		for _, p := range r.Points {
			for name := range p.Measured {
				names[name] = true
			}
		}
	}
	measured := slices.Sorted(maps.Keys(names))
	slices.SortFunc(all, func(x, y named) int {
		return cmp.Or(cmp.Compare(x.key(), y.key()), cmp.Compare(x.Header.Run.Seed, y.Header.Run.Seed), cmp.Compare(x.Header.ID, y.Header.ID))
	})
	out := csv.NewWriter(w)
	write := func(fields []field, cell func(field) string) {
		line := make([]string, len(fields))
		for i, f := range fields {
			line[i] = cell(f)
		}
		out.Write(line) // out.Error returns its error
	}
	write(namesOf(new(record.Record)).row(record.Point{}, measured), func(f field) string { return f.name })
	for _, n := range all {
		for _, p := range n.Points {
			write(n.row(p, measured), func(f field) string { return f.value })
		}
	}
	out.Flush()
	return out.Error()
}

// A named holds a record with benchopt's names of the parts of its run, and their parameters.
type named struct {
	*record.Record
	objective, solver, dataset                   string
	objectiveParams, solverParams, datasetParams []field
}

func (n named) key() string { return n.dataset + "\x00" + n.objective + "\x00" + n.solver }

func namesOf(r *record.Record) named {
	run := r.Header.Run
	n := named{Record: r}
	for _, f := range fieldsOf("", reflect.ValueOf(run.Params)) {
		if f.name == "regularizer" || strings.HasPrefix(f.name, "kernel_") {
			n.objectiveParams = append(n.objectiveParams, f)
		} else {
			n.solverParams = append(n.solverParams, f)
		}
	}
	for _, f := range fieldsOf("", reflect.ValueOf(run.Data)) {
		if f.name != "name" {
			n.datasetParams = append(n.datasetParams, f)
		}
	}
	n.objective = withParams(run.Task, n.objectiveParams)
	n.solver = withParams(run.Method, n.solverParams)
	n.dataset = withParams(run.Data.Name, n.datasetParams)
	// Runs leave out the default pruner. It is filled in here, as grouping by pruner would drop
	// rows without one. The method's full name, solver_name, stays without it.
	m := experiments.Method(run.Method)
	prunes := m != nil && slices.ContainsFunc(m.Params, func(p experiments.ParamInfo) bool { return p.Kind == experiments.KindPruner })
	for i, f := range n.solverParams {
		if prunes && f.name == "pruner" {
			n.solverParams[i].value = run.Params.PrunerName()
		}
	}
	return n
}

// row returns the fields of a point, which are the same for every record. measured holds the
// names of the additional measurements in any record.
func (n named) row(p record.Point, measured []string) []field {
	h, v := n.Header, n.Header.Provenance
	kept := h.Run.Numbers(float64(p.ModelOrder), h.DataFacts)
	tested, reliable := cmp.Or(p.Prequential, new(record.Prequential)), cmp.Or(p.Reliability, new(record.Reliability))
	row := []field{
		{"objective_name", n.objective},
		{"solver_name", n.solver},
		{"dataset_name", n.dataset},
		{"idx_rep", fmt.Sprint(int64(h.Run.Seed))},
		{"sampling_strategy", "Callback"},
		{"stop_val", fmt.Sprint(p.Samples)},
		{"time", words.Exact(p.Timing.Wall)},
		{"objective_value", known(h.Run.HasRisk(), p.TrainRisk)},
		{"objective_test_risk", known(h.Run.HasRisk(), p.TestRisk)},
		{"objective_test_error", words.Exact(p.TestError)},
		{"objective_model_order", fmt.Sprint(p.ModelOrder)},
		{"objective_kernel_evals", fmt.Sprint(p.KernelEvals)},
		{"objective_numbers_kept", known(!math.IsNaN(kept), kept)},
		{"objective_norm_sq", known(p.NormSq != nil, *cmp.Or(p.NormSq, new(float64)))},
		{"objective_prequential_loss", known(p.Prequential != nil, tested.Loss)},
		{"objective_prequential_error", known(p.Prequential != nil, tested.Error)},
		{"objective_log_loss", known(p.Reliability != nil, reliable.LogLoss)},
		{"objective_calibration_error", known(p.Reliability != nil, reliable.CalibrationError)},
	}
	for _, name := range measured {
		v, ok := p.Measured[name]
		row = append(row, field{"objective_" + name, known(ok, v)})
	}
	for _, params := range []struct {
		prefix string
		of     []field
	}{{"p_obj_", n.objectiveParams}, {"p_solver_", n.solverParams}, {"p_dataset_", n.datasetParams}} {
		for _, f := range params.of {
			row = append(row, field{params.prefix + f.name, f.value})
		}
	}
	return append(row,
		field{"time_cpu", words.Exact(p.Timing.CPU)},
		field{"time_process", words.Exact(p.Timing.Pruner)},
		field{"run_id", h.ID},
		field{"run_date", h.Started.UTC().Format(time.RFC3339)},
		field{"run_code", experiments.CodeName(h.Run.Code)},
		field{"benchmark-git-tag", v.Revision},
		field{"platform", v.GOOS},
		field{"platform-architecture", v.GOARCH},
		field{"system-cpus", fmt.Sprint(v.Cores)},
		field{"system-processor", v.CPU})
}

// known writes a number if there is one, else an empty string.
func known(is bool, v float64) string {
	if !is {
		return ""
	}
	return words.Exact(v)
}

// withParams writes name[a=1,b=2] with the parameters that have a value, in alphabetical order,
// as benchopt does.
func withParams(name string, fields []field) string {
	var params []string
	for _, f := range fields {
		if f.value != "" {
			params = append(params, f.name+"="+f.value)
		}
	}
	if len(params) == 0 {
		return name
	}
	slices.Sort(params)
	return name + "[" + strings.Join(params, ",") + "]"
}

// fieldsOf returns the fields of a spec's struct under their JSON names. The fields of a nested
// struct have its name as a prefix. A field that is zero or empty has no value, because the
// method does not take it. fieldsOf panics if a field is not a string, JSON, a number, a Boolean,
// a map with a String method, or a struct.
func fieldsOf(prefix string, v reflect.Value) []field {
	var out []field
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if v.Field(i).Kind() == reflect.Struct {
			out = append(out, fieldsOf(prefix+name+"_", v.Field(i))...)
			continue
		}
		f := field{name: prefix + name}
		if !v.Field(i).IsZero() {
			f.value = text(v.Field(i))
		}
		out = append(out, f)
	}
	return out
}

// text writes a field's value.
func text(v reflect.Value) string {
	_, says := v.Interface().(fmt.Stringer)
	switch {
	case v.CanFloat():
		return words.Exact(v.Float())
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		return string(v.Bytes())
	case v.CanInt(), v.CanUint(), v.Kind() == reflect.String, v.Kind() == reflect.Bool, v.Kind() == reflect.Map && says:
		return fmt.Sprint(v)
	}
	panic("export: a parameter of type " + v.Type().String())
}
