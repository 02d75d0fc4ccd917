package online

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/data/rows"
	"polkrepro/internal/hostile"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
	"polkrepro/polk/prune"
)

// labelsOf has the labels of each loss's table.
var labelsOf = map[string][]string{
	"multi-hinge": {"elm", "oak", "pine"}, "multi-logistic": {"-3", "7", "40"},
	"binary-logistic": {"no", "yes"}, "squared-hinge": {"-1", "1"}, "squared-error": nil,
}

// table returns n rows of a CSV file with the label last: clusters in the
// plane, or the height of a surface.
func table(n int, name string, seed uint64) []string {
	rng := rand.New(rand.NewPCG(seed, 0))
	labels := labelsOf[name]
	rows := make([]string, n)
	for i := range rows {
		x, y := 4*rng.Float64(), 4*rng.Float64()
		label := fmt.Sprintf("%.4f", 100+20*math.Sin(2*x)*y+rng.NormFloat64())
		if labels != nil {
			label = labels[int(x)%len(labels)]
		}
		rows[i] = fmt.Sprintf("%.4f,%.4f,%s", x, y, label)
	}
	return rows
}

func stream(rows []string) Source {
	return Source{Path: "-", Stdin: strings.NewReader(strings.Join(rows, "\n"))}
}

// options returns options to train on rows of a table.
func options(name string, src Source) TrainOptions {
	return TrainOptions{
		Source:   src,
		Settings: Settings{Loss: name, Format: rows.FormatCSV, LabelColumn: -1, Parsimony: 0.05, Bandwidth: 0.3},
	}
}

func mustTrain(t testing.TB, opt TrainOptions) *Model {
	t.Helper()
	m, err := Train(context.Background(), opt)
	testutil.NoError(t, err)
	return m
}

func saved(t testing.TB, m *Model) []byte {
	t.Helper()
	var b bytes.Buffer
	testutil.NoError(t, m.Save(&b))
	return b.Bytes()
}

func reread(t testing.TB, m *Model) *Model {
	t.Helper()
	out, err := Read(bytes.NewReader(saved(t, m)))
	testutil.NoError(t, err)
	return out
}

// A model equals that of polk.Learner on the same scaled rows in the same mini-batches, bit for
// bit.
func TestModelIsTheLearner(t *testing.T) {
	for name := range labelsOf {
		rows := table(4200, name, 1)
		m := mustTrain(t, options(name, stream(rows)))
		set := m.Settings()
		l, err := loss.ByName(name)
		testutil.NoError(t, err)
		learner, err := polk.New(polk.Config{Kernel: kernel.Gaussian{Bandwidth: set.Bandwidth}, Loss: l, Classes: len(set.Labels), Dim: 2,
			Regularizer: set.Regularizer, LearningRate: polk.Constant(set.LearningRate), Budget: polk.Parsimony(set.Parsimony)})
		testutil.NoError(t, err)
		x, y := unitRows(t, rows, labelsOf[name], set)
		for lo := 0; lo < len(y); lo += set.Batch {
			n := min(set.Batch, len(y)-lo)
			if _, err := learner.Step(t.Context(), n, x[2*lo:], y[lo:]); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := m.f, learner.Expansion(); !slices.Equal(got.W, want.W) || got.Order() == 0 {
			t.Errorf("%s: weights %v, the learner has %v", name, got.W, want.W)
		}
	}
}

// unitRows scales rows to the unit interval by the first 1,000, and converts their labels to
// targets, in the simplest way.
func unitRows(t *testing.T, rows, labels []string, set Settings) (x []float32, y []float64) {
	raw := make([][3]float64, len(rows))
	least, most := [2]float64{9, 9}, [2]float64{-9, -9}
	var sum, sum2 float64
	for i, row := range rows {
		f := strings.Split(row, ",")
		for q, text := range f {
			if q < 2 || labels == nil {
				fmt.Sscan(text, &raw[i][q])
			}
			if q < 2 && i < headRows {
				least[q], most[q] = min(least[q], raw[i][q]), max(most[q], raw[i][q])
			}
		}
		if labels != nil {
			class := slices.Index(labels, f[2])
			raw[i][2] = float64(class)
			if l, _ := loss.ByName(set.Loss); l.Outputs(3) == 1 {
				raw[i][2] = float64(2*class - 1)
			}
		} else if i < headRows {
			sum, sum2 = sum+raw[i][2], sum2+raw[i][2]*raw[i][2]
		}
	}
	if labels == nil {
		mean := sum / headRows
		dev := math.Sqrt(sum2/headRows - mean*mean)
		if !(math.Abs(set.TargetShift-mean) <= 1e-9*mean) || !(math.Abs(1/set.TargetFactor-dev) <= 1e-9*dev) {
			t.Errorf("targets are scaled by %v and %v, want %v and 1/%v", set.TargetShift, set.TargetFactor, mean, dev)
		}
	}
	for _, r := range raw {
		for q := range 2 {
			x = append(x, float32((r[q]-least[q])*(1/(most[q]-least[q]))))
		}
		y = append(y, r[2])
		if labels == nil {
			y[len(y)-1] = (r[2] - set.TargetShift) * set.TargetFactor
		}
	}
	return x, y
}

// A saved model predicts as it did before, whether it is read to resume training or only for
// prediction.
func TestSavedModelPredictsTheSame(t *testing.T) {
	removed := false // whether the last mini-batch, which is not full, removed elements that training resumes from
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom([]string{"multi-hinge", "multi-logistic", "binary-logistic", "squared-hinge", "squared-error"}).Draw(rt, "loss")
		lines := table(rapid.IntRange(40, 150).Draw(rt, "rows"), name, rapid.Uint64().Draw(rt, "seed"))
		opt := options(name, stream(lines))
		opt.Settings.Batch = rapid.IntRange(1, 50).Draw(rt, "batch")
		opt.Settings.Scale = rows.Scale(rapid.SampledFrom(rows.Scales()).Draw(rt, "scale"))
		if opt.Settings.Pruner = rapid.SampledFrom([]string{"", "none", "oldest", "komp-loss"}).Draw(rt, "pruner"); len(opt.Settings.Pruner) > 4 {
			opt.Settings.PrunerParams = prune.Params{"order": 7}
		}
		if opt.Settings.Scale == rows.ScaleNone {
			opt.Settings.LearningRate = 1e-4 // targets of 100
		}
		m := mustTrain(t, opt)
		removed = removed || m.before != nil && slices.Contains(m.before.places, elsewhere)
		again := reread(t, m)
		if err := again.Finish(); err != nil {
			rt.Fatal(err)
		}
		alone, err := ReadForPrediction(bytes.NewReader(saved(t, m)))
		if err != nil || !bytes.Equal(saved(t, again), saved(t, m)) {
			rt.Fatalf("read and finished, it is another one, or %v", err)
		}
		want := predictions(t, m, lines)
		for _, other := range []*Model{again, alone} {
			if got := predictions(t, other, lines); got != want || strings.Count(got, "\n") != len(lines) || other.Order() != m.Order() || other.Rows() != m.Rows() {
				rt.Fatalf("predictions differ: %.200q and %.200q", want, got)
			}
		}
	})
	if !removed {
		t.Error("no elements were removed last")
	}
}

