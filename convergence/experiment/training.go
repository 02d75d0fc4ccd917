package experiment

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"time"

	"polkrepro/convergence"
	"polkrepro/harness"
	"polkrepro/polk"
)

// lookEvery is the number of steps between two looks at the context and the
// clock; reportEvery the least time between two reports.
const (
	lookEvery   = 256
	reportEvery = 200 * time.Millisecond
)

// A training is one run under way.
type training struct {
	run      convergence.Run
	opt      Options
	event    harness.Event
	started  time.Time
	reported time.Time

	learner learner
	samples *sampler
	marks   []int
	orders  float64 // sum of M over the steps since the last point
	record  *convergence.Record
}

func newTraining(run convergence.Run, opt Options) *training {
	return &training{
		run: run, opt: opt, started: time.Now(), marks: run.Marks(),
		event: harness.Event{ID: run.ID(), Series: run.Series(), Data: "multidist", Seed: run.Seed, Total: run.Samples, Error: -1},
	}
}

// report says how far the run is.
func (t *training) report(kind string) {
	t.event.Kind, t.event.Seconds = kind, time.Since(t.started).Seconds()
	t.opt.report(t.event)
}

// carry trains the run and writes its record into a results folder.
func (t *training) carry(ctx context.Context, problems *problems, results string) error {
	p, err := problems.of(ctx, t.run)
	if err != nil {
		return err
	}
	if err := t.train(ctx, p); err != nil {
		return err
	}
	if err := t.record.Write(convergence.Dir(results)); err != nil {
		return &storageError{err}
	}
	return nil
}

// train takes all steps of the run.
func (t *training) train(ctx context.Context, p *problem) (err error) {
	if err := t.run.Validate(); err != nil {
		return err
	}
	if t.learner, err = newLearner(t.run, p); err != nil {
		return err
	}
	t.samples = newSampler(t.run.Seed, p.split.N)
	t.record = &convergence.Record{Header: convergence.Header{
		Run: t.run, DataSums: p.sums, Problem: p.about, Provenance: harness.Provenance(), Started: time.Now().UTC(),
	}}
	begun := time.Now()
	for n := 1; n <= t.run.Samples; n++ {
		if n%lookEvery == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			t.look(n)
		}
		if err := t.step(n); err != nil {
			return fmt.Errorf("at sample %d: %w", n, err)
		}
	}
	t.learner.summarize(&t.record.Summary)
	t.record.Summary.Seconds = time.Since(begun).Seconds()
	t.event.Samples, t.event.Order = t.run.Samples, t.learner.order()
	return nil
}

// look reports how far the run is, now and then.
func (t *training) look(n int) {
	if now := time.Now(); now.Sub(t.reported) >= reportEvery {
		t.reported = now
		t.event.Samples, t.event.Order = n, t.learner.order()
		t.report(harness.EventProgress)
	}
}

// step takes step n, from 1 on, and measures if it is time to.
func (t *training) step(n int) error {
	if err := t.learner.step(t.samples.next()); err != nil {
		return err
	}
	t.orders += float64(t.learner.order())
	if n != t.marks[0] {
		return nil
	}
	t.marks = t.marks[1:]
	before := 0
	if points := t.record.Points; len(points) > 0 {
		before = points[len(points)-1].Samples
	}
	point := t.learner.measure()
	if !finite(point) {
		return polk.ErrDiverged
	}
	point.Samples, point.MeanOrder = n, t.orders/float64(n-before)
	t.orders = 0
	t.record.Points = append(t.record.Points, point)
	return nil
}

// finite reports whether all numbers of a point are, as a record needs.
func finite(p convergence.Point) bool {
	s := p.Distance + p.Excess + p.Norm + p.Gradient + p.Ratio
	return !math.IsNaN(s) && !math.IsInf(s, 0)
}

// A sampler draws training points uniformly and with replacement.
type sampler struct {
	src rand.Source
	n   uint64
}

// sampleStream keeps the generator's stream from those of other uses of a seed.
const sampleStream = 0x7461626c6531

func newSampler(seed uint64, n int) *sampler {
	return &sampler{rand.NewPCG(seed, sampleStream), uint64(n)}
}

// next returns a number from 0 to n − 1. It is not rand.IntN, whose stream may
// change between versions of Go.
func (s *sampler) next() int {
	i, _ := bits.Mul64(s.src.Uint64(), s.n)
	return int(i)
}
