package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"polkrepro/compare"
	"polkrepro/data"
	"polkrepro/harness"
	"polkrepro/polk/prune"
	"polkrepro/record"
	"polkrepro/report"
	"polkrepro/report/page"
	"polkrepro/spec"
)

// A comparison holds the options of the compare command.
type comparison struct {
	opt      harness.Options
	profile  string
	progress string
	with     []string
	commands map[string]string // commands of external heuristics by name
	against  string
	search   settingsSearch
	options  spec.PlanOptions // Set and Only
	asJSON   bool
}

// Comparisons is the output of 'runall compare --json'.
type Comparisons struct {
	Versioned
	*compare.Result
}

func newCompare() *cobra.Command {
	var c comparison
	cmd := &cobra.Command{
		Use:   "compare [SPEC]",
		Short: "Compare pruning heuristics at equal model order and time",
		Long: `Compare all pruning heuristics ('runall list pruners') with the paper's, at
equal model order and at equal time. Each heuristic runs over a grid of its size
parameter on every data set of the comparison, on the same examples in the same
order. The comparison is SPEC, by default experiments/` + spec.ComparisonFile + `.

Runs that have a record are not repeated, so an interrupted comparison resumes
where it stopped, and a new heuristic costs only its own runs. The runs of a
heuristic belong to its code: after a change to it, they are repeated. Times are
processor times, and unreliable on a busy machine.

With --data, the comparison is on your own file: bandwidth and learning rate are
found on held-out training rows, and values of each heuristic's size parameter
whose model orders bracket those compared. The work is divided among the
heuristics of --with, within about --budget; what is left buys replicates. The
comparison is written to the results folder. --test to --order say how the file
is read, and --export writes the best setting as a model file, as in 'runall
bench'. --data again adds a file, which shares the flags and the budget; the
heuristics are then ranked over the files, with the tests of Demšar (2006).

--set changes the comparison, such as learning_rate=3 for all data sets (see
'runall plan --help'), and --only selects data sets.

A heuristic can be a script or program in any language: --with mine=./mine.py
starts one process of it for each run (docs/adding-a-pruner.md). With --data, a
probe run times its steps, and no replicate begins when --budget is over. After
the same failure in three runs of it, its other runs are not started.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			return c.run(cmd, argument(names, 0))
		},
	}
	c.search.add(cmd, spec.Tasks())
	cmd.Flags().StringArrayVar(&c.search.files, "data", nil, "`FILE` of rows to compare on, in place of the comparison's data sets; may be repeated")
	profileFlag(cmd, &c.profile, "quick")
	cmd.Flags().StringSliceVar(&c.with, "with", nil, "comma-separated `names` of the heuristics to compare with the paper's, or NAME=COMMAND of an external heuristic (default: all; with --data all that have a size parameter)")
	cmd.Flags().StringVar(&c.against, "against", "", "`name` of the heuristic that the others are compared with (default: the comparison's reference, the paper's)")
	setFlag(cmd, &c.options)
	onlyFlag(cmd, &c.options, "data", "task")
	runFlags(cmd, &c.opt, &c.progress)
	resultsFlag(cmd, &c.opt.Results)
	dataFlag(cmd, &c.opt.Finder)
	jsonFlag(cmd, &c.asJSON)
	cmd.MarkFlagsMutuallyExclusive("data", "profile") // --budget chooses the size
	cmd.MarkFlagsMutuallyExclusive("data", "set")
	cmd.MarkFlagsMutuallyExclusive("data", "only")
	return cmd
}

func (c *comparison) run(cmd *cobra.Command, name string) error {
	if err := c.externals(cmd, name); err != nil {
		return harness.Usage(err)
	}
	began := time.Now()
	name, err := c.tuned(cmd, name)
	if err != nil {
		return err
	}
	if len(c.search.files) > 0 && len(c.commands) > 0 { // a process can be slow beyond any estimate
		c.opt.Until = began.Add(c.search.opt.Budget)
	}
	t, plan, err := c.plan(name)
	if err != nil {
		return harness.Usage(err)
	}
	out, err := carryOut(cmd, compare.Runs(plan), c.opt, c.progress)
	if out == nil {
		return err
	}
	return errors.Join(c.report(cmd, t, plan, out), err, c.search.exportBest(cmd, compare.Runs(plan), c.opt))
}

// externals registers the heuristics given as NAME=COMMAND and replaces each such word of
// --with by the name. It also registers the commands in a comparison's file.
func (c *comparison) externals(cmd *cobra.Command, name string) error {
	var commands []string
	c.commands = make(map[string]string)
	for i, word := range c.with {
		if name, command, ok := strings.Cut(word, "="); ok && !strings.Contains(name, ":") {
			commands, c.commands[name], c.with[i] = append(commands, word), command, name
		}
	}
	if err := registerPruners("with", commands); err != nil {
		return err
	}
	saved, _ := spec.ComparisonCommands(name) // plan returns the error of a file
	for _, heuristic := range slices.Sorted(maps.Keys(saved)) {
		if c.commands[heuristic] != "" {
			continue
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s is the command %s, by %s\n", heuristic, saved[heuristic], name)
		if err := registerPruner(heuristic, saved[heuristic]); err != nil {
			return err
		}
	}
	for _, word := range c.with {
		base, _, _ := strings.Cut(word, ":")
		if _, ok := prune.Lookup(base); !ok {
			return fmt.Errorf("--with %s: unknown pruner %q ('runall list pruners' lists them; a heuristic of your own: NAME=COMMAND, such as mine=./mine.py; variants: mine=./mine.py,mine:power=0; a command with a comma: '\"mine=./mine.py 0.1,0.5\"')", word, base)
		}
	}
	return nil
}

// tuned returns the name of the comparison. With --data it searches the settings on the
// user's file and returns the new comparison's file.
func (c *comparison) tuned(cmd *cobra.Command, name string) (string, error) {
	fs := cmd.Flags()
	if len(c.search.files) == 0 {
		for _, flag := range c.search.names {
			if fs.Changed(flag) {
				return "", harness.Usage(fmt.Errorf("--%s applies only with --data", flag))
			}
		}
		return name, nil
	}
	if name != "" {
		return "", harness.Usage(fmt.Errorf("--data: the comparison %s has data of its own", name))
	}
	if !fs.Changed("results") {
		c.opt.Results = ""
	}
	t, err := c.comparison("")
	if err != nil {
		return "", harness.Usage(err)
	}
	if len(c.with) == 0 { // a heuristic without a size parameter would keep all data and match no level
		t.Heuristics = slices.DeleteFunc(slices.Clone(t.Heuristics), func(name string) bool {
			h, _ := prune.Lookup(name)
			_, ok := h.SizeParam()
			return !ok
		})
	}
	c.with, c.against = nil, "" // the file has them
	return c.search.run(cmd, "compare", &c.opt, c.progress, func(ctx context.Context, opt compare.Options) ([]byte, error) {
		return compare.TuneHeuristics(ctx, opt, t.Heuristics, c.commands)
	})
}

// comparison returns the comparison with the given name and the heuristics of the flags.
func (c *comparison) comparison(name string) (*spec.Comparison, error) {
	t, err := spec.FindComparison(name, c.options.Set...)
	if err == nil && c.against != "" {
		t, err = t.Against(c.against)
	}
	if err == nil && len(c.with) > 0 {
		t, err = t.With(c.with)
	}
	return t, err
}

// plan returns the comparison and its runs. It leaves out data sets whose data set is
// unavailable, and stand-ins for available data sets. The user's own files must exist.
func (c *comparison) plan(name string) (*spec.Comparison, []spec.ComparedRun, error) {
	t, err := c.comparison(name)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range t.DataSets {
		if !f.Data.Own() {
			continue
		}
		if err := c.opt.Finder.Available(f.Data); err != nil {
			return nil, nil, fmt.Errorf("%w: data set %s: %w", harness.ErrMissingData, f.Name, err)
		}
	}
	there := func(ref data.Ref) bool { return c.opt.Finder.Available(ref) == nil }
	t = t.On(func(f spec.DataSet) bool {
		return c.options.Only.Selects(spec.Planned{Run: spec.Run{Data: f.Data, Task: f.Task}}) && there(f.Data) && (f.StandsInFor == "" || !there(data.Ref{Name: f.StandsInFor}))
	})
	plan, err := t.Plan(c.profile)
	if err == nil && len(plan) == 0 {
		err = fmt.Errorf("the comparison has no runs in profile %s (selected data sets: %s)", c.profile, cmp.Or(c.options.Only.String(), "all"))
	}
	return t, plan, err
}

// A judged comparison is a comparison's report with the records behind it.
type judged struct {
	*report.Comparison
	have *record.Collection
}

// judge makes the report on a comparison's runs in a results folder.
func judge(t *spec.Comparison, profile string, plan []spec.ComparedRun, leftOut []string, opt harness.Options, warn func(error)) (*judged, error) {
	have, err := harness.ReadResults(opt.Results, warn)
	if err != nil {
		return nil, err
	}
	if opt.Keep {
		for i, p := range harness.Adopt(compare.Runs(plan), have.Records) {
			plan[i].Planned = p
		}
	}
	in := report.Input{Own: t.Name, Profile: profile, Planned: compare.Runs(plan), Records: have.Records, Failed: have.Failures(),
		Partial: len(have.Partial), Damaged: len(have.Errors)}
	res := compare.New(t, profile, plan, have.Records)
	res.LeftOut = leftOut
	return &judged{report.NewComparison(res, in), have}, nil
}

// report prints the summary and writes the rest. A run of this call without a record is an error.
func (c *comparison) report(cmd *cobra.Command, t *spec.Comparison, plan []spec.ComparedRun, out *harness.Outcome) error {
	plan = slices.DeleteFunc(plan, func(r spec.ComparedRun) bool { return slices.Contains(out.Left[harness.TimeOver], r.ID) })
	r, err := judge(t, c.profile, plan, out.LeftOut(), c.opt, warning(cmd))
	if err != nil {
		return err
	}
	if err := show(cmd, c.asJSON, Comparisons{version, r.Result}, func(w io.Writer) error { _, err := io.WriteString(w, r.Text()); return err }); err != nil {
		return err
	}
	about := cmd.OutOrStdout()
	if c.asJSON {
		about = cmd.ErrOrStderr()
	}
	return errors.Join(r.write(about, comparisonDir(c.opt.Results)), out.Lost(r.have))
}

// comparisonDir returns the folder of a comparison's report in a results folder.
func comparisonDir(results string) string {
	return filepath.Join(harness.ReportDir(results), "comparison")
}

// write writes the report to a folder and prints the path of its page.
func (r *judged) write(about io.Writer, dir string) error {
	paths, err := page.SaveAll(dir, r.Report)
	if err == nil {
		fmt.Fprintf(about, "Written: %s and %d other files beside it\n", paths[len(paths)-1], len(paths)-1)
	}
	return err
}
