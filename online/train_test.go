package online

import (
	"context"
	"crypto/sha256"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/data/rows"
)

func withChecksum(b []byte) []byte {
	sum := sha256.Sum256(b)
	return append(slices.Clone(b), sum[:]...)
}

// The error for invalid input names the source, the line and the cause.
func TestErrorsNameTheLine(t *testing.T) {
	good := "1,2,a\n3,4,b\n"
	tests := []struct {
		name, loss, text, want string
		bandwidth              float64
	}{
		{"empty", "multi-hinge", "", "no rows", 0},
		{"word", "multi-hinge", good + "5,x,a", `standard input: line 3: column 2: feature "x" is not a number`, 0},
		{"no spread", "multi-hinge", "1,2,a\n1,2,b\n1,2,a", "the first rows are all the same", 0},
		{"control characters", "multi-hinge", "1,2,a\n3,4,\x1b[2J\n5,6,a", `"\x1b[2J" has control or invisible characters`, 0},
		{"new label", "multi-hinge", strings.Repeat(good, 500) + "1,2,c", `line 1001: label "c" is not one of the 2 classes`, 0},
		{"regression on words", "squared-error", good, `line 1: column 3: label "a" is not a number`, 0},
		{"a narrow kernel", "multi-hinge", good + good, "want a bandwidth between", 1e-200},
		{"a wide kernel", "multi-hinge", good + good, "want a bandwidth between", 1e200},
	}
	for _, tt := range tests {
		opt := options(tt.loss, Source{Path: "-", Stdin: strings.NewReader(tt.text)})
		opt.Settings.Bandwidth = tt.bandwidth
		_, err := Train(context.Background(), opt)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// A feature that does not occur in the head of a LIBSVM stream is an error, unless the number of
// features is given. Train returns the model of the rows before it.
func TestLateFeature(t *testing.T) {
	text := strings.Repeat("+1 1:1 3:2\n-1 2:1\n", 600) + "1.0 5:1\n"
	opt := options("squared-hinge", Source{Path: "-", Stdin: strings.NewReader(text)})
	opt.Settings.Format = rows.FormatLIBSVM
	m, err := Train(context.Background(), opt)
	if err == nil || !strings.Contains(err.Error(), "line 1201: the row has feature 5, want at most 3 features") || m == nil || m.Rows() != 1200 {
		t.Errorf("error %v", err)
	}
	opt.Source.Stdin, opt.Settings.Dim = strings.NewReader(text), 5
	opt.Settings.Scale = rows.ScaleNone
	if m := mustTrain(t, opt); m.Rows() != 1201 || !slices.Equal(m.Settings().Labels, []string{"-1", "1"}) {
		t.Errorf("%d rows, labels %q", m.Rows(), m.Settings().Labels)
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
		if got := MedianDistance(n, 2, x); want > 0 && !(math.Abs(got-want) <= 1e-9*want) {
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
