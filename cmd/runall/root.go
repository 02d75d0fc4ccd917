package main

import (
	"strings"

	"github.com/spf13/cobra"
)

func init() { cobra.EnableCommandSorting = false } // commands are listed in the order of a reproduction

// newRoot returns the command line.
func newRoot() *cobra.Command {
	root := parent("runall", "Reproduce the POLK paper (Koppel, Warnell, Stump, Ribeiro 2016)")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80"))
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Reproduce", []*cobra.Command{newPlan(), newReproduce(), newMerge(), newReport(), newExport()}},
		{"Judge", []*cobra.Command{newVerify(), newExplain()}},
		{"Compare", []*cobra.Command{newBench(), newCompare(), newSettings()}},
		{"Own data", []*cobra.Command{newTrain(), newPredict(), newEvaluate(), newExportModel(), newServe()}},
		{"Maintenance", []*cobra.Command{newData(), newList(), newSeal(), newVersion()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, c := range g.commands {
			c.GroupID = g.title
		}
		root.AddCommand(g.commands...)
	}
	return root
}

// parent returns a command that only has subcommands. It prints help.
func parent(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(commands...)
	return cmd
}
