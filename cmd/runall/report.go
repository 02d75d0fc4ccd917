package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"polkrepro/evidence"
	"polkrepro/harness"
	"polkrepro/record"
	"polkrepro/report"
	"polkrepro/report/page"
	"polkrepro/spec"
)

// A reporting holds the options of the report command.
type reporting struct {
	opt                  harness.Options // Results, Finder, Keep
	plan                 spec.PlanOptions
	profile, format, out string
	table                string // layout of report.CrossLayouts; empty for the whole report
	pruners              []string
	asJSON               bool
}

func newReport() *cobra.Command {
	q := reporting{format: "text"}
	cmd := &cobra.Command{
		Use:   "report [SPEC...]",
		Short: "Make tables and figures from records, without training",
		Long: `Make the tables and figures from the records, without training, and print the
tables. Incomplete and corrupt records are left out and the exit status is 1.

--format summary prints the output of 'runall reproduce': Tables 2 and 3 with
one line for each method, and the number of verdicts. --format html writes one
page that opens offline, report.html, to the folder of --out or to report/ in
the results folder, and prints its path. In a folder of 'runall bench' or
'runall compare --data', the report is on their runs. --json writes the numbers
of all series of runs; 'runall verify --json' has the paper's beside them.`,
		RunE: q.run,
	}
	resultsFlag(cmd, &q.opt.Results)
	profileFlag(cmd, &q.profile, "")
	setFlag(cmd, &q.plan)
	seedsFlag(cmd, &q.plan.Seeds)
	dataFlag(cmd, &q.opt.Finder)
	prunersFlag(cmd, &q.pruners)
	cmd.Flags().Var(choice(&q.format, []string{"text", "markdown", "csv", "latex", formatPage, formatSummary}), "format", "`format` of the tables: text, markdown, csv, latex, html (one page) or summary (one line for each method)")
	cmd.Flags().StringVar(&q.out, "out", "", "`folder` to which all tables and figures are also written, in all formats")
	cmd.Flags().Var(choice(&q.table, report.CrossLayouts), "table", "print one table of errors, for a paper: `ROWS×COLUMNS`, method×data or data×method")
	jsonFlag(cmd, &q.asJSON)
	cmd.MarkFlagsMutuallyExclusive("json", "format")
	cmd.MarkFlagsMutuallyExclusive("json", "table")
	cmd.MarkFlagsMutuallyExclusive("out", "table")
	cmd.MarkFlagsMutuallyExclusive("json", "out")
	return cmd
}

// run reports on the runs of specs. The default is the user's own specs in the results
// folder, or the paper's specs if there are none.
func (q *reporting) run(cmd *cobra.Command, names []string) error {
	if q.format == formatPage || q.out != "" {
		if err := checkOutput("--out", cmp.Or(q.out, harness.ReportDir(q.opt.Results))); err != nil {
			return err
		}
	}
	if q.table != "" && (q.format == formatPage || q.format == formatSummary) {
		return harness.Usage(fmt.Errorf("--table %s: --format %s has no such table: want text, markdown, csv or latex", q.table, q.format))
	}
	if err := registerPruners("pruner", q.pruners); err != nil {
		return err
	}
	if len(names) == 0 {
		comparisons := ownSpecs(q.opt.Results, "compare")
		names = ownSpecs(q.opt.Results, "bench")
		for _, spec := range comparisons {
			if err := q.comparison(cmd, spec); err != nil {
				return err
			}
		}
		if len(comparisons) > 0 && len(names) == 0 {
			return nil
		}
	}
	f, r, err := q.open(cmd, names)
	if err != nil {
		return err
	}
	if q.asJSON {
		err = writeJSON(cmd, Report{version, r.Document()})
	} else if q.table != "" {
		err = printTables(cmd, []*report.Table{r.Cross(q.table)}, q.format)
	} else if q.format == formatSummary {
		err = q.summarize(cmd, f, r, names)
	} else {
		err = q.present(cmd, r)
	}
	if err != nil {
		return err
	}
	return allWhole(f.Records, q.opt.Results)
}

