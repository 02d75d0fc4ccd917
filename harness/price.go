package harness

import (
	"context"
	"time"

	"polkrepro/data"
	"polkrepro/spec"
)

// pricedSteps is the number of steps, at a model order that no longer grows, of which StepTime takes
// the mean.
const pricedSteps = 5

// StepTime measures, in seconds, how long a run waits for the start of its heuristic's process and how
// long a step waits for the process, and at which model order. It stops when the order no longer grows,
// or after limit. A step that takes longer counts as far as it came.
func StepTime(ctx context.Context, p spec.Planned, opt Options, limit time.Duration) (order int, seconds, start float64, err error) {
	defer Recover(&err)
	opt = opt.withDefaults()
	set, err := data.Load(p.Run.Data, opt.Finder)
	if err != nil {
		return 0, 0, 0, err
	}
	t, err := newTrainer(p.Run, set, opt.Methods, newCores(1, 1), &tracked{progress: silent{}})
	began := time.Now()
	if err == nil {
		err = t.process.Start(ctx)
	}
	if err != nil {
		return 0, 0, 0, err
	}
	start = time.Since(began).Seconds()
	defer t.process.Close() // its steps are timed, not its end
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var waits []float64
	for full := 0; full < pricedSteps && len(waits)*t.batch < p.Run.Samples; full++ {
		before, began := t.process.Seconds(), time.Now()
		err := t.learn(limited, t.batch)
		switch {
		case limited.Err() != nil && ctx.Err() == nil:
			return order, time.Since(began).Seconds(), start, nil
		case err != nil:
			return 0, 0, 0, err
		}
		waits = append(waits, t.process.Seconds()-before)
		if now := t.learner.Model().Order(); now > order {
			order, full = now, -1
		}
	}
	for _, wait := range waits[max(0, len(waits)-pricedSteps):] {
		seconds += wait / float64(min(len(waits), pricedSteps))
	}
	return order, seconds, start, nil
}
