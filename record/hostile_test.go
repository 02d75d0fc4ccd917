package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"polkrepro/internal/files"
	"polkrepro/internal/hostile"
	"polkrepro/internal/testutil"
	"polkrepro/spec"
)

// resealed returns the lines of a record with a valid digest and sum, as someone who knows the
// format would write them. It returns bytes that are not a record unchanged.
func resealed(b []byte) []byte {
	at := bytes.LastIndexByte(bytes.TrimSuffix(b, []byte("\n")), '\n') + 1
	var rec Record
	for i, line := range bytes.Split(b[:at], []byte("\n")) {
		var p Point
		if i == 0 {
			if strict(line, &rec.Header) != nil {
				return b
			}
		} else if strict(line, &p) == nil {
			rec.Points = append(rec.Points, p)
		}
	}
	if strict(b[at:], &rec.Final) != nil {
		return b
	}
	rec.Final.Digest, rec.Final.Sum = digest(&rec), ""
	last, err := json.Marshal(rec.Final)
	if err != nil {
		return b
	}
	return files.AppendSum(sha256.New(), slices.Concat(b[:at], last, []byte("\n")), sumTail)
}

// FuzzRead: no input makes parse panic or allocate more than a multiple of the input's size. A
// record that parse returns has its sum and printable text. Every input is also tried with a valid
// sum, because parse would otherwise never get past the check of sums.
func FuzzRead(f *testing.F) {
	whole := contents(f, write(f, f.TempDir(), abc))
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	for _, line := range bytes.SplitAfter(whole, []byte("\n")) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		hostile.AtMost(t, 200*len(b)+1<<20, func() { parse(abc+".jsonl", abc, "failure", b) })
		for _, text := range [][]byte{b, resealed(b)} {
			var got *Record
			var err error
			hostile.AtMost(t, 200*len(b)+1<<20, func() { got, err = parse(abc+".jsonl", abc, "final", text) })
			if err != nil {
				continue
			}
			if !bytes.HasSuffix(text, []byte(got.Final.Sum+sumTail)) || got.Header.checkText() != nil {
				t.Errorf("read %+v", got)
			}
		}
	})
}

// FuzzUnpack: no input makes unpack panic or allocate more than gzip can expand the input to. The
// unpacked text stays the same when it is packed and unpacked.
func FuzzUnpack(f *testing.F) {
	for _, text := range []string{"", "{}\n", strings.Repeat("0123456789", 1000)} {
		b, err := pack([]byte(text))
		testutil.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var text []byte
		var err error
		hostile.AtMost(t, 6*1032*len(b)+1<<20, func() { text, err = new(packing).unpack(b) })
		if err != nil {
			return
		}
		again, err := pack(text)
		testutil.NoError(t, err)
		if b, err := new(packing).unpack(again); err != nil || !bytes.Equal(b, text) {
			t.Errorf("packed and unpacked: %v", err)
		}
	})
}

// TestManyPoints: checking the sums of a record takes far more memory than its lines, so a record
// may not have more points than a spec can plan.
func TestManyPoints(t *testing.T) {
	whole := contents(t, write(t, t.TempDir(), abc))
	lines := bytes.SplitAfter(whole, []byte("\n"))
	many := func(n int) []byte {
		b := bytes.Clone(lines[0])
		for i := range n {
			b = fmt.Appendf(b, `{"type":"point","samples":%d}`+"\n", i)
		}
		return append(b, lines[len(lines)-2]...)
	}
	hostile.AtMost(t, 400<<20, func() {
		if _, err := parse(abc+".jsonl", abc, "final", many(MaxPoints+1)); err == nil || !strings.Contains(err.Error(), "more than 50000 points") {
			t.Errorf("error %v", err)
		}
	})
}

// TestLargeFiles: a file is not read beyond the limit.
func TestLargeFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{abc + ".jsonl", abd + ".failed.jsonl", "abe.jsonl.gz"} {
		put(t, filepath.Join(dir, name), "")
		if err := os.Truncate(filepath.Join(dir, name), 1<<32); err != nil {
			t.Skip(err)
		}
	}
	hostile.AtMost(t, 3*6*MaxSize, func() {
		c, err := ReadDir(dir)
		if err != nil || len(c.Errors) != 3 {
			t.Fatalf("%v, %v", c.Errors, err)
		}
		for _, err := range c.Errors {
			if !strings.Contains(err.Error(), "want at most 16777216 bytes") {
				t.Errorf("error %v", err)
			}
		}
	})
}

