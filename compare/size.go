package compare

import (
	"fmt"
	"math"
	"slices"
	"time"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/polk/prune"
)

// speed is how many multiply-adds a second of the budget stands for. A constant, not a
// clock, divides the budget, so that the same command gives the same spec everywhere.
const speed = 8e9

// The bounds of what is compared.
const (
	largestOrder = 500
	mostSamples  = 200_000 // of a run of more than one pass
	mostBytes    = 2 << 30 // of a batch method
	batchSize    = 32      // of POLK
	batchShare   = 0.2     // of the budget, the most that one batch method may take
	searchShare  = 0.4     // of the budget, for the search
	trainLimit   = 1000    // training rows on which risks are evaluated
	leastSamples = 500     // of a run of the search
	points       = 20      // of a curve, with a quarter as many evaluations at its end
	fewPoints    = 4       // where the budget allows no more
)

// sizes say how large the comparison is. They follow from the number of rows, features
// and classes, and from the budget.
type sizes struct {
	rows, test, dim, classes int

	known   int  // rows that the search sees
	resplit bool // the file is split several times

	asked   []int    // model orders to compare heuristics at; none: chosen
	order   int      // largest model order
	seeds   int      // or splits
	samples int      // of a run
	every   int      // samples between its evaluations
	tail    int      // evaluations at its end
	tried   int      // samples of a run of the search
	share   float64  // multiply-adds of a batch method's search
	methods []method // those that are compared
	left    []string // which were left out, and why
	spent   float64  // multiply-adds of all, by estimate
}

// small is the other model order.
func (z *sizes) small() int { return max(2, z.order/4) }

// newSizes divides the budget of a comparison of methods. The set is what the search sees,
// holdout the fraction that is held out in each resplit, if there are any.
func newSizes(set *data.Set, holdout float64, opt Options) sizes {
	z := sizes{rows: set.Train.N, known: set.Train.N, test: set.Test.N, dim: set.Train.Dim, classes: max(1, set.Classes), resplit: holdout > 0}
	if n := z.rows + z.test; z.resplit {
		z.test = int(math.Round(holdout * float64(n)))
		z.rows = n - z.test
	}
	all := opt.Budget.Seconds() * speed
	z.share = searchShare * all / 10
	learners := slices.DeleteFunc(slices.Clone(methods), func(m method) bool { return !slices.Contains(experiments.Method(m.name).Tasks, opt.Task) })
	for _, m := range learners {
		if !m.batch() {
			z.methods = append(z.methods, m)
		}
	}
	z.setOrder(opt.Order)
	fits := func(seeds, samples, points int) bool {
		z.seeds, z.samples, z.every, z.tail = seeds, samples, max(1, samples/points), points/4
		return z.cost() <= (1-searchShare)*all
	}
	z.tried = min(z.rows, 4*leastSamples)
	for opt.Order == 0 && z.order > 64 && !(fits(Resplits, z.rows, fewPoints) && z.search() <= searchShare*all) { // else smaller models
		z.order /= 2
	}
	for _, m := range learners {
		if !m.batch() {
			continue
		}
		cost := m.cost(&z) * float64(z.repeats(m.name))
		tried := z.trials(&m)
		bytes := harness.Bytes(m.name, harness.Size{
			Train: float64(z.rows), Test: float64(z.test), Dim: float64(z.dim), Classes: float64(z.classes),
			Order: float64(z.rows), Params: experiments.Params{Budget: z.order},
		})
		switch {
		case bytes > mostBytes:
			z.left = append(z.left, fmt.Sprintf("%s is left out: it needs %.1f GiB of memory, more than %d", m.name, bytes/(1<<30), mostBytes>>30))
		case cost > batchShare*all:
			z.left = append(z.left, fmt.Sprintf("%s is left out: it needs about %v, more than %.0f %% of the budget", m.name, seconds(cost), 100*batchShare))
		case tried < fewest:
			z.left = append(z.left, fmt.Sprintf("%s is left out: its share of the search allows %d settings, fewer than %d", m.name, tried, fewest))
		default:
			z.methods = append(z.methods, m)
		}
	}
	for samples := z.passes() * z.rows; ; samples /= 2 {
		if fits(Resplits, samples, points) || fits(Resplits, samples, fewPoints) ||
			samples <= z.rows && (fits(3, samples, fewPoints) || fits(1, samples, fewPoints)) || samples <= leastSamples {
			break
		}
	}
	z.spent = z.cost() + z.shorten(all, z.search)
	return z
}

