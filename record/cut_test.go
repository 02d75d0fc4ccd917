package record

import (
	"slices"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
	"polkrepro/spec"
)

func TestAverageTakesTheTailOnly(t *testing.T) {
	points := []Point{
		{Samples: 500, TestError: 1, TrainRisk: 100, TestRisk: 100, ModelOrder: 7000},
		{Samples: 950, TestError: 1, TrainRisk: 100, TestRisk: 100, ModelOrder: 7000}, // 95 % is not in the last 5 %
		{Samples: 960, TestError: 0.25, TrainRisk: 1, TestRisk: 3, ModelOrder: 10, Diagnostics: Diagnostics{NormSq: new(2.0)}},
		{Samples: 1000, TestError: 0.75, TrainRisk: 2, TestRisk: 5, ModelOrder: 13, KernelEvals: 42, Timing: Timing{Wall: 9},
			Diagnostics: Diagnostics{NormSq: new(3.0), Prequential: new(Prequential), Reliability: new(Reliability)}},
	}
	got := Average(points, 1000)
	want := Final{Type: "final", Samples: 1000, TestError: 0.5, TrainRisk: 1.5, TestRisk: 4, ModelOrder: 11.5,
		KernelEvals: 42, Timing: Timing{Wall: 9}}
	if got.Samples != want.Samples || got.TestError != want.TestError || got.TrainRisk != want.TrainRisk ||
		got.TestRisk != want.TestRisk || got.ModelOrder != want.ModelOrder || got.KernelEvals != want.KernelEvals || got.Timing != want.Timing {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got.NormSq == nil || *got.NormSq != 2.5 || got.Prequential != points[3].Prequential || got.Reliability != points[3].Reliability {
		t.Errorf("%+v, want the norm's mean and the others of the last point", got.Diagnostics)
	}
	points[2].NormSq = nil
	if got := Average(points, 1000).NormSq; got != nil {
		t.Errorf("mean of norms of which one is missing: %v", *got)
	}
}

// streamed is a record of a stream of 1000 samples, evaluated every 100 and, at the
// end, every 10.
func streamed() *Record {
	r := &Record{Path: "records/x.jsonl", Header: Header{ID: "x"}, Final: Final{Digest: "d"}}
	r.Header.Run = spec.Run{Method: "polk", Samples: 1000, Params: spec.Params{Schedule: spec.ScheduleConstant}}
	for _, n := range []int{100, 200, 300, 400, 500, 600, 700, 800, 900, 960, 970, 980, 990, 1000} {
		r.Points = append(r.Points, Point{Samples: n, TrainRisk: float64(n), TestRisk: 2 * float64(n), TestError: 1 / float64(n), ModelOrder: n / 10})
	}
	return r
}

// TestCut: the final figures of the beginning of a run come from its own last 5 %. The record of
// the whole run stays unchanged.
func TestCut(t *testing.T) {
	r := streamed()
	got, err := r.Cut(960)
	testutil.NoError(t, err)
	if f := got.Final; f.TrainRisk != 960 || f.ModelOrder != 96 || f.Samples != 960 || f.Digest != "d" || len(got.Points) != 10 || got.Header.Run.Samples != 960 || got.Path != r.Path {
		t.Errorf("%+v", got)
	}
	got, err = r.Cut(980) // 931 to 980
	if err != nil || got.Final.TrainRisk != 970 || got.Final.TestRisk != 2*970 {
		t.Errorf("%v, %+v", err, got)
	}
	if r.Header.Run.Samples != 1000 || len(r.Points) != 14 {
		t.Error("the whole record has changed")
	}
	if whole, err := r.Cut(1000); err != nil || whole != r {
		t.Errorf("all samples: %v", err)
	}
	if got := Tail(r.Points, 1000); len(got) != 5 || !slices.IsSortedFunc(got, func(a, b Point) int { return a.Samples - b.Samples }) {
		t.Errorf("tail %+v", got)
	}
}

// TestCutRefuses: Cut refuses lengths at which the run has no evaluations, and runs whose beginning
// is not a shorter run.
func TestCutRefuses(t *testing.T) {
	for want, c := range map[string]struct {
		samples int
		change  func(*Record)
	}{
		"the run has 1000":               {1001, func(*Record) {}},
		"0 samples":                      {0, func(*Record) {}},
		"in the last 5 % of 950 samples": {950, func(*Record) {}}, // the points nearest to it are 900 and 960
		"must be constant":               {500, func(r *Record) { r.Header.Run.Params.Schedule = spec.ScheduleInverse }},
		"takes all samples at once":      {500, func(r *Record) { r.Header.Run.Method = "lbfgs" }},
		"measured against the minimizer": {500, func(r *Record) { r.Header.Run.Evaluation.Minimizer = true }},
	} {
		r := streamed()
		c.change(r)
		if _, err := r.Cut(c.samples); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
