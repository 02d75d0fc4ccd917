package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"polkrepro/cluster"
	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/harness"
)

// mostTasks bounds --tasks; MaxArraySize of a Slurm cluster usually is 1001.
const mostTasks = 1_000_000

func newCluster() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster plan|exec|collect",
		Short: "Plan runs, execute them on a cluster, collect records",
		Args:  cobra.NoArgs,
		RunE:  needSubcommand,
	}
	cmd.AddCommand(newPlan(), newExec(), newCollect())
	return cmd
}

func newPlan() *cobra.Command {
	var p planning
	cmd := &cobra.Command{
		Use:   "plan [SPEC...] --out DIR",
		Short: "Write a plan of the runs, and scripts that run it on a cluster",
		Long: `Write a plan of the runs of the named specs, or by default of all that
reproduce would run, to a new folder: plan.json, slurm.sh for sbatch,
parallel.sh for GNU parallel and, with --image, kubernetes.yaml. 'runall
cluster exec' runs parts of the plan, on any number of machines at once;
'runall cluster collect' gathers the records.

A plan never changes: a folder with the same plan is left as it is, and one with
anything else is refused. Runs whose data are missing here are left out.`,
		RunE: func(cmd *cobra.Command, names []string) error { return p.run(cmd, names) },
	}
	profileFlag(cmd, &p.profile, "quick")
	seedsFlag(cmd, &p.opt.Seeds)
	dataFlag(cmd, &p.finder)
	cmd.Flags().BoolVar(&p.requireData, "require-data", false, "exit with status 4 if a data set is missing")
	wholeFlag(cmd, &p.tasks, "tasks", 1000, whole{min: 1, max: mostTasks}, "largest number `N` of tasks")
	cmd.Flags().StringVar(&p.image, "image", "", "`name` of the container image for kubernetes.yaml, made by make image")
	cmd.Flags().StringVar(&p.out, "out", "", "new `folder` of the plan")
	return cmd
}

// A planning is what the plan command was asked for.
type planning struct {
	profile     string
	opt         experiments.PlanOptions
	finder      data.Finder
	requireData bool
	tasks       int
	image, out  string
}

func (p *planning) run(cmd *cobra.Command, names []string) error {
	if p.out == "" {
		return harness.Usage(errors.New("--out is missing: name a new folder for the plan"))
	}
	runs, err := harness.PlanNamed(names, p.profile, p.opt, p.finder)
	if err != nil {
		return err
	}
	plan, lacking, err := cluster.Make(cmd.Context(), runs, p.profile, p.tasks, p.finder)
	for _, u := range lacking {
		fmt.Fprintf(cmd.ErrOrStderr(), "left out: %s: %d runs: %s\n", u.Ref, u.Runs, u.Why)
	}
	if p.requireData && len(lacking) > 0 {
		return fmt.Errorf("%w: %s", harness.ErrMissingData, lacking[0].Ref)
	}
	if err != nil {
		return err
	}
	site, err := cluster.Here(p.image, p.finder.Dir)
	if err != nil {
		return err
	}
	written, err := cluster.Write(p.out, plan, site)
	if err != nil {
		return err
	}
	if p.image != "" && !p.has(cluster.KubernetesName) {
		return harness.Usage(fmt.Errorf("%s was planned without --image: name a new folder", p.out))
	}
	return p.announce(cmd.OutOrStdout(), plan, written)
}

// has reports whether the plan's folder has a file.
func (p *planning) has(name string) bool {
	_, err := os.Stat(filepath.Join(p.out, name))
	return err == nil
}