// TestControlCharacters: control characters in file names and records do not reach a terminal.
func TestControlCharacters(t *testing.T) {
	dir := t.TempDir()
	h := header(abc)
	h.Provenance.CPU = "\x1b]0;owned\a"
	if _, err := Create(dir, h); err == nil || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("error %v", err)
	}
	whole := contents(t, write(t, dir, abc))
	for _, c := range []struct{ from, to, want string }{
		{"(devel)", `\u001b[2J`, `"\x1b[2J"`},
		{`["avx2"]`, `["=avx2"]`, `"=avx2"`},
		{"(devel)", "=1+1", `"=1+1"`},
		{`"repairs"`, `"\u009b2J"`, `"\u009b2J"`},
	} {
		bad := resealed(bytes.Replace(whole, []byte(c.from), []byte(c.to), 1))
		if _, err := parse(abc+".jsonl", abc, "final", bad); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in place of %s: error %v", c.to, c.from, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "\x1b[2J.jsonl"), nil, 0o666); err != nil {
		t.Skip(err)
	}
	c, err := ReadDir(dir)
	if err != nil || len(c.Errors) != 1 || strings.Contains(c.Errors[0].Error(), "\x1b") {
		t.Errorf("%v, %v", c.Errors, err)
	}
	failed, err := ReadFailed(writeFailure(t, dir, abd, Failure{Error: "no\x1b[2J\n\tmore"}))
	if err != nil || failed.Failure.Error != "no·[2J\n\tmore" {
		t.Errorf("%+v, %v", failed, err)
	}
	var e *Error
	if _, err := Read(filepath.Join(dir, "a b.jsonl")); !errors.As(err, &e) {
		t.Errorf("a name that is no run's: %v", err)
	}
}

// TestPartialIsALink: a new record does not write through a link in its place.
func TestPartialIsALink(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "precious")
	put(t, outside, "keep me")
	for _, link := range []func(old, new string) error{os.Symlink, os.Link} {
		if err := link(outside, filepath.Join(dir, abc+".jsonl.partial")); err != nil {
			t.Skip(err)
		}
		mustRead(t, write(t, dir, abc))
		if b := contents(t, outside); string(b) != "keep me" {
			t.Errorf("outside of the folder there is %q", b)
		}
	}
}

