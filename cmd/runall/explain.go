package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"polkrepro/evidence"
	"polkrepro/experiments"
	"polkrepro/harness"
)

func newExplain() *cobra.Command {
	var results, profile string
	var asJSON bool
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
				return unexplained(a, args[0])
			}
			e := evidence.Explanation{Ledger: in.Ledger, Command: func(spec string) string {
				return reproduceCommand([]string{spec}, used, results+"-again")
			}}
			return show(cmd, asJSON, Explanation{version, e.Document(s)}, func(w io.Writer) error { return e.Write(w, s) })
		},
	}
	resultsFlag(cmd, &results)
	profileFlag(cmd, &profile, "")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// An Explanation is the output of 'runall explain --json'.
type Explanation struct {
	Versioned
	*evidence.ExplanationDocument
}

// unexplained returns the error for an ID that does not belong to a claim.
func unexplained(a *evidence.Assessment, id string) error {
	paper := experiments.Paper()
	c, ok := paper.Cells[id]
	if !ok {
		return harness.Usage(fmt.Errorf("unknown claim or cell %q; 'runall verify' lists all", id))
	}
	message := fmt.Sprintf("the paper prints no number in %s: %s", id, paper.Reasons[c.Reason])
	if using := a.Using(id); len(using) > 0 {
		message += "; its runs answer " + strings.Join(using, ", ")
	}
	return harness.Usage(errors.New(message))
}