// announce says what was planned and how to carry it out.
func (p *planning) announce(w io.Writer, plan *cluster.Plan, written bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d runs in %d tasks, plan %.16s\n", len(plan.Runs), len(plan.Tasks), plan.Sum)
	if !written {
		fmt.Fprintf(&b, "%s holds this plan already and is left as it is\n", p.out)
	}
	switch {
	case plan.Program.Revision == "":
		fmt.Fprintln(&b, "made by a program of unknown revision, which can't be told from another one")
	case plan.Program.Dirty:
		fmt.Fprintln(&b, "made by a program with local changes, which can't be told from another one of the same revision")
	}
	fmt.Fprintf(&b, "to carry it out, one of\n")
	for _, name := range []string{cluster.SlurmName, cluster.SlurmLargeName, cluster.KubernetesName, cluster.ParallelName} {
		if p.has(name) {
			fmt.Fprintf(&b, "  %s %s\n", submitters[name], cluster.Quote(filepath.Join(p.out, name)))
		}
	}
	program := cluster.Quote(os.Args[0])
	fmt.Fprintf(&b, "  %s cluster exec %s --task K, for every K from 0 to %d\n", program, cluster.Quote(p.out), len(plan.Tasks)-1)
	fmt.Fprintf(&b, "then %s cluster collect %s\n", program, cluster.Quote(p.out))
	if !p.has(cluster.KubernetesName) {
		fmt.Fprintf(&b, "without --image there is no %s\n", cluster.KubernetesName)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// submitters are the commands that take a submission.
var submitters = map[string]string{
	cluster.SlurmName:      "sbatch",
	cluster.SlurmLargeName: "sbatch",
	cluster.KubernetesName: "kubectl apply -f",
	cluster.ParallelName:   "bash",
}

func newExec() *cobra.Command {
	var e execution
	cmd := &cobra.Command{
		Use:   "exec DIR (--index N | --task K)",
		Short: "Run one run, or the runs of one task, of a plan",
		Long: `Run one run, or the runs of one task, of the plan that 'runall cluster plan'
wrote to DIR. Any number of processes on any number of machines can work on one
plan. Finished runs are not repeated, and a record appears when it is complete.

The exit status is 2 if the plan was changed, was made by another program, or
has no such run or task, and 4 if the data are missing or differ from the
plan's.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd, args[0]) },
	}
	wholeFlag(cmd, &e.index, "index", -1, whole{max: math.MaxInt}, "run `N` of the plan")
	wholeFlag(cmd, &e.task, "task", -1, whole{max: math.MaxInt}, "all runs of task `K`")
	for _, name := range []string{"index", "task"} {
		cmd.Flags().Lookup(name).DefValue = ""
	}
	cmd.Flags().StringVar(&e.opt.Results, "results", "", "`folder` of the records (default: results/ in DIR)")
	dataFlag(cmd, &e.opt.Finder)
	wholeFlag(cmd, &e.opt.Workers, "workers", 1, whole{min: 1, max: math.MaxInt}, "number `N` of parallel runs; each takes its own memory")
	progressFlag(cmd, &e.progress)
	return cmd
}

// An execution is what the exec command was asked for.
type execution struct {
	index, task int
	opt         harness.Options
	progress    string
}

func (e *execution) run(cmd *cobra.Command, dir string) error {
	if (e.index < 0) == (e.task < 0) {
		return harness.Usage(errors.New("give either --index or --task"))
	}
	plan, err := cluster.Read(dir)
	if err != nil {
		return err
	}
	indexes, err := plan.Select(e.index, e.task)
	if err != nil {
		return err
	}
	if e.opt.Results == "" {
		e.opt.Results = cluster.ResultsDir(dir)
	}
	if e.opt.Progress, err = newProgress(e.progress, cmd.ErrOrStderr()); err != nil {
		return err
	}
	out, err := plan.Exec(cmd.Context(), indexes, e.opt)
	e.opt.Progress.Close()
	if errors.Is(err, harness.ErrInterrupted) {
		return fmt.Errorf("%w: finished runs are kept\nTo resume: %s", err, commandLine())
	}
	if out != nil {
		remark(cmd.ErrOrStderr(), e.opt.Results, out)
		_, printed := fmt.Fprintf(cmd.OutOrStdout(), "%d finished, %d kept, %d failed\n", len(out.Finished), len(out.Kept), len(out.Failed))
		err = errors.Join(err, printed)
	}
	return err
}

func newCollect() *cobra.Command {
	var results string
	var from []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "collect DIR",
		Short: "Gather the records of a plan, and list missing runs",
		Long: `Gather the records of a plan in a results folder, which may already have some.
List the runs that failed, are missing or have a damaged record, with the
command that runs them again. 'runall reproduce' then finds the runs finished.

The exit status is 0 if all runs are finished, 1 if some failed or two folders
have different records of one run, and 4 if records are missing or damaged.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := cluster.Read(args[0])
			if err != nil {
				return err
			}
			if len(from) == 0 {
				from = []string{cluster.ResultsDir(args[0])}
			}
			c, err := plan.Collect(from, results)
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), c)
			} else {
				err = c.WriteText(cmd.OutOrStdout(), args[0], plan)
			}
			return errors.Join(err, c.Err())
		},
	}
	cmd.Flags().StringArrayVar(&from, "from", nil, "results `folder` to read (default: results/ in DIR); may be repeated")
	resultsFlag(cmd, &results)
	jsonFlag(cmd, &asJSON)
	return cmd
}
