package main

import (
	"github.com/spf13/cobra"

	"polkrepro/report"
)

// newTable1 returns the command that reproduces the spec of Table 1.
func newTable1() *cobra.Command {
	cmd := newReproduce()
	run := cmd.RunE
	cmd.Use, cmd.Args = report.Table1Spec, cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return run(cmd, []string{report.Table1Spec}) }
	return cmd
}
