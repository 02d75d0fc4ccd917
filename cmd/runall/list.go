package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"polkrepro/data"
	"polkrepro/harness"
	"polkrepro/internal/words"
	"polkrepro/polk/prune"
	"polkrepro/report/table"
	"polkrepro/spec"
)

func newList() *cobra.Command {
	return parent("list", "List specs, data sets, methods, pruners, profiles",
		listOf("specs", specInfos, func(s specInfo) []string {
			return []string{s.Name, s.Task, strings.Join(s.DataSets, ","), s.Title}
		}, nil),
		listOf("datasets", data.List, func(d data.Info) []string {
			size := fmt.Sprintf("%d + %d examples, %d features, %d classes", d.Train, d.Test, d.Dim, d.Classes)
			return []string{d.Name, d.Kind, size, d.Title}
		}, nil),
		listOf("methods", spec.Methods, func(m spec.MethodInfo) []string {
			return []string{m.Name, strings.Join(m.Tasks, ","), m.About}
		}, methodTable),
		listOf("pruners", prunerInfos, func(p prunerInfo) []string { return []string{p.Name, p.SizeParam, p.About} }, prunerTable),
		listOf("profiles", spec.Profiles, func(name string) []string { return []string{name} }, nil),
	)
}

// listOf returns a command that lists a function's results, as JSON or a line of cells each, of which
// the first is a name. With a name as its argument, the command shows that result alone, by detail,
// unless that is nil.
func listOf[T any](name string, list func() []T, cells func(T) []string, detail func(T) *table.Table) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   name,
		Short: "List the " + name,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return showRows(cmd, asJSON, list(), cells)
			}
			all := list()
			i := slices.IndexFunc(all, func(v T) bool { return cells(v)[0] == args[0] })
			if i < 0 {
				return harness.Usage(fmt.Errorf("%q is none of the %s; 'runall list %s' lists them", args[0], name, name))
			}
			return show(cmd, asJSON, all[i], func(w io.Writer) error { return detail(all[i]).Write(w, "text") })
		},
	}
	if detail != nil {
		cmd.Use, cmd.Short, cmd.Args = name+" [NAME]", "List the "+name+", or the parameters of one", cobra.MaximumNArgs(1)
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// methodTable returns a method's hyper-parameters.
func methodTable(m spec.MethodInfo) *table.Table {
	t := paramTable(m.Name+": "+m.About, "tasks: "+strings.Join(m.Tasks, ", "))
	for _, p := range m.Params {
		values, about := bounds(string(p.Kind), p.Above, p.Least, p.Most), p.About
		if len(p.Choices) > 0 {
			values = strings.Join(p.Choices, ", ")
		}
		if p.When != "" {
			about += " (only " + p.When + ")"
		}
		t.Rows = append(t.Rows, []string{p.Name, p.Symbol, values, cmp.Or(p.Default, words.Dash), about})
	}
	return t
}

// prunerTable returns the parameters of a pruning heuristic.
func prunerTable(h prunerInfo) *table.Table {
	t := paramTable(h.Name+": "+h.About, "size parameter, which trades model order for accuracy: "+cmp.Or(h.SizeParam, "none"))
	if h.Source != "" {
		t.Notes = append(t.Notes, "source: "+h.Source)
	}
	for _, p := range h.Params {
		kind, given := "number", words.Dash
		if p.Integer {
			kind = "integer"
		}
		if p.Default != nil {
			given = words.Exact(*p.Default)
		}
		t.Rows = append(t.Rows, []string{p.Name, "", bounds(kind, p.Above, p.Least, p.Most), given, p.About})
	}
	return t
}

// paramTable returns a table of parameters without rows.
func paramTable(title string, notes ...string) *table.Table {
	return &table.Table{Title: title, Header: []string{"parameter", "symbol", "values", "default", "meaning"},
		Notes: append(notes, "A parameter without a default must be given, unless it is the spec's.")}
}

// bounds says which values a parameter has.
func bounds(kind string, above, least, most *float64) string {
	for _, b := range []struct {
		sign string
		at   *float64
	}{{">", above}, {"≥", least}, {"≤", most}} {
		if b.at != nil {
			kind += " " + b.sign + " " + words.Exact(*b.at)
		}
	}
	return kind
}

// writeRows writes aligned columns.
func writeRows(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r, "\t"))
	}
	return t.Flush()
}

// showRows writes a list as JSON, or as a line of aligned columns for each element.
func showRows[T any](cmd *cobra.Command, asJSON bool, list []T, cells func(T) []string) error {
	return show(cmd, asJSON, list, func(w io.Writer) error {
		var rows [][]string
		for _, v := range list {
			rows = append(rows, cells(v))
		}
		return writeRows(w, rows)
	})
}

// A specInfo describes a spec.
type specInfo struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Task     string   `json:"task"`
	DataSets []string `json:"datasets"`
}

func specInfos() (infos []specInfo) {
	for _, s := range spec.EmbeddedAll() {
		infos = append(infos, specInfo{s.Name, s.Title, s.Task, []string{s.Data.Name}})
	}
	return infos
}

// A prunerInfo describes a pruning heuristic.
type prunerInfo struct {
	Name      string        `json:"name"`
	About     string        `json:"about"`
	Source    string        `json:"source,omitempty"`
	Params    []prune.Param `json:"params"`
	SizeParam string        `json:"size_parameter,omitempty"` // parameter that trades model order for accuracy; missing if there is none
	Inverse   bool          `json:"inverse"`                  // whether it uses the inverse kernel matrix, at O(M²) a step
}

func prunerInfos() (infos []prunerInfo) {
	for _, h := range prune.All() {
		param, _ := h.SizeParam()
		infos = append(infos, prunerInfo{h.Name, h.About, h.Source, h.Params, param.Name, h.Inverse()})
	}
	return infos
}
