//go:build check && linux

package faults

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"polkrepro/record"
)

// A state is what is in a results folder, by path: of a record all that is
// deterministic, of other files a sum.
type state map[string]string

const (
	damaged = "damaged: " // starts what is said of a record that can't be read
	varies  = "any"       // stands for contents that differ between undisturbed processes
)

// read returns the state of a command's results in a trial's folder.
func read(dir string) (state, error) {
	results := filepath.Join(dir, resultsDir)
	s := make(state)
	err := filepath.WalkDir(results, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == results {
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(results, path)
		if err != nil {
			return err
		}
		s[name], err = contents(path, name)
		return err
	})
	return s, err
}

// contents says what is in a file.
func contents(path, name string) (string, error) {
	base := filepath.Base(name)
	switch folder := filepath.Base(filepath.Dir(name)); {
	case base == ".lock":
		return varies, nil // the number of the last process
	case strings.HasPrefix(base, "tradeoff"):
		return varies, nil // times, which two runs may have drawn alike by chance
	case folder == "records" && strings.HasSuffix(name, ".jsonl"):
		r, err := record.Read(path)
		if err != nil {
			return damaged + err.Error(), nil
		}
		return hash(record.Canonical(r)), checkTimes(path, r)
	}
	b, err := os.ReadFile(path)
	return hash(b), err
}

func hash(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// checkTimes reports durations of a record that no run can have had.
func checkTimes(path string, r *record.Record) error {
	times := []float64{r.Final.Elapsed, r.Final.Timing.Wall, r.Final.Timing.CPU}
	last := 0.0
	for _, p := range r.Points {
		times = append(times, p.Timing.Wall-last, p.Timing.CPU)
		last = p.Timing.Wall
	}
	for _, s := range times {
		if !(s >= 0 && s < patience.Seconds()) || math.IsInf(s, 0) {
			return fmt.Errorf("%s: a duration of %g seconds", path, s)
		}
	}
	return nil
}

// common returns what the states of two undisturbed processes have in common:
// contents that differ, as times in a report do, vary.
func (s state) common(other state) state {
	c := maps.Clone(s)
	for name := range c {
		if other[name] != c[name] {
			c[name] = varies
		}
	}
	return c
}

// differences says where the state is not the wanted one.
func (s state) differences(want state) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch got, ok := s[name]; {
		case !ok:
			out = append(out, name+" is missing")
		case got != want[name] && want[name] != varies:
			out = append(out, name+" is different: "+got)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if _, ok := want[name]; !ok {
			out = append(out, name+" is left over")
		}
	}
	return out
}

// believed returns the records that are taken for whole and are not what an
// undisturbed process has written.
func (s state) believed(want state) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		finished := strings.HasSuffix(name, ".jsonl") && !strings.HasSuffix(name, ".failed.jsonl")
		if finished && !strings.HasPrefix(s[name], damaged) && s[name] != want[name] {
			out = append(out, name+" is a whole record with other contents")
		}
	}
	return out
}
