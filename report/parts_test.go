package report

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
	"polkrepro/record"
	"polkrepro/report/plot"
	"polkrepro/spec"
)

// diagnosed returns the fixture with the diagnostics that runs record: times, norms, prequential
// losses and errors, and reliabilities.
func diagnosed() Input {
	in := fixtureInput()
	for _, p := range in.Planned {
		r := in.Records[p.ID]
		r.Points = r.Points[len(r.Points)-1:] // a batch method has one point
		if !p.Run.Batch() {
			all := fixtureInput().Records[p.ID].Points
			r.Points = all[1:] // nothing has been tested at 0 samples
		}
		r.Header.Run.Params.Regularizer = 1e-6
		for i := range r.Points {
			q := &r.Points[i]
			q.Timing.CPU = 1e-4 * float64(q.Samples)
			q.NormSq = new(100.0)
			if !p.Run.Batch() {
				q.Prequential = &record.Prequential{Loss: q.TrainRisk + 0.05, Error: q.TestError}
			}
		}
		r.Final.NormSq = new(100.0)
		if p.Run.Task == spec.TaskKLR {
			bins := make([]record.Bin, record.ReliabilityBins)
			bins[7] = record.Bin{Count: 50, Confidence: 0.5, Accuracy: 0.25}
			bins[14] = record.Bin{Count: 150, Confidence: 0.95, Accuracy: 1}
			bins[3] = record.Bin{Count: 3, Confidence: 0.25, Accuracy: 1}
			r.Final.Reliability = &record.Reliability{LogLoss: 0.2, CalibrationError: 0.1, Bins: bins}
		}
	}
	return in
}

// TestParts checks the figures that the paper does not have, for records with the values that they
// show and for older records without.
func TestParts(t *testing.T) {
	names := func(r *Report) (out []string) {
		for _, s := range r.Parts {
			for _, f := range s.Figures {
				out = append(out, s.ID+"/"+f.Name)
			}
		}
		return out
	}
	r := built(diagnosed())
	want := []string{
		"online/online-multidist-ksvm", "online/online-multidist-klr", "online/online-mnist-ksvm", "online/online-mnist-klr",
		"confidence/confidence-mnist", "confidence/confidence-multidist", "error-and-size/sizes",
	}
	if got := names(r); !slices.Equal(got, want) {
		t.Errorf("figures %q, want %q", got, want)
	}
	for _, s := range r.Parts {
		for _, f := range s.Figures {
			if svg, err := f.SVG(); err != nil || !bytes.Contains(svg, []byte("<svg")) {
				t.Errorf("%s: %v", f.Name, err)
			}
			if rows := testutil.Rows(t, []byte(f.CSV())); len(rows) == 0 || slices.ContainsFunc(rows, func(row map[string]string) bool { return row["series"] == "" || row["panel"] == "" }) {
				t.Errorf("%s: %d points", f.Name, len(rows))
			}
		}
	}
	for name, want := range map[string]string{"online-multidist-ksvm": "the minimum is at most 1.5 % below it", "online-mnist-ksvm": "The regret is not shown"} {
		if f := figureNamed(t, r, name); !strings.Contains(f.Caption, want) {
			t.Errorf("%s: no %q in %s", name, want, f.Caption)
		}
	}
	if got := names(built(fixtureInput())); !slices.Equal(got, want[len(want)-1:]) { // it needs the final values alone
		t.Errorf("records of before: %q", got)
	}
}

// TestOwnParts checks that the user's own specs have a figure of online learning for each of their
// data sets and tasks.
func TestOwnParts(t *testing.T) {
	in := diagnosed()
	in.Own = "own"
	r := own(in)
	if len(r.Parts) != 1 || r.Parts[0].ID != "online" || len(r.Parts[0].Figures) < 4 || r.Parts[0].Figures[0].Name != "own-online1" {
		t.Errorf("%+v", r.Parts)
	}
	in = fixtureInput()
	in.Own = "own"
	if r := own(in); len(r.Parts) > 0 {
		t.Errorf("records of before: %+v", r.Parts)
	}
}

// TestRegrets compares regrets with values computed by hand. A regret is against the run of L-BFGS
// on the same data that is nearest its minimum.
func TestRegrets(t *testing.T) {
	r := &record.Record{Points: []record.Point{
		{Samples: 10, Diagnostics: record.Diagnostics{NormSq: new(4.0), Prequential: &record.Prequential{Loss: 1}}},
		{Samples: 20, Diagnostics: record.Diagnostics{NormSq: new(8.0), Prequential: &record.Prequential{Loss: 0.5}}},
	}}
	r.Header.Run.Params.Regularizer = 0.5
	if got, want := regrets(r, 0.25), []float64{7.5 + 0.25*20, 5 + 0.25*(20+60)}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	star := &record.Record{Final: record.Final{Health: map[string]float64{"objective": 0.25, "gap": 0.01}}}
	star.Header.Run.Params.Regularizer = 0.5
	other := &record.Record{Final: record.Final{Health: map[string]float64{"objective": 0.1, "gap": 0}}}
	other.Header.Run.Data.Draw = 7
	if curve, off := regretCurve(&Series{Runs: []*record.Record{r}}, []*record.Record{other}); len(curve) > 0 || off >= 0 {
		t.Errorf("regret against the minimizer on other data: %v", curve)
	}
	early := &record.Record{Final: record.Final{Health: map[string]float64{"objective": 0.75, "gap": 0.5}}}
	early.Header.Run.Params.Regularizer = 0.5
	curve, off := regretCurve(&Series{Runs: []*record.Record{r}}, []*record.Record{other, early, star})
	if want := []plot.Sample{{X: 10, Mean: 12.5, Low: 12.5, High: 12.6}, {X: 20, Mean: 25, Low: 25, High: 25.2}}; !slices.Equal(curve, want) {
		t.Errorf("curve %v, want %v", curve, want)
	}
	if off != 0.04 {
		t.Errorf("the minimum is %v below, want 0.04", off)
	}
	root, ok := rootLine(&plot.Panel{LogX: true, XMin: 10, XMax: 20, Traces: []plot.Trace{{Curve: curve}}})
	if !ok || root.Curve[0].Mean != 12.5 || !(math.Abs(root.Curve[1].Mean-12.5*math.Sqrt2) <= 1e-12) {
		t.Errorf("line of slope 1/2: %+v, %t", root, ok)
	}
	if _, ok := rootLine(&plot.Panel{LogX: true, XMin: 10, XMax: 20, Traces: []plot.Trace{{Curve: []plot.Sample{plot.Single(10, -1)}}}}); ok {
		t.Error("a line below no curve")
	}
}
