package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/harness"
)

// A choice is a flag whose value is one of several words.
type choice struct {
	value *string
	among []string
}

func (c choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c choice) Type() string { return strings.Join(c.among, "|") }

func (c choice) Set(s string) error {
	if !slices.Contains(c.among, s) {
		return fmt.Errorf("must be one of %s", strings.Join(c.among, ", "))
	}
	*c.value = s
	return nil
}

var _ pflag.Value = choice{}

// The flags that mean the same wherever they occur.

func resultsFlag(cmd *cobra.Command, p *string) {
	cmd.Flags().StringVar(p, "results", "results", "`folder` of records and reports")
}

func dataFlag(cmd *cobra.Command, p *data.Finder) {
	cmd.Flags().StringVar(&p.Dir, "data-dir", "", "`folder` to search for data files before all others")
}

func profileFlag(cmd *cobra.Command, p *string, value string) {
	*p = value
	usage := "how much to run"
	if value == "" {
		usage += " (default: as the records suggest)"
	}
	cmd.Flags().Var(choice{p, experiments.Profiles()}, "profile", usage)
}

func seedsFlag(cmd *cobra.Command, p *uint) {
	cmd.Flags().UintVar(p, "seeds", 0, "repeat every run with seeds 1 to `N` instead of the spec's")
}

func workersFlag(cmd *cobra.Command, p *uint) {
	cmd.Flags().UintVar(p, "workers", 0, "runs at a time, `N` (default: one a core)")
}

func progressFlag(cmd *cobra.Command, p *string) {
	*p = harness.ProgressAuto
	cmd.Flags().Var(choice{p, harness.ProgressModes()}, "progress", "how progress is shown on stderr")
}

func jsonFlag(cmd *cobra.Command, p *bool) {
	cmd.Flags().BoolVar(p, "json", false, "write JSON")
}

// writeJSON writes v for programs.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
