package harness

import (
	"bytes"
	"testing"

	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/loss"
	"polkrepro/record"
	"polkrepro/spec"
)

// TestFeatured: a learner without an expansion is trained and evaluated like the other learners,
// with the same bits for any number of workers.
func TestFeatured(t *testing.T) {
	p := tinyRun("polk", spec.TaskKLR, 3)
	p.Run.Method = "fogd"
	p.Run.Params.BatchSize, p.Run.Params.Parsimony, p.Run.Params.Budget = 1, 0, 30
	p = planned(p.Run)
	plan := []spec.Planned{p}
	one, two := reproduced(t, plan, Options{Workers: 1})[p.ID], reproduced(t, plan, Options{Workers: 2})[p.ID]
	if !bytes.Equal(record.Canonical(one), record.Canonical(two)) {
		t.Error("records differ")
	}
	set, err := data.Load(p.Run.Data, data.Finder{})
	testutil.NoError(t, err)
	l := newLearner(t, p.Run, set)
	order := orderOf(set, p.Run.Sampling, p.Run.Seed)
	for range p.Run.Samples {
		i := order()
		if _, err := l.Step(t.Context(), 1, set.Train.Row(i), set.Train.Y[i:i+1]); err != nil {
			t.Fatal(err)
		}
	}
	_, wrong := risk(l.Model(), loss.MultiLogistic{}, set.Test)
	if last := one.Points[len(one.Points)-1]; !within(last.TestError, wrong, 1e-9) || !(last.TestError <= 0.2) || last.ModelOrder != 30 {
		t.Errorf("last point %+v, want error %v and order 30", last, wrong)
	}
}
