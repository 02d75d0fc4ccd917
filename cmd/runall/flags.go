package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
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

// A whole is a flag whose value is a whole number from min to max.
type whole struct {
	value    *int
	min, max int
}

func (w whole) String() string {
	if w.value == nil {
		return ""
	}
	return strconv.Itoa(*w.value)
}

func (w whole) Type() string { return "int" }

func (w whole) Set(s string) error {
	n, err := strconv.Atoi(s)
	switch {
	case (err != nil || n > w.max || n < w.min) && w.max == math.MaxInt:
		return fmt.Errorf("must be an integer of at least %d", w.min)
	case err != nil || n > w.max || n < w.min:
		return fmt.Errorf("must be an integer from %d to %d", w.min, w.max)
	}
	*w.value = n
	return nil
}

// A positive is a flag whose value is a number greater than 0.
type positive struct{ value *float64 }

func (p positive) String() string {
	if p.value == nil {
		return ""
	}
	return fmt.Sprint(*p.value)
}

func (p positive) Type() string { return "float" }

func (p positive) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 1) {
		return errors.New("must be a number greater than 0")
	}
	*p.value = v
	return nil
}

var (
	_ pflag.Value = whole{}
	_ pflag.Value = positive{}
)

// wholeFlag adds a flag of a whole number within bounds.
func wholeFlag(cmd *cobra.Command, p *int, name string, value int, bounds whole, usage string) {
	*p = value
	bounds.value = p
	cmd.Flags().Var(bounds, name, usage)
}

// The flags that mean the same wherever they occur.

// defaultResults is the results folder unless another one is named.
const defaultResults = "results"

func resultsFlag(cmd *cobra.Command, p *string) {
	cmd.Flags().StringVar(p, "results", defaultResults, "results `folder`")
}

// codeFlags are those that say which finished runs are reused.
func codeFlags(cmd *cobra.Command, opt *harness.Options) {
	cmd.Flags().BoolVar(&opt.Keep, "keep", false, "reuse finished runs of other code, and say so in the report")
	cmd.Flags().BoolVar(&opt.Rerun, "rerun", false, "repeat finished runs")
	cmd.MarkFlagsMutuallyExclusive("keep", "rerun")
}

func dataFlag(cmd *cobra.Command, p *data.Finder) {
	cmd.Flags().StringVar(&p.Dir, "data-dir", "", "`folder` to search first for data files")
}

func profileFlag(cmd *cobra.Command, p *string, value string) {
	*p = value
	usage := "size of the run"
	if value == "" {
		usage += " (default: that of the records)"
	}
	cmd.Flags().Var(choice{p, experiments.Profiles()}, "profile", usage)
}

// maxSeeds is the most that experiments.PlanOptions takes.
const maxSeeds = 10_000

func seedsFlag(cmd *cobra.Command, p *int) {
	wholeFlag(cmd, p, "seeds", 0, whole{max: maxSeeds}, "use seeds 1 to `N` instead of those in the spec")
}

func workersFlag(cmd *cobra.Command, p *int) {
	wholeFlag(cmd, p, "workers", 0, whole{max: math.MaxInt}, "number `N` of parallel runs (default: one for each core)")
}

func progressFlag(cmd *cobra.Command, p *string) {
	*p = harness.ProgressAuto
	cmd.Flags().Var(choice{p, harness.ProgressModes()}, "progress", "progress `mode` on stderr: "+strings.Join(harness.ProgressModes(), ", "))
}

func jsonFlag(cmd *cobra.Command, p *bool) {
	cmd.Flags().BoolVar(p, "json", false, "write JSON (docs/schemas)")
}

// Versioned is the beginning of the objects that --json writes, but for verify's.
type Versioned struct {
	Schema int `json:"schema"` // version of the object's form: 1
}

// version is that of all of them. It grows when a key goes, or means something else.
var version = Versioned{1}

// writeJSON writes v for programs; docs/schemas has its schema.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
