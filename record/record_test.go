package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/spec"
)

func run(seed uint64) spec.Run {
	return spec.Run{
		Data: data.Ref{Name: "multidist", Variant: "calibrated", Draw: 36},
		Task: "ksvm", Method: "polk",
		Params: spec.Params{
			Kernel: spec.Kernel{Type: "gaussian", Bandwidth: 0.6}, Regularizer: 1e-6,
			LearningRate: 6, Schedule: "constant", BatchSize: 32, Parsimony: 0.04,
		},
		Seed: seed, Samples: 640, Evaluation: spec.Evaluation{Every: 320, Tail: 5},
	}
}

// IDs of the runs with the seeds 1 and 2.
var abc, abd = spec.ID(run(1)), spec.ID(run(2))

// header returns the header of the run with an ID, or with a wrong ID.
func header(id string) Header {
	seed := uint64(1)
	if id == abd {
		seed = 2
	}
	return Header{
		ID: id, Run: run(seed),
		DataSums:  map[string]string{"multidist": "00ff"},
		DataFacts: map[string]float64{"bayes_error": 0.0386, "odd": math.Inf(-1)},
		Provenance: Provenance{
			Module: "polkrepro", Version: "(devel)", Go: "go1.26", CPU: "a <fast> one", Features: []string{"avx2"}, Cores: 2,
		},
		Started: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
	}
}

var points = []Point{
	{Samples: 0, TrainRisk: 1, TestRisk: 1, TestError: 0.8},
	{Samples: 320, TrainRisk: 0.1, TestRisk: 1.0 / 3, TestError: 0.05, ModelOrder: 16, KernelEvals: 1 << 60, Timing: Timing{Wall: 0.5, CPU: 0.25},
		Diagnostics: Diagnostics{NormSq: new(2.5), Prequential: &Prequential{0.25, 0.125}, Reliability: &Reliability{LogLoss: 0.5, CalibrationError: 0.0625}}},
	{Samples: 640, TrainRisk: math.NaN(), TestRisk: math.Inf(1), TestError: math.Copysign(0, -1), ModelOrder: 1, KernelEvals: 1 << 60, Timing: Timing{Wall: 1, CPU: 0.5, Pruner: 0.25},
		Diagnostics: Diagnostics{NormSq: new(2.75), Prequential: &Prequential{0.25, 0.125}, Reliability: &Reliability{LogLoss: 0.5, CalibrationError: 0.0625}}},
}

var bins = append([]Bin{{3, 0.0625, 0.5}}, make([]Bin, ReliabilityBins-1)...)

var final = Final{
	Samples: 640, TrainRisk: math.NaN(), TestRisk: math.Inf(1), TestError: 0, ModelOrder: 1, KernelEvals: 1 << 60,
	Health:      map[string]float64{"repairs": 1, "drift": math.Inf(1)},
	Diagnostics: Diagnostics{NormSq: new(2.75), Prequential: &Prequential{0.25, 0.125}, Reliability: &Reliability{0.5, 0.0625, bins}},
	Model:       &Model{Dim: 2, Outputs: 1, Dictionary: []float32{0.1, -2}, Weights: []float64{1.0 / 3}},
	Timing:      Timing{Wall: 1, CPU: 0.5, Pruner: 0.25}, Elapsed: 2,
}

// create starts a record.
func create(t testutil.T, dir, id string) *Writer {
	t.Helper()
	w, err := Create(dir, header(id))
	testutil.NoError(t, err)
	return w
}

// mustRead reads a record that must be valid.
func mustRead(t testutil.T, path string) *Record {
	t.Helper()
	r, err := Read(path)
	testutil.NoError(t, err)
	return r
}

// writeFailure makes the record of a run that failed.
func writeFailure(t testutil.T, dir, id string, f Failure, points ...Point) string {
	t.Helper()
	w := create(t, dir, id)
	for _, p := range points {
		testutil.NoError(t, w.Point(p))
	}
	testutil.NoError(t, w.Fail(f))
	return filepath.Join(dir, id+failedSuffix)
}

// write makes a sealed record with all points and returns its path.
func write(t testutil.T, dir, id string) string {
	t.Helper()
	return writePoints(t, dir, id, points...)
}

