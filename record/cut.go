package record

import (
	"fmt"
	"slices"
	"sort"

	"polkrepro/experiments"
)

// Tail returns the points, which ascend, in the last 5 % of the samples of a run of so
// many, of which the paper's tables have the mean.
func Tail(points []Point, samples int) []Point {
	from := sort.Search(len(points), func(i int) bool { return float64(points[i].Samples) > 0.95*float64(samples) })
	return points[from:max(from, upTo(points, samples))]
}

// upTo is the number of points after at most so many samples.
func upTo(points []Point, samples int) int {
	return sort.Search(len(points), func(i int) bool { return points[i].Samples > samples })
}

// Average returns the final figures of a run of so many samples: the means over its Tail,
// and the prequential figures and the reliability of the last point. It panics if there is
// no point.
func Average(points []Point, samples int) Final {
	last := points[len(points)-1]
	f := Final{Type: "final", Samples: last.Samples, KernelEvals: last.KernelEvals, Timing: last.Timing}
	f.Prequential, f.Reliability = last.Prequential, last.Reliability
	tail := Tail(points, samples)
	n := float64(len(tail))
	if !slices.ContainsFunc(tail, func(p Point) bool { return p.NormSq == nil }) {
		var sum float64
		for _, p := range tail {
			sum += *p.NormSq
		}
		f.NormSq = new(sum / n)
	}
	for _, p := range tail {
		f.TrainRisk += p.TrainRisk
		f.TestRisk += p.TestRisk
		f.TestError += p.TestError
		f.ModelOrder += float64(p.ModelOrder)
	}
	f.TrainRisk /= n
	f.TestRisk /= n
	f.TestError /= n
	f.ModelOrder /= n
	return f
}

// Cut returns the record of a run of fewer samples, which the run begins with: its
// points, and their Average at its end. The points are where this run was evaluated,
// so there may be fewer of them in the last 5 % than such a run would have of its own.
// Identity, path and digest are those of the whole record.
//
// It is an error if the run does not begin with a shorter one, because what a step does
// depends on the run's length or all samples are one step, or if no point is in the last
// 5 %.
func (r *Record) Cut(samples int) (*Record, error) {
	run := r.Header.Run
	switch {
	case samples == run.Samples:
		return r, nil
	case samples < 1 || samples > run.Samples:
		return nil, fmt.Errorf("%d samples: the run has %d", samples, run.Samples)
	case run.Batch():
		return nil, fmt.Errorf("%s takes all samples at once", run.Method)
	case run.Params.Schedule != experiments.ScheduleConstant:
		return nil, fmt.Errorf("learning rate %s: must be constant", run.Params.Schedule)
	case run.Evaluation.Minimizer:
		return nil, fmt.Errorf("what is measured against the minimizer is of the whole run")
	}
	out := &Record{Path: r.Path, Header: r.Header}
	out.Header.Run.Samples = samples
	n := upTo(r.Points, samples)
	out.Points = r.Points[:n:n]
	if len(Tail(out.Points, samples)) == 0 {
		return nil, fmt.Errorf("no evaluation in the last 5 %% of %d samples", samples)
	}
	out.Final = Average(out.Points, samples)
	out.Final.Digest = r.Final.Digest
	return out, nil
}
