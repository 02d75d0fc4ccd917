package online

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"polkrepro/data/rows"
	"polkrepro/internal/testutil"
)

// A Feed gives the model that Train gives for the stream, however its rows are divided and whatever
// is predicted in between.
func TestFeedIsTheStream(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: TestTuningIsDeterministic has the goroutines")
	}
	for name, weight := range map[string]func(i int) float64{"without weights": func(int) float64 { return 0 }, "weighted": func(i int) float64 { return float64(1 + i%3) }} {
		t.Run(name, func(t *testing.T) { feedIsTheStream(t, weight) })
	}
}

func feedIsTheStream(t *testing.T, weight func(i int) float64) {
	all := make([]rows.Row, 1300)
	for i := range all {
		x := []float64{float64(i*7919%1009) / 1009, float64(i*104729%997) / 997}
		label := strconv.Itoa(1 + int(x[1]+math.Sin(4*x[0])))
		all[i] = rows.Row{Line: i + 1, Label: label, Values: x, Dim: 2, Weight: weight(i)}
	}
	opt := TrainOptions{Tune: true, Source: Source{Path: "-", Rows: all}}
	opt.Settings = Settings{Loss: "multi-hinge", Labels: []string{"1", "2"}, Format: rows.FormatCSV, LabelColumn: 1}
	whole := mustTrain(t, opt)
	want := saved(t, whole)
	for _, size := range []int{1, 37, 999, 1300} {
		f := NewFeed(opt)
		for part := range slices.Chunk(all, size) {
			testutil.NoError(t, f.Learn(t.Context(), part))
			last := part[len(part)-1].Line
			if last > 20 && last%100 != 0 && last < len(all) {
				continue
			}
			p, err := f.Predictor(t.Context())
			testutil.NoError(t, err)
			if size < 1000 && last%200 == 0 { // the next rows follow a prediction alone
				continue
			}
			ahead, _ := p.Scores(all[:9])
			m, err := f.Model(t.Context())
			if scores, _ := m.Scores(all[:9]); len(ahead) != 18 || !slices.Equal(scores, ahead) {
				t.Fatalf("after row %d the Predictor's scores are %v, not %v", last, ahead, scores)
			}
			if err != nil || int(m.Rows()) != last {
				t.Fatalf("after row %d: %v", last, err)
			}
		}
		if m, err := f.Model(t.Context()); err != nil || !bytes.Equal(saved(t, m), want) {
			t.Errorf("calls of %d rows make another model (%v)", size, err)
		}
	}
	if m, err := GoOn(reread(t, whole), nil).Model(t.Context()); err != nil || !bytes.Equal(saved(t, m), want) {
		t.Errorf("read again, it is another model (%v)", err)
	}
}

// A Feed learns all rows even if they have so many features that the head is shorter than headRows,
// whether or not the head is a round number of rows.
func TestFeedOfWideRows(t *testing.T) {
	const dim, n = 20_000, 900
	values := [2][]float64{make([]float64, dim), make([]float64, dim)}
	values[1][0] = 1
	var all []rows.Row
	for i := range n {
		all = append(all, rows.Row{Line: i + 1, Label: strconv.Itoa(i % 2), Values: values[i%2], Dim: dim})
	}
	f := NewFeed(TrainOptions{Settings: Settings{Loss: "multi-hinge", Labels: []string{"0", "1"}, Dim: dim, Bandwidth: 1, Scale: rows.ScaleNone}})
	testutil.NoError(t, f.Learn(t.Context(), all))
	if m, err := f.Model(t.Context()); err != nil || f.Choosing() || m.Rows() != n {
		t.Errorf("%d of %d rows learned, choosing: %v, %v", m.Rows(), n, f.Choosing(), err)
	}
}

// A call of Learn with a row that can't be learned takes none of its rows, whether the settings are
// still to be chosen, are chosen in this call, or have been chosen.
func TestFeedTakesAllOrNone(t *testing.T) {
	all := make([]rows.Row, 1100)
	for i := range all {
		all[i] = rows.Row{Label: strconv.Itoa(i % 2), Values: []float64{float64(i%2) + float64(i)/1100}, Dim: 1}
	}
	for name, bad := range map[string]rows.Row{
		"label":     {Label: "2", Values: []float64{1}, Dim: 1},
		"no label":  {Values: []float64{1}, Dim: 1},
		"NaN":       {Label: "1", Values: []float64{math.NaN()}, Dim: 1},
		"too large": {Label: "1", Values: []float64{1e300}, Dim: 1},
		"short":     {Label: "1", Values: []float64{}},
		"long":      {Label: "1", Values: []float64{1, 2}, Dim: 2},
	} {
		opt := TrainOptions{Settings: Settings{Loss: "multi-hinge", Labels: []string{"0", "1"}, Bandwidth: 1, Scale: rows.ScaleUnit}}
		f, want := NewFeed(opt), NewFeed(opt)
		for part := range slices.Chunk(all, 550) {
			with := append(slices.Clone(part), bad)
			var line *rows.ParseError
			if chosen := len(part)+len(f.head) >= headRows || !f.choosing; name == "too large" && !chosen {
				// only the scaling can tell
			} else if err := f.Learn(t.Context(), with); !errors.As(err, &line) {
				t.Fatalf("%s: %v", name, err)
			}
			testutil.NoError(t, f.Learn(t.Context(), part))
			testutil.NoError(t, want.Learn(t.Context(), part))
			a, err := f.Model(t.Context())
			testutil.NoError(t, err)
			b, err := want.Model(t.Context())
			testutil.NoError(t, err)
			if !bytes.Equal(saved(t, a), saved(t, b)) {
				t.Errorf("%s: after %d rows the model is another one", name, a.Rows())
			}
		}
	}
}

// BenchmarkPredictor predicts and learns a row in turn, at order 500.
func BenchmarkPredictor(b *testing.B) {
	const dim, order = 20, 500
	for _, loss := range []string{"multi-hinge", "multi-logistic"} {
		b.Run(loss, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(7, 0))
			f := NewFeed(TrainOptions{Order: order, Settings: Settings{Loss: loss, Labels: []string{"0", "1"}, Scale: rows.ScaleStandard}})
			row := rows.Row{Values: make([]float64, dim), Dim: dim}
			learn := func(i int) {
				row.Label = strconv.Itoa(i % 2)
				for q := range row.Values {
					row.Values[q] = 0.3*float64(i%2) + rng.NormFloat64()
				}
				testutil.NoError(b, f.Learn(b.Context(), []rows.Row{row}))
				row.Values = slices.Clone(row.Values)
			}
			for i := range 6000 {
				learn(i)
			}
			for i := 0; b.Loop(); i++ {
				m, err := f.Predictor(b.Context())
				testutil.NoError(b, err)
				_, err = m.Scores([]rows.Row{row})
				testutil.NoError(b, err)
				learn(i)
			}
		})
	}
}