func writePoints(t testutil.T, dir, id string, points ...Point) string {
	t.Helper()
	w := create(t, dir, id)
	for _, p := range points {
		testutil.NoError(t, w.Point(p))
	}
	testutil.NoError(t, w.Finish(final))
	return filepath.Join(dir, id+".jsonl")
}

// show formats a value so that NaN equals itself.
func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestRoundTrip(t *testing.T) {
	path := write(t, t.TempDir(), abc)
	r := mustRead(t, path)
	h := header(abc)
	h.Type, h.Format = "run", Format
	if !reflect.DeepEqual(r.Header, h) {
		t.Errorf("header\n%+v\nwant\n%+v", r.Header, h)
	}
	want := slices.Clone(points)
	for i := range want {
		want[i].Type = "point"
	}
	if show(r.Points) != show(want) {
		t.Errorf("points\n%+v\nwant\n%+v", r.Points, want)
	}
	f := final
	f.Type, f.Digest, f.Sum = "final", r.Final.Digest, r.Final.Sum
	if show(r.Final) != show(f) || len(f.Digest) != 64 || len(f.Sum) != 64 || r.Path != path {
		t.Errorf("final\n%+v\nwant\n%+v", r.Final, f)
	}
}

// TestCanonical checks the canonical form and the digest, and on which fields they depend.
func TestCanonical(t *testing.T) {
	base := mustRead(t, write(t, t.TempDir(), abc))
	want := `{"data_facts":{"bayes_error":0.0386,"odd":"-Inf"},"data_sums":{"multidist":"00ff"},` +
		`"final":{"health":{"drift":"+Inf","repairs":1},"kernel_evals":1152921504606846976,` +
		`"model":{"dictionary":[0.1,-2],"dim":2,"outputs":1,"weights":[0.3333333333333333]},"model_order":1,"norm_sq":2.75,` +
		`"prequential":{"error":0.125,"loss":0.25},"reliability":{"bins":[{"accuracy":0.5,"confidence":0.0625,"count":3}` +
		strings.Repeat(`,{"accuracy":0,"confidence":0,"count":0}`, 14) + `],"calibration_error":0.0625,"log_loss":0.5},` +
		`"samples":640,"test_error":0,"test_risk":"+Inf","train_risk":"NaN","type":"final"},"id":"` + abc + `","points":[` +
		`{"kernel_evals":0,"model_order":0,"samples":0,"test_error":0.8,"test_risk":1,"train_risk":1,"type":"point"},` +
		`{"kernel_evals":1152921504606846976,"model_order":16,"norm_sq":2.5,"prequential":{"error":0.125,"loss":0.25},` +
		`"reliability":{"calibration_error":0.0625,"log_loss":0.5},"samples":320,"test_error":0.05,"test_risk":0.3333333333333333,"train_risk":0.1,"type":"point"},` +
		`{"kernel_evals":1152921504606846976,"model_order":1,"norm_sq":2.75,"prequential":{"error":0.125,"loss":0.25},` +
		`"reliability":{"calibration_error":0.0625,"log_loss":0.5},"samples":640,"test_error":-0,"test_risk":"+Inf","train_risk":"NaN","type":"point"}],` +
		`"run":{"data":{"draw":36,"name":"multidist","variant":"calibrated"},"evaluation":{"every":320,"tail":5,"train_limit":0},` +
		`"method":"polk","params":{"batch_size":32,"kernel":{"bandwidth":0.6,"type":"gaussian"},"learning_rate":6,"parsimony":0.04,` +
		`"regularizer":0.000001,"schedule":"constant"},"samples":640,"seed":1,"task":"ksvm"}}`
	if got := string(Canonical(base)); got != want {
		t.Errorf("canonical form\n%s\nwant\n%s", got, want)
	}
	if digest(base) != base.Final.Digest {
		t.Error("the digest is not that of the canonical form")
	}
	for _, c := range []struct {
		name   string
		change func(*Record)
		same   bool
	}{
		{"timing of a point", func(r *Record) { r.Points[1].Timing.Wall++ }, true},
		{"timing of the final line", func(r *Record) { r.Final.Timing.CPU++ }, true},
		{"time of a process", func(r *Record) { r.Final.Timing.Pruner++ }, true},
		{"elapsed", func(r *Record) { r.Final.Elapsed++ }, true},
		{"provenance", func(r *Record) { r.Header.Provenance.CPU = "another" }, true},
		{"started", func(r *Record) { r.Header.Started = time.Now() }, true},
		{"sums", func(r *Record) { r.Final.Sum, r.Final.Digest = "", "" }, true},
		{"path", func(r *Record) { r.Path = "" }, true},
		{"id", func(r *Record) { r.Header.ID = abd }, false},
		{"run", func(r *Record) { r.Header.Run.Seed++ }, false},
		{"data sums", func(r *Record) { r.Header.DataSums = map[string]string{"multidist": "01ff"} }, false},
		{"data facts", func(r *Record) { r.Header.DataFacts = nil }, false},
		{"point", func(r *Record) { r.Points[1].TestRisk = math.Nextafter(1.0/3, 1) }, false},
		{"number of points", func(r *Record) { r.Points = r.Points[:2] }, false},
		{"kernel evaluations", func(r *Record) { r.Points[1].KernelEvals++ }, false},
		{"final", func(r *Record) { r.Final.ModelOrder = 16 }, false},
		{"model", func(r *Record) { r.Final.Model = nil }, false},
		{"squared norm", func(r *Record) { r.Final.NormSq = new(2.0) }, false},
		{"prequential error", func(r *Record) { r.Points[1].Prequential = &Prequential{0.25, 0.25} }, false},
		{"reliability", func(r *Record) { r.Final.Reliability = nil }, false},
		{"health", func(r *Record) { r.Final.Health = map[string]float64{"repairs": 2} }, false},
	} {
		r := *base
		r.Points = slices.Clone(base.Points)
		c.change(&r)
		if same := bytes.Equal(Canonical(&r), Canonical(base)); same != c.same {
			t.Errorf("%s: same canonical form: %t", c.name, same)
		}
	}
}

