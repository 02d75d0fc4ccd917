package harness

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/loss"
	"polkrepro/record"
	"polkrepro/spec"
)

// TestPrequential: for every method that learns from a stream and each of its tasks, the recorded
// prequential loss and error equal an independent evaluation of the model before each step.
func TestPrequential(t *testing.T) {
	set, runs := smallSet(), codeRuns()
	for name, method := range Methods() {
		if method.New == nil {
			continue
		}
		run, ok := runs["method "+name]
		if !ok {
			t.Errorf("codeRuns has no run of method %s", name)
			continue
		}
		for _, task := range method.Tasks {
			t.Run(name+"/"+task, func(t *testing.T) {
				run.Task = task
				tr, err := newTrainer(run, set, Methods(), newCores(1, 1), newTracked(planned(run), silent{}))
				testutil.NoError(t, err)
				testutil.NoError(t, tr.train(t.Context()))
				if run.Params.BatchSize >= set.Train.N { // a step leaves nothing to predict
					if p := tr.final(0).Prequential; p != nil {
						t.Errorf("steps that take the whole training set have prequential figures: %v", p)
					}
					return
				}
				want := outside(t, run, set)
				for _, p := range tr.points {
					got, want := p.Prequential, want[p.Samples]
					if got.Error != record.Digits(want.Error, 8) && !(task == spec.TaskRegression && math.Abs(got.Error-want.Error) < 1e-6) {
						t.Errorf("%d samples: error %v, want %v", p.Samples, got.Error, want.Error)
					}
					near(t, fmt.Sprintf("%d samples: loss", p.Samples), got.Loss, want.Loss, 1e-5*(1+want.Loss)) // BSGD's kernel values are float32
				}
				if got := *tr.final(0).Prequential; got != *tr.points[len(tr.points)-1].Prequential {
					t.Errorf("the final figures are %v, want the last point's", got)
				}
			})
		}
	}
}

// outside returns the prequential figures of a run after each step, by the definition.
func outside(t *testing.T, run spec.Run, set *data.Set) map[int]record.Prequential {
	l := newLearner(t, run, set)
	ell, err := spec.TaskLoss(run.Task)
	testutil.NoError(t, err)
	tr := &trainer{run: run, set: set, batch: run.Params.BatchSize, order: orderOf(set, run.Sampling, run.Seed)} // draws mini-batches
	out := make(map[int]record.Prequential)
	sum, wrong, samples := 0.0, 0.0, 0
	for samples < run.Samples {
		tr.draw(min(run.Params.BatchSize, run.Samples-samples))
		batch := &data.Split{N: len(tr.y), Dim: set.Train.Dim, X: tr.x, Y: tr.y}
		mean, rate := risk(l.Model(), ell, batch)
		if _, err := l.Step(t.Context(), batch.N, batch.X, batch.Y); err != nil {
			t.Fatal(err)
		}
		samples += batch.N
		sum += mean * float64(batch.N)
		wrong += rate * float64(batch.N)
		p := record.Prequential{Loss: sum / float64(samples), Error: float64(int(wrong+0.5)) / float64(samples)}
		if run.Task == spec.TaskRegression {
			p.Error = math.Sqrt(2 * p.Loss)
		}
		out[samples] = p
	}
	return out
}

// TestPrequentialDoesNotAllocate: adding a step to the figures allocates no memory.
func TestPrequentialDoesNotAllocate(t *testing.T) {
	set, run := smallSet(), codeRuns()["method polk"]
	l := newLearner(t, run, set)
	p := prequential{outputs: set.Classes, tally: tally{loss: loss.MultiHinge{}}}
	y := set.Train.Y[:8]
	scored, err := l.Step(t.Context(), 8, set.Train.X[:8*set.Train.Dim], y)
	testutil.NoError(t, err)
	if n := testing.AllocsPerRun(10, func() { err = p.add(scored, y) }); n > 0 || err != nil {
		t.Errorf("%v allocations, %v", n, err)
	}
	scored = scored[1:]
	if err := p.add(scored, y); err == nil {
		t.Error("scores that are missing are not missed")
	}
}

// TestReliability compares with sums by hand. With a score that is NaN there is no reliability.
func TestReliability(t *testing.T) {
	ln := func(p ...float64) []float64 {
		for i := range p {
			p[i] = math.Log(p[i])
		}
		return p
	}
	scores := slices.Concat(
		ln(0.55, 0.25, 0.20), // correct; bin 9 of 15, (8/15, 9/15]
		ln(0.26, 0.59, 0.15), // wrong; bin 9
		ln(0.03, 0.02, 0.95), // correct; bin 15
		ln(0.34, 0.32, 0.34), // a tie, decided for the first: wrong; bin 6
	)
	got := reliability(loss.MultiLogistic{}, scores, []float64{0, 0, 2, 2}, 0.7)
	want := make([]record.Bin, record.ReliabilityBins)
	want[8] = record.Bin{Count: 2, Confidence: 0.57, Accuracy: 0.5}
	want[14] = record.Bin{Count: 1, Confidence: 0.95, Accuracy: 1}
	want[5] = record.Bin{Count: 1, Confidence: 0.34, Accuracy: 0}
	for i, w := range want {
		b := got.Bins[i]
		near(t, fmt.Sprintf("bin %d: confidence", i+1), b.Confidence, w.Confidence, 1e-12)
		if b.Count != w.Count || b.Accuracy != w.Accuracy {
			t.Errorf("bin %d: %+v, want %+v", i+1, b, w)
		}
	}
	near(t, "calibration error", got.CalibrationError, 0.5*0.07+0.25*0.05+0.25*0.34, 1e-12)
	if got.LogLoss != 0.7 {
		t.Errorf("log loss %v", got.LogLoss)
	}
	binary := reliability(loss.BinaryLogistic{}, []float64{-40, 40}, []float64{-1, -1}, 20)
	near(t, "calibration error of two classes", binary.CalibrationError, 0.5, 1e-12)
	scores[0] = math.NaN()
	if got := reliability(loss.MultiLogistic{}, scores, []float64{0, 0, 2, 2}, 0.7); got != nil {
		t.Errorf("of scores that are not numbers: %+v", got)
	}
}
