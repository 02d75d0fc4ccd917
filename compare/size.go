package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"polkrepro/data"
	"polkrepro/harness"
	"polkrepro/polk/prune"
	"polkrepro/spec"
)

// speed is the number of multiply-adds that one second of the budget stands for. It is a constant,
// not a measurement, so that the same command gives the same spec on every machine.
const speed = 8e9

// Limits of a comparison.
const (
	largestOrder = 500
	mostSamples  = 200_000 // largest number of samples of a run with more than one pass
	mostBytes    = 2 << 30 // largest memory of a batch method, in bytes
	batchSize    = 32      // mini-batch size of POLK
	batchShare   = 0.2     // largest share of the budget for one batch method
	searchShare  = 0.4     // share of the budget for the search of settings
	trainLimit   = 1000    // training rows on which risks are evaluated
	leastSamples = 500     // smallest number of samples of a search run
	points       = 20      // evaluations along a curve, with a quarter as many more at its end
	fewPoints    = 4       // the same where the budget allows no more

	heuristicTrain                  = 500   // training rows for the risk in a comparison of heuristics, which has no use for it
	leastReplicates, mostReplicates = 5, 20 // of a comparison of heuristics
	sizeReplicates                  = 2     // cost of the search of size parameter values, in replicates

	// otherCost is the mean time of a heuristic relative to KOMP at equal model order, in the recorded
	// comparison (results/reference/comparison). Some heuristics take up to sixteen times as long.
	otherCost = 2
)

// sizes is the size of a comparison. It follows from the number of rows, features and classes, and
// from the budget.
type sizes struct {
	rows, test, dim, classes int

	known   int     // rows that the search sees
	resplit bool    // the file is split several times
	all     float64 // multiply-adds of the budget

	levels  []int    // model orders to compare at, ascending
	order   int      // largest model order
	seeds   int      // number of seeds, or of splits
	samples int      // training samples of a run
	every   int      // samples between evaluations of a run
	tail    int      // evaluations at the end of a run
	tried   int      // training samples of a search run
	methods []method // methods to find the settings of
	left    []string // which methods were left out, and why
	spent   float64  // estimated multiply-adds of the search and all runs
}

// small returns the smallest of the model orders to compare at.
func (z *sizes) small() int { return z.order / 4 }

// newSizes divides the budget of a comparison of methods. set holds the data that the search sees.
// holdout is the fraction held out in each resplit, or 0 if there are no resplits.
func newSizes(set *data.Set, holdout float64, opt Options) sizes {
	z := sizesOf(set, holdout, opt)
	learners := slices.DeleteFunc(slices.Clone(methods), func(m method) bool { return !slices.Contains(spec.Method(m.name).Tasks, opt.Task) })
	for _, m := range learners {
		if !m.batch() {
			z.methods = append(z.methods, m)
		}
	}
	fits := func(seeds, samples, points int) bool {
		z.seeds, z.samples, z.every, z.tail = seeds, samples, max(1, samples/points), points/4
		return z.cost() <= (1-searchShare)*z.all
	}
	z.tried = min(z.rows, 4*leastSamples)
	for opt.Order == 0 && z.order > 64 && !(fits(Resplits, z.rows, fewPoints) && z.search() <= searchShare*z.all) { // too expensive: smaller models
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
			Order: float64(z.rows), Params: spec.Params{Budget: z.order},
		})
		switch {
		case bytes > mostBytes:
			z.left = append(z.left, fmt.Sprintf("%s is left out: it needs %.1f GiB of memory, more than %d", m.name, bytes/(1<<30), mostBytes>>30))
		case cost > batchShare*z.all || tried < fewest:
			z.left = append(z.left, fmt.Sprintf("%s is left out: too slow for the budget (about %v for its runs; the search has time for %d settings)", m.name, seconds(cost), tried))
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
	z.levels = []int{z.small(), z.order}
	z.shorten()
	z.spent = z.cost() + z.search()
	return z
}

// comparisonSizes divides the budget of a comparison among the given number of heuristics, of which
// searched need a search for size parameter values. Those in processes of their own have prices.
func comparisonSizes(set *data.Set, opt Options, heuristics, searched int, prices []price) sizes {
	z := sizesOf(set, 0, opt)
	z.tail = points / 4
	z.methods = []method{{name: spec.MethodPOLK, pruner: "komp-order", axes: []axis{width, rate(8)}}}
	workers := float64(harness.Workers(opt.Workers))
	var replicate, searching float64 // multiply-adds of a replicate of all heuristics, and of the search for size parameter values
	fits := func(samples int) bool {
		z.levels = []int{z.small(), z.order / 2, z.order}
		z.seeds, z.samples, z.every = leastReplicates, samples, max(1, samples/fewPoints)
		each := 0.0
		for _, order := range z.orders() {
			each += otherCost * z.run(&z.methods[0], order, samples, float64((fewPoints+z.tail)*(z.test+min(trainLimit, z.rows))))
		}
		replicate, searching = float64(heuristics)*each, float64(searched*sizeReplicates)*each
		for _, p := range prices {
			waits := 0.0
			for _, order := range z.orders() {
				waits += (p.start + float64(samples)/batchSize*p.at(float64(order))) * speed / workers
			}
			replicate += waits
			if p.searched {
				searching += sizeReplicates * waits
			}
		}
		return float64(z.seeds)*replicate+searching <= (1-searchShare)*z.all
	}
	for opt.Order == 0 && z.order > 64 && !fits(z.rows) { // too expensive: smaller models
		z.order /= 2
	}
	for samples := z.passes() * z.rows; !fits(samples) && samples > leastSamples; samples /= 2 {
	}
	z.seeds = min(max(z.seeds, int(((1-searchShare)*z.all-searching)/replicate)), mostReplicates)
	z.shorten()
	z.spent = float64(z.seeds)*replicate + searching + z.search()
	return z
}

