//go:build check && linux

package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"polkrepro/internal/testutil"
)

// A streamRun holds the measurements of one training on a stream.
type streamRun struct {
	seconds    float64
	early, end memory // after a tenth of the rows, and after all of them
	order      string
}

// memory is the resident memory of a process, now and at its peak, in MiB.
type memory struct{ resident, peak float64 }

// train finds before its work that it can't replace a file: one that is mounted by itself, as
// containers mount files, or that of another user in a sticky folder.
func TestCheckOutputIsTried(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount")
	}
	for want, script := range map[string]string{
		"mounted by itself":       "touch m held; mount --bind held m; ./runall train rows.csv --label last --no-tune --out m",
		"operation not permitted": "mkdir -m 1777 sticky; touch sticky/m; setpriv --reuid 65534 --clear-groups ./runall train rows.csv --label last --no-tune --out sticky/m",
	} {
		dir := t.TempDir()
		putIn(t, dir, "rows.csv", strings.Join(trees(60), ""))
		testutil.NoError(t, exec.Command("go", "build", "-o", dir, ".").Run())
		cmd := exec.Command("unshare", "-m", "sh", "-ec", "umask 0; "+script)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%s: %v, %s", script, err, out)
		}
	}
}

// TestCheckStream trains on generated rows from a pipe. Memory does not grow with the number of
// rows. A model that is saved in mid-stream and resumed in a new process becomes the same file,
// which predicts. "make stream-bench" runs the test with 10⁶ rows and records times and memory.
func TestCheckStream(t *testing.T) {
	rows := 100_000
	if text := os.Getenv("STREAM_ROWS"); text != "" {
		rows, _ = strconv.Atoi(text)
	}
	var report strings.Builder
	version, err := runallCommand("version").Output()
	testutil.NoError(t, err)
	fmt.Fprintf(&report, "%s\n%d rows of two or twenty features and three classes on standard input, runall train --no-tune and predict\n\n", version, rows)
	fmt.Fprintf(&report, "%-8s  %-8s  %-5s  %12s  %26s  %26s  %14s  %s\n", "features", "loss", "order", "train rows/s",
		fmt.Sprintf("MiB (peak) at %d rows", rows/10), fmt.Sprintf("at %d rows", rows), "predict rows/s", "saved and resumed")
	for _, p := range []int{2, 20} {
		file := filepath.Join(t.TempDir(), "train.csv")
		generate(t, file, rows, p)
		for _, loss := range []string{"hinge", "logistic"} {
			flags := []string{"--format", "csv", "--label", "last", "--loss", loss, "--no-tune"}
			if p > 2 {
				flags = append(flags, "--order", "100")
			}
			dir := t.TempDir()
			model := filepath.Join(dir, "whole")
			run := trainStream(t, file, rows, append(flags, "--out", model))
			if grown := run.end.peak - run.early.peak; !(grown <= 8) {
				t.Errorf("%d features, %s: memory grows by %.1f MiB from row %d to %d", p, loss, grown, rows/10, rows)
			}
			same := "the same file"
			if inTwoParts(t, file, rows, dir, flags) != contents(t, model) {
				same = "ANOTHER FILE"
				t.Errorf("%d features, %s: the model saved and resumed is another one", p, loss)
			}
			fmt.Fprintf(&report, "%-8d  %-8s  %-5s  %12.0f  %18.1f (%5.1f)  %18.1f (%5.1f)  %14.0f  %s\n", p, loss, run.order, float64(rows)/run.seconds,
				run.early.resident, run.early.peak, run.end.resident, run.end.peak, float64(rows)/predictStream(t, model, file, rows), same)
		}
	}
	t.Log("\n" + report.String())
	if path := os.Getenv("STREAM_OUT"); path != "" {
		testutil.NoError(t, os.WriteFile(path, []byte(report.String()), 0o644))
	}
}

