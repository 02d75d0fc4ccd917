package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"polkrepro/convergence"
	"polkrepro/data"
	"polkrepro/evidence"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/record"
	"polkrepro/report"
)

// tableFaces are the formats that tables are printed in.
var tableFaces = map[string]func(*report.Table, io.Writer) error{
	"text":     (*report.Table).Text,
	"markdown": (*report.Table).Markdown,
	"csv":      (*report.Table).CSV,
	"latex":    (*report.Table).LaTeX,
}

func newReport() *cobra.Command {
	var results, profile, out string
	var opt experiments.PlanOptions
	var finder data.Finder
	format := "text"
	cmd := &cobra.Command{
		Use:   "report [SPEC...]",
		Short: "Make tables and figures from records, without training",
		Long: `Make the tables and figures from the records, without training. The exit status
is 1 if a record is incomplete or corrupt; the report is made from the others.

--format summary prints what 'runall reproduce' prints: Tables 2 and 3 with one
line a method, and the verdicts counted. --format html writes one page that opens
offline, report.html in the folder of --out or in that of the results, and prints
its path.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := checkOutFolder("--out", out, results); err != nil {
				return err
			}
			have, err := readRecords(results, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			specs, err := reportedSpecs(names)
			if err != nil {
				return err
			}
			if profile == "" {
				if profile, err = harness.GuessProfile(specs, opt, have.Records); err != nil {
					return err
				}
			}
			plan, err := harness.PlanAll(specs, profile, opt)
			if err != nil {
				return err
			}
			study, err := readTable1(results, have, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			of, lacking := shown(results, specs, plan, have, finder)
			a, err := assess(plan, have)
			if err != nil {
				return err
			}
			r, err := buildReport(have, a, study, specs, of, profile, lacking, finder)
			if err != nil {
				return err
			}
			p := presentation{have, r, a, plan, of}
			if format == formatSummary {
				err = p.summarize(cmd, names, out, commands{results: results, dataDir: finder.Dir, profile: profile, seeds: opt.Seeds})
			} else {
				err = p.present(cmd, format, results, out)
			}
			if err != nil {
				return err
			}
			return allWhole(have, results)
		},
	}
	resultsFlag(cmd, &results)
	profileFlag(cmd, &profile, "")
	seedsFlag(cmd, &opt.Seeds)
	dataFlag(cmd, &finder)
	cmd.Flags().Var(choice{&format, []string{"text", "markdown", "csv", "latex", formatPage, formatSummary}}, "format", "format of the tables; html: the report as one page; summary: a line a method")
	cmd.Flags().StringVar(&out, "out", "", "`folder` to write all tables and figures to, in all formats")
	return cmd
}

// Formats that are not one of the tables'.
const (
	formatPage    = "html" // a file, not printed
	formatSummary = "summary"
)

// present prints the tables and, if a folder is named, writes all of the
// report; the format html writes the page alone.
func (p *presentation) present(cmd *cobra.Command, format, results, out string) error {
	if format == formatPage {
		path, err := p.writePage(cmp.Or(out, harness.ReportDir(results)))
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), path)
		return err
	}
	if err := printTables(cmd.OutOrStdout(), p.report, format); err != nil {
		return err
	}
	if out == "" {
		return nil
	}
	files, err := p.write(out)
	if err == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d files written; open %s or %s\n", files, filepath.Join(out, pageName), filepath.Join(out, "index.md"))
	}
	return err
}

// allWhole is the error of a results folder that holds damaged records.
func allWhole(have *record.Collection, results string) error {
	switch n := len(have.Errors); n {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("1 record in %s is incomplete or corrupt; rerun 'runall reproduce'", results)
	default:
		return fmt.Errorf("%d records in %s are incomplete or corrupt; rerun 'runall reproduce'", n, results)
	}
}

// readRecords reads the records of a results folder and warns of incomplete and
// corrupt ones. A folder whose seal is broken is not read.
func readRecords(results string, stderr io.Writer) (*record.Collection, error) {
	if info, err := os.Stat(results); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("results folder: %s is a file, not a folder", results)
	}
	if err := harness.CheckFolder(results); err != nil {
		return nil, err
	}
	if err := record.CheckSeal(results); err != nil {
		return nil, &statusError{exitIncomplete, err.Error()}
	}
	have, err := record.ReadDir(harness.RecordsDir(results))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no records in %s; run 'runall reproduce', or name another folder with --results", results)
	}
	if err != nil {
		return nil, err
	}
	for _, err := range have.Errors {
		fmt.Fprintf(stderr, "incomplete or corrupt record: %v\n", err)
	}
	return have, nil
}

// reportedSpecs returns the embedded specs, which give the tables their
// layout, and those that are named besides.
func reportedSpecs(names []string) ([]*experiments.Spec, error) {
	specs, err := harness.FindSpecs(nil)
	if err != nil || len(names) == 0 {
		return specs, err
	}
	named, err := harness.FindSpecs(names)
	return append(named, specs...), harness.Usage(err)
}

// shown returns which planned runs a report shows, and which data sets it calls
// unavailable. The report of a sealed folder is of its records alone: there it
// makes no difference what data this machine has.
func shown(results string, specs []*experiments.Spec, plan []experiments.Planned, have *record.Collection, finder data.Finder) (of []experiments.Planned, lacking map[string]string) {
	if record.Sealed(results) {
		return harness.Recorded(specs, plan, have.Records), nil
	}
	of = harness.Shown(specs, plan, have.Records, finder)
	return of, harness.Lacking(of, have.Records, finder)
}

// readTable1 reads the runs of Table 1, nil if there are none, and warns of
// incomplete and corrupt records, which it adds to the others.
func readTable1(results string, have *record.Collection, stderr io.Writer) (*convergence.Study, error) {
	study, err := convergence.Read(results)
	if err != nil {
		return nil, err
	}
	for _, err := range study.Damaged {
		fmt.Fprintf(stderr, "incomplete or corrupt record: %v\n", err)
	}
	have.Errors = append(have.Errors, study.Damaged...)
	if study.Empty() {
		return nil, nil
	}
	return study, nil
}

// assess judges the claims by the records of planned runs.
func assess(plan []experiments.Planned, have *record.Collection) (*evidence.Assessment, error) {
	in, err := judged(plan, have)
	if err != nil {
		return nil, err
	}
	return evidence.Assess(in)
}

// judged is what the claims are judged by.
func judged(plan []experiments.Planned, have *record.Collection) (evidence.Input, error) {
	ledger, err := experiments.Ledgers()
	return evidence.Input{Ledger: ledger, Plan: plan, Records: have.Records, Failed: failures(have)}, err
}

func buildReport(have *record.Collection, a *evidence.Assessment, study *convergence.Study, specs []*experiments.Spec, plan []experiments.Planned, profile string, lacking map[string]string, finder data.Finder) (*report.Report, error) {
	return report.Build(report.Input{
		Planned:     plan,
		Records:     have.Records,
		Failed:      failures(have),
		Unavailable: lacking,
		Pictures:    pictures(finder),
		Profile:     profile,
		FullCells:   fullCells(specs),
		Convergence: study,
		Assessment:  a,
	})
}

// fullCells returns the table cells that the full profile of specs feeds.
func fullCells(specs []*experiments.Spec) map[string]bool {
	cells := make(map[string]bool)
	plan, err := harness.PlanAll(specs, experiments.ProfileFull, experiments.PlanOptions{})
	if err != nil {
		return nil // what is asked for is reported in any case
	}
	for _, p := range plan {
		for _, id := range p.Cells {
			cells[id] = true
		}
	}
	return cells
}

func printTables(w io.Writer, r *report.Report, format string) error {
	for _, t := range r.Tables {
		if err := tableFaces[format](t, w); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	return nil
}

// write writes all tables and figures, and the report as one page, into a
// folder.
func (p *presentation) write(dir string) (files int, err error) {
	p.report.Page = pageName
	paths, err := p.report.WriteAll(dir)
	if err != nil {
		return len(paths), err
	}
	if _, err := p.writePage(dir); err != nil {
		return len(paths), err
	}
	return len(paths) + 1, nil
}
