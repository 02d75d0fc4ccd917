// Command runall reproduces the experiments of "Parsimonious Online Learning
// with Kernels via Sparse Projections in Function Space" (Koppel, Warnell,
// Stump, Ribeiro 2016).
//
// Results go to stdout, progress and warnings to stderr. The exit status is
//
//   - 0 for success,
//   - 1 if a run failed,
//   - 2 for wrong use, which includes a results folder that is sealed or locked by another
//     runall,
//   - 3 if a claim deviates without an explanation or is inconclusive, or if the records or
//     verdicts of two results folders differ,
//   - 4 if required data or records are missing or damaged or a seal is broken,
//   - 130 after an interruption: reproduce, bench, compare, train and data fetch can be
//     resumed.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"polkrepro/harness"
	"polkrepro/record"
	"polkrepro/spec"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run executes a command line and returns its exit status.
func run(args []string, stdout, stderr io.Writer) int {
	stderr = screen{stderr}
	out := &output{to: stdout}
	ctx, stop := untilSignal()
	defer stop()
	done := make(chan error, 1)
	go func() { done <- execute(ctx, args, out, stderr) }()
	ended, err := await(ctx, done)
	if !ended {
		explain(unfinished(args), stderr)
		return harness.ExitInterrupted
	}
	status := harness.ExitCode(err)
	if unwritten := out.finish(); unwritten != nil && status != harness.ExitInterrupted {
		status, err = harness.ExitFailed, errors.Join(err, fmt.Errorf("standard output: %w", unwritten))
	}
	if err != nil {
		explain(err, stderr)
	}
	return status
}

// execute runs the command that the arguments name. Errors before the start of the command's
// own work wrap harness.ErrUsage.
func execute(ctx context.Context, args []string, stdout *output, stderr io.Writer) (err error) {
	defer harness.Recover(&err)
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	begun := false
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		err := cmp.Or(checkFlags(cmd), cmd.ValidateFlagGroups())
		begun = err == nil
		return err
	}
	err = root.ExecuteContext(ctx)
	if !begun {
		return harness.Usage(err)
	}
	return err
}

// unfinished returns the error of a command line that was ended. Commands that execute runs
// keep the finished ones, except with --rerun, and so resume, even from their report.
func unfinished(args []string) error {
	cmd, _, err := newRoot().Find(args)
	if err == nil && cmd.Flags().Lookup("rerun") != nil {
		return resumable(harness.ErrInterrupted)
	}
	return harness.ErrInterrupted
}

// advice names the command that helps with an error of a package, which knows no commands.
func advice(err error) string {
	switch {
	case errors.Is(err, spec.ErrNoSpec):
		return " ('runall list specs' lists the embedded ones)"
	case errors.Is(err, record.ErrDamagedRecords):
		return "; 'runall reproduce' reruns them"
	case errors.Is(err, harness.ErrNoRecords):
		return "; run 'runall reproduce', or name another folder"
	}
	return ""
}

// explain prints an error. For a panic it saves the stack to a file and asks for a report.
func explain(err error, stderr io.Writer) {
	var panicked *harness.PanicError
	if !errors.As(err, &panicked) {
		fmt.Fprintf(stderr, "runall: %v%s\n", err, advice(err))
		return
	}
	path, saved := panicked.Save()
	if saved != nil {
		fmt.Fprintf(stderr, "runall: a defect of this program: %v (its stack could not be saved: %v)\n", err, saved)
		return
	}
	fmt.Fprintf(stderr, "runall: a defect of this program: %v; please report it with %s\n", err, path)
}
