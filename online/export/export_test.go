package export

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"polkrepro/data/rows"
	"polkrepro/internal/golden"
	"polkrepro/internal/hostile"
	"polkrepro/internal/testutil"
	"polkrepro/online"
)

// small returns a model of three features with shift 10 and factor 0.5, of which the second is
// constant, and of two elements, after a change to its header, its scaling and its weights.
func small(t *testing.T, loss string, labels []string, change func(header map[string]any, factor, shift, w []float64)) *online.Model {
	t.Helper()
	header := map[string]any{"loss": loss, "labels": labels, "dim": 3, "kernel": "gaussian", "bandwidth": 2, "batch": 1, "elements": 2,
		"scale": "standard", "target_shift": 7, "target_factor": 0.25, "prediction_only": true}
	outputs := 1
	if strings.HasPrefix(loss, "multi-") {
		outputs = len(labels)
	}
	shift, factor, w := []float64{10, 10, 10}, []float64{0.5, 0, 0.5}, make([]float64, 2*outputs)
	for i := range w {
		w[i] = float64(i+1) * math.Pow(-1, float64(i)) / 3
	}
	if change != nil {
		change(header, factor, shift, w)
	}
	text, err := json.Marshal(header)
	testutil.NoError(t, err)
	var body bytes.Buffer
	for _, part := range []any{shift, factor, []float32{0.1, 0, -1, 1, 0, 2.5}, w, uint64(0)} {
		testutil.NoError(t, binary.Write(&body, binary.LittleEndian, part))
	}
	m, err := online.ReadForPrediction(bytes.NewReader(hostile.Seal("POLKOWN\x03", string(text), body.Bytes())))
	testutil.NoError(t, err)
	return m
}

// written returns what a function writes.
func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	testutil.NoError(t, write(&b))
	return b.String()
}

// hostileLabels would end a string constant, a comment or a line, or be a trigraph or another
// character in another character set.
var hostileLabels = []string{`"; */ evil(`, `\`, "??/x", "ß1"}

// The test of the compilers shows that these files are valid, and that the numbers are right.
func TestGolden(t *testing.T) {
	hinge := small(t, "multi-hinge", hostileLabels, nil)
	logistic := small(t, "binary-logistic", []string{"no", "yes"}, func(h map[string]any, factor, shift, _ []float64) {
		copy(factor, []float64{1, 1, 1})
		clear(shift)
	})
	golden.Check(t, "testdata/int8.c", written(t, func(w io.Writer) error { return C(w, hinge, true) }))
	for name, m := range map[string]*online.Model{"hinge": hinge, "logistic": logistic, "square": small(t, "squared-error", nil, nil)} {
		golden.Check(t, "testdata/"+name+".c", written(t, func(w io.Writer) error { return C(w, m, false) }))
		golden.Check(t, "testdata/"+name+".onnx", written(t, func(w io.Writer) error { return ONNX(w, m) }))
	}
}

// Rounding moves no number of a function by more than half a step: 1/254 of what a feature spans, and
// 1/127 of an element's largest weight.
func TestCompact(t *testing.T) {
	m := small(t, "multi-hinge", []string{"a", "b"}, func(_ map[string]any, _, _, w []float64) { copy(w, []float64{127, -1.4, 0, 0}) })
	p, err := newProgram(m)
	testutil.NoError(t, err)
	c := p.compact()
	if want := []int8{-127, -127, 127, 127}; !slices.Equal(c.elements, want) {
		t.Errorf("elements %v, want %v", c.elements, want)
	}
	if want := []int8{127, -1, 0, 0}; !slices.Equal(c.weights, want) || !slices.Equal(c.weightStep, []float64{1, 0}) {
		t.Errorf("weights %v by %v, want %v", c.weights, c.weightStep, want)
	}
	rounded, err := Round(m)
	testutil.NoError(t, err)
	f, _ := rounded.Functions()
	if x := f.Dict.At(1); math.Abs(float64(x[2])-2.5) > 3.5/254/2 || x[1] != 0 || !slices.Equal(f.W, []float64{127, -1, 0, 0}) {
		t.Errorf("element %v, want 1 0 2.5; weights %v", x, f.W)
	}
}

// A model that a program would mispredict is refused, by name.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(h map[string]any, factor, shift, w []float64)
		onnx   string // what ONNX says; it computes in float64
		c      string
	}{
		"weights that cancel": {func(_ map[string]any, _, _, w []float64) { w[0], w[1] = 1e5, -1e5 }, "", "add up to 2e+05"},
		"coarse features":     {func(_ map[string]any, _, shift, _ []float64) { shift[2] = 1e9 }, "feature 3 has values around 1e+09", "feature 3"},
		"a large shift":       {func(_ map[string]any, factor, shift, _ []float64) { shift[2], factor[2] = 1e300, 1e-300 }, "", "1e+300, of the bandwidth"},
		"a narrow kernel":     {func(h map[string]any, _, _, _ []float64) { h["bandwidth"] = 1e-20 }, "", "5e+39, of the bandwidth"},
		"a wide kernel":       {func(h map[string]any, _, _, _ []float64) { h["bandwidth"] = 1e20 }, "", "2e+40, of the bandwidth"},
		"tiny targets":        {func(h map[string]any, _, _, _ []float64) { h["target_factor"] = 1e35 }, "", "1e+35, of the bandwidth"},
		"a category": {func(h map[string]any, _, _, _ []float64) {
			h["columns"] = map[string]any{"fitted": map[string]any{"columns": 3, "numbers": []int{2, 3}, "levels": [][]string{nil, {"a", "b"}}}}
		}, "columns of categories", "columns of categories"},
		"means for missing values": {func(h map[string]any, _, _, _ []float64) {
			h["columns"] = map[string]any{"missing": "mean", "fitted": map[string]any{"columns": 4, "numbers": []int{2, 3, 4}, "means": []float64{1, 2, 3}}}
		}, "means for missing", "means for missing"},
		"constant features": {func(_ map[string]any, factor, _, _ []float64) { clear(factor) }, "2 elements and 0 features", "2 elements and 0 features"},
	} {
		t.Run(name, func(t *testing.T) {
			m := small(t, "squared-error", nil, c.change)
			for _, form := range []struct {
				err  error
				want string
			}{{ONNX(io.Discard, m), c.onnx}, {C(io.Discard, m, false), c.c}} {
				if fmt.Sprint(form.err) != "<nil>" != (form.want != "") || !strings.Contains(fmt.Sprint(form.err), form.want) && form.want != "" {
					t.Errorf("%v, want %q", form.err, form.want)
				}
			}
		})
	}
}

// A setting that was added to models after this package was written is refused, not ignored.
func TestUnknownSetting(t *testing.T) {
	type later struct {
		online.Settings
		Columns []string `json:"one_hot,omitempty"`
	}
	if err := checkKeys(later{Columns: []string{"colour"}}); err == nil || !strings.Contains(err.Error(), `"one_hot" can't be exported`) {
		t.Error(err)
	}
	fields := reflect.VisibleFields(reflect.TypeFor[online.Settings]())
	if len(fields) != len(keys) {
		t.Errorf("online.Settings has %d fields and keys %d: does prediction depend on the new one?", len(fields), len(keys))
	}
	for _, f := range fields {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !slices.Contains(keys, name) {
			t.Errorf("key %q is not known", name)
		}
	}
}

