package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"polkrepro/harness"
	"polkrepro/internal/words"
	"polkrepro/report/table"
	"polkrepro/spec"
)

// A Plan is the output of 'runall plan --json'.
type Plan struct {
	Versioned
	*harness.Forecast
}

func newPlan() *cobra.Command {
	var q reporting
	var ids, asJSON bool
	cmd := &cobra.Command{
		Use:   "plan [SPEC...]",
		Short: "List the runs of specs, with records and estimated times",
		Long: `List the runs of the named specs, or by default of all, as 'runall reproduce'
would execute them, without training: one line for each setting of a method,
with the number of runs, how many of them have a record in the results folder,
about how long one takes, and the first run's ID, which names its record.

--set changes the specs and --only selects runs, as in 'runall reproduce'. A key
of --set is a hyper-parameter of all methods that take it (parsimony=0.08), of
one method (polk.parsimony=0.08), or a path of keys (kernel.bandwidth=3,
repeats.seeds=5, stopping.epochs=1), which leads to all elements of a list, and
into profiles. A list makes a grid. Paths of files are relative to the working
folder. A changed spec has the flags in its name, and feeds no cell and no
figure of the paper.

The time of a run is estimated from recorded runs of its setting, else of its
method, in the results folder. Without any, it is rough: from recorded runs of
the program's own experiments, on other data and another machine.`,
		Example: `  runall plan mnist-ksvm --set polk.parsimony=[0.012,0.03] --only method=polk
  runall plan my.yaml --set repeats.seeds=3 --only data=letter,seed=1 --ids`,
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := registerPruners("pruner", q.pruners); err != nil {
				return err
			}
			f, err := harness.PlanForecast(names, q.profile, q.plan, q.opt)
			if err != nil {
				return err
			}
			return show(cmd, asJSON, Plan{version, f}, func(w io.Writer) error {
				_, err := io.WriteString(w, planText(f, ids, q.opt.Results))
				return err
			})
		},
	}
	profileFlag(cmd, &q.profile, spec.ProfileQuick)
	setFlag(cmd, &q.plan)
	onlyFlag(cmd, &q.plan, spec.OnlyKeys()...)
	seedsFlag(cmd, &q.plan.Seeds)
	workersFlag(cmd, &q.opt.Workers)
	resultsFlag(cmd, &q.opt.Results)
	dataFlag(cmd, &q.opt.Finder)
	prunersFlag(cmd, &q.pruners)
	cmd.Flags().BoolVar(&ids, "ids", false, "write a line for each run")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// planText returns the forecast as a table for each spec, with a line for each setting or, with ids, for
// each run.
func planText(f *harness.Forecast, ids bool, results string) string {
	var tables []*table.Table
	basis := make(map[string]int)
	for _, s := range f.Settings {
		title := fmt.Sprintf("%s: %s, %s, profile %s", s.Spec, s.Data, s.Task, f.Profile)
		if n := len(tables); n == 0 || tables[n-1].Title != title {
			tables = append(tables, &table.Table{Title: title, Header: []string{"series", "runs", "over", "recorded", "each", "all", "first ID", "settings"}})
		}
		t := tables[len(tables)-1]
		basis[s.Basis]++
		each := about(s.Seconds)
		if !ids {
			t.Rows = append(t.Rows, []string{s.Series, strconv.Itoa(len(s.Runs)), s.Repeats(), strconv.Itoa(s.Recorded()), each,
				about(s.Seconds * float64(len(s.Runs))), s.Runs[0].ID, strings.ReplaceAll(s.Settings, ",", " ")})
			continue
		}
		t.Header = []string{"series", "draw", "seed", "recorded", "time", "ID"}
		for _, r := range s.Runs {
			t.Rows = append(t.Rows, []string{s.Series, strconv.FormatUint(r.Draw, 10), strconv.FormatUint(r.Seed, 10), words.Yes(r.Recorded, true), each, r.ID})
		}
	}
	var b strings.Builder
	for _, t := range tables {
		b.WriteString(t.Text() + "\n")
	}
	fmt.Fprintf(&b, "%s of %s; %d with a record in %s\n", words.Count(f.Runs, "run"), words.Count(len(f.Settings), "setting"), f.Recorded, results)
	if left := f.Runs - f.Recorded; left > 0 {
		fmt.Fprintf(&b, "%s without: about %s in all, %s on %s\n", words.Count(left, "run"), about(f.Seconds), about(f.Wall), words.Count(f.Workers, "worker"))
	}
	for _, from := range []struct{ basis, words string }{
		{harness.BasisRecorded, "recorded runs of the setting"}, {harness.BasisSimilar, "recorded runs of the method"},
		{harness.BasisRough, "rates of the program's own recorded runs (rough)"},
	} {
		if n := basis[from.basis]; n > 0 {
			fmt.Fprintf(&b, "times of %s from %s\n", words.Count(n, "setting"), from.words)
		}
	}
	if len(f.Missing) > 0 {
		fmt.Fprintf(&b, "data not available, whose runs would not start: %s\n", strings.Join(f.Missing, ", "))
	}
	for _, sentence := range f.LeftOut {
		b.WriteString(sentence + "\n")
	}
	return b.String()
}

// about formats an estimated time in seconds with one or two digits.
func about(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case seconds < 1:
		return strconv.FormatFloat(seconds, 'g', 1, 64) + " s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", seconds)
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	}
	return fmt.Sprintf("%.0f days", math.Ceil(d.Hours()/24))
}