// TestAnyDamage cuts a file at every byte and changes every byte: no such file is read as a record.
func TestAnyDamage(t *testing.T) {
	t.Parallel()
	for _, last := range []string{"final", "failure"} {
		dir := t.TempDir()
		path := writePoints(t, dir, abc, points[2])
		if last == "failure" {
			path = writeFailure(t, dir, abc, Failure{Samples: 7, Error: "no"}, points[0])
		}
		whole := contents(t, path)
		if _, err := parse(path, abc, last, whole); err != nil {
			t.Fatal(err)
		}
		check := func(what string, at int, b []byte) {
			t.Helper()
			var e *Error
			_, err := parse(path, abc, last, b)
			if !errors.As(err, &e) || e.Path != path {
				t.Fatalf("%s %s at byte %d: %v", last, what, at, err)
			}
			if what == "cut" && !errors.Is(err, ErrIncomplete) {
				t.Fatalf("%s cut at byte %d: %v", last, at, err)
			}
		}
		for i := range whole {
			check("cut", i, whole[:i])
			b := bytes.Clone(whole)
			b[i] ^= 1 << (i % 8)
			check("change", i, b)
			if i%3 != 0 {
				continue
			}
			b[i] = whole[i] ^ 0x20 // another case, if it is a letter
			check("change of case", i, b)
			check("insertion", i, slices.Insert(bytes.Clone(whole), i, ' '))
		}
		check("appendix", len(whole), append(bytes.Clone(whole), '\n'))
		check("doubling", len(whole), append(bytes.Clone(whole), whole...))
	}
}

