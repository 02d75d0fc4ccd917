package timing

import (
	"context"
	"errors"
	"testing"

	"polkrepro/experiments"
	"polkrepro/scaling"
)

// A budget holds the model order near what was asked for, else the exponents are of
// something else.
func TestStepHoldsOrder(t *testing.T) {
	for _, s := range scaling.Grid(experiments.ProfileSmoke)[:4] {
		got, err := Step(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		if got.MeanOrder < 0.5*float64(s.Order) || got.MeanOrder > 1.5*float64(s.Order) {
			t.Errorf("order %v, want some %d", got.MeanOrder, s.Order)
		}
		if !(got.Seconds > 0) || got.Active > float64(s.Batch) {
			t.Errorf("measured %+v", got)
		}
	}
}

func TestTrainings(t *testing.T) {
	streams, err := Streams(context.Background(), experiments.ProfileSmoke)
	if err != nil {
		t.Fatal(err)
	}
	batches, err := Batches(context.Background(), experiments.ProfileSmoke)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range append(streams, batches...) {
		for i, p := range g.Points {
			if p.Order < 1 || !(p.Seconds > 0) || i > 0 && p.Samples != 2*g.Points[i-1].Samples {
				t.Errorf("%s, %s: points %+v", g.Method, g.Task, g.Points)
				break
			}
		}
		if _, err := g.Fit(0); err != nil {
			t.Error(err)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, step := Step(ctx, scaling.Grid(experiments.ProfileSmoke)[0])
	_, streams := Streams(ctx, experiments.ProfileSmoke)
	_, batches := Batches(ctx, experiments.ProfileSmoke)
	for _, err := range []error{step, streams, batches} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
}
