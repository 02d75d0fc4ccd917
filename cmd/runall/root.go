package main

import (
	"github.com/spf13/cobra"
)

// newRoot returns the command line.
func newRoot() *cobra.Command {
	root := newReproduce()
	root.Use = "runall"
	root.Short = "Reproduce the POLK paper (Koppel, Warnell, Stump, Ribeiro 2016)"
	root.Long = root.Short + `.

Without a command, runall does its main job: reproduce --profile quick.`
	root.Args = cobra.NoArgs
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newReproduce(), newList(), newData(), newReport(), newCalibrate(), newStream(), newTable1(), newCompare(), newVerify(), newExplain(),
		newMultiverse(), newScale(), newAgree(), newExport(), newSeal(), newTrain(), newPredict(), newEvaluate(),
		newPlan(), newExec(), newCollect(), newVersion())
	return root
}
