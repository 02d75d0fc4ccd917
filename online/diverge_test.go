package online

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"polkrepro/data/rows"
	"polkrepro/polk/prune"
)

// divergent returns apart rows in different places, which a learning rate of 3 can learn, and n
// more rows in one place, on which it diverges.
func divergent(apart, n int) []string {
	rng := rand.New(rand.NewPCG(1, 16))
	rows := make([]string, apart+n)
	for i := range rows {
		x := float64(i % 40)
		if i >= apart {
			x = 7
		}
		rows[i] = fmt.Sprintf("%.4f,%.4f,%.4f", x, x/2, 3+math.Sin(x)+0.1*rng.NormFloat64())
	}
	return rows
}

func divergentOptions(lines []string) TrainOptions {
	opt := options("squared-error", stream(lines))
	opt.Settings.LearningRate, opt.Settings.Bandwidth, opt.Settings.Scale = 3, 0.3, rows.ScaleNone
	opt.Settings.TargetFactor, opt.Settings.Dim = 1, 2
	opt.Settings.Pruner, opt.Settings.PrunerParams = "komp-order", prune.Params{"order": 40}
	return opt
}

// A squared loss that diverges ends training with an error that names the
// learning rate and a lower one, and leaves no model.
func TestDivergence(t *testing.T) {
	for _, apart := range []int{2048, 4080} {
		m, err := Train(context.Background(), divergentOptions(divergent(apart, 3000)))
		if !errors.Is(err, ErrDiverged) || !strings.Contains(err.Error(), "learning rate 3 is too large: lower it to 0.5") ||
			!strings.Contains(err.Error(), "standard input: line ") || m != nil {
			t.Errorf("%d rows apart: %v, %v", apart, m, err)
		}
	}
}

// Training fails even if its rows end before its numbers overflow, and saves no model once it
// diverges.
func TestDivergenceAtTheEnd(t *testing.T) {
	opt := divergentOptions(divergent(320, 12*32))
	opt.SaveEvery = 32
	last := int64(0)
	opt.Save = func(m *Model) error {
		last = m.Rows()
		return nil
	}
	m, err := Train(context.Background(), opt)
	if !errors.Is(err, ErrDiverged) || m != nil {
		t.Error(m, err)
	}
	if last > 320+8*32 {
		t.Errorf("saved at row %d", last)
	}
	for _, opt := range []TrainOptions{divergentOptions(divergent(320, 0)), options("squared-hinge", stream(table(2000, "squared-hinge", 4)))} {
		if _, err := Train(context.Background(), opt); err != nil {
			t.Errorf("a training that does not diverge: %v", err)
		}
	}
}

// Scores that are not finite give an error with source and line, not predictions.
func TestScoresThatAreNotFinite(t *testing.T) {
	for name, probability := range map[string]bool{"multi-hinge": false, "multi-logistic": true, "squared-error": false} {
		opt := options(name, stream(table(200, name, 3)))
		m, lines := mustTrain(t, opt), []string{"1e6,1e6", "1,2"} // the first is far from all elements
		for i := range m.f.W {
			m.f.W[i] = math.MaxFloat64
		}
		var out bytes.Buffer
		err := m.Predict(context.Background(), stream(lines), "csv", probability, &out)
		if err == nil || !strings.Contains(err.Error(), "standard input: line 2: the score is ") {
			t.Errorf("%s: %v, output %q", name, err, out.String())
		}
		if strings.Contains(out.String(), "NaN") || strings.Contains(out.String(), "Inf") {
			t.Errorf("%s: output %q", name, out.String())
		}
		label := slices.Concat(labelsOf[name], []string{"1"})[0]
		e, err := m.Evaluate(context.Background(), stream([]string{"1e6,1e6," + label, "1,2," + label}), "csv")
		if err == nil || !strings.Contains(err.Error(), "standard input: line 2: the score is ") {
			t.Errorf("%s: evaluated as %+v, %v", name, e, err)
		}
	}
}

// Labels that would do harm wherever predictions are shown are refused, and no others.
func TestLabelsThatCanBeShown(t *testing.T) {
	for label, ok := range map[string]bool{
		"\u202etxt.exe": false, "a\u2066b": false, "zero\u200bwidth": false, "line\u2028end": false, "bad\xff": false,
		"=cmd|' /C calc'!A0": false, "@SUM(A1)": false, "-x": false, "+x": false, "\x1b[2J": false,
		"-1": true, "+1.5e3": true, "a-b": true, "été": true, "می\u200cخواهم": true, "1\u00a0000": true, "C++": true,
	} {
		if err := showable(label); (err == nil) != ok {
			t.Errorf("label %q: %v", label, err)
		}
	}
}
