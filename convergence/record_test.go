package convergence

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/internal/files"
	"polkrepro/internal/hostile"
)

func smokeRun(t *testing.T) Run {
	t.Helper()
	plan, err := Plan(experiments.ProfileSmoke)
	if err != nil {
		t.Fatal(err)
	}
	return plan[1]
}

// TestRoundTrip: what is read is what was written, and no temporary file stays.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	want := theoretical(smokeRun(t))
	want.Header.DataSums = map[string]string{"multidist": "00ff"}
	want.Header.Started = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want.Summary.Health = map[string]float64{"repairs": 1}
	if err := want.Write(dir); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	got, err := ReadRecord(filepath.Join(dir, files[0].Name()))
	if err != nil {
		t.Fatal(err)
	}
	want.Header.Type, want.Header.Format, want.Header.ID = "table1", format, want.Header.Run.ID()
	want.Summary.Type, want.Summary.Sum = "summary", got.Summary.Sum
	for i := range want.Points {
		want.Points[i].Type = "point"
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestDamage: a record that lost its end or one byte of which changed is
// refused.
func TestDamage(t *testing.T) {
	whole, err := theoretical(smokeRun(t)).encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decode(whole); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		b := append([]byte(nil), whole...)
		at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
		if rapid.Bool().Draw(t, "cut") {
			b = b[:at]
		} else {
			b[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		}
		if _, err := decode(b); !errors.Is(err, ErrDamaged) {
			t.Fatalf("error %v", err)
		}
	})
}

// TestPointsAtMarks: a sealed record that lacks a point is not whole.
func TestPointsAtMarks(t *testing.T) {
	for name, change := range map[string]func(*Record){
		"one less": func(r *Record) { r.Points = r.Points[1:] },
		"moved":    func(r *Record) { r.Points[4].Samples++ },
	} {
		r := theoretical(smokeRun(t))
		change(r)
		b, err := r.encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decode(b); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// resealed returns the lines of a record with the sum that they should have. What
// is no record is returned as it is.
func resealed(b []byte) []byte {
	at := bytes.LastIndexByte(bytes.TrimSuffix(b, []byte("\n")), '\n') + 1
	var s Summary
	if strict(b[at:], &s) != nil {
		return b
	}
	s.Sum = ""
	last, err := json.Marshal(s)
	if err != nil {
		return b
	}
	return files.AppendSum(sha256.New(), slices.Concat(b[:at], last, []byte("\n")), sumTail)
}

// FuzzDecode: no bytes make it panic or allocate more than a multiple of them,
// and what it reads has its points. The sum is made to fit too, or nothing
// behind it would be reached.
func FuzzDecode(f *testing.F) {
	run := Run{Method: POLK, Regime: Constant, Regularizer: 0.01, Bandwidth: 1, Rate: 0.1, Parsimony: 1, Samples: 1000, Seed: 1}
	b, err := theoretical(run).encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("{}\n{}\n{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, text := range [][]byte{b, resealed(b)} {
			hostile.AtMost(t, 200*len(b)+1<<20, func() { checkDecoded(t, text) })
		}
	})
}

// checkDecoded fails if a record is read that lacks points.
func checkDecoded(t *testing.T, b []byte) {
	r, err := decode(b)
	if err != nil {
		return
	}
	if floor := r.Floor(); len(r.Points) != len(r.Header.Run.Marks()) || floor > r.last().Distance {
		t.Errorf("a record of %d points, floor %v, was read as whole", len(r.Points), floor)
	}
}

// TestLargeRecord: neither a large file nor one that never ends is read.
func TestLargeRecord(t *testing.T) {
	dir := Dir(t.TempDir())
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "a.jsonl"), make([]byte, maxSize+1), 0o666),
		os.Symlink("/dev/zero", filepath.Join(dir, "b.jsonl"))); err != nil {
		t.Skip(err)
	}
	hostile.AtMost(t, 8*maxSize, func() {
		s, err := Read(filepath.Dir(dir))
		if err != nil || len(s.Damaged) != 2 || !strings.Contains(s.Damaged[0].Error(), "more than 1048576 bytes") || !strings.Contains(s.Damaged[1].Error(), "not a regular file") {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

// TestRead: a study is that of the profile that its records fulfil best;
// damaged files are named and left out.
func TestRead(t *testing.T) {
	results := t.TempDir()
	s, err := Read(results)
	if err != nil || !s.Empty() || s.Missing() != 4 {
		t.Fatalf("nothing there: %+v, error %v", s, err)
	}
	plan, err := Plan(experiments.ProfileQuick)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range plan {
		if err := theoretical(run).Write(Dir(results)); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(Dir(results), plan[0].ID()+suffix)
	if err := os.WriteFile(path, []byte("{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if s, err = Read(results); err != nil {
		t.Fatal(err)
	}
	if s.Profile != experiments.ProfileQuick || s.Missing() != 1 || len(s.Damaged) != 1 || s.Stray != 0 {
		t.Errorf("profile %s, %d missing, %d stray, damaged %v", s.Profile, s.Missing(), s.Stray, s.Damaged)
	}
	if len(s.Damaged) == 1 && !strings.Contains(s.Damaged[0].Error(), path) {
		t.Errorf("%v does not name %s", s.Damaged[0], path)
	}
	for _, c := range s.Claims {
		if c.Verdict != stats.Reproduced {
			t.Errorf("%s: %v", c.ID, c.Verdict)
		}
	}
	if s, err = ReadProfile(results, experiments.ProfileFull); err != nil || !s.Empty() || s.Stray != len(plan)-1 {
		t.Errorf("as the full profile: %d stray, error %v", s.Stray, err)
	}
	if _, err = ReadProfile(results, "huge"); err == nil {
		t.Error("there is no profile huge")
	}
}
