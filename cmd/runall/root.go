package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func init() { cobra.EnableCommandSorting = false } // commands are listed in the order of a reproduction

// newRoot returns the command line.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use: "runall", Long: "Reproduce the POLK paper (Koppel, Warnell, Stump, Ribeiro 2016).",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true, SilenceUsage: true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80"))
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"reproduce", []*cobra.Command{newReproduce(), newMerge(), newReport(), newExport()}},
		{"judge", []*cobra.Command{newVerify(), newExplain()}},
		{"compare", []*cobra.Command{newBench(), newCompare(), newSettings()}},
		{"own data", []*cobra.Command{newTrain(), newPredict(), newEvaluate(), newServe()}},
		{"maintenance", []*cobra.Command{newData(), newList(), newSeal(), newVersion()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.title
		}
		root.AddCommand(g.commands...)
	}
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd != root {
			help(cmd, args)
			return
		}
		writeOverview(cmd.OutOrStdout(), root)
	})
	return root
}

// writeOverview writes the help of runall itself: the commands by group. It fits a
// terminal of 24 lines of 80 columns.
func writeOverview(w io.Writer, root *cobra.Command) {
	fmt.Fprintf(w, `%s

Usage: runall COMMAND [ARGUMENTS] [FLAGS]

`, root.Long)
	var rows [][]string
	for _, g := range root.Groups() {
		title := g.Title
		for _, c := range root.Commands() {
			if c.GroupID == g.ID && !c.Hidden {
				rows = append(rows, []string{title, c.Name(), c.Short})
				title = ""
			}
		}
	}
	writeRows(w, rows)
	fmt.Fprintln(w, "\n'runall COMMAND --help' describes a command, its subcommands and flags.")
}
