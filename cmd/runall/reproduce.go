package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"polkrepro/data"
	"polkrepro/harness"
	"polkrepro/spec"
)

// A reproduction holds the options of the reproduce command: for runs and their report.
type reproduction struct {
	reporting
	shard    shard
	progress string
}

func newReproduce() *cobra.Command {
	var r reproduction
	cmd := &cobra.Command{
		Use:   "reproduce [SPEC...]",
		Short: "Run the experiments and compare with the paper's tables",
		Long: `Run the experiments of the named specs, or by default of all. Compare the
results with the paper's tables, one line for each method, count the verdicts,
and list missing runs with the commands that add them. The full tables and the
figures are written to report/ in the results folder; 'runall report' prints the
tables.

Finished runs are kept and not repeated, unless the code of a heuristic, method,
kernel, loss or data set has changed since. Missing data sets are downloaded
first (see 'runall data fetch --help'), unless ` + data.EnvOffline + `=1 is set.

'runall plan' lists the runs, and about how long they take. --set changes the
specs and --only selects runs (see 'runall plan --help').

With --shard K/N, only the K-th of N shards is run. The shards cost about the
same and together have all runs. Give each shard its own results folder; 'runall
merge' brings the records together. To resume a killed shard, run it again.
Shard 0/N is N/N.`,
		RunE: r.run,
	}
	profileFlag(cmd, &r.profile, "quick")
	runFlags(cmd, &r.opt, &r.progress)
	setFlag(cmd, &r.plan)
	onlyFlag(cmd, &r.plan, spec.OnlyKeys()...)
	seedsFlag(cmd, &r.plan.Seeds)
	resultsFlag(cmd, &r.opt.Results)
	dataFlag(cmd, &r.opt.Finder)
	cmd.Flags().BoolVar(&r.opt.RequireData, "require-data", false, "exit with status 4 before training if a data set is missing")
	prunersFlag(cmd, &r.pruners)
	cmd.Flags().Var(value[shard]{&r.shard, "K/N", parseShard}, "shard", "run only shard `K/N`, from 1/N to N/N, and write no report")
	return cmd
}

func (r *reproduction) run(cmd *cobra.Command, names []string) error {
	if err := registerPruners("pruner", r.pruners); err != nil {
		return err
	}
	specs, plan, err := harness.PlanSpecs(names, r.profile, r.plan, r.opt.Finder)
	if err != nil {
		return err
	}
	for _, s := range specs {
		if s.LeftOut != "" {
			fmt.Fprintln(cmd.ErrOrStderr(), s.LeftOut)
		}
	}
	fetched, err := fetchFirst(cmd, plan, r.opt.Finder, r.progress)
	if err != nil {
		return err
	}
	if fetched { // the plan needs no stand-ins for the new data
		if plan, err = harness.PlanNamed(names, r.profile, r.plan, r.opt.Finder); err != nil {
			return err
		}
	}
	if r.shard.n > 0 {
		plan = harness.Shard(plan, r.shard.k, r.shard.n)
	}
	out, err := carryOut(cmd, plan, r.opt, r.progress)
	if out == nil {
		return err
	}
	if r.shard.n > 0 {
		_, printed := fmt.Fprintf(cmd.OutOrStdout(), "shard %v: %d finished, %d kept, %d failed\n", r.shard, len(out.Finished), len(out.Kept), len(out.Failed))
		return errors.Join(err, printed)
	}
	return errors.Join(r.report(cmd, names, out), err)
}

// carryOut executes runs and prints the runs that were not started or failed. If the rest of
// the command would be pointless, it returns an error and no outcome.
func carryOut(cmd *cobra.Command, plan []spec.Planned, opt harness.Options, progress string) (out *harness.Outcome, err error) {
	opt.Progress = newProgress(progress, cmd.ErrOrStderr())
	out, err = harness.Reproduce(cmd.Context(), plan, opt)
	opt.Progress.Close()
	if err = resumable(err); err != nil && !errors.Is(err, harness.ErrRunsFailed) {
		return nil, err
	}
	remark(cmd.ErrOrStderr(), opt.Results, out)
	return out, err
}

// report prints the summary of all runs in the results folder, including those of earlier
// calls, and writes tables and figures in all formats. A run of this call without a record is an error.
func (r *reproduction) report(cmd *cobra.Command, names []string, out *harness.Outcome) error {
	r.out = harness.ReportDir(r.opt.Results)
	f, made, err := r.open(cmd, names)
	if err != nil {
		return err
	}
	return errors.Join(r.summarize(cmd, f, made, names), out.Lost(f.Records))
}

// reproduceCommand returns the command that runs specs, by default all.
func reproduceCommand(specs []string, profile, results string) string {
	return quoted(slices.Concat([]string{"runall", "reproduce"}, specs, []string{"--profile", profile, "--results", results}))
}

// resumable adds the command that resumes the work to the error of an interruption.
func resumable(err error) error {
	if errors.Is(err, harness.ErrInterrupted) {
		return fmt.Errorf("%w\nTo resume: %s", err, quoted(os.Args))
	}
	return err
}

// quote returns a word for a shell, quoted if necessary.
func quote(word string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./,:%@"
	if strings.Trim(word, plain) == "" && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// quoted returns words as a command line for a shell.
func quoted(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, quote(w))
	}
	return strings.Join(out, " ")
}
