package harness

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCalibrate(t *testing.T) {
	plan := tinyPlan()[:3] // with a BSGD run, which is left out
	opt := CalibrateOptions{Epochs: 2, Parsimony: []float64{0.04, 0.01}}
	points, unavailable, err := Calibrate(t.Context(), plan, opt)
	if err != nil || len(unavailable) != 0 {
		t.Fatal(err, unavailable)
	}
	if len(points) != 2*2*2 {
		t.Fatalf("%d points, want two runs with two constants each, after two epochs", len(points))
	}
	const train = 5000 - 833 // a sixth is held out
	for i, p := range points {
		if p.Epoch != i%2+1 || p.Samples < p.Epoch*train || p.Samples >= p.Epoch*train+32 {
			t.Errorf("point %d: epoch %d after %d samples", i, p.Epoch, p.Samples)
		}
		if p.ValidError <= 0 || p.ValidError > 0.2 || p.ModelOrder < 5 {
			t.Errorf("point %d: %+v", i, p)
		}
	}
	var out bytes.Buffer
	if err := WriteCalibration(&out, points); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 1+len(points) {
		t.Errorf("%d rows of CSV, %v", len(rows), err)
	}
	again, _, err := Calibrate(t.Context(), plan, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i := range points {
		points[i].Seconds, again[i].Seconds = 0, 0
	}
	if !slices.Equal(points, again) {
		t.Error("a second calibration differs")
	}
}

func TestCalibrateGoesOnAfterAFailure(t *testing.T) {
	methods := fakes(func(f *fake) error {
		if f.f.Weights(0)[0] == 1 { // some run's first sample is of class 0
			return errors.New("bad step")
		}
		return nil
	})
	points, _, err := Calibrate(t.Context(), tinyPlan(), CalibrateOptions{Epochs: 1, Options: Options{Methods: methods}})
	if !errors.Is(err, ErrRunsFailed) || len(points) > 2 || !strings.Contains(err.Error(), "bad step") {
		t.Errorf("error %v, %d points", err, len(points))
	}
}

// TestCalibrateSaysWhyNothingBegan lets the construction of learners fail.
func TestCalibrateSaysWhyNothingBegan(t *testing.T) {
	for want, construct := range map[string]func() error{
		"bad problem":      func() error { return errors.New("bad problem") },
		"panic: bad index": func() error { panic("bad index") },
	} {
		var progress recorder
		methods := Registry{"polk": {New: func(Problem) (Learner, error) { return nil, construct() }}}
		points, _, err := Calibrate(t.Context(), tinyPlan()[:1], CalibrateOptions{Epochs: 1,
			Options: Options{Methods: methods, Progress: &progress}})
		if !errors.Is(err, ErrRunsFailed) || len(points) != 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, %d points; want %q", err, len(points), want)
		}
		if n := progress.count(EventFail); n != 1 {
			t.Errorf("%d failures reported, want 1", n)
		}
	}
}

func TestCalibrateKeepsFinishedRunsWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	methods := fakes(func(f *fake) error {
		if f.steps == 1 {
			runs++
		}
		if runs == 3 && f.steps == 5 {
			cancel()
		}
		return nil
	})
	var progress recorder
	points, _, err := Calibrate(ctx, tinyPlan()[:2], CalibrateOptions{Epochs: 2, Parsimony: []float64{0.04, 0.01},
		Options: Options{Methods: methods, Workers: 1, Progress: &progress}})
	if !errors.Is(err, ErrInterrupted) || errors.Is(err, ErrRunsFailed) || !strings.Contains(err.Error(), "2 of 4 runs finished") {
		t.Errorf("error %v", err)
	}
	if len(points) != 2*2 || points[3].Epoch != 2 {
		t.Errorf("points %+v", points)
	}
	if progress.count(EventStop) != 1 || progress.count(EventFail) != 0 {
		t.Errorf("%d stops and %d failures reported, want 1 and 0", progress.count(EventStop), progress.count(EventFail))
	}
}

func TestNonsenseIsWrongUse(t *testing.T) {
	var errs []error
	for _, k := range []float64{math.NaN(), math.Inf(1), 0, -1} {
		_, _, err := Calibrate(t.Context(), tinyPlan(), CalibrateOptions{Parsimony: []float64{0.04, k}})
		errs = append(errs, err)
		if k != 0 { // the default
			_, err := Stream(t.Context(), StreamOptions{Results: t.TempDir(), Parsimony: k})
			errs = append(errs, err)
		}
	}
	_, _, err := Calibrate(t.Context(), tinyPlan(), CalibrateOptions{Epochs: -1})
	errs = append(errs, err)
	_, _, err = Calibrate(t.Context(), tinyPlan()[2:3], CalibrateOptions{}) // BSGD
	errs = append(errs, err)
	_, err = Stream(t.Context(), StreamOptions{Results: t.TempDir(), Samples: -1})
	errs = append(errs, err)
	_, err = Stream(t.Context(), StreamOptions{Results: t.TempDir(), Every: -1})
	errs = append(errs, err)
	for i, err := range errs {
		if ExitCode(err) != ExitUsage {
			t.Errorf("%d: error %v", i, err)
		}
	}
}

func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "points.csv")
	for range 2 { // not there, then there
		if err := CheckFile(path); err != nil {
			t.Error(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 1 {
			t.Errorf("left behind: %v, %v", entries, err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{dir, filepath.Join(dir, "none", "points.csv"), filepath.Join(path, "points.csv")} {
		if err := CheckFile(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func TestChoose(t *testing.T) {
	var points []CalibrationPoint
	for seed := range uint64(2) {
		for e, v := range []float64{0.10, 0.04, 0.0399, 0.0402} {
			points = append(points, CalibrationPoint{Spec: "s", Parsimony: 0.04, Seed: seed, Epoch: e + 1,
				ValidError: v + float64(seed)*0.02, ModelOrder: 10 + 2*int(seed)})
		}
	}
	choices := Choose(points, EpochRule{})
	if len(choices) != 1 {
		t.Fatalf("%d choices", len(choices))
	}
	c := choices[0]
	if c.Runs != 2 || c.Epochs != 2 || !c.Settled || c.Orders[0] != 11 {
		t.Errorf("choice %+v", c)
	}
	near(t, "mean error", c.Curve[0], 0.11, 1e-15)
}

func TestStream(t *testing.T) {
	results := t.TempDir()
	points, err := Stream(t.Context(), StreamOptions{Results: results, Samples: 5000, Every: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if len(points) != 5 {
		t.Fatalf("%d points, want 5", len(points))
	}
	for i, p := range points {
		if p.Samples < 1000*(i+1) || p.ModelOrder < 5 || p.ModelOrder > 40 || p.Heap == 0 || p.Throughput <= 0 || p.Error > 0.3 {
			t.Errorf("point %+v", p)
		}
	}
	if last := points[4]; last.Samples != 5000 || last.Error > 0.08 {
		t.Errorf("last point %+v", last)
	}
	b, err := os.ReadFile(filepath.Join(results, "stream.csv"))
	if err != nil || bytes.Count(b, []byte("\n")) != 6 {
		t.Errorf("stream.csv: %v\n%s", err, b)
	}
}
