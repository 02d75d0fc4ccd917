package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"polkrepro/harness"
	"polkrepro/report"
	"polkrepro/report/page"
	"polkrepro/spec"
)

// summarize prints the summary of the named specs, by default of the paper's. If q.out
// names a folder, it writes the report there.
func (q *reporting) summarize(cmd *cobra.Command, f *harness.Folder, r *report.Report, names []string) error {
	standIns := make(map[string]string) // data set that it stands in for by the generated data set
	for _, s := range spec.Embedded() {
		if s.StandsInFor != "" {
			standIns[s.Data.Name] = s.StandsInFor
		}
	}
	in := report.Summary{Report: r, Names: names, Specs: f.Specs, StandIns: standIns, Command: q.line}
	if q.out != "" {
		if _, err := page.SaveAll(q.out, r); err != nil {
			return err
		}
		in.Page = filepath.Join(q.out, page.Name)
	}
	stdout := cmd.OutOrStdout()
	if slices.Contains(names, report.Table1Spec) {
		others := func(t *report.Table) bool { return !strings.HasPrefix(t.Name, report.Table1Spec) }
		if err := printTables(cmd, slices.DeleteFunc(slices.Clone(r.Tables), others), "text"); err != nil {
			return err
		}
	}
	if err := in.Text(stdout); err != nil {
		return err
	}
	for _, t := range r.Tables {
		if strings.HasPrefix(t.Name, report.MethodsTable) {
			fmt.Fprintln(stdout)
			if err := t.Write(stdout, "text"); err != nil {
				return err
			}
		}
	}
	return nil
}

// line returns a command line of this program to copy to a shell: the arguments, with
// flags for the same folders and profile.
func (q *reporting) line(args ...string) string {
	words := append([]string{"runall"}, args...)
	flag := func(name, value, unless string) {
		if value != unless && !slices.Contains(args, name) {
			words = append(words, name, value)
		}
	}
	if args[0] == "reproduce" {
		for _, set := range q.plan.Set {
			words = append(words, "--set", set.String())
		}
		flag("--profile", q.profile, spec.ProfileQuick)
		flag("--seeds", strconv.Itoa(q.plan.Seeds), "0")
		flag("--data-dir", q.opt.Finder.Dir, "")
		for _, p := range q.pruners {
			words = append(words, "--pruner", p)
		}
	}
	if args[0] != "data" {
		flag("--results", cmp.Or(q.opt.Results, defaultResults), defaultResults)
	}
	return quoted(words)
}