// A model that was trained within a size has the most elements with which its C file is that small.
func TestSize(t *testing.T) {
	var lines strings.Builder
	for i := range 300 {
		fmt.Fprintf(&lines, "%d,%d,%d\n", i%3, 1+10*(i%3)+i*7%10, 1+i*i%11)
	}
	train := func(size int) (*online.Model, error) {
		return online.Train(context.Background(), online.TrainOptions{Source: online.Source{Path: "-", Stdin: strings.NewReader(lines.String())},
			Tune: true, Size: size, Settings: online.Settings{Loss: "multi-hinge", Format: rows.FormatCSV, Scale: rows.ScaleUnit}})
	}
	const scaling, element = 8 * 2, 4 * (2 + 3)
	m, err := train(scaling + 6*element - 1)
	testutil.NoError(t, err)
	want := fmt.Sprintf("Flash: %d bytes", scaling+5*element+3*len("0\x00"))
	if text := written(t, func(w io.Writer) error { return C(w, m, false) }); m.Order() != 5 || !strings.Contains(text, want) {
		t.Errorf("order %d, want 5 and %q:\n%s", m.Order(), want, text)
	}
	if _, err := train(scaling + element - 1); err == nil || !strings.Contains(err.Error(), "one element take 36 bytes, more than the 35 of --size") {
		t.Error(err)
	}
}

// A model for an AVR must fit into what its instructions reach.
func TestTooLargeForAVR(t *testing.T) {
	for _, tt := range []struct {
		tables, bytes int
		want          bool
	}{{1, 30_000, false}, {1, 32_768, true}, {3, 20_001, true}} {
		var all tables
		for range tt.tables {
			all.add(tt.bytes)
		}
		if all.TooLarge() != tt.want {
			t.Errorf("%d tables of %d bytes: too large %v", tt.tables, tt.bytes, !tt.want)
		}
	}
}
