package record

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// executed is a record of made-up figures.
func executed() *Record {
	return &Record{
		Header: Header{ID: "abc", DataSums: map[string]string{"multidist": "00ff"}},
		Points: []Point{
			{Samples: 320, TrainRisk: 0.2, TestRisk: 0.25, TestError: 0.05, ModelOrder: 16, Measured: map[string]float64{"distance": 3, "disagree": 1e-12},
				Diagnostics: Diagnostics{NormSq: new(4.0), Prequential: &Prequential{0.5, 0.1}, Reliability: &Reliability{LogLoss: 0.3, CalibrationError: 0.02}}},
			{Samples: 640, TrainRisk: math.NaN(), TestRisk: math.Inf(1), TestError: 0.04, ModelOrder: 17},
		},
		Final: Final{Samples: 640, TrainRisk: 0.1, TestRisk: 0.15, TestError: 0.04, ModelOrder: 16.5, Measured: map[string]float64{"max_order": 20}},
	}
}

func TestDisagreements(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Record)
		want   string // in the first disagreement; empty for none
	}{
		{"nothing", func(*Record) {}, ""},
		{"time", func(r *Record) { r.Points[0].Timing.Wall++; r.Final.Elapsed++ }, ""},
		{"within", func(r *Record) {
			r.Points[0] = Point{Samples: 320, TrainRisk: 0.2 * (1 + 0.9e-4), TestRisk: 0.25 * (1 - 0.9e-4), TestError: 0.0504, ModelOrder: 16,
				Measured: map[string]float64{"distance": 3 * (1 + 0.9e-4), "disagree": 1e-5}}
			r.Final.ModelOrder = 17
		}, ""},
		{"risk", func(r *Record) { r.Final.TrainRisk *= 1 + 1.1e-4 }, "final training risk is 0.10001, was 0.1 ± 1e-05"},
		{"other risk", func(r *Record) { r.Points[0].TestRisk *= 1 - 1.1e-4 }, "at 320 samples test risk is 0.24997, was 0.25 ± 2.5e-05"},
		{"error", func(r *Record) { r.Points[1].TestError += 5e-4 }, "at 640 samples test error is 0.0405, was 0.04 ± 0.0004"},
		{"order", func(r *Record) { r.Points[1].ModelOrder++ }, "at 640 samples model order is 18, was 17 ± 0.5"},
		{"measured", func(r *Record) { r.Points[0].Measured["distance"] *= 1 + 1.1e-4 }, "at 320 samples distance is 3.0003, was 3 ± 0.0003"},
		{"not measured", func(r *Record) { r.Final.Measured = nil }, "final max_order is 0, was 20"},
		{"measured only here", func(r *Record) { r.Final.Measured["ratio"] = 1 }, "final ratio is 1, was 0"},
		{"squared norm", func(r *Record) { r.Points[0].NormSq = new(4.0005) }, "at 320 samples squared norm is 4.0005, was 4 ± 0.0004"},
		{"prequential loss", func(r *Record) { r.Points[0].Prequential = &Prequential{0.4998, 0.1} }, "prequential loss is 0.4998"},
		{"prequential error", func(r *Record) { r.Points[0].Prequential = &Prequential{0.5, 0.1005} }, "prequential error is 0.1005, was 0.1 ± 0.0004"},
		{"log loss", func(r *Record) { r.Points[0].Reliability = &Reliability{LogLoss: 0.31, CalibrationError: 0.02} }, "log loss is 0.31"},
		{"calibration error", func(r *Record) { r.Points[0].Reliability = &Reliability{LogLoss: 0.3, CalibrationError: 0.021} }, "calibration error is 0.021"},
		{"made before there were diagnostics", func(r *Record) { r.Points[0].Diagnostics = Diagnostics{} }, ""},
		{"not a number any more", func(r *Record) { r.Points[1].TrainRisk = 1 }, "training risk is 1, was NaN"},
		{"not infinite any more", func(r *Record) { r.Points[1].TestRisk = 1 }, "test risk is 1, was +Inf"},
		{"infinite", func(r *Record) { r.Final.TestRisk = math.Inf(1) }, "final test risk is +Inf, was 0.15"},
		{"not a number", func(r *Record) { r.Final.TestError = math.NaN() }, "final test error is NaN"},
		{"a point less", func(r *Record) { r.Points = r.Points[:1] }, "1 points, was 2"},
		{"another point", func(r *Record) { r.Points[1].Samples = 641 }, "point 2 is at 641 samples, was at 640"},
		{"other data", func(r *Record) { r.Header.DataSums = map[string]string{"multidist": "01ff"} }, "the data are not the same"},
	} {
		got := executed()
		got.Points = slices.Clone(got.Points)
		c.change(got)
		wrong := Disagreements(got, executed())
		if c.want == "" && len(wrong) > 0 || c.want != "" && (len(wrong) != 1 || !strings.Contains(wrong[0], c.want)) {
			t.Errorf("%s: %q, want %q", c.name, wrong, c.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("records of two runs are compared")
		}
	}()
	other := executed()
	other.Header.ID = "abd"
	Disagreements(other, executed())
}

// TestAgree compares two folders, each with a run that the other lacks.
func TestAgree(t *testing.T) {
	as := func(id, digest string, risk float64) *Record {
		r := executed()
		r.Header.ID, r.Final.Digest, r.Final.TestRisk = id, digest, risk
		return r
	}
	got := map[string]*Record{"a": as("a", "1", 2), "b": as("b", "1", 1), "c": as("c", "1", 2), "d": as("d", "1", 1), "e": as("e", "1", 1)}
	want := map[string]*Record{"a": as("a", "2", 1), "b": as("b", "1", 1), "c": as("c", "2", 1), "f": as("f", "1", 1)}
	a := Agree(got, want)
	if a.Compared != 3 || a.Same != 1 || a.OnlyFirst != 2 || a.OnlySecond != 1 {
		t.Errorf("%+v, want 3 compared, 1 the same, 2 here and 1 there", a)
	}
	if d := a.Differing; len(d) != 2 || d[0].RunID != "a" || d[1].RunID != "c" || !slices.Equal(d[0].Differences, Disagreements(got["a"], want["a"])) {
		t.Errorf("differing: %+v, want a and c", d)
	}
}
