//go:build check && linux

package main

import (
	"bufio"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
)

// arenas is the address space of four arenas of the Go runtime.
const arenas = 4 * 64 << 20

// TestCheckLoading reads a model of 4,096 elements, trained on as many rows, in processes with
// limited address space. The resident memory may be what docs/limits.md allows and 64 MiB for the
// runtime. Prediction may take ten times the model's dictionary and weights, too little for the
// inverse of 67 MB; resumed training may take 30 bytes for every pair of elements. The limit of
// the address space adds four arenas and the process of a small model, because the runtime maps
// arenas of 64 MiB, returns none, and needs adjacent ones for a block of 140 MB.
func TestCheckLoading(t *testing.T) {
	const order, features, spare = 4096, 10, 64 << 20
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(71, 0))
	var rows strings.Builder
	for i := range order {
		for range features {
			fmt.Fprintf(&rows, "%.4f,", rng.Float32())
		}
		fmt.Fprintln(&rows, []string{"elm", "oak"}[i%2])
	}
	first, _, _ := strings.Cut(rows.String(), "\n")
	file, one := putIn(t, dir, "rows.csv", rows.String()), putIn(t, dir, "one.csv", first+"\n")
	train := func(order int, name string) string {
		model := filepath.Join(dir, name)
		limited(t, 0, "train", file, "--label", "last", "--loss", "logistic", "--scale", "none", "--bandwidth", "0.1", "--no-tune",
			"--order", strconv.Itoa(order), "--out", model)
		return model
	}
	base := addressSpace(t, train(10, "small"), first)
	model := train(order, "model")
	info, err := os.Stat(model)
	testutil.NoError(t, err)
	dictionary := order * (4*features + 8*2)
	if size := info.Size(); size < 4*order*order || size > 4*order*order+5<<20 {
		t.Errorf("a file of %d bytes", size)
	}
	again := filepath.Join(dir, "again")
	for _, tt := range []struct {
		name string
		most int
		args []string
	}{
		{"to predict", 10 * dictionary, []string{"predict", model, one}},
		{"to evaluate", 10 * dictionary, []string{"evaluate", model, one}},
		{"to go on", 30 * order * order, []string{"train", one, "--resume", model, "--out", again}},
	} {
		peak := limited(t, base+tt.most+spare+arenas, tt.args...)
		t.Logf("%s: %d MiB at most", tt.name, peak>>20)
		if peak > tt.most+spare {
			t.Errorf("%s: %d bytes resident, more than %d", tt.name, peak, tt.most+spare)
		}
	}
}

// TestCheckLoadingLongRows reads a model that is almost entirely its dictionary, of 60 MB.
// Reading takes at most ten times the memory of the dictionary.
func TestCheckLoadingLongRows(t *testing.T) {
	const order, features = 1500, 10_000
	rng := rand.New(rand.NewPCG(72, 0))
	var rows strings.Builder
	for i := range order + 100 {
		at := 1 + rng.IntN(features-2)
		fmt.Fprintf(&rows, "%d %d:%.4f %d:1\n", 2*(i%2)-1, at, rng.Float32(), features)
	}
	file, one := put(t, "rows.libsvm", rows.String()), put(t, "one.libsvm", "1 5:1\n")
	dir := t.TempDir()
	train := func(order int, name string) string {
		model := filepath.Join(dir, name)
		limited(t, 0, "train", file, "--loss", "squared-hinge", "--scale", "none", "--bandwidth", "0.3",
			"--no-tune", "--pruner", "oldest", "--pruner-params", "order="+strconv.Itoa(order), "--out", model)
		return model
	}
	base := addressSpace(t, train(10, "small"), "1 5:1")
	model := train(order, "model")
	most := base + 10*4*order*features + 400*features + 64<<20 + arenas
	limited(t, most, "predict", model, one)
	limited(t, most, "train", one, "--resume", model, "--out", filepath.Join(dir, "again"))
}

// limited runs a command that must succeed, with its address space limited to bytes unless that
// is 0, and returns its peak of resident bytes.
func limited(t *testing.T, bytes int, args ...string) int {
	t.Helper()
	cmd := runallCommand(args...)
	if bytes > 0 {
		script := fmt.Sprintf(`ulimit -v %d && exec "$0" "$@"`, bytes>>10)
		cmd = exec.Command("sh", append([]string{"-c", script}, cmd.Args...)...)
	}
	status := filepath.Join(t.TempDir(), "status")
	cmd.Env = append(os.Environ(), statusTo+"="+status)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v with %d bytes: %v\n%.2000s", args, bytes, err, out)
	}
	return statusBytes(t, status, "VmHWM")
}

// statusBytes returns a memory field of a file like /proc/PID/status, in bytes.
func statusBytes(t *testing.T, path, field string) int {
	t.Helper()
	for line := range strings.Lines(contents(t, path)) {
		var kib int
		if _, err := fmt.Sscanf(line, field+": %d kB", &kib); err == nil {
			return kib << 10
		}
	}
	t.Fatalf("no %s in %s", field, path)
	return 0
}

// addressSpace returns the peak address space, in bytes, of a process that predicts a row.
func addressSpace(t *testing.T, model, row string) int {
	t.Helper()
	cmd := runallCommand("predict", model, "-")
	stdin, errIn := cmd.StdinPipe()
	stdout, errOut := cmd.StdoutPipe()
	testutil.NoError(t, cmp.Or(errIn, errOut, cmd.Start()))
	t.Cleanup(func() { cmd.Process.Kill() })
	fmt.Fprintln(stdin, row)
	if !bufio.NewScanner(stdout).Scan() {
		t.Fatal("no prediction")
	}
	most := statusBytes(t, fmt.Sprintf("/proc/%d/status", cmd.Process.Pid), "VmPeak")
	stdin.Close()
	testutil.NoError(t, cmd.Wait())
	return most
}
