package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/report"
	"polkrepro/report/export"
)

// summarize prints the summary of the specs that are named, by default of the
// paper's, and writes the report to a folder if there is one.
func summarize(cmd *cobra.Command, f *export.Folder, r *export.Report, names []string, dir string, c commands) error {
	in := report.Summary{Report: r.Report, Names: names,
		Damaged: len(f.Records.Errors), Command: c.line}
	var err error
	if in.StandIns, err = standIns(); err != nil {
		return err
	}
	if len(names) > 0 {
		specs, err := harness.FindSpecs(names)
		if err != nil {
			return harness.Usage(err)
		}
		for _, s := range specs {
			in.Specs = append(in.Specs, s.Name)
		}
	}
	if dir != "" {
		if _, err := r.WriteAll(dir); err != nil {
			return err
		}
		in.Index, in.Page = filepath.Join(dir, "index.md"), filepath.Join(dir, export.PageName)
	}
	stdout := cmd.OutOrStdout()
	for _, t := range r.Tables {
		if slices.Contains(names, report.Table1Spec) && strings.HasPrefix(t.Name, report.Table1Spec) {
			if err := t.Write(stdout, "text"); err != nil {
				return err
			}
			fmt.Fprintln(stdout)
		}
	}
	if err := in.Text(stdout, columns(stdout)); err != nil {
		return err
	}
	for _, t := range r.Tables {
		if t.Name == report.MethodsTable {
			fmt.Fprintln(stdout)
			if err := t.Write(stdout, "text"); err != nil {
				return err
			}
		}
	}
	return nil
}

// columns returns the width of a terminal, 0 of a file or pipe.
func columns(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// standIns returns the names of the generated data sets that stand in for
// missing ones, by the missing ones'.
func standIns() (map[string]string, error) {
	specs, err := experiments.Embedded()
	if err != nil {
		return nil, err
	}
	out := make(map[string]string)
	for _, s := range specs {
		if s.StandsInFor != "" {
			out[s.StandsInFor] = s.Data.Name
		}
	}
	return out, nil
}

// commands makes command lines that go on with the same folders and profile.
type commands struct {
	results, dataDir string
	profile          string
	seeds            int
	pruners          []string // NAME=COMMAND
}

// line returns the command line that runs this program with arguments, to be
// copied to a shell.
func (c commands) line(args ...string) string {
	program := "runall"
	if strings.ContainsRune(os.Args[0], filepath.Separator) && !filepath.IsAbs(os.Args[0]) {
		program = os.Args[0] // such as bin/runall
	}
	words := append([]string{program}, args...)
	flag := func(name, value, unless string) {
		if value != unless && !slices.Contains(args, name) {
			words = append(words, name, value)
		}
	}
	prefix := ""
	switch args[0] {
	case "data":
		if data.Offline() {
			prefix = data.EnvOffline + "= "
		}
	case "reproduce":
		flag("--profile", c.profile, experiments.ProfileQuick)
		flag("--seeds", strconv.Itoa(c.seeds), "0")
		flag("--data-dir", c.dataDir, "")
		for _, p := range c.pruners {
			words = append(words, "--pruner", p)
		}
		fallthrough
	default:
		flag("--results", cmp.Or(c.results, defaultResults), defaultResults)
	}
	for i, w := range words {
		words[i] = quote(w)
	}
	return prefix + strings.Join(words, " ")
}