// open reads the results folder, finds its profile unless one is given, and makes the report.
func (q *reporting) open(cmd *cobra.Command, names []string) (*harness.Folder, *report.Report, error) {
	f, err := harness.OpenFolder(q.opt.Results, harness.FolderOptions{Specs: names, Profile: q.profile, Plan: q.plan, Finder: q.opt.Finder, Keep: q.opt.Keep, Warn: warning(cmd)})
	if err != nil {
		return nil, nil, err
	}
	q.profile = f.Profile
	r, err := report.Read(f, q.format == formatPage || q.out != "")
	return f, r, err
}

// ownSpecs returns the specs that compare or bench, named by command, wrote to a results
// folder.
func ownSpecs(results, command string) []string {
	entries, _ := os.ReadDir(results) // reading the records returns the error
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), command+"-") && filepath.Ext(e.Name()) == ".yaml" && e.Type().IsRegular() {
			out = append(out, filepath.Join(results, e.Name()))
		}
	}
	return out
}

// comparison makes the report on the user's own comparison in a results folder. It does not
// start the commands in the comparison's file: --pruner must give them.
func (q *reporting) comparison(cmd *cobra.Command, file string) error {
	t, err := spec.FindComparison(file)
	if err != nil {
		return harness.Usage(fmt.Errorf("%w; for a heuristic under 'commands' in the file, add --pruner NAME=COMMAND", err))
	}
	plan, err := t.Plan(spec.ProfileQuick)
	if err != nil {
		return harness.Usage(err)
	}
	r, err := judge(t, spec.ProfileQuick, plan, nil, q.opt, warning(cmd))
	if err == nil {
		err = q.presentComparison(cmd, r)
	}
	if err != nil {
		return err
	}
	return allWhole(r.have, q.opt.Results)
}

// presentComparison prints the tables or writes the page. If --out names a folder, it also
// writes the full report there.
func (q *reporting) presentComparison(cmd *cobra.Command, r *judged) (err error) {
	stdout := cmd.OutOrStdout()
	switch {
	case q.asJSON:
		return writeJSON(cmd, Comparisons{version, r.Result})
	case q.table != "":
		return printTables(cmd, []*report.Table{r.Cross(q.table)}, q.format)
	case q.format == formatPage:
		paths, err := page.SaveAll(cmp.Or(q.out, comparisonDir(q.opt.Results)), r.Report)
		if err == nil {
			_, err = fmt.Fprintln(stdout, paths[len(paths)-1])
		}
		return err
	case q.format == "text" || q.format == formatSummary:
		_, err = io.WriteString(stdout, r.Text())
	default:
		err = printTables(cmd, r.Tables, q.format)
	}
	if err != nil || q.out == "" {
		return err
	}
	return r.write(cmd.ErrOrStderr(), q.out)
}

// A Report is the output of 'runall report --json'.
type Report struct {
	Versioned
	*report.Document
}

// Formats other than those of the tables.
const (
	formatPage    = "html" // written to a file, not printed
	formatSummary = "summary"
)

// present prints the tables and, if --out names a folder, writes the full report to it. The
// format html always writes only the page.
func (q *reporting) present(cmd *cobra.Command, r *report.Report) error {
	stdout, dir := cmd.OutOrStdout(), cmp.Or(q.out, harness.ReportDir(q.opt.Results))
	if q.format == formatPage {
		path, err := page.Save(dir, r)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(stdout, path)
		return err
	}
	if err := printTables(cmd, r.Tables, q.format); err != nil || q.out == "" {
		return err
	}
	paths, err := page.SaveAll(dir, r)
	if err == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d files written; open %s\n", len(paths), paths[len(paths)-1])
	}
	return err
}

// printTables prints tables in a format, an empty line after each.
func printTables(cmd *cobra.Command, tables []*report.Table, format string) error {
	w := cmd.OutOrStdout()
	if format != "text" {
		w = raw(w)
	}
	for _, t := range tables {
		if err := t.Write(w, format); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	return nil
}

// warning prints incomplete and corrupt records, one a line.
func warning(cmd *cobra.Command) func(error) {
	return func(err error) { fmt.Fprintf(cmd.ErrOrStderr(), "%v\n", err) }
}

// allWhole returns an error if a results folder has damaged records.
func allWhole(have *record.Collection, results string) error {
	if len(have.Errors) == 0 {
		return nil
	}
	return &evidence.Gap{Kind: evidence.Corrupt, What: results, N: len(have.Errors)}
}
