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
	"time"

	"polkrepro/internal/testutil"
)

// A loading is what a command took that begins with reading a model.
type loading struct {
	cpu  time.Duration
	peak int // bytes resident
}

// arenas is the address space of four of the runtime's.
const arenas = 4 * 64 << 20

// TestCheckLoading reads a model of 4,096 elements and as many rows in processes
// whose address space is limited. Resident they may have what docs/limits.md allows
// and 64 MiB for the runtime: for prediction ten times its dictionary and weights,
// which its inverse, of 67 MB, has no room in; to go on with training 30 bytes for
// every pair of elements. The address space has four arenas more than that and a
// small model's process: the runtime maps arenas of 64 MiB, gives none back, and a
// block of 140 MB needs neighbours. Either command takes a part of the training's
// time, which is less than a factorization would take.
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
	train := func(order int, name string) (string, loading) {
		model := filepath.Join(dir, name)
		return model, limited(t, 0, "train", file, "--label", "last", "--loss", "logistic", "--scale", "none", "--bandwidth", "0.1", "--no-tune",
			"--order", strconv.Itoa(order), "--out", model)
	}
	small, _ := train(10, "small")
	base := addressSpace(t, small, first)
	model, training := train(order, "model")
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
		part time.Duration // of the training's time
		args []string
	}{
		{"to predict", 10 * dictionary, 10, []string{"predict", model, one}},
		{"to evaluate", 10 * dictionary, 10, []string{"evaluate", model, one}},
		{"to go on", 30 * order * order, 2, []string{"train", one, "--resume", model, "--out", again}},
	} {
		took := limited(t, base+tt.most+spare+arenas, tt.args...)
		for range 2 { // other programs make it slower, none makes it faster
			took.cpu = min(took.cpu, limited(t, base+tt.most+spare+arenas, tt.args...).cpu)
		}
		t.Logf("%s: %v of CPU time, %d MiB at most; training took %v", tt.name, took.cpu, took.peak>>20, training.cpu)
		if tt.part*took.cpu > training.cpu {
			t.Errorf("%s: %v of CPU time, and training %v", tt.name, took.cpu, training.cpu)
		}
		if took.peak > tt.most+spare {
			t.Errorf("%s: %d bytes resident, more than %d", tt.name, took.peak, tt.most+spare)
		}
	}
}

// TestCheckLoadingLongRows is about a model whose dictionary is nearly all of it, of
// 60 MB: reading takes ten times that at most.
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

// limited runs a command that succeeds, in an address space of so many bytes unless
// that is 0.
func limited(t *testing.T, bytes int, args ...string) loading {
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
	return loading{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), statusBytes(t, status, "VmHWM")}
}

// statusBytes returns a field of a file like /proc/PID/status that is an amount of
// memory.
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

// addressSpace returns the bytes of address space in which a model predicts a row.
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
