package online

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	data "polkrepro/data/rows"
)

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func withChecksum(b []byte) []byte {
	sum := sha256.Sum256(b)
	return append(slices.Clone(b), sum[:]...)
}

// What can't be trained on names the source, the line and the cause.
func TestErrorsNameTheLine(t *testing.T) {
	good := "1,2,a\n3,4,b\n"
	tests := []struct{ name, text, want string }{
		{"empty", "", "no rows"},
		{"word", good + "5,x,a", `standard input: line 3: column 2: feature "x" is not a number`},
		{"short", good + "5,a\n7,8,a", "line 3: the row has 2 fields, want 3 like the first row"},
		{"no label", good + "5,6,\n7,8,a", "line 3: column 3: the label is missing"},
		{"one class", "1,2,a\n3,4,a", "classification needs two classes"},
		{"no spread", "1,2,a\n1,2,b\n1,2,a", "the first rows are all the same"},
		{"one column", "a\nb", "no features"},
		{"gzip", string(gzipped(t, strings.Repeat(good, 50))[:30]), "EOF"},
		{"new label", strings.Repeat(good, 500) + "1,2,c", `line 1001: label "c" is not one of the 2 classes`},
	}
	for _, tt := range tests {
		opt := options("multi-hinge", Source{Path: "-", Stdin: strings.NewReader(tt.text)})
		opt.Settings.Bandwidth = 0
		_, err := Train(context.Background(), opt)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	_, err := Train(context.Background(), options("squared-error", Source{Path: "-", Stdin: strings.NewReader(good)}))
	if err == nil || !strings.Contains(err.Error(), `line 1: column 3: label "a" is not a number`) {
		t.Errorf("regression on words: %v", err)
	}
}

// A feature that the head of a LIBSVM stream does not show is an error, unless
// the number of features is given; the model of the rows before is returned.
func TestLateFeature(t *testing.T) {
	text := strings.Repeat("+1 1:1 3:2\n-1 2:1\n", 600) + "1.0 5:1\n"
	opt := options("squared-hinge", Source{Path: "-", Stdin: strings.NewReader(text)})
	opt.Settings.Format = data.FormatLIBSVM
	m, err := Train(context.Background(), opt)
	if err == nil || !strings.Contains(err.Error(), "line 1201: the row has feature 5, want at most 3 features") || m == nil || m.Rows() != 1200 {
		t.Errorf("error %v", err)
	}
	opt.Source.Stdin, opt.Settings.Dim = strings.NewReader(text), 5
	opt.Settings.Scale = data.ScaleNone
	if m := mustTrain(t, opt); m.Rows() != 1201 || !slices.Equal(m.Settings().Labels, []string{"-1", "1"}) {
		t.Errorf("%d rows, labels %q", m.Rows(), m.Settings().Labels)
	}
}

// A stream that is stopped while it is silent leaves a model that goes on as if
// it had never stopped.
func TestStopWhileWaiting(t *testing.T) {
	rows := table(1500, "multi-logistic", 6)
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	opt := options("multi-logistic", Source{Path: "-", Stdin: r})
	go func() {
		io.WriteString(w, strings.Join(rows[:1200], "\n")+"\n")
	}()
	opt.Progress = func(m *Model, _ Prequential) {
		if m.Rows() >= 1000 {
			cancel()
		}
	}
	half, err := Train(ctx, opt)
	if !errors.Is(err, ErrStopped) || half == nil || half.Rows() < 1000 {
		t.Fatalf("stopped with %v", err)
	}
	rest := options("multi-logistic", stream(rows[half.Rows():]))
	rest.Resume = reread(t, half)
	whole := mustTrain(t, options("multi-logistic", stream(rows)))
	if !bytes.Equal(saved(t, mustTrain(t, rest)), saved(t, whole)) {
		t.Error("another model than without the interruption")
	}
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	if m, err := Train(ctx, options("multi-logistic", Source{Path: "-", Stdin: r})); m != nil || !errors.Is(err, ErrStopped) {
		t.Errorf("stopped before the first row: %v", err)
	}
	w.Close()
}

// Every loss learns what there is to learn, and Evaluate says so.
func TestModelsLearn(t *testing.T) {
	for name := range labelsOf {
		opt := options(name, stream(table(3000, name, 7)))
		opt.Settings.Parsimony = 0.01
		opt.Settings.Bandwidth = 0.2
		m := mustTrain(t, opt)
		e, err := m.Evaluate(context.Background(), stream(table(1000, name, 8)), data.FormatCSV)
		if err != nil {
			t.Fatal(err)
		}
		if m.Regression() && !(e.R2 > 0.8) || !m.Regression() && !(e.ErrorRate < 0.1) || e.Rows != 1000 {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// A polynomial kernel of degree 2 learns a quadric, and of degree 1 a plane,
// which is not enough for the quadric.
func TestPolynomialsLearn(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 0))
	var plane, quadric []string
	for range 2000 {
		x, y := 10*rng.Float64(), rng.Float64()
		plane = append(plane, fmt.Sprintf("%.4f,%.4f,%.4f", x, y, 7-2*x+5*y))
		quadric = append(quadric, fmt.Sprintf("%.4f,%.4f,%.4f", x, y, 7-2*x*y+x*x))
	}
	for _, tt := range []struct {
		degree   int
		rows     []string
		from, to float64 // of R²
	}{{1, plane, 0.99, 1}, {2, quadric, 0.97, 1}, {1, quadric, 0, 0.95}} {
		opt := options("squared-error", stream(slices.Repeat(tt.rows, 20)))
		opt.Settings.Kernel, opt.Settings.Offset, opt.Settings.Degree, opt.Settings.Parsimony = KernelPolynomial, 1, tt.degree, 0
		m := mustTrain(t, opt)
		e, err := m.Evaluate(context.Background(), stream(tt.rows), data.FormatCSV)
		if err != nil || !(e.R2 >= tt.from && e.R2 <= tt.to) {
			t.Errorf("degree %d: %+v, %v", tt.degree, e, err)
		}
	}
}

// Evaluate agrees with sums over Predict's output.
func TestEvaluateIsAboutThePredictions(t *testing.T) {
	for name := range labelsOf {
		m := mustTrain(t, options(name, stream(table(600, name, 9))))
		rows := table(500, name, 10)
		e, err := m.Evaluate(context.Background(), stream(rows), data.FormatCSV)
		if err != nil {
			t.Fatal(err)
		}
		var wrong, squares, sum, sum2 float64
		for i, p := range strings.Fields(predictions(t, m, rows)) {
			label := rows[i][strings.LastIndexByte(rows[i], ',')+1:]
			if !m.Regression() {
				if p != label {
					wrong++
				}
				continue
			}
			a, _ := number(p)
			b, _ := number(label)
			squares, sum, sum2 = squares+(a-b)*(a-b), sum+b, sum2+b*b
		}
		n := float64(len(rows))
		if e.ErrorRate != wrong/n {
			t.Errorf("%s: error %v, want %v", name, e.ErrorRate, wrong/n)
		}
		if m.Regression() {
			r2 := 1 - squares/(sum2-sum*sum/n)
			if math.Abs(e.RMSE-math.Sqrt(squares/n)) > 1e-9*e.RMSE || math.Abs(e.R2-r2) > 1e-9 {
				t.Errorf("%+v, want RMSE %v, R² %v", e, math.Sqrt(squares/n), r2)
			}
		}
	}
}

// Probabilities are of all classes, sum to 1, and the largest is the prediction's.
func TestProbabilities(t *testing.T) {
	for _, name := range []string{"multi-logistic", "binary-logistic"} {
		m := mustTrain(t, options(name, stream(table(500, name, 11))))
		var b bytes.Buffer
		if err := m.Predict(context.Background(), stream(table(50, name, 12)), data.FormatCSV, true, &b); err != nil {
			t.Fatal(err)
		}
		lines := strings.Fields(b.String())
		labels := strings.Split(lines[0], ",")[1:]
		if !slices.Equal(labels, labelsOf[name]) || len(lines) != 51 {
			t.Fatalf("header %q and %d lines", lines[0], len(lines))
		}
		for _, line := range lines[1:] {
			fields := strings.Split(line, ",")
			var sum, largest float64
			var best string
			for c, text := range fields[1:] {
				p, _ := number(text)
				if sum += p; p > largest {
					largest, best = p, labels[c]
				}
			}
			if math.Abs(sum-1) > 1e-5 || best != fields[0] {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
	m := mustTrain(t, options("multi-hinge", stream(table(50, "multi-hinge", 1))))
	if err := m.Predict(context.Background(), stream(nil), data.FormatCSV, true, io.Discard); err == nil {
		t.Error("a hinge model has probabilities")
	}
}

// The median distance is that of all pairs.
func TestMedianDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float32Range(-3, 3), 4, 40).Draw(t, "x")
		n := len(x) / 2
		var d []float64
		for i := range n {
			for j := range i {
				d = append(d, math.Hypot(float64(x[2*i])-float64(x[2*j]), float64(x[2*i+1])-float64(x[2*j+1])))
			}
		}
		slices.Sort(d)
		want := d[len(d)/2]
		if got := MedianDistance(n, 2, x); want > 0 && math.Abs(got-want) > 1e-9*want {
			t.Fatalf("%v, want %v", got, want)
		}
	})
	if got := MedianDistance(3, 1, []float32{1, 1, 1}); got != 0 {
		t.Errorf("%v for rows that are the same", got)
	}
	if got := MedianDistance(4, 1, []float32{1, 1, 1, 3}); got != 2 {
		t.Errorf("%v, want the median of the distances that are not 0", got)
	}
}

// Standard scaling gives mean 0 and standard deviation 1, and a feature that
// does not vary the value 0.
func TestStandardScaling(t *testing.T) {
	rows := make([]data.Row, 4)
	for i, v := range []float64{1, 2, 3, 6} {
		rows[i] = data.Row{Values: []float64{v, 7}, Dim: 2}
	}
	e, err := data.Fit(rows, 2, data.ScaleStandard, new(data.Labels))
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float32, 8)
	for i := range rows {
		if err := e.Scaling.Apply(x[2*i:2*i+2], rows[i].Values); err != nil {
			t.Fatal(err)
		}
	}
	var sum, sum2 float64
	for i := 0; i < len(x); i += 2 {
		sum, sum2 = sum+float64(x[i]), sum2+float64(x[i])*float64(x[i])
		if x[i+1] != 0 {
			t.Errorf("constant feature became %v", x[i+1])
		}
	}
	if e.Constant != 1 || math.Abs(sum) > 1e-6 || math.Abs(sum2/4-1) > 1e-6 {
		t.Errorf("%d constant, sum %v, mean square %v", e.Constant, sum, sum2/4)
	}
}
