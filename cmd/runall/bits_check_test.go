//go:build check

package main

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/polk/prune"
	"polkrepro/record"
	"polkrepro/spec"
)

// A machine is a way to build and run the specs of testdata/bits for TestCheckSameBits: on this
// machine, on this machine restricted to the features of another, or under an emulator.
type machine struct {
	name     string
	build    []string // environment of the build
	tags     string   // of the build
	run      []string // environment of the runs
	workers  string
	emulator string
}

// machines returns all machines, this one first.
func machines() []machine {
	list := []machine{{name: "this machine", run: []string{"GOMAXPROCS=2"}, workers: "2"}}
	if runtime.GOARCH == "amd64" {
		list = append(list,
			machine{name: "AVX2, one processor", run: []string{"GODEBUG=cpu.avx512f=off", "GOMAXPROCS=1"}, workers: "1"},
			machine{name: "plain Go, GOAMD64=v3", build: []string{"GOAMD64=v3"}, tags: "noasm", workers: "2"},
			machine{name: "32 bits", build: []string{"GOARCH=386"}, workers: "2"})
	}
	if runtime.GOARCH != "arm64" {
		list = append(list, machine{name: "arm64", build: []string{"GOARCH=arm64"}, workers: "2", emulator: "qemu-aarch64-static"})
	}
	return list
}

// runner returns the command that runs a program, under the emulator if the machine can't run
// it. Without an emulator it skips the test: some amd64 kernels can't run 386 code, and Go
// programs with several threads crash under qemu-i386.
func runner(t *testing.T, program, emulator string) []string {
	t.Helper()
	err := exec.Command(program, "version").Run()
	if !errors.Is(err, syscall.ENOEXEC) {
		return []string{program}
	}
	if emulator == "" {
		t.Skip(err)
	}
	_, err = exec.LookPath(emulator)
	testutil.Need(t, err)
	return []string{emulator, program}
}

// TestCheckSameBits: all methods and pruning heuristics have the same records bit for bit,
// except for times, with each set of vector instructions, in plain Go, on another
// architecture, and on one and two processors. Only the first machine computes texture maps,
// because they take minutes under an emulator; package data has their checksums.
func TestCheckSameBits(t *testing.T) {
	t.Parallel()
	specs, err := filepath.Glob("testdata/bits/*.yaml")
	if err != nil || len(specs) == 0 {
		t.Fatal(err, specs)
	}
	for i := range specs {
		if specs[i], err = filepath.Abs(specs[i]); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	var want *record.Collection
	for _, m := range machines() {
		t.Run(m.name, func(t *testing.T) {
			got := m.reproduce(t, dir, specs)
			if want == nil {
				want = got
				checkAllMethods(t, got)
				return
			}
			sameRecords(t, got.Records, want.Records)
		})
		if want == nil {
			return
		}
	}
}

// reproduce runs the specs in dir and returns the records.
func (m machine) reproduce(t *testing.T, dir string, specs []string) *record.Collection {
	t.Helper()
	program, results := filepath.Join(t.TempDir(), "runall"), t.TempDir()
	// -trimpath, as in TestCheckARM64 and make image, so that they share compiled packages.
	build := exec.Command("go", "build", "-trimpath", "-tags", m.tags, "-o", program, ".")
	build.Env = append(os.Environ(), append(m.build, "CGO_ENABLED=0")...)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	args := append(runner(t, program, m.emulator), "reproduce", "--results", results, "--workers", m.workers, "--progress", "quiet")
	if os.Getenv("POLK_REQUIRE_DATA") != "" {
		args = append(args, "--require-data")
	}
	run := exec.Command(args[0], append(args[1:], specs...)...)
	run.Dir, run.Env = dir, append(append(os.Environ(), m.run...), data.EnvDir+"="+realData)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return records(t, results)
}

// builtIn are the heuristics before a test registers others.
var builtIn = prune.All()

// checkAllMethods fails unless each method and heuristic has a record.
func checkAllMethods(t *testing.T, c *record.Collection) {
	t.Helper()
	var methods, pruners []string
	for _, r := range c.Records {
		methods = append(methods, r.Header.Run.Method)
		pruners = append(pruners, cmp.Or(r.Header.Run.Params.Pruner, prune.KOMP))
	}
	for _, m := range spec.Methods() {
		if !slices.Contains(methods, m.Name) {
			t.Errorf("no run of method %s", m.Name)
		}
	}
	for _, h := range builtIn {
		if !slices.Contains(pruners, h.Name) {
			t.Errorf("no run of pruner %s", h.Name)
		}
	}
}
