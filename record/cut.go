package record

import (
	"fmt"
	"slices"
	"sort"

	"polkrepro/spec"
)

// Tail returns the points in the last 5 % of a run of the given number of samples. The
// paper's tables have the means over them. The points must be in ascending order.
func Tail(points []Point, samples int) []Point {
	from := sort.Search(len(points), func(i int) bool { return float64(points[i].Samples) > 0.95*float64(samples) })
	return points[from:max(from, upTo(points, samples))]
}

// upTo returns the number of points with at most the given number of samples.
func upTo(points []Point, samples int) int {
	return sort.Search(len(points), func(i int) bool { return points[i].Samples > samples })
}

// Average returns the final figures of a run of the given number of samples: the means over
// its Tail, and the counts, times, prequential figures and reliability of the last point. It
// panics without points.
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

// Cut returns the record of a shorter run whose steps are the first steps of this run. It
// has this run's points up to the given number of samples, and their Average as its final
// figures. The last 5 % may hold fewer points than if the shorter run had been executed.
// ID, path and digest are those of the whole record.
//
// Cut returns an error if the shorter run would take other steps, because a step depends on
// the run's length or takes all samples, or if no point is in the last 5 %.
func (r *Record) Cut(samples int) (*Record, error) {
	run := r.Header.Run
	switch {
	case samples == run.Samples:
		return r, nil
	case samples < 1 || samples > run.Samples:
		return nil, fmt.Errorf("%d samples: the run has %d", samples, run.Samples)
	case run.Batch():
		return nil, fmt.Errorf("%s takes all samples at once", run.Method)
	case run.Params.Schedule != spec.ScheduleConstant:
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
