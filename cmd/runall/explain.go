package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"polkrepro/evidence"
	"polkrepro/harness"
	"polkrepro/paper"
)

func newExplain() *cobra.Command {
	var results, profile string
	cmd := &cobra.Command{
		Use:   "explain CELL|CLAIM",
		Short: "Trace a number to its claim, runs, records and command",
		Long: `Trace a number to its claim, runs and records, and print the command that
reproduces it. A cell is named like table3.mnist.ksvm.polk, one of its numbers
like table3.mnist.ksvm.polk.error. 'runall verify' lists all claims.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, used, err := readEvidence(cmd, results, profile)
			if err != nil {
				return err
			}
			a, err := evidence.Assess(in)
			if err != nil {
				return err
			}
			s, ok := a.Find(args[0])
			if !ok {
				return unexplained(args[0])
			}
			return s.Explain(cmd.OutOrStdout(), in.Ledger, func(spec string) string {
				return reproduceCommand([]string{spec}, used, results+"-again")
			})
		},
	}
	resultsFlag(cmd, &results)
	profileFlag(cmd, &profile, "")
	return cmd
}

// unexplained returns the error for an ID that does not belong to a claim.
func unexplained(id string) error {
	paper := paper.Printed()
	if c, ok := paper.Cells[id]; ok {
		return harness.Usage(fmt.Errorf("the paper prints no number in %s: %s", id, paper.Reasons[c.Reason]))
	}
	return harness.Usage(fmt.Errorf("unknown claim or cell %q; 'runall verify' lists all", id))
}