// sizesOf returns the sizes that follow from the data, and the order that was asked for or follows from
// the number of rows.
func sizesOf(set *data.Set, holdout float64, opt Options) sizes {
	z := sizes{
		rows: set.Train.N, known: set.Train.N, test: set.Test.N, dim: set.Train.Dim, classes: max(1, set.Classes),
		resplit: holdout > 0, all: opt.Budget.Seconds() * speed, order: opt.Order,
	}
	if n := z.rows + z.test; z.resplit {
		z.test = int(math.Round(holdout * float64(n)))
		z.rows = n - z.test
	}
	if z.order == 0 {
		z.order = min(max(z.rows/20, 8), largestOrder)
	}
	return z
}

// orders returns the values of a size parameter that is the model order: the levels, one value between two
// levels, and one beyond each end, where training times are compared.
func (z *sizes) orders() (out []int) {
	out = []int{int(math.Ceil(float64(z.levels[0]) / beyondEnds))}
	for i, level := range z.levels {
		if i > 0 {
			out = append(out, int(math.Round(math.Sqrt(float64(level*z.levels[i-1])))))
		}
		out = append(out, level)
	}
	return slices.Compact(append(out, int(math.Ceil(float64(z.order)*beyondEnds))))
}

// passes returns the number of passes over the training rows that a run makes if the budget allows.
func (z *sizes) passes() int {
	passes := 1
	for passes < 8 && 2*passes*z.rows <= mostSamples {
		passes *= 2
	}
	return passes
}

// shorten makes the runs of the search as long as those of the comparison, or as long as the
// search's share of the budget allows.
func (z *sizes) shorten() {
	for z.tried = z.samples; z.search() > searchShare*z.all && z.tried > leastSamples; {
		z.tried = max(min(leastSamples, z.samples), z.tried/2)
	}
}

// lines describes the comparison that the budget allows.
func (z *sizes) lines() []string {
	size := fmt.Sprintf("%d training rows, %d test rows, %d features", z.rows, z.test, z.dim)
	if z.classes > 1 { // a regression has one function
		size += fmt.Sprintf(", %d classes", z.classes)
	}
	repeated := fmt.Sprintf("seeds: %d", z.seeds)
	if z.resplit {
		repeated = fmt.Sprintf("resplits of the file: %d", z.seeds)
	}
	return append([]string{
		size,
		fmt.Sprintf("model orders %s; %d samples a run (%.3g times the training rows); %s", joined(z.levels, strconv.Itoa), z.samples, float64(z.samples)/float64(z.rows), repeated),
		fmt.Sprintf("search on %d rows that are never test rows, a sixth of them held out; %d samples a run, at most %d settings a method", z.known, z.tried, trials),
		"all methods have the same scaled features: no metric is learned for any of them",
		fmt.Sprintf("about %v by estimate", seconds(z.spent)),
	}, z.left...)
}

// seconds returns the estimated time of the given number of multiply-adds.
func seconds(ops float64) time.Duration {
	return time.Duration(math.Ceil(ops/speed)) * time.Second
}

// repeats returns the number of runs of a method at each model order: 1 if the method depends on no
// seed and there are no resplits.
func (z *sizes) repeats(name string) int {
	if spec.Method(name).Seedless && !z.resplit {
		return 1
	}
	return z.seeds
}

// cost returns the multiply-adds of all runs of a comparison of methods.
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

// trials returns the largest number of settings to try for a method: for a batch method, as many as a
// tenth of the search's share of the budget allows.
func (z *sizes) trials(m *method) int {
	if !m.batch() {
		return trials
	}
	return min(trials, int(searchShare*z.all/10/z.trial(m)))
}

// trial returns the multiply-adds of trying one setting of a method.
func (z *sizes) trial(m *method) float64 {
	seen := *z
	if seen.rows = z.known; m.batch() {
		return m.cost(&seen)
	}
	return z.run(m, z.order, z.tried, float64(z.tail*z.known)/6)
}

// search returns the multiply-adds of the search over all methods.
func (z *sizes) search() (sum float64) {
	for i := range z.methods {
		m := &z.methods[i]
		sum += float64(z.trials(m)) * z.trial(m)
	}
	return sum
}

// run returns the multiply-adds of a run on a stream that evaluates the given number of rows. A
// sample costs one multiply-add, or the method's work, for each number that its learner keeps
// (docs/learners.md) or, for random features, uses; plus a constant for each dictionary element: its
// kernel value and the search for the element to remove.
func (z *sizes) run(m *method, order, samples int, evaluated float64) float64 {
	const element, products = 64, 8 // products: evaluations are matrix products, which are faster by this factor
	p := spec.Params{Budget: order, Pruner: m.pruner, Own: prune.Params{"rank": float64(order)}}
	n, dim, classes := float64(order), float64(z.dim), float64(z.classes)
	numbers := spec.Method(m.name).Numbers(p, n, dim, classes)
	if m.drawn {
		numbers += n * dim
	}
	step := cmp.Or(m.work, 1)*numbers + element*n
	return float64(samples)*step + evaluated*n*((dim+classes)/products+element/4)
}
