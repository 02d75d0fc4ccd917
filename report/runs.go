package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"polkrepro/experiments"
)

// runs makes the table of what the runs cost, a row a series.
func (b *builder) runs() *Table {
	t := &Table{
		Name:    "runs",
		Title:   "The runs and their cost",
		Caption: "The runs and their cost.",
		Header:  []string{"data", "task", "series", "runs", "failed", "samples", "test risk", "test error (%)", "model order", "wall (s)", "CPU (s)", "CPU, all runs (s)", "kernel evaluations"},
		Notes: []string{
			"Per run: mean ± standard deviation. Times are of the training alone, evaluations excluded; CPU seconds are those of the training threads.",
		},
	}
	for _, g := range b.costGroups() {
		t.Rows = append(t.Rows, b.costRow(g))
	}
	return t
}

// A costGroup is the planned runs of one series on one data set.
type costGroup struct {
	first   experiments.Planned
	planned []experiments.Planned
}

// costGroups groups the planned runs by data set, task and series.
func (b *builder) costGroups() []*costGroup {
	out := grouped(b.planned(func(experiments.Planned) bool { return true }))
	slices.SortStableFunc(out, compareCosts)
	return out
}

// grouped groups runs by data set, task and series, in their own order.
func grouped(planned []experiments.Planned) []*costGroup {
	byKey := map[string]*costGroup{}
	var out []*costGroup
	for _, p := range planned {
		key := p.Run.Data.Name + "\x00" + p.Run.Data.Variant + "\x00" + p.Run.Task + "\x00" + p.Group
		if byKey[key] == nil {
			byKey[key] = &costGroup{first: p}
			out = append(out, byKey[key])
		}
		byKey[key].planned = append(byKey[key].planned, p)
	}
	return out
}

// compareCosts orders groups by data set, task, and as the figures do.
func compareCosts(x, y *costGroup) int {
	a, b := x.first.Run, y.first.Run
	return cmp.Or(
		cmp.Compare(a.Data.Name, b.Data.Name),
		cmp.Compare(a.Data.Variant, b.Data.Variant),
		-cmp.Compare(a.Task, b.Task),
		compareSeries(
			&Series{Method: a.Method, params: a.Params, Label: x.first.Series},
			&Series{Method: b.Method, params: b.Params, Label: y.first.Series}))
}

// name names the group's data set and its variant.
func (g *costGroup) name() string {
	if v := g.first.Run.Data.Variant; v != "" {
		return g.first.Run.Data.Name + " (" + v + ")"
	}
	return g.first.Run.Data.Name
}

// costRow sums a group up.
func (b *builder) costRow(g *costGroup) []string {
	runs := b.records(g.planned)
	var wall, cpu, samples, risk, errors, order, kernels []float64
	total := 0.0
	for _, r := range runs {
		wall = append(wall, r.Final.Timing.Wall)
		cpu = append(cpu, r.Final.Timing.CPU)
		samples = append(samples, float64(r.Final.Samples))
		if r.Header.Run.HasRisk() {
			risk = append(risk, r.Final.TestRisk)
		}
		errors = append(errors, 100*r.Final.TestError)
		order = append(order, r.Final.ModelOrder)
		kernels = append(kernels, float64(r.Final.KernelEvals))
		total += r.Final.Timing.CPU
	}
	row := []string{g.name(), g.first.Run.Task, g.first.Series,
		fmt.Sprintf("%d of %d", len(runs), len(g.planned)), strconv.Itoa(len(b.failures(g.planned)))}
	if len(runs) == 0 {
		return append(row, "", "", "", "", "", "", "", "")
	}
	return append(row, plainMean(samples), cmp.Or(statOf(risk).text(qRisk), whyDash), statOf(errors).text(qError), statOf(order).text(qOrder), seconds(statOf(wall)), seconds(statOf(cpu)),
		strconv.FormatFloat(total, 'f', 1, 64), strconv.FormatFloat(statOf(kernels).Mean, 'e', 2, 64))
}

// plainMean writes a mean of whole numbers.
func plainMean(values []float64) string {
	return strconv.FormatFloat(mean(values), 'f', 0, 64)
}

// seconds writes a time.
func seconds(s Stat) string {
	if s.N < 2 {
		return strconv.FormatFloat(s.Mean, 'f', 2, 64)
	}
	return fmt.Sprintf("%.2f ± %.2f", s.Mean, s.SD)
}