// TestImpossibleFigures: figures that no model can have are neither read nor written.
func TestImpossibleFigures(t *testing.T) {
	dir := t.TempDir()
	whole := contents(t, write(t, dir, abc))
	if _, err := parse(abc+".jsonl", abc, "final", resealed(whole)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"norm_sq":2.5`, `"norm_sq":-2.5`, "norm_sq is -2.5"},
		{`"norm_sq":2.75`, `"norm_sq":-1`, "norm_sq is -1"},
		{`"norm_sq":2.75`, `"norm_sq":"NaN"`, "norm_sq"},
		{`"norm_sq":2.75`, `"norm_sq":1e999`, "norm_sq"},
		{`"loss":0.25`, `"loss":-0.25`, "prequential loss -0.25"},
		{`"error":0.125`, `"error":-0.125`, "error -0.125"},
		{`"log_loss":0.5`, `"log_loss":-0.5`, "log_loss -0.5"},
		{`"calibration_error":0.0625`, `"calibration_error":1.5`, "calibration_error 1.5"},
		{`"count":3`, `"count":-3`, "bin 1 of the reliability has count -3"},
		{`"confidence":0.0625`, `"confidence":-0.0625`, "confidence -0.0625"},
		{`"accuracy":0.5`, `"accuracy":1.5`, "accuracy 1.5"},
		{`"bins":[`, `"bins":[{"count":0,"confidence":0,"accuracy":0},`, "16 bins"},
	} {
		if !bytes.Contains(whole, []byte(c.from)) {
			t.Fatalf("the record has no %s", c.from)
		}
		at := bytes.LastIndex(whole, []byte(c.from)) // in the last line, if it has it
		bad := slices.Concat(whole[:at], []byte(c.to), whole[at+len(c.from):])
		if _, err := parse(abc+".jsonl", abc, "final", resealed(bad)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", c.to, err)
		}
	}
	for _, d := range []Diagnostics{
		{NormSq: new(-1.0)}, {NormSq: new(math.NaN())}, {NormSq: new(math.Inf(1))}, {Prequential: &Prequential{Loss: math.NaN()}},
		{Reliability: &Reliability{CalibrationError: math.NaN()}},
	} {
		w := create(t, dir, abd)
		if w.Point(Point{Samples: 1, Diagnostics: d}) == nil {
			t.Errorf("a point with %+v was written", d)
		}
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
	}
}

// TestImpossibleRecords: a record whose lines don't fit the run or each other is not read, even with
// the right digest and sum.
func TestImpossibleRecords(t *testing.T) {
	whole := contents(t, write(t, t.TempDir(), abc))
	all := func(change func(*Point)) func(*Record) {
		return func(r *Record) {
			for i := range r.Points {
				change(&r.Points[i])
			}
			f := r.Final
			r.Final = Average(r.Points, 640)
			r.Final.Model, r.Final.Elapsed = f.Model, f.Elapsed
		}
	}
	for _, c := range []struct {
		name   string
		change func(*Record)
		want   string // "" for a record that is possible
	}{
		{"another risk throughout", all(func(p *Point) { p.TrainRisk = 3 }), ""},
		{"a risk that is not finite", all(func(p *Point) { p.TestRisk = math.NaN() }), ""},
		{"no diagnostics", all(func(p *Point) { p.Diagnostics = Diagnostics{} }), ""},
		{"a regression's error", func(r *Record) {
			r.Header.Run.Task = spec.TaskRegression
			r.Header.ID = spec.ID(r.Header.Run)
			all(func(p *Point) { p.TestError = 7 })(r)
		}, ""},
		{"error of 7", all(func(p *Point) { p.TestError = 7 }), "test_error is 7 at 0 samples: must be a fraction"},
		{"negative error", all(func(p *Point) { p.TestError = -0.5 }), ":2: test_error is -0.5: must be at least 0"},
		{"negative order", all(func(p *Point) { p.ModelOrder = -5 }), ":2: model_order is -5"},
		{"negative risk", all(func(p *Point) { p.TestRisk = -5 }), ":2: test_risk is -5"},
		{"negative evaluations", all(func(p *Point) { p.KernelEvals = -1 }), ":2: kernel_evals is -1"},
		{"fewer evaluations", func(r *Record) { r.Points[2].KernelEvals = 1 }, "kernel_evals is 1 at 640 samples: must be at least 1152921504606846976"},
		{"negative time", all(func(p *Point) { p.Timing.CPU = -5 }), ":2: cpu is -5"},
		{"negative time of all", func(r *Record) { r.Final.Elapsed = -1 }, ":5: elapsed is -1"},
		{"final error", func(r *Record) { r.Final.TestError = 0.001 }, "test_error is 0.001 in the last line: by the points it is 0"},
		{"final NaN", func(r *Record) { r.Final.TestError = math.NaN() }, "test_error is NaN in the last line"},
		{"final risk", func(r *Record) { r.Final.TrainRisk = 1 }, "train_risk is 1 in the last line: by the points it is NaN"},
		{"final order", func(r *Record) { r.Final.ModelOrder = 2 }, "model_order is 2 in the last line"},
		{"final evaluations", func(r *Record) { r.Final.KernelEvals = 0 }, "kernel_evals is 0 in the last line"},
		{"final norm", func(r *Record) { r.Final.NormSq = nil }, "norm_sq is NaN in the last line: by the points it is 2.75"},
		{"final loss", func(r *Record) { r.Final.Prequential = &Prequential{Loss: 0.25} }, "prequential error is 0 in the last line"},
		{"final calibration", func(r *Record) { r.Final.Reliability = &Reliability{LogLoss: 0.5} }, "calibration_error is 0 in the last line"},
		{"final samples", func(r *Record) { r.Final.Samples = 6400 }, "samples is 6400 in the last line"},
		{"too short", func(r *Record) { r.Points = r.Points[:2]; r.Final = Average(r.Points, 320) }, "no point at 640 samples, the end of the run"},
		{"too long", func(r *Record) {
			r.Points = append(r.Points, Point{Type: "point", Samples: 6400, KernelEvals: 1 << 60})
			r.Final.Samples = 6400
		}, "no point at 640 samples"},
		{"no points", func(r *Record) { r.Points = nil }, "no point at 640 samples"},
		{"no sums", func(r *Record) { r.Header.DataSums = nil }, "data_sums is empty"},
		{"another run", func(r *Record) { r.Header.Run.Seed = 77 }, ".jsonl: the ID of the run in its first line is "},
		{"another code", func(r *Record) { r.Header.Run.Code = "method polk: version 1" }, "the ID of the run in its first line is "},
		{"a model of another order", func(r *Record) { r.Final.Model.Weights = nil }, "model has 2 features and 0 weights: must be those of 1 elements"},
	} {
		r, err := parse(abc+".jsonl", abc, "final", whole)
		testutil.NoError(t, err)
		c.change(r)
		text := []byte(show(r.Header) + "\n")
		for _, p := range r.Points {
			text = append(text, show(p)+"\n"...)
		}
		id := r.Header.ID
		_, err = parse(id+".jsonl", id, "final", resealed(append(text, show(r.Final)+"\n"...)))
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := ReadFailed(writeFailure(t, t.TempDir(), abc, Failure{Samples: 641})); err == nil || !strings.Contains(err.Error(), "failed after 641 samples: the run has 640") {
		t.Errorf("failed after the end: %v", err)
	}
}
