package scaling

import (
	"cmp"
	"math"
	"slices"

	"polkrepro/internal/longest"
	"polkrepro/record"
)

// A Rate is what a sample costs runs of one kind once their model order has
// settled.
type Rate struct {
	Series string
	Runs   int
	Order  float64 // mean final model order
	Core   float64 // processor seconds of a sample: of all runs together
	Low    float64 // of the run that took least
	High   float64 // of the run that took most
	Timed  float64 // seconds that this is taken from
}

// Rates returns the rates of the online runs among records, by the series that a
// function gives each, in order of the series; a record with the series "" is left
// out. A run's rate is that of the second half of its samples.
func Rates(records []*record.Record, series func(*record.Record) string) []Rate {
	all, counts := make(map[string]*Rate), make(map[string]float64)
	for _, r := range records {
		name := series(r)
		seconds, samples := settled(r)
		if name == "" || samples == 0 {
			continue
		}
		rate := all[name]
		if rate == nil {
			rate = &Rate{Series: name, Low: math.Inf(1)}
			all[name] = rate
		}
		rate.Runs++
		rate.Timed += seconds
		counts[name] += samples
		rate.Order += r.Final.ModelOrder
		rate.Low, rate.High = min(rate.Low, seconds/samples), max(rate.High, seconds/samples)
	}
	var out []Rate
	for _, rate := range all {
		rate.Core = rate.Timed / counts[rate.Series]
		rate.Order /= float64(rate.Runs)
		out = append(out, *rate)
	}
	slices.SortFunc(out, func(a, b Rate) int { return cmp.Compare(a.Series, b.Series) })
	return out
}

// settled returns the processor seconds and the number of samples of the second half
// of a run; none if the record has too few points.
func settled(r *record.Record) (seconds, samples float64) {
	last := len(r.Points) - 1
	half := slices.IndexFunc(r.Points, func(p record.Point) bool { return 2*p.Samples >= r.Final.Samples })
	if half < 0 || half >= last {
		return 0, 0
	}
	from, to := r.Points[half], r.Points[last]
	return to.Timing.CPU - from.Timing.CPU, float64(to.Samples - from.Samples)
}

// Seconds returns what a run took from its start to its end, evaluations included,
// on one core: of its wall time and its processor time the longer.
func Seconds(r *record.Record) float64 { return max(r.Final.Elapsed, r.Final.Timing.CPU) }

// Makespan returns how long so many cores take to do all jobs, each on one core
// and the longest first, as the harness and the tasks of a plan do them. It panics
// if there is no core.
func Makespan(jobs []float64, cores int) float64 {
	if cores < 1 {
		panic("scaling: no core")
	}
	last := 0.0
	for _, mine := range longest.Divide(jobs, cores) {
		seconds := 0.0
		for _, i := range mine {
			seconds += jobs[i]
		}
		last = max(last, seconds)
	}
	return last
}