// setOrder sets the largest model order: the one asked for, or 0.
func (z *sizes) setOrder(asked int) {
	if z.order = asked; asked == 0 {
		z.order = min(max(z.rows/20, 8), largestOrder)
	}
}

// passes is how often a run visits the training rows where the budget allows.
func (z *sizes) passes() int {
	passes := 1
	for passes < 8 && 2*passes*z.rows <= mostSamples {
		passes *= 2
	}
	return passes
}

// shorten makes the runs of the search as long as those of the comparison, or as long as
// its part of the budget allows, and returns what it costs.
func (z *sizes) shorten(all float64, search func() float64) float64 {
	for z.tried = z.samples; search() > searchShare*all && z.tried > leastSamples; {
		z.tried = max(min(leastSamples, z.samples), z.tried/2)
	}
	return search()
}

// lines say what the budget allows.
func (z *sizes) lines() []string {
	size := fmt.Sprintf("%d training rows, %d test rows, %d features", z.rows, z.test, z.dim)
	if z.classes > 1 { // a regression has one function
		size += fmt.Sprintf(", %d classes", z.classes)
	}
	repeated := fmt.Sprintf("resplits of the file: %d", z.seeds)
	if !z.resplit {
		repeated = fmt.Sprintf("seeds: %d", z.seeds)
	}
	return append([]string{
		size,
		fmt.Sprintf("model orders %d and %d; %d samples a run (%.3g times the training rows); %s", z.small(), z.order, z.samples, float64(z.samples)/float64(z.rows), repeated),
		fmt.Sprintf("search on %d rows, %d samples a run, at most %d settings a method", z.known, z.tried, trials),
		fmt.Sprintf("about %v by estimate", seconds(z.spent)),
	}, z.left...)
}

// seconds is how long so many multiply-adds take, by estimate.
func seconds(ops float64) time.Duration {
	return time.Duration(math.Ceil(ops/speed)) * time.Second
}

// repeats is how many runs a method has at an order: one if it depends on no seed and there
// is one split.
func (z *sizes) repeats(name string) int {
	if experiments.Method(name).Seedless && !z.resplit {
		return 1
	}
	return z.seeds
}

// cost is that of all runs, in multiply-adds.
func (z *sizes) cost() float64 {
	var sum float64
	for _, m := range z.methods {
		if m.batch() {
			sum += float64(z.repeats(m.name)) * m.cost(z)
			continue
		}
		for _, order := range []int{z.small(), z.order} {
			sum += float64(z.seeds) * z.run(&m, order, z.samples, float64(z.samples/z.every+z.tail)*float64(z.test+min(trainLimit, z.rows)))
		}
	}
	return sum
}

// trials is how many settings are tried of a method at most.
func (z *sizes) trials(m *method) int {
	if !m.batch() {
		return trials
	}
	return min(trials, int(z.share/z.trial(m)))
}

// trial is what one of them costs.
func (z *sizes) trial(m *method) float64 {
	seen := *z
	if seen.rows = z.known; m.batch() {
		return m.cost(&seen)
	}
	return z.run(m, z.order, z.tried, float64(z.tail*z.known)/6)
}

// search is what the search costs.
func (z *sizes) search() (sum float64) {
	for i := range z.methods {
		m := &z.methods[i]
		sum += float64(z.trials(m)) * z.trial(m)
	}
	return sum
}

// run is what a run on a stream costs that evaluates so many rows. A sample costs as many
// multiply-adds as its learner keeps numbers (docs/learners.md), and those of a kernel value
// and of the search for an element to go, which are for each element.
func (z *sizes) run(m *method, order, samples int, evaluated float64) float64 {
	const element, products = 64, 8 // evaluations are matrix products, so many times as fast
	p := experiments.Params{Budget: order, Pruner: m.pruner, Own: prune.Params{"rank": float64(order)}}
	n, dim, classes := float64(order), float64(z.dim), float64(z.classes)
	step := experiments.Method(m.name).Numbers(p, n, dim, classes) + element*n
	return float64(samples)*step + evaluated*n*((dim+classes)/products+element/4)
}
