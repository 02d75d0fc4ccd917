package online

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	data "polkrepro/data/rows"
	"polkrepro/loss"
)

// What Evaluate counts is what a count over the predictions, their probabilities
// and the labels gives.
func TestEvaluationIsAboutThePredictions(t *testing.T) {
	for name, labels := range labelsOf {
		m := mustTrain(t, options(name, stream(table(600, name, 41))))
		rows := table(700, name, 42)
		e, err := m.Evaluate(context.Background(), stream(rows), data.FormatCSV)
		if err != nil {
			t.Fatal(err)
		}
		if m.Regression() {
			var absolute float64
			for i, p := range strings.Fields(predictions(t, m, rows)) {
				a, _ := number(p)
				b, _ := number(rows[i][strings.LastIndexByte(rows[i], ',')+1:])
				absolute += math.Abs(a - b)
			}
			if math.Abs(e.MAE-absolute/700) > 1e-9*e.MAE || e.Confusion != nil || e.Calibration != nil || !math.IsNaN(e.LogLoss) {
				t.Errorf("%s: %+v, want MAE %v", name, e, absolute/700)
			}
			continue
		}
		probable := strings.HasSuffix(name, "logistic")
		confusion := make(map[[2]string]int)
		logLoss, bins := 0.0, make([][3]float64, CalibrationBins) // rows, confidences, hits
		var b bytes.Buffer
		if err := m.Predict(context.Background(), stream(rows), data.FormatCSV, probable, &b); err != nil {
			t.Fatal(err)
		}
		lines := strings.Fields(b.String())
		if probable {
			lines = lines[1:]
		}
		for i, line := range lines {
			fields := strings.Split(line, ",")
			label, given := rows[i][strings.LastIndexByte(rows[i], ',')+1:], fields[0]
			confusion[[2]string{label, given}]++
			if !probable {
				continue
			}
			p, _ := number(fields[1+slices.Index(labels, label)])
			logLoss -= math.Log(p)
			confidence, _ := number(fields[1+slices.Index(labels, given)])
			bin := &bins[min(int(10*confidence), 9)]
			bin[0]++
			bin[1] += confidence
			if label == given {
				bin[2]++
			}
		}
		for i, label := range labels {
			var class ClassResult
			class.Label = label
			for j, given := range labels {
				n := confusion[[2]string{label, given}]
				if e.Confusion[i][j] != n {
					t.Errorf("%s: %d rows of %s given %s, want %d", name, e.Confusion[i][j], label, given, n)
				}
				class.Rows += n
				class.Predicted += confusion[[2]string{given, label}]
			}
			class.Correct = confusion[[2]string{label, label}]
			if got := e.Classes()[i]; got != class {
				t.Errorf("%s: %+v, want %+v", name, got, class)
			}
			if r, p := class.Recall(), class.Precision(); r != float64(class.Correct)/float64(class.Rows) || p != float64(class.Correct)/float64(class.Predicted) {
				t.Errorf("%s: recall %v and precision %v of %+v", name, r, p, class)
			}
		}
		if !probable {
			if !math.IsNaN(e.LogLoss) || !math.IsNaN(e.CalibrationError) || e.Calibration != nil {
				t.Errorf("%s: log-loss %v, calibration %v", name, e.LogLoss, e.Calibration)
			}
			continue
		}
		var expected float64
		for i, bin := range bins {
			got := e.Calibration[i]
			if got.From != float64(i)/10 || got.To != float64(i+1)/10 || got.Rows != int(bin[0]) {
				t.Errorf("%s: bin %+v, want %v rows", name, got, bin[0])
			}
			if bin[0] == 0 {
				continue
			}
			expected += math.Abs(bin[2]-bin[1]) / 700
			if math.Abs(got.Confidence-bin[1]/bin[0]) > 1e-5 || got.Accuracy != bin[2]/bin[0] {
				t.Errorf("%s: bin %+v, want confidence %v and accuracy %v", name, got, bin[1]/bin[0], bin[2]/bin[0])
			}
		}
		if math.Abs(e.LogLoss-logLoss/700) > 1e-4 || math.Abs(e.CalibrationError-expected) > 1e-5 || expected == 0 {
			t.Errorf("%s: log-loss %v and calibration error %v, want %v and %v", name, e.LogLoss, e.CalibrationError, logLoss/700, expected)
		}
	}
}

// A known case: of four rows with confidences 0.95, 0.95, 0.65 and 0.55, the first
// three are right.
func TestCalibration(t *testing.T) {
	l, err := loss.ByName("binary-logistic")
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{settings: Settings{Loss: "binary-logistic", Labels: []string{"no", "yes"}}, loss: l}
	ev := evaluator{m: m, tally: newTally(2)}
	for _, row := range []struct{ p, y float64 }{{0.95, 1}, {0.05, -1}, {0.65, 1}, {0.55, -1}} {
		f := []float64{math.Log(row.p / (1 - row.p))}
		ev.n++
		ev.tally.add(m.classOf(row.y), m.class(f), l, f, l.Value(f, row.y))
	}
	e := ev.result()
	want := -(2*math.Log(0.95) + math.Log(0.65) + math.Log(0.45)) / 4
	if math.Abs(e.LogLoss-want) > 1e-12 || math.Abs(e.CalibrationError-(0.1+0.35+0.55)/4) > 1e-12 {
		t.Errorf("log-loss %v and calibration error %v", e.LogLoss, e.CalibrationError)
	}
	if !reflect.DeepEqual(e.Confusion, [][]int{{1, 1}, {0, 2}}) || e.Calibration[9].Rows != 2 || !math.IsNaN(e.Calibration[0].Accuracy) {
		t.Errorf("%+v", e)
	}
}
