package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"polkrepro/data"
	"polkrepro/polk/prune"
	"polkrepro/spec"
)

func newList() *cobra.Command {
	return parent("list", "List specs, data sets, methods, pruners, profiles",
		listOf("specs", specInfos, func(s specInfo) []string {
			return []string{s.Name, s.Task, strings.Join(s.DataSets, ","), s.Title}
		}),
		listOf("datasets", data.List, func(d data.Info) []string {
			size := fmt.Sprintf("%d + %d examples, %d features, %d classes", d.Train, d.Test, d.Dim, d.Classes)
			return []string{d.Name, d.Kind, size, d.Title}
		}),
		listOf("methods", spec.Methods, func(m spec.MethodInfo) []string {
			return []string{m.Name, strings.Join(m.Tasks, ","), m.About}
		}),
		listOf("pruners", prunerInfos, func(p prunerInfo) []string { return []string{p.Name, p.SizeParam, p.About} }),
		listOf("profiles", spec.Profiles, func(name string) []string { return []string{name} }),
	)
}

// listOf returns a command that lists a function's results, as JSON or a line of cells each.
func listOf[T any](name string, list func() []T, cells func(T) []string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   name,
		Short: "List the " + name,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return showRows(cmd, asJSON, list(), cells)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
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
