package harness

import (
	"bytes"
	"testing"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/loss"
	"polkrepro/record"
)

// TestFeatured: a learner without an expansion is trained and scored as the others are, with
// the same bits whatever the number of workers.
func TestFeatured(t *testing.T) {
	p := tinyRun("polk", experiments.TaskKLR, 3)
	p.Run.Method = "fogd"
	p.Run.Params.BatchSize, p.Run.Params.Parsimony, p.Run.Params.Budget = 1, 0, 30
	p = planned(p.Run)
	var have [2]*record.Record
	for i := range have {
		results := t.TempDir()
		if _, err := Reproduce(t.Context(), []experiments.Planned{p}, Options{Results: results, Workers: 1 + i}); err != nil {
			t.Fatal(err)
		}
		have[i] = readAll(t, results).Records[p.ID]
	}
	if !bytes.Equal(record.Canonical(have[0]), record.Canonical(have[1])) {
		t.Error("records differ")
	}
	set, err := data.Load(p.Run.Data, data.Finder{})
	if err != nil {
		t.Fatal(err)
	}
	l := newLearner(t, p.Run, set)
	order := orderOf(set, p.Run.Sampling, p.Run.Seed)
	for range p.Run.Samples {
		i := order()
		if _, err := l.Step(t.Context(), 1, set.Train.Row(i), set.Train.Y[i:i+1]); err != nil {
			t.Fatal(err)
		}
	}
	scores := make([]float64, set.Test.N*set.Classes)
	l.Model().Scores(set.Test.N, set.Test.X, scores, 1)
	wrong := 0
	for i, y := range set.Test.Y {
		if loss.Decide(scores[i*set.Classes:(i+1)*set.Classes]) != y {
			wrong++
		}
	}
	points := have[0].Points
	if last := points[len(points)-1]; last.TestError != float64(wrong)/float64(set.Test.N) || !(last.TestError <= 0.2) || last.ModelOrder != 30 {
		t.Errorf("last point %+v, want error %v and order 30", last, float64(wrong)/float64(set.Test.N))
	}
}
