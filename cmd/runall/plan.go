package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
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
				for _, t := range planTables(f, ids) {
					fmt.Fprintln(w, t.Text())
				}
				_, err := io.WriteString(w, planTotals(f, q.opt.Results))
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

// planTables returns a table for each spec, with a line for each setting or, with ids, for each run.
func planTables(f *harness.Forecast, ids bool) (tables []*table.Table) {
	for start, end := 0, 0; start < len(f.Settings); start = end {
		first := f.Settings[start]
		for end = start; end < len(f.Settings) && f.Settings[end].Spec == first.Spec; end++ {
		}
		t := &table.Table{
			Title:  fmt.Sprintf("%s: %s, %s, profile %s", first.Spec, first.Data, first.Task, f.Profile),
			Header: []string{"series", "runs", "over", "recorded", "each", "all", "first ID", "settings"},
		}
		if ids {
			t.Header = []string{"series", "draw", "seed", "recorded", "time", "ID"}
		}
		shared := sharedSettings(f.Settings[start:end])
		for _, s := range f.Settings[start:end] {
			if !ids {
				own := slices.DeleteFunc(settingsOf(s), func(word string) bool { return slices.Contains(shared[s.Label], word) })
				t.Rows = append(t.Rows, []string{s.Series, strconv.Itoa(len(s.Runs)), s.Repeats(), strconv.Itoa(s.Recorded()), about(s.Seconds),
					about(s.Seconds * float64(len(s.Runs))), s.Runs[0].ID, strings.Join(own, " ")})
			}
			for _, r := range s.Runs {
				if ids {
					t.Rows = append(t.Rows, []string{s.Series, strconv.FormatUint(r.Draw, 10), strconv.FormatUint(r.Seed, 10), words.Yes(r.Recorded, true), about(s.Seconds), r.ID})
				}
			}
		}
		for _, label := range slices.Sorted(maps.Keys(shared)) {
			t.Notes = append(t.Notes, label+": "+strings.Join(shared[label], " "))
		}
		tables = append(tables, t)
	}
	return tables
}

// settingsOf returns the words of a setting.
func settingsOf(s harness.ForecastItem) []string { return strings.Split(s.Settings, ",") }

// sharedSettings returns what the settings of each label have in common.
func sharedSettings(list []harness.ForecastItem) map[string][]string {
	shared := make(map[string][]string)
	for _, s := range list {
		words := settingsOf(s)
		if shared[s.Label] == nil {
			shared[s.Label] = words
		}
		shared[s.Label] = slices.DeleteFunc(shared[s.Label], func(word string) bool { return !slices.Contains(words, word) })
	}
	return shared
}

// planTotals returns lines on all runs of a forecast.
func planTotals(f *harness.Forecast, results string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s; %d with a record in %s\n", words.Count(f.Runs, "run"), words.Count(len(f.Settings), "setting"), f.Recorded, results)
	if left := f.Runs - f.Recorded; left > 0 {
		fmt.Fprintf(&b, "%s without: about %s in all, %s on %s\n", words.Count(left, "run"), about(f.Seconds), about(f.Wall), words.Count(f.Workers, "worker"))
	}
	basis := make(map[string]int)
	for _, s := range f.Settings {
		basis[s.Basis]++
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