// TestErrors checks that errors name file and line.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, abc)
	whole := contents(t, path)
	lines := strings.SplitAfter(string(whole), "\n")
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", ":1: no line of type final: the record is incomplete"},
		{"header only", lines[0], ":2: no line of type final: the record is incomplete"},
		{"no header", strings.Join(lines[1:], ""), `:1: type "point" in the first line, want run`},
		{"line missing", lines[0] + lines[1] + lines[3] + lines[4], ":4: wrong digest: the record was changed after it was written"},
		{"lines exchanged", lines[0] + lines[2] + lines[1], ":3: point at 0 samples after one at 320"},
		{"line twice", lines[0] + lines[1] + lines[1], ":3: point at 0 samples after one at 0"},
		{"second header", lines[0] + lines[0], `:2: unexpected line of type "run"`},
		{"not JSON", lines[0] + "x\n", ":2: invalid character 'x' looking for beginning of value"},
		{"empty line", lines[0] + "\n", ":2: unexpected end of JSON input"},
		{"unknown key", lines[0] + `{"type":"point","sample":1}` + "\n", `:2: json: unknown field "sample"`},
		{"newer format", strings.Replace(lines[0], `"format":1`, `"format":2`, 1), ":1: format 2, this program reads 1"},
		{"another run", strings.Replace(lines[0], abc, abd, 1), fmt.Sprintf(":1: record of run %q in a file named after %q", abd, abc)},
		{"timing changed", strings.Replace(string(whole), `"wall":0.5`, `"wall":0.4`, 1), ": wrong sum: the record was changed after it was written"},
		{"something after", string(whole) + "{}\n", ": data after the last line: the record was changed after it was written"},
	} {
		put(t, path, c.text)
		if _, err := Read(path); err == nil || err.Error() != path+c.want {
			t.Errorf("%s: error %v, want %s", c.name, err, path+c.want)
		}
	}
	// The same contents are invalid under another name.
	for _, name := range []string{abd + ".jsonl", abc + ".jsonl.partial", abc + ".failed.jsonl", abc} {
		other := filepath.Join(dir, name)
		put(t, other, string(whole))
		if _, err := Read(other); err == nil || !strings.HasPrefix(err.Error(), other) {
			t.Errorf("Read(%s): %v", name, err)
		}
	}
	if _, err := Read(filepath.Join(dir, "none.jsonl")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func names(t *testing.T, dir string) string { return strings.Join(testutil.Names(t, dir), " ") }

// TestLife checks which files exist at each stage of a run.
func TestLife(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	stale := filepath.Join(dir, abc+".jsonl.partial")
	put(t, stale, strings.Repeat("left by a killed run\n", 1000))
	is := func(want string) {
		t.Helper()
		if got := names(t, dir); got != want {
			t.Errorf("files %q, want %q", got, want)
		}
	}
	linesOf := func() int { return bytes.Count(contents(t, stale), []byte("\n")) }
	w := create(t, dir, abc)
	is(abc + ".jsonl.partial")
	for i, p := range points {
		if n := linesOf(); n != i+1 {
			t.Errorf("%d lines on disk after %d points", n, i)
		}
		testutil.NoError(t, w.Point(p))
	}
	testutil.NoError(t, w.Abort())
	is(abc + ".jsonl.partial")
	if n := linesOf(); n != 4 {
		t.Errorf("%d lines on disk after Abort", n)
	}
	for _, err := range []error{w.Point(points[0]), w.Finish(final), w.Fail(Failure{})} {
		if !errors.Is(err, errClosed) {
			t.Errorf("after Abort: %v", err)
		}
	}

	failed := writeFailure(t, dir, abc, Failure{Samples: 3, Error: "diverged\nbadly"})
	is(abc + ".failed.jsonl")
	f, err := ReadFailed(failed)
	if err != nil || f.Failure.Error != "diverged\nbadly" || f.Failure.Samples != 3 || f.Header.ID != abc {
		t.Errorf("failed record %+v, %v", f, err)
	}

	w = create(t, dir, abc)
	is(abc + ".failed.jsonl " + abc + ".jsonl.partial")
	testutil.NoError(t, errors.Join(w.Point(points[2]), w.Finish(final)))
	is(abc + ".jsonl")
	if err := w.Abort(); err != nil {
		t.Errorf("Abort after Finish: %v", err)
	}
	is(abc + ".jsonl")
	if _, err := Read(filepath.Join(dir, abc+".jsonl")); err != nil {
		t.Error(err)
	}
}

func TestWriterRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"", ".", "a/b", "../a", "a.jsonl", "a b", strings.Repeat("x", 200)} {
		if _, err := Create(dir, header(id)); err == nil {
			t.Errorf("ID %q is accepted", id)
		}
	}
	h := header(abc)
	h.Run.Params.Parsimony = math.NaN()
	if _, err := Create(dir, h); err == nil || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("NaN as a hyper-parameter: %v", err)
	}
	for _, c := range []struct {
		name string
		do   func(w *Writer) error
		want string
	}{
		{"samples going back", func(w *Writer) error { return w.Point(Point{Samples: 9}) }, "record " + abc + ": point at 9 samples after one at 10"},
		{"samples staying", func(w *Writer) error { return w.Point(Point{Samples: 10}) }, "record " + abc + ": point at 10 samples after one at 10"},
		{"final before the last point", func(w *Writer) error { return w.Finish(Final{Samples: 9}) }, "record " + abc + ": last line at 9 samples, before the last point"},
		{"failure before the last point", func(w *Writer) error { return w.Fail(Failure{Samples: 9}) }, "record " + abc + ": last line at 9 samples, before the last point"},
		{"a measurement whose name is a formula", func(w *Writer) error {
			return w.Point(Point{Samples: 11, Measured: map[string]float64{"=1+1": 1}})
		}, `text "=1+1" is unprintable or starts with =`},
		{"the same of all steps", func(w *Writer) error {
			return w.Finish(Final{Samples: 11, Measured: map[string]float64{"=1+1": 1}})
		}, `text "=1+1" is unprintable or starts with =`},
		{"timing not finite", func(w *Writer) error { return w.Point(Point{Samples: 11, Timing: Timing{Wall: math.NaN()}}) }, "unsupported value: NaN"},
	} {
		w := create(t, dir, abc)
		testutil.NoError(t, w.Point(Point{Samples: 10}))
		err := c.do(w)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
		if again := w.Finish(Final{Samples: 100}); again == nil || again.Error() != err.Error() {
			t.Errorf("%s: then finished with %v", c.name, again)
		}
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
		if got := names(t, dir); got != abc+".jsonl.partial" {
			t.Errorf("%s: files %q", c.name, got)
		}
	}
}

