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
		var absolute, squares, sum, sum2, wrong, logLoss float64
		confusion := make(map[[2]string]int)
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
			logLoss -= math.Log(p[slices.Index(labels, label)])
			if !near(all, 1) || p[slices.Index(labels, given)] != slices.Max(p) {
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
		if probable && !(math.Abs(float64(e.LogLoss)-logLoss/n) <= 1e-4) || !probable && !math.IsNaN(float64(e.LogLoss)) {
			t.Errorf("%s: log-loss %v, want %v", name, e.LogLoss, logLoss/n)
		}
	}
	m := mustTrain(t, options("multi-hinge", stream(table(50, "multi-hinge", 1))))
	if err := m.Predict(context.Background(), stream(nil), rows.FormatCSV, true, io.Discard); err == nil {
		t.Error("a hinge model has probabilities")
	}
}
