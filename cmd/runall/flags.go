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
	"polkrepro/harness"
	"polkrepro/spec"
)

// A value is a flag of type T. parse converts its text or returns an error that states the
// valid form.
type value[T any] struct {
	p     *T
	kind  string // the type in help, unless the usage names it
	parse func(text string) (T, error)
}

func (v value[T]) String() string {
	if v.p == nil {
		return ""
	}
	return fmt.Sprint(*v.p)
}

func (v value[T]) Type() string { return v.kind }

func (v value[T]) Set(text string) error {
	x, err := v.parse(text)
	if err == nil {
		*v.p = x
	}
	return err
}

// choice returns a flag whose value is one of several words.
func choice(p *string, among []string) pflag.Value {
	return value[string]{p, strings.Join(among, "|"), func(s string) (string, error) {
		if !slices.Contains(among, s) {
			return "", fmt.Errorf("must be one of %s", strings.Join(among, ", "))
		}
		return s, nil
	}}
}

// positive returns a flag whose value is a number greater than 0.
func positive(p *float64) pflag.Value {
	return number(p, "greater than 0", func(v float64) bool { return v > 0 })
}

// number returns a flag whose value is a number that is in a range.
func number(p *float64, which string, in func(v float64) bool) pflag.Value {
	return value[float64]{p, "float", func(s string) (float64, error) {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !in(v) || math.IsInf(v, 1) {
			return 0, errors.New("must be a number " + which)
		}
		return v, nil
	}}
}

// size returns a flag whose value is a positive number of bytes: 16000, 16kB or 0.5MB.
func size(p *int) pflag.Value {
	return value[int]{p, "size", func(s string) (int, error) {
		number, unit := strings.TrimRight(s, "kMB"), 1.0
		switch s[len(number):] {
		case "kB":
			unit = 1e3
		case "MB":
			unit = 1e6
		case "", "B":
		default:
			number = ""
		}
		v, err := strconv.ParseFloat(number, 64)
		if v *= unit; err != nil || !(v >= 1 && v <= 1e12) {
			return 0, errors.New("must be a number of bytes, such as 16000, 16kB or 0.5MB")
		}
		return int(v), nil
	}}
}

// wholeFlag adds a flag whose value is a whole number from least to most.
func wholeFlag(cmd *cobra.Command, p *int, name string, byDefault, least, most int, usage string) {
	*p = byDefault
	cmd.Flags().Var(whole(p, least, most), name, usage)
}

// whole returns a flag whose value is a whole number from least to most.
func whole(p *int, least, most int) pflag.Value {
	return value[int]{p, "int", func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err == nil && n >= least && n <= most {
			return n, nil
		}
		if most == math.MaxInt {
			return 0, fmt.Errorf("must be an integer of at least %d", least)
		}
		return 0, fmt.Errorf("must be an integer from %d to %d", least, most)
	}}
}

// Flags with the same meaning in all commands.

// defaultResults is the default results folder.
const defaultResults = "results"

func resultsFlag(cmd *cobra.Command, p *string) {
	cmd.Flags().StringVar(p, "results", defaultResults, "results `folder`")
}

// runFlags adds the flags of commands that execute runs and keep their records.
func runFlags(cmd *cobra.Command, opt *harness.Options, progress *string) {
	workersFlag(cmd, &opt.Workers)
	progressFlag(cmd, progress)
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
	cmd.Flags().Var(choice(p, spec.Profiles()), "profile", usage)
}

func seedsFlag(cmd *cobra.Command, p *int) {
	wholeFlag(cmd, p, "seeds", 0, 0, spec.MaxSeeds, "use seeds 1 to `N` instead of those in the spec")
}

// setFlag adds the flag that changes specs.
func setFlag(cmd *cobra.Command, opt *spec.PlanOptions) {
	cmd.Flags().Var(value[spec.Overrides]{&opt.Set, "", func(text string) (spec.Overrides, error) {
		o, err := spec.ParseOverride(text)
		return append(opt.Set, o), err
	}}, "set", "`KEY=VALUE` to use in place of the spec's, such as polk.parsimony=0.08; may be repeated ('runall plan --help')")
}

// onlyFlag adds the flag that selects runs by some of the properties.
func onlyFlag(cmd *cobra.Command, opt *spec.PlanOptions, keys ...string) {
	opt.Only = make(spec.Only)
	cmd.Flags().Var(value[spec.Only]{&opt.Only, "", func(text string) (spec.Only, error) {
		return opt.Only, opt.Only.Add(text, keys)
	}}, "only", "select runs by `KEY=VALUE,KEY=VALUE`, with the keys "+strings.Join(keys, ", "))
}

func workersFlag(cmd *cobra.Command, p *int) {
	wholeFlag(cmd, p, "workers", 0, 0, math.MaxInt, "number `N` of parallel runs (default: one for each core)")
}

func progressFlag(cmd *cobra.Command, p *string) {
	*p = harness.ProgressAuto
	cmd.Flags().Var(choice(p, harness.ProgressModes()), "progress", "progress `mode` on stderr: "+strings.Join(harness.ProgressModes(), ", "))
}

func jsonFlag(cmd *cobra.Command, p *bool) {
	cmd.Flags().BoolVar(p, "json", false, "write JSON (docs/schemas)")
}

// checkFlags returns an error if a flag has an empty value: an empty path would mean the
// working folder.
func checkFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if v := f.Value.String(); v == "" || v == "[]" { // the latter of a flag that may be repeated
			err = fmt.Errorf("--%s is empty: give a value, or leave the flag out", f.Name)
		}
	})
	return err
}

// Versioned holds the first key of the objects that --json writes, except verify's.
type Versioned struct {
	Schema int `json:"schema"` // version of the object's format: 1
}

// version is the schema version of all these objects. It increases when a key is removed or
// changes its meaning.
var version = Versioned{1}

// show writes a value as JSON or as text.
func show(cmd *cobra.Command, asJSON bool, v any, text func(io.Writer) error) error {
	if asJSON {
		return writeJSON(cmd, v)
	}
	return text(cmd.OutOrStdout())
}

// writeJSON writes v for programs; docs/schemas has its schema.
func writeJSON(cmd *cobra.Command, v any) error {
	e := json.NewEncoder(raw(cmd.OutOrStdout()))
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// argument returns argument i of a command, or "" if there are fewer.
func argument(args []string, i int) string {
	if i < len(args) {
		return args[i]
	}
	return ""
}