// TestUnwritable checks that a folder that can't be written to gives a clear error.
func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	put(t, file, "")
	_, err := Create(filepath.Join(file, "sub"), header(abc))
	if err == nil || !strings.Contains(err.Error(), "can't make the records' folder") || !strings.Contains(err.Error(), file) {
		t.Errorf("a file in the folder's place: %v", err)
	}
	testutil.NoError(t, os.Mkdir(filepath.Join(dir, abc+".jsonl.partial"), 0o755))
	_, err = Create(dir, header(abc))
	if err == nil || !strings.Contains(err.Error(), "can't write a record: open "+dir) {
		t.Errorf("a folder in the file's place: %v", err)
	}
}

func TestReadDir(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, abc)
	broken := write(t, dir, "broken")
	testutil.NoError(t, os.Truncate(broken, 100))
	writeFailure(t, dir, abd, Failure{Error: "no"})
	testutil.NoError(t, create(t, dir, "partial").Abort())
	for _, name := range []string{"notes.txt", "lock", "table.csv"} {
		put(t, filepath.Join(dir, name), "")
	}
	put(t, filepath.Join(dir, "half.failed.jsonl"), "{}\n")
	testutil.NoError(t, os.Mkdir(filepath.Join(dir, "folder.jsonl"), 0o755))
	c, err := ReadDir(dir)
	testutil.NoError(t, err)
	if got := slices.Sorted(maps.Keys(c.Records)); !slices.Equal(got, []string{abc}) {
		t.Errorf("records %v", got)
	}
	if got := slices.Sorted(maps.Keys(c.Failed)); !slices.Equal(got, []string{abd}) {
		t.Errorf("failed %v", got)
	}
	if !slices.Equal(c.Partial, []string{"partial"}) {
		t.Errorf("partial %v", c.Partial)
	}
	if len(c.Errors) != 2 || !errors.Is(c.Errors[0], ErrIncomplete) || !strings.Contains(c.Errors[1].Error(), "half.failed.jsonl:1:") {
		t.Errorf("errors %v", c.Errors)
	}
	want := fmt.Sprintf("damaged records: %s, %s", broken, filepath.Join(dir, "half.failed.jsonl"))
	if err := c.Damage(); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	c.Errors = nil
	if err := c.Damage(); err != nil {
		t.Errorf("damage without damaged files: %v", err)
	}
	if _, err := ReadDir(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// TestFloat checks that every float64 comes back as it was, NaN as NaN.
func TestFloat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		b, err := Float(x).MarshalJSON()
		testutil.NoError(t, err)
		var y Float
		testutil.NoError(t, y.UnmarshalJSON(b))
		if math.Float64bits(float64(y)) != math.Float64bits(x) && !(math.IsNaN(x) && math.IsNaN(float64(y))) {
			t.Fatalf("%v became %s and %v", x, b, y)
		}
	})
	for _, s := range []string{`null`, `"nan"`, `"Inf"`, `"1"`, `true`, `1e999`, ``} {
		var y Float
		if err := y.UnmarshalJSON([]byte(s)); err == nil {
			t.Errorf("%s is read as %v", s, y)
		}
	}
}

