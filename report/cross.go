package report

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"polkrepro/compare"
	"polkrepro/internal/words"
	"polkrepro/paper"
	"polkrepro/report/table"
	"polkrepro/spec"
)

// CrossLayouts are the layouts, rows×columns, of a table of errors by method and data set.
var CrossLayouts = []string{"method×data", "data×method", "methodxdata", "dataxmethod"}

// A crossCell is the error of a method, or heuristic, on a data set.
type crossCell struct {
	method, data string
	err          Stat
}

// Cross makes a table of the test errors in one of the CrossLayouts, for a paper. A label that two
// series have on one data set gets the name of their specs.
func (r *Report) Cross(layout string) *Table {
	series := newBuilder(r.Input).series(allRuns)
	tasks, _ := grouped(series, func(s *Series) string { return s.Run.Task })
	place := func(s *Series) string {
		if len(tasks) > 1 {
			return s.dataName() + ", " + taskTitle(s.Run.Task)
		}
		return s.dataName()
	}
	shared := make(map[string]bool) // labels
	_, alike := grouped(series, func(s *Series) string { return s.Label + "\x00" + place(s) })
	for _, group := range alike {
		shared[group[0].Label] = shared[group[0].Label] || len(group) > 1
	}
	var cells []crossCell
	over := "runs"
	for _, s := range series {
		label := s.Label
		if shared[label] {
			label += " (" + s.planned[0].Spec + ")"
		}
		cells = append(cells, crossCell{label, place(s), finalStats(s.Runs, paper.RiskTest)[qError]})
		if varied := spec.Varied(s.planned); varied != "" && !strings.Contains(over, varied) {
			over += " (" + varied + ")"
		}
	}
	return r.Input.cross(layout, over, cells)
}

// Cross makes the same table of heuristics, at the middle one of the model orders compared.
func (t *Comparison) Cross(layout string) *Table {
	var cells []crossCell
	for _, f := range t.DataSets {
		level := f.Orders[len(f.Orders)/2]
		for _, e := range f.Entries {
			cells = append(cells, crossCell{e.Name, fmt.Sprintf("%s, M = %s", f.Name, compare.Number(level)), statOf(e.At(compare.ErrorAtOrder, level))})
		}
	}
	return t.Input.cross(layout, "replicates at equal model order M", cells)
}

// cross lays cells out, with a mark at the least error on a data set, as printed.
func (in Input) cross(layout, over string, cells []crossCell) *Table {
	methods, _ := grouped(cells, func(c crossCell) string { return c.method })
	places, on := grouped(cells, func(c crossCell) string { return c.data })
	grid := [][]string{append([]string{"method"}, places...)}
	for _, m := range methods {
		grid = append(grid, append([]string{m}, slices.Repeat([]string{words.Dash}, len(places))...))
	}
	numbers := [][]string{{"data", "method", "error_percent", "error_sd", "runs"}}
	for i, group := range on {
		best := least(group)
		for _, c := range group {
			numbers = append(numbers, line(c.data, c.method, c.err.Mean, c.err.SD, c.err.N))
			text := cmp.Or(c.err.text(qError), words.Dash)
			if c.err.Diverged == 0 && best == number(c.err.Mean, qError, 0) {
				text = table.Best + text
			}
			grid[1+slices.Index(methods, c.method)][1+i] = text
		}
	}
	if strings.HasPrefix(layout, "data") {
		grid = transposed(grid)
		grid[0][0] = "data"
	}
	return &Table{
		Name: in.fileName() + "-errors", Title: "Test error in % by method and data set", Compact: true, Header: grid[0], Rows: grid[1:], Numbers: numbers,
		Notes: []string{fmt.Sprintf("Mean ± standard deviation over %s. The least on each data set is marked.", over)},
	}
}

// least returns the least of the cells' errors, as printed.
func least(cells []crossCell) string {
	low := math.Inf(1)
	for _, c := range cells {
		if c.err.Diverged == 0 && float64(c.err.Mean) < low {
			low = float64(c.err.Mean)
		}
	}
	return number(low, qError, 0)
}

func transposed(grid [][]string) [][]string {
	out := make([][]string, len(grid[0]))
	for i := range out {
		for _, row := range grid {
			out[i] = append(out[i], row[i])
		}
	}
	return out
}

// noFileName matches what overrides in a spec's name have and names of files do not.
var noFileName = regexp.MustCompile(`[^a-zA-Z0-9._]+`)

// fileName names the specs of the report in names of files and labels.
func (in Input) fileName() string {
	first, others, _ := strings.Cut(in.Own, ", ")
	if others != "" {
		first += fmt.Sprintf("-and-%d-more", 1+strings.Count(others, ", "))
	}
	name := noFileName.ReplaceAllString(first, "-")
	return cmp.Or(name[:min(len(name), 120)], "paper")
}
