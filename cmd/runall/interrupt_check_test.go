//go:build check && unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"polkrepro/harness"
	"polkrepro/internal/testutil"
)

// TestCheckInterrupted sends SIGTERM to commands at a random moment of their work, for most of
// them on the recorded run. A command ends within two seconds with status 130 and leaves no
// unfinished file or folder. Only export, predict and train may have printed something.
func TestCheckInterrupted(t *testing.T) {
	reference, err := filepath.Abs(filepath.Join("..", "..", "results", "reference"))
	testutil.NoError(t, err)
	rng := rand.New(rand.NewPCG(16, 9))
	wide := put(t, "wide.csv", noise(rng, 9000, 54)...)
	dir := t.TempDir()
	model := filepath.Join(dir, "large")
	must(t, "train", put(t, "first.csv", noise(rng, 3000, 54)...), "--bandwidth", "3", "--parsimony", "1e-4", "--loss", "logistic", "--no-tune", "--out", model)
	for _, args := range [][]string{
		{"report", "--results", reference, "--out", "report"}, {"report", "--results", reference, "--format", "html", "--out", "page"},
		{"verify", "--results", reference}, {"verify", "multiverse", "--results", reference}, {"verify", "records", "--results", reference, "--with", reference},
		{"explain", "table3.mnist.ksvm.polk", "--results", reference}, {"export", "--results", reference},
		{"seal", "--results", "sealed", "--from", reference},
		{"merge", reference, "--results", "merged"},
		{"train", wide, "--bandwidth", "3", "--loss", "logistic", "--batch", "1024", "--no-tune", "--out", "batch"}, {"train", wide, "--loss", "logistic", "--out", "tuned"},
		{"train", wide, "--resume", model, "--out", "resumed"}, {"predict", model, wide}, {"evaluate", model, wide},
	} {
		work := t.TempDir()
		p := newProcess(args...)
		p.Dir = work
		status, took := p.stopped(t, time.Duration(300+rng.IntN(1700))*time.Millisecond)
		stdout, stderr := p.stdout.String(), p.stderr.String()
		t.Logf("%s %s: status %d after %.2f s", args[0], args[len(args)-1], status, took.Seconds())
		if status == 0 {
			continue // it ended before the signal
		}
		if status != harness.ExitInterrupted || took > 2*time.Second || !strings.Contains(stderr, "runall: interrupted") {
			t.Errorf("%v: exit %d after %v: %s", args, status, took, stderr)
		}
		if !slices.Contains([]string{"export", "predict", "train"}, args[0]) && stdout != "" {
			t.Errorf("%v: it printed %d bytes", args, len(stdout))
		}
		for _, path := range hiddenIn(t, work) {
			t.Errorf("%v left %s", args, path)
		}
	}
}

// noise returns n rows of p features, the label first.
func noise(rng *rand.Rand, n, p int) []string {
	rows := make([]string, n)
	for i := range rows {
		var b strings.Builder
		fmt.Fprint(&b, rng.IntN(2))
		for range p {
			fmt.Fprintf(&b, ",%.4f", rng.NormFloat64())
		}
		rows[i] = b.String() + "\n"
	}
	return rows
}

// hiddenIn returns the hidden files and folders in a folder, except locks.
func hiddenIn(t *testing.T, dir string) (paths []string) {
	t.Helper()
	for _, pattern := range []string{".*", "*/.*", "*/*/.*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		testutil.NoError(t, err)
		for _, path := range found {
			if filepath.Base(path) != ".lock" {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// TestCheck32Bit: a 32-bit build of the program trains a model.
func TestCheck32Bit(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "runall")
	build := exec.Command("go", "build", "-trimpath", "-o", program, ".") // as in TestCheckSameBits, which shares the compiled packages
	build.Env = append(os.Environ(), "GOARCH=386", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rows, model := put(t, "rows.csv", trees(60)...), filepath.Join(t.TempDir(), "model")
	args := append(runner(t, program, ""), "train", rows, "--label", "last", "--out", model)
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "60 rows") {
		t.Errorf("%v\n%s", err, out)
	}
}