func predictions(t testing.TB, m *Model, lines []string) string {
	t.Helper()
	var b bytes.Buffer
	testutil.NoError(t, m.Predict(context.Background(), stream(lines), rows.FormatCSV, false, &b))
	return b.String()
}

// A wrong checksum alone makes a file invalid, however it is read. TestRefused of package modelfile
// corrupts every bit of a file, and truncates it everywhere.
func TestDamagedModelIsRefused(t *testing.T) {
	bad := saved(t, mustTrain(t, options("multi-logistic", stream(table(70, "multi-logistic", 3)))))
	_, payload := hostile.Parts(bad)
	payload[0] ^= 1 // of the first feature's shift, which is another number then
	for how, read := range map[string]func(io.Reader) (*Model, error){"to go on": Read, "for prediction": ReadForPrediction} {
		if _, err := read(bytes.NewReader(bad)); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "SHA-256") {
			t.Errorf("%s: %v", how, err)
		}
	}
}

// FuzzRead checks that, whatever the bytes, Read returns an error or a model that works. It
// corrects the checksum, because otherwise Read would never get beyond it.
func FuzzRead(f *testing.F) {
	for name := range labelsOf {
		b := saved(f, mustTrain(f, options(name, stream(table(70, name, 3)))))
		f.Add(b[:len(b)-32])
	}
	opt := options("multi-hinge", stream(table(70, "multi-hinge", 3)))
	opt.Settings.Pruner, opt.Settings.PrunerParams = "komp-loss", prune.Params{"order": 5}
	m := mustTrain(f, opt)
	m.checkpoint = &checkpoint{Epochs: 3, Pass: 1, Rows: 7, Sum: "0a", Header: rows.HeaderYes}
	m.names = &rows.Names{Label: "tree", Features: "0b"}
	b := saved(f, m)
	f.Add(b[:len(b)-32])
	opt = options("multi-hinge", stream(weighed(table(70, "multi-hinge", 3), func(i int) any { return 1 + i%3 })))
	opt.Settings.Weights.Number = 3
	b = saved(f, mustTrain(f, opt))
	f.Add(b[:len(b)-32])
	var p bytes.Buffer
	testutil.NoError(f, m.SaveForPrediction(&p))
	f.Add(p.Bytes()[:p.Len()-32])
	f.Fuzz(func(t *testing.T, b []byte) {
		b = withChecksum(b)
		if m, err := ReadForPrediction(bytes.NewReader(b)); err == nil && m.Order() < 0 {
			t.Error("for prediction: a negative order")
		}
		var m *Model
		var err error
		hostile.AtMost(t, 20*len(b)+8<<20, func() { m, err = Read(bytes.NewReader(b)) })
		if err != nil {
			return
		}
		if err := m.Finish(); err != nil {
			return
		}
		again := reread(t, m)
		if again.Rows() != m.Rows() || again.Order() < 0 {
			t.Errorf("%d rows, then %d", m.Rows(), again.Rows())
		}
	})
}

// A file gives the same model as a stream of its rows, with several epochs.
func TestFileIsTheStream(t *testing.T) {
	rows := table(1100, "multi-hinge", 5)
	named := append([]string{"x,y,tree"}, rows...)
	opt := options("multi-hinge", file(t, named))
	opt.Epochs = 2
	first := mustTrain(t, options("multi-hinge", stream(named)))
	again := options("multi-hinge", stream(named))
	again.Resume = reread(t, first)
	if !bytes.Equal(saved(t, mustTrain(t, opt)), saved(t, mustTrain(t, again))) {
		t.Error("another model than of the stream")
	}
}

func write(t testing.TB, path string, b []byte) {
	t.Helper()
	testutil.NoError(t, os.WriteFile(path, b, 0o666))
}
