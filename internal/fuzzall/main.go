// Command fuzzall runs every fuzz target of the packages that are named, for a
// time each, and prints what came of it as a table. As many targets run at a
// time as there are cores.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"
)

func main() {
	each := flag.Duration("time", time.Minute, "`duration` of each target")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, flag.Args(), *each); err != nil {
		fmt.Fprintln(os.Stderr, "fuzzall:", err)
		os.Exit(1)
	}
}

// run fuzzes all targets of packages and prints the table.
func run(ctx context.Context, packages []string, each time.Duration) error {
	listed, err := output(ctx, append([]string{"-list", "^Fuzz"}, packages...))
	if err != nil {
		return fmt.Errorf("list the targets: %w\n%s", err, listed)
	}
	targets := parseList(string(listed))
	outcomes := make([]outcome, len(targets))
	var g errgroup.Group
	g.SetLimit(runtime.NumCPU())
	for i, t := range targets {
		g.Go(func() error {
			outcomes[i] = fuzz(ctx, t, each)
			fmt.Fprintln(os.Stderr, outcomes[i].line())
			return nil
		})
	}
	g.Wait()
	return report(os.Stdout, outcomes)
}

// output runs go test.
func output(ctx context.Context, args []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return cmd.CombinedOutput()
}

// A target is a fuzz test of a package.
type target struct{ pkg, name string }

// parseList reads what go test -list prints: the names of a package's targets,
// then a line with its path.
func parseList(text string) (targets []target) {
	var names []string
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 1 && strings.HasPrefix(fields[0], "Fuzz"):
			names = append(names, fields[0])
		case len(fields) > 1 && fields[0] == "ok":
			for _, n := range names {
				targets = append(targets, target{fields[1], n})
			}
			names = nil
		}
	}
	return targets
}

// An outcome is what came of fuzzing a target.
type outcome struct {
	target
	counts
	seconds float64
	err     error  // of go test; nil if nothing was found
	text    string // what it printed, if so
}

// fuzz runs one target with one worker. Minimizing is bounded by executions,
// not by its default time, which would take all of a short run.
func fuzz(ctx context.Context, t target, each time.Duration) outcome {
	start := time.Now()
	text, err := output(ctx, []string{"-run", "^$", "-fuzz", "^" + t.name + "$", "-fuzztime", each.String(),
		"-fuzzminimizetime", "10x", "-parallel", "1", t.pkg})
	o := outcome{target: t, counts: parseCounts(text), seconds: time.Since(start).Seconds(), err: err}
	if err != nil {
		o.text = string(text)
	}
	return o
}

// counts are the figures of a line of progress.
type counts struct{ execs, interesting string }

var progress = regexp.MustCompile(`execs: ([0-9]+) .*new interesting: ([0-9]+)`)

// parseCounts returns the last figures that go test printed.
func parseCounts(text []byte) counts {
	var c counts
	for line := range bytes.Lines(text) {
		if m := progress.FindSubmatch(line); m != nil {
			c = counts{string(m[1]), string(m[2])}
		}
	}
	return c
}

// line is a row of the table, its cells apart by tabs.
func (o *outcome) line() string {
	found := "none"
	if o.err != nil {
		found = "FAILED"
	}
	return fmt.Sprintf("%s.%s\t%.0f\t%s\t%s\t%s", strings.TrimPrefix(o.pkg, "polkrepro/"), o.name, o.seconds, o.execs, o.interesting, found)
}

// report writes the table and, below it, what failed.
func report(w io.Writer, outcomes []outcome) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "target\tseconds\texecutions\tnew interesting\tfindings")
	var failed []error
	for _, o := range outcomes {
		fmt.Fprintln(t, o.line())
		if o.err != nil {
			failed = append(failed, fmt.Errorf("%s.%s: %w\n%s", o.pkg, o.name, o.err, o.text))
		}
	}
	if len(outcomes) == 0 {
		failed = append(failed, errors.New("there are no targets"))
	}
	return errors.Join(t.Flush(), errors.Join(failed...))
}