// TestAnyRecord writes and reads records with arbitrary contents that fit each other.
func TestAnyRecord(t *testing.T) {
	dir := t.TempDir()
	number := rapid.Custom(func(t *rapid.T) float64 { return math.Float64frombits(rapid.Uint64().Draw(t, "bits")) })
	text := rapid.Map(rapid.StringOf(rapid.RuneFrom(nil, unicode.L, unicode.N, unicode.P, unicode.S)), func(s string) string { return "a" + s })
	rapid.Check(t, func(t *rapid.T) {
		var points []Point
		samples, evals := 0, int64(0)
		for range rapid.IntRange(1, 5).Draw(t, "points") {
			samples += rapid.IntRange(1, 1000).Draw(t, "step")
			evals += rapid.Int64Range(0, 1<<50).Draw(t, "evals")
			points = append(points, Point{Samples: samples, TrainRisk: math.Abs(number.Draw(t, "risk")), TestError: rapid.Float64Range(0, 1).Draw(t, "error"), KernelEvals: evals, Measured: rapid.MapOf(text, number).Draw(t, "measured")})
		}
		f := Average(points, samples)
		f.Health, f.Measured = rapid.MapOf(text, number).Draw(t, "health"), rapid.MapOf(text, number).Draw(t, "measured")
		h := header("")
		h.Run.Samples = samples
		h.ID = spec.ID(h.Run)
		h.DataSums = rapid.MapOfN(text, text, 1, -1).Draw(t, "sums")
		h.DataFacts = rapid.MapOf(text, number).Draw(t, "facts")
		w, err := Create(dir, h)
		testutil.NoError(t, err)
		for _, p := range points {
			testutil.NoError(t, w.Point(p))
		}
		testutil.NoError(t, w.Finish(f))
		mustRead(t, filepath.Join(dir, h.ID+".jsonl"))
	})
}

// TestMeasured: additional measurements are read back, finite or not, and enter the digest. A
// record without them does not have their key.
func TestMeasured(t *testing.T) {
	dir := t.TempDir()
	p := Point{Samples: 640, Measured: map[string]float64{"distance": 1.0 / 3, "ratio": math.Inf(1)}}
	digests := make(map[string]bool)
	for _, most := range []float64{16, 17} {
		w := create(t, dir, abc)
		testutil.NoError(t, errors.Join(w.Point(p), w.Finish(Final{Samples: 640, Measured: map[string]float64{"max_order": most}})))
		r := mustRead(t, filepath.Join(dir, abc+".jsonl"))
		if !maps.Equal(r.Points[0].Measured, p.Measured) || r.Final.Measured["max_order"] != most {
			t.Errorf("%v and %v", r.Points[0].Measured, r.Final.Measured)
		}
		digests[r.Final.Digest] = true
	}
	if len(digests) != 2 {
		t.Error("another measurement has the same digest")
	}
	if b := contents(t, write(t, dir, abd)); strings.Contains(string(b), "measured") {
		t.Errorf("a record of which nothing else was measured: %s", b)
	}
}

// TestRound: Round keeps eight digits of measurements and four digits of times, and adds no
// diagnostics to a point without them.
func TestRound(t *testing.T) {
	const third = 1.0 / 3
	bare := Point{TrainRisk: third, TestRisk: third, TestError: third, Timing: Timing{Wall: third, CPU: third, Pruner: third}}
	full := bare
	full.Diagnostics = Diagnostics{NormSq: new(third), Prequential: &Prequential{third, third}, Reliability: &Reliability{LogLoss: third, CalibrationError: third}}
	full.Measured = map[string]float64{"x": third}
	bare.Round()
	full.Round()
	const eight, four = 0.33333333, 0.3333
	if want := (Timing{Wall: four, CPU: four, Pruner: four}); bare.Timing != want || bare.TrainRisk != eight || bare.TestRisk != eight || bare.TestError != eight {
		t.Errorf("%+v", bare)
	}
	if d := full.Diagnostics; *d.NormSq != eight || *d.Prequential != (Prequential{eight, eight}) || d.Reliability.LogLoss != eight ||
		d.Reliability.CalibrationError != eight || full.Measured["x"] != eight {
		t.Errorf("%+v", full)
	}
}
