//go:build check && linux

package faults

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// resultsDir is the folder of a trial that its command writes to.
const resultsDir = "results"

// A command is a command line that trials disturb, in a folder with the files
// it reads.
type command struct {
	name string
	args []string

	// prepare adds to a trial's folder what the command needs in it; nil if
	// that is nothing but the files that all have.
	prepare func(dir string) error
	// locks is set if a second process in the folder is turned away.
	locks bool
	// restarts is set if the command, interrupted, does not say how to go on: it
	// starts over, or going on is another command.
	restarts bool
	// collides is command lines that write to rows.csv, which they read, by its
	// path or by the links soft and hard.
	collides [][]string
	// resume returns the command line that goes on from what is in a trial's
	// folder after a kill; nil if it is the same one.
	resume func(dir string) []string

	want     state         // what an undisturbed process leaves
	duration time.Duration // of an undisturbed process
	size     int64         // bytes of its results
}

//go:embed testdata/margin.yaml
var marginSpec string

//go:embed testdata/logistic.yaml
var logisticSpec string

// newCommands returns the commands that are tested.
func newCommands() []*command {
	return []*command{
		{name: "reproduce", locks: true, args: []string{"reproduce", "margin.yaml", "logistic.yaml", "--workers", "2", "--progress", "plain", "--results", resultsDir}},
		{name: "table1", locks: true, args: []string{"reproduce", "table1", "--profile", "smoke", "--progress", "plain", "--results", resultsDir}},
		{name: "train", locks: true, restarts: true, prepare: makeResults, resume: resumeTraining, collides: collidingTraining(), args: []string{"train", "rows.csv", "--epochs", "8", "--out", resultsDir + "/model"}},
		{name: "train in large steps", locks: true, restarts: true, prepare: makeResults, resume: resumeTraining,
			args: []string{"train", "rows.csv", "--skip", "15600", "--batch", "1100", "--loss", "logistic", "--order", "30", "--no-tune", "--out", resultsDir + "/model"}},
	}
}

// mergeCommand returns the command that merges a shard, which it makes in a folder.
func mergeCommand(binary, dir string) (*command, error) {
	if err := lay(dir); err != nil {
		return nil, err
	}
	cmd := exec.Command(binary, "reproduce", "margin.yaml", "logistic.yaml", "--shard", "1/1", "--results", "shard", "--progress", "quiet")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return &command{name: "merge", locks: true, args: []string{"merge", "shard", "--results", resultsDir}, prepare: func(to string) error {
		return os.CopyFS(filepath.Join(to, "shard"), os.DirFS(filepath.Join(dir, "shard")))
	}}, nil
}

// resumeTraining goes on with the model that a training has saved.
func resumeTraining(dir string) []string {
	const model = resultsDir + "/model"
	if _, err := os.Stat(filepath.Join(dir, model)); err != nil {
		return nil
	}
	return []string{"train", "rows.csv", "--resume", model}
}

// collidingTraining returns trainings whose model would replace what they read.
func collidingTraining() (lines [][]string) {
	for _, out := range []string{"rows.csv", "./tmp/../rows.csv", "soft", "hard"} {
		lines = append(lines, []string{"train", "rows.csv", "--out", out}, []string{"train", "rows.csv", "--resume", out})
	}
	return lines
}

// lay writes the files that the commands read into a folder, and makes the
// folder for temporary files.
func lay(dir string) error {
	files := map[string]string{"margin.yaml": marginSpec, "logistic.yaml": logisticSpec, "rows.csv": rows()}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return os.Mkdir(filepath.Join(dir, "tmp"), 0o777)
}

// rows returns a file of three classes in the plane.
var rows = sync.OnceValue(func() string {
	var b strings.Builder
	src := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		c := src.IntN(3)
		fmt.Fprintf(&b, "%d,%.4f,%.4f\n", c, float64(c)+src.Float64(), src.Float64()-float64(c))
	}
	return b.String()
})

// measure has two undisturbed processes at once carry out the command, and
// notes what they leave and how long they take.
func (c *command) measure(t *testing.T, binary, base string) {
	var states [2]state
	var processes [2]*process
	for i := range processes {
		dir := newFolder(t, base, fmt.Sprintf("%s-undisturbed-%d", c.name, i), c)
		processes[i] = start(t, dir, launch{binary: binary, args: c.args})
	}
	for i, p := range processes {
		if code := p.wait(); code != 0 {
			t.Fatalf("%s, undisturbed: exit %d\n%s", c.name, code, &p.stderr)
		}
		c.duration = max(c.duration, time.Since(p.begun))
		var err error
		if states[i], err = read(p.cmd.Dir); err != nil {
			t.Fatal(err)
		}
		c.size = folderSize(t, filepath.Join(p.cmd.Dir, resultsDir))
	}
	c.want = states[0].common(states[1])
	if len(states[1].differences(c.want)) > 0 || len(c.want) == 0 {
		t.Fatalf("%s, undisturbed twice: %v", c.name, states[1].differences(c.want))
	}
}

// makeResults makes an empty results folder.
func makeResults(dir string) error { return os.Mkdir(filepath.Join(dir, resultsDir), 0o755) }

// newFolder makes the folder of a trial with all that a command needs in it.
func newFolder(tb testing.TB, base, name string, c *command) string {
	tb.Helper()
	dir := filepath.Join(base, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := lay(dir); err != nil {
		tb.Fatal(err)
	}
	if c.prepare != nil {
		if err := c.prepare(dir); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// folderSize returns how many bytes the files in a folder hold.
func folderSize(tb testing.TB, dir string) (size int64) {
	tb.Helper()
	err := filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return size
}
