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
	"strconv"
	"strings"
	"time"

	"polkrepro/experiments"
	"polkrepro/polk/prune"
	"polkrepro/record"
)

// A Frame is rows of values in named columns. A value is a string, an int64 or a
// float64, or nil if there is none.
type Frame struct {
	Columns []string
	Rows    [][]any
}

// A field is a named value of a row in the making.
type field struct {
	name  string
	value any
}

// Evaluations returns a row for each point of each record; see the package's
// documentation for the columns. Rows are in order of data set, task, method
// with its parameters, and seed, then in that of the run.
func Evaluations(records map[string]*record.Record) *Frame {
	f := new(Frame)
	measured := measuredNames(records)
	for _, c := range rowOf(new(record.Record), record.Point{}, measured) {
		f.Columns = append(f.Columns, c.name)
	}
	for _, r := range sorted(records) {
		for _, p := range r.Points {
			fields := rowOf(r, p, measured)
			row := make([]any, len(fields))
			for i, c := range fields {
				row[i] = c.value
			}
			f.Rows = append(f.Rows, row)
		}
	}
	return f
}

// measuredNames returns the names of what else was measured at points, sorted.
func measuredNames(records map[string]*record.Record) []string {
	names := make(map[string]bool)
	for _, r := range records {
		for _, p := range r.Points {
			for name := range p.Measured {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// sorted returns records by what they ran, then by seed.
func sorted(records map[string]*record.Record) []*record.Record {
	type named struct {
		record *record.Record
		key    string
	}
	var all []named
	for _, r := range records {
		n := namesOf(r.Header.Run)
		all = append(all, named{r, n.dataset + "\x00" + n.objective + "\x00" + n.solver})
	}
	slices.SortFunc(all, func(x, y named) int {
		return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.record.Header.Run.Seed, y.record.Header.Run.Seed),
			cmp.Compare(x.record.Header.ID, y.record.Header.ID))
	})
	out := make([]*record.Record, len(all))
	for i, n := range all {
		out[i] = n.record
	}
	return out
}

// rowOf returns the fields of a point of a record, the same ones of every
// record: measured are the names of what else was measured in any.
func rowOf(r *record.Record, p record.Point, measured []string) []field {
	h := r.Header
	n := namesOf(h.Run)
	risk := func(v float64) any {
		if !h.Run.HasRisk() {
			return nil
		}
		return v
	}
	row := []field{
		{"objective_name", n.objective},
		{"solver_name", n.solver},
		{"dataset_name", n.dataset},
		{"idx_rep", int64(h.Run.Seed)},
		{"sampling_strategy", "Callback"},
		{"stop_val", int64(p.Samples)},
		{"time", p.Timing.Wall},
		{"objective_value", risk(p.TrainRisk)},
		{"objective_test_risk", risk(p.TestRisk)},
		{"objective_test_error", p.TestError},
		{"objective_model_order", int64(p.ModelOrder)},
		{"objective_kernel_evals", p.KernelEvals},
		{"objective_numbers_kept", known(h.Run.Numbers(float64(p.ModelOrder), h.DataFacts))},
	}
	row = append(row, diagnostics(p.Diagnostics)...)
	for _, name := range measured {
		f := field{name: "objective_" + name}
		if v, ok := p.Measured[name]; ok {
			f.value = v
		}
		row = append(row, f)
	}
	row = append(row, prefixed("p_obj_", n.objectiveParams)...)
	row = append(row, prefixed("p_solver_", withPruner(h.Run, n.solverParams))...)
	row = append(row, prefixed("p_dataset_", n.datasetParams)...)
	v := h.Provenance
	return append(row,
		field{"time_cpu", p.Timing.CPU},
		field{"time_process", p.Timing.Pruner},
		field{"run_id", h.ID},
		field{"run_date", h.Started.UTC().Format(time.RFC3339)},
		field{"run_code", experiments.CodeName(h.Run.Code)},
		field{"benchmark-git-tag", v.Revision},
		field{"platform", v.GOOS},
		field{"platform-architecture", v.GOARCH},
		field{"system-cpus", int64(v.Cores)},
		field{"system-processor", v.CPU})
}

// withPruner returns the parameters of a run with the name of the default pruner, which
// runs leave out: grouped by the pruner, rows without a name would be dropped. The
// method's full name, solver_name, stays without it.
func withPruner(run experiments.Run, params []field) []field {
	m := experiments.Method(run.Method)
	if m == nil || run.Params.Pruner != "" {
		return params
	}
	out := slices.Clone(params)
	for _, p := range m.Params {
		i := slices.IndexFunc(out, func(f field) bool { return f.name == p.Name })
		if p.Kind == experiments.KindPruner && i >= 0 {
			out[i].value = prune.KOMP
		}
	}
	return out
}

// diagnostics returns the fields of what is measured beside the paper's figures.
func diagnostics(d record.Diagnostics) []field {
	out := []field{
		{"objective_norm_sq", nil},
		{"objective_prequential_loss", nil},
		{"objective_prequential_error", nil},
		{"objective_log_loss", nil},
		{"objective_calibration_error", nil},
	}
	if d.NormSq != nil {
		out[0].value = *d.NormSq
	}
	if q := d.Prequential; q != nil {
		out[1].value, out[2].value = q.Loss, q.Error
	}
	if r := d.Reliability; r != nil {
		out[3].value, out[4].value = r.LogLoss, r.CalibrationError
	}
	return out
}

// known returns nil for NaN.
func known(v float64) any {
	if math.IsNaN(v) {
		return nil
	}
	return v
}

func prefixed(prefix string, fields []field) []field {
	out := slices.Clone(fields)
	for i := range out {
		out[i].name = prefix + out[i].name
	}
	return out
}

// names are a run's parts as benchopt names them, with their parameters.
type names struct {
	objective, solver, dataset                   string
	objectiveParams, solverParams, datasetParams []field
}

func namesOf(run experiments.Run) names {
	var n names
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
	return n
}

// withParams writes name[a=1,b=2] with the parameters that there are, in
// alphabetical order, as benchopt does.
func withParams(name string, fields []field) string {
	var params []string
	for _, f := range fields {
		if f.value != nil {
			params = append(params, fmt.Sprintf("%s=%v", f.name, f.value))
		}
	}
	if len(params) == 0 {
		return name
	}
	slices.Sort(params)
	return name + "[" + strings.Join(params, ",") + "]"
}

// fieldsOf returns the fields of a struct of a spec under the names that they
// have in JSON, those of a nested one under its name. What is zero or empty has
// no value: the method does not take it. It panics if a field is neither text, JSON, a
// number, a truth value, a map that says what it holds, nor a struct.
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
			f.value = scalar(v.Field(i))
		}
		out = append(out, f)
	}
	return out
}

// scalar returns a field's value.
func scalar(v reflect.Value) any {
	switch {
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return int64(v.Uint())
	case v.CanFloat():
		return v.Float()
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		return string(v.Bytes())
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Bool:
		return fmt.Sprint(v.Bool())
	case v.Kind() == reflect.Map:
		if s, ok := v.Interface().(fmt.Stringer); ok {
			return s.String()
		}
	}
	panic("export: a parameter of type " + v.Type().String())
}

// CSV writes a frame with a header. Numbers are written so that they are read
// back as they were.
func (f *Frame) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(f.Columns); err != nil {
		return err
	}
	line := make([]string, len(f.Columns))
	for _, row := range f.Rows {
		for i, v := range row {
			line[i] = text(v)
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// text writes a value; nothing for none.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}
