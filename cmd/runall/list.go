package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/polk/prune"
)

func newList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list specs|datasets|methods|pruners|profiles",
		Short: "List specs, data sets, methods, pruners, profiles",
		Args:  cobra.NoArgs,
		RunE:  needSubcommand,
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "write JSON")
	for _, l := range []struct {
		name string
		list func() (any, [][]string, error)
	}{
		{"specs", listSpecs}, {"datasets", listDataSets}, {"methods", listMethods}, {"pruners", listPruners}, {"profiles", listProfiles},
	} {
		cmd.AddCommand(&cobra.Command{
			Use:   l.name,
			Short: "List the " + strings.Replace(l.name, "datasets", "data sets", 1),
			Args:  cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				value, rows, err := l.list()
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), value)
				}
				return writeRows(cmd.OutOrStdout(), rows)
			},
		})
	}
	return cmd
}

// needSubcommand is what a command does that only groups others.
func needSubcommand(cmd *cobra.Command, _ []string) error {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return harness.Usage(fmt.Errorf("%s needs one of %s", cmd.CommandPath(), strings.Join(names, ", ")))
}

// writeRows writes aligned columns.
func writeRows(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r, "\t"))
	}
	return t.Flush()
}

// A specInfo describes a spec.
type specInfo struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Task     string   `json:"task"`
	DataSets []string `json:"datasets"`
}

func listSpecs() (any, [][]string, error) {
	specs, err := experiments.EmbeddedAll()
	if err != nil {
		return nil, nil, err
	}
	var infos []specInfo
	var rows [][]string
	for _, s := range specs {
		infos = append(infos, specInfo{s.Name, s.Title, s.Task, s.DataSets()})
		rows = append(rows, []string{s.Name, s.Task, strings.Join(s.DataSets(), ","), s.Title})
	}
	return infos, rows, nil
}

func listDataSets() (any, [][]string, error) {
	infos := data.List()
	var rows [][]string
	for _, d := range infos {
		size := fmt.Sprintf("%d + %d examples, %d features, %d classes", d.Train, d.Test, d.Dim, d.Classes)
		rows = append(rows, []string{d.Name, d.Kind, size, d.Title})
	}
	return infos, rows, nil
}

func listMethods() (any, [][]string, error) {
	infos := experiments.Methods()
	var rows [][]string
	for _, m := range infos {
		rows = append(rows, []string{m.Name, strings.Join(m.Tasks, ","), m.About})
	}
	return infos, rows, nil
}

// A prunerInfo describes a pruning heuristic.
type prunerInfo struct {
	Name    string        `json:"name"`
	About   string        `json:"about"`
	Source  string        `json:"source,omitempty"`
	Params  []prune.Param `json:"params"`
	Knob    string        `json:"knob,omitempty"` // the parameter that trades model order for accuracy
	Inverse bool          `json:"inverse"`        // it uses the inverse kernel matrix, at O(M²) a step
}

func listPruners() (any, [][]string, error) {
	var infos []prunerInfo
	var rows [][]string
	for _, h := range prune.All() {
		knob, _ := h.Knob()
		infos = append(infos, prunerInfo{h.Name, h.About, h.Source, h.Params, knob.Name, h.Inverse()})
		rows = append(rows, []string{h.Name, knob.Name, h.About})
	}
	return infos, rows, nil
}

func listProfiles() (any, [][]string, error) {
	names := experiments.Profiles()
	var rows [][]string
	for _, n := range names {
		rows = append(rows, []string{n})
	}
	return names, rows, nil
}