// generate writes rows of p features between 0 and 4 and a label that depends on the first two.
func generate(t *testing.T, path string, rows, p int) {
	t.Helper()
	f, err := os.Create(path)
	testutil.NoError(t, err)
	rng := rand.New(rand.NewPCG(uint64(p), 8))
	b := bufio.NewWriter(f)
	x := make([]float64, p)
	for range rows {
		for q := range x {
			x[q] = 4 * rng.Float64()
			b.Write(strconv.AppendFloat(b.AvailableBuffer(), x[q], 'f', 4, 64))
			b.WriteByte(',')
		}
		at := min(2, int(max(0, x[0]+0.6*math.Sin(2*x[1])-0.5)))
		b.WriteString([]string{"elm", "oak", "yew"}[at] + "\n")
	}
	testutil.NoError(t, cmp.Or(b.Flush(), f.Close()))
}

// runallCommand returns a command line of the program that STREAM_RUNALL names, or of this test's
// runall.
func runallCommand(args ...string) *exec.Cmd {
	return exec.Command(cmp.Or(os.Getenv("STREAM_RUNALL"), "runall"), args...)
}

// trainStream pipes a file into train, and measures the process before the pipe closes.
func trainStream(t *testing.T, file string, rows int, flags []string) (run streamRun) {
	t.Helper()
	cmd := runallCommand(append([]string{"train", "-"}, flags...)...)
	stdin, errIn := cmd.StdinPipe()
	stderr, errOut := cmd.StderrPipe()
	testutil.NoError(t, cmp.Or(errIn, errOut, cmd.Start()))
	t.Cleanup(func() { cmd.Process.Kill() })
	began := time.Now()
	f, err := os.Open(file)
	testutil.NoError(t, err)
	defer f.Close()
	go io.Copy(stdin, f) // an error here means that the program ended
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, fmt.Sprintf("%d rows, model order", rows/10)):
			run.early = measure(t, cmd.Process.Pid)
		case strings.HasPrefix(line, fmt.Sprintf("%d rows, model order", rows)):
			run.seconds = time.Since(began).Seconds()
			run.end = measure(t, cmd.Process.Pid)
			_, rest, _ := strings.Cut(line, "model order ")
			run.order, _, _ = strings.Cut(rest, ",")
			stdin.Close()
		}
	}
	if err := cmd.Wait(); err != nil || run.end.peak == 0 || run.early.peak == 0 {
		t.Fatalf("train: %v, measured %+v", err, run)
	}
	return run
}

// measure reads a process's memory from /proc.
func measure(t *testing.T, pid int) memory {
	t.Helper()
	status := fmt.Sprintf("/proc/%d/status", pid)
	return memory{float64(statusBytes(t, status, "VmRSS")) / (1 << 20), float64(statusBytes(t, status, "VmHWM")) / (1 << 20)}
}

// inTwoParts returns the model that two processes train in turn, each on a part of a file's rows
// from standard input.
func inTwoParts(t *testing.T, file string, rows int, dir string, flags []string) string {
	t.Helper()
	cut := rows*3/7 + 1
	model := filepath.Join(dir, "parts")
	for _, part := range []struct {
		from, to int
		flags    []string
	}{
		{0, cut, append(flags, "--out", model)},
		{cut, rows, []string{"--resume", model}},
	} {
		cmd := runallCommand(append([]string{"train", "-"}, part.flags...)...)
		cmd.Stdin = linesOf(t, file, part.from, part.to)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("train: %v\n%s", err, out)
		}
	}
	return contents(t, model)
}

// linesOf returns some lines of a file.
func linesOf(t *testing.T, file string, from, to int) io.Reader {
	t.Helper()
	lines := strings.SplitAfter(contents(t, file), "\n")
	return strings.NewReader(strings.Join(lines[from:to], ""))
}

// predictStream returns the seconds that predicting a file takes. At most one row in five may be
// wrong.
func predictStream(t *testing.T, model, file string, rows int) float64 {
	t.Helper()
	began := time.Now()
	out, err := runallCommand("predict", model, file).Output()
	seconds := time.Since(began).Seconds()
	testutil.NoError(t, err)
	wrong, predicted, labels := 0, strings.Fields(string(out)), strings.Fields(contents(t, file))
	if len(predicted) != rows || len(labels) != rows {
		t.Fatalf("%d predictions", len(predicted))
	}
	for i, label := range labels {
		if !strings.HasSuffix(label, predicted[i]) {
			wrong++
		}
	}
	if wrong > rows/5 {
		t.Errorf("%d of %d rows are wrong", wrong, rows)
	}
	return seconds
}
