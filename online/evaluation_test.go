package online

import (
	"bytes"
	"context"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"polkrepro/data/rows"
	"polkrepro/internal/testutil"
	"polkrepro/internal/words"
)

// The results of Evaluate equal counts over the predictions, their probabilities and the labels.
func TestEvaluationIsAboutThePredictions(t *testing.T) {
	const n = 700
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-5*max(1, math.Abs(b)) }
	for name, labels := range labelsOf {
		m := mustTrain(t, options(name, stream(table(600, name, 41))))
		input := table(n, name, 42)
		e := evaluation(t, m, input)
		probable := strings.HasSuffix(name, "logistic")
		var b bytes.Buffer
		testutil.NoError(t, m.Predict(context.Background(), stream(input), rows.FormatCSV, probable, &b))
		lines := strings.Fields(b.String())
		if probable {
			lines = lines[1:] // after the header
		}
		var absolute, squares, sum, sum2, wrong, logLoss, expected float64
		confusion, bins := make(map[[2]string]int), make([][3]float64, calibrationBins) // rows, confidences, hits
		for i, line := range lines {
			fields := strings.Split(line, ",")
			label, given := input[i][strings.LastIndexByte(input[i], ',')+1:], fields[0]
			if m.Regression() {
				a, _ := number(given)
				b, _ := number(label)
				absolute, squares, sum, sum2 = absolute+math.Abs(a-b), squares+(a-b)*(a-b), sum+b, sum2+b*b
				continue
			}
			confusion[[2]string{label, given}]++
			if label != given {
				wrong++
			}
			if !probable {
				continue
			}
			all, p := 0.0, make([]float64, len(labels))
			for c, text := range fields[1:] {
				p[c], _ = number(text)
				all += p[c]
			}
			confidence := p[slices.Index(labels, given)]
			logLoss -= math.Log(p[slices.Index(labels, label)])
			bin := &bins[min(int(10*confidence), 9)]
			bin[0]++
			bin[1] += confidence
			if label == given {
				bin[2]++
			}
			if !near(all, 1) || confidence != slices.Max(p) {
				t.Errorf("%s: %s", name, line)
			}
		}
		if (e.Regression != nil) != m.Regression() || (e.Classification != nil) == m.Regression() {
			t.Fatalf("%s: %+v", name, e)
		}
		if m.Regression() {
			r2 := 1 - squares/(sum2-sum*sum/n)
			if !near(float64(e.MAE), absolute/n) || !near(float64(e.RMSE), math.Sqrt(squares/n)) || !near(float64(e.R2), r2) {
				t.Errorf("%s: %+v, want MAE %v, RMSE %v, R² %v", name, *e.Regression, absolute/n, math.Sqrt(squares/n), r2)
			}
			continue
		}
		if float64(e.Error) != wrong/n {
			t.Errorf("%s: error %v, want %v", name, e.Error, wrong/n)
		}
		for i, label := range labels {
			want := Class{Label: label}
			for j, given := range labels {
				n := confusion[[2]string{label, given}]
				if e.Confusion[i][j] != n {
					t.Errorf("%s: %d rows of %s given %s, want %d", name, e.Confusion[i][j], label, given, n)
				}
				want.Rows += n
				want.Predicted += confusion[[2]string{given, label}]
			}
			want.Correct = confusion[[2]string{label, label}]
			want.Recall = words.Nullable(float64(want.Correct) / float64(want.Rows))
			want.Precision = words.Nullable(float64(want.Correct) / float64(want.Predicted))
			if got := e.Classes[i]; got != want {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
		if !probable {
			if !math.IsNaN(float64(e.LogLoss)) || e.Calibration != nil {
				t.Errorf("%s: log-loss %v, calibration %v", name, e.LogLoss, e.Calibration)
			}
			continue
		}
		for i, bin := range bins {
			got := e.Calibration.Bins[i]
			if got.From != float64(i)/10 || got.To != float64(i+1)/10 || got.Rows != int(bin[0]) ||
				bin[0] == 0 && !math.IsNaN(float64(got.Accuracy)) || bin[0] > 0 && (!near(float64(got.Confidence), bin[1]/bin[0]) || float64(got.Accuracy) != bin[2]/bin[0]) {
				t.Errorf("%s: bin %+v, want %v rows, confidence %v, accuracy %v", name, got, bin[0], bin[1]/bin[0], bin[2]/bin[0])
			}
			expected += math.Abs(bin[2]-bin[1]) / n
		}
		if !(math.Abs(float64(e.LogLoss)-logLoss/n) <= 1e-4) || !near(float64(e.Calibration.Error), expected) || expected == 0 {
			t.Errorf("%s: log-loss %v and calibration error %v, want %v and %v", name, e.LogLoss, e.Calibration.Error, logLoss/n, expected)
		}
	}
	m := mustTrain(t, options("multi-hinge", stream(table(50, "multi-hinge", 1))))
	if err := m.Predict(context.Background(), stream(nil), rows.FormatCSV, true, io.Discard); err == nil {
		t.Error("a hinge model has probabilities")
	}
}
