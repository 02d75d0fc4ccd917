package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/polk/prune"
)

// Replicates of a tournament. The first runs show which model orders the values of a knob
// lead to; what the budget has left buys replicates of the values that are kept.
const (
	firstReplicates = 2
	mostReplicates  = 20
)

// SettleHeuristics finds POLK's bandwidth and learning rate on held-out training rows, as
// [SettleMethods] does, and for each heuristic the values of its knob that lead to the model
// orders at which heuristics are compared: first on the held-out rows, then by the first
// replicates of the tournament itself, which it runs, until each level lies between two
// values that lead to orders near it. It returns a tournament of the heuristics, the
// reference first, on these data, with the commands of those that are no part of this
// program. The task is one of experiments.Tasks, the errors are those of SettleMethods and
// [harness.Reproduce]. A comment in the tournament names the command that repeats it.
func SettleHeuristics(ctx context.Context, opt Options, heuristics []string, commands map[string]string) ([]byte, error) {
	s, set, err := open(opt, 0)
	if err != nil {
		return nil, err
	}
	s.size = tournamentSizes(set, opt, len(heuristics))
	t := &tournament{settling: s, heuristics: heuristics, commands: commands}
	key := ""
	for _, name := range heuristics {
		base, _ := prune.Variant(name)
		key += fmt.Sprintln(name, base.Code(), commands[base.Base()])
	}
	return s.settled(ctx, kind{
		name: "compare --data", again: "compare", lines: t.lines(),
		methods: []method{{name: experiments.MethodPOLK, pruner: "komp-order", axes: []axis{width, rate(8)}}},
		key:     key + fmt.Sprint(t.lines(), s.size.every, opt.Replicates),
		how:     "Bandwidth and rate were found on a sixth of the training rows, which was held out. The knobs were set by model order alone.",
	}, func(found []*search) (string, error) {
		best := found[0].best.run.Run.Params
		t.bandwidth, t.rate = best.Kernel.Bandwidth, best.LearningRate
		budgets, err := t.findBudgets(ctx)
		if err != nil {
			return "", err
		}
		text := t.spec(heuristics, budgets, t.replicates(budgets))
		_, err = experiments.ParseTournament(opt.Spec, []byte(text))
		return text, err
	})
}

// A tournament is one whose settings are sought.
type tournament struct {
	*settling
	heuristics []string          // the reference first
	commands   map[string]string // by heuristic
	bandwidth  float64
	rate       float64
	scouted    float64 // multiply-adds of first replicates whose values are not kept
}

// tournamentSizes divides the budget among so many heuristics.
func tournamentSizes(set *data.Set, opt Options, heuristics int) sizes {
	z := sizes{rows: set.Train.N, test: set.Test.N, dim: set.Train.Dim, classes: set.Classes, tail: points / 4, asked: opt.Levels}
	all := opt.Budget.Seconds() * speed
	asked := opt.Order
	if n := len(opt.Levels); n > 0 {
		asked = opt.Levels[n-1]
	}
	z.setOrder(asked)
	cost := func(samples, evaluated int) (sum float64) {
		for _, target := range z.targets() {
			sum += float64(heuristics) * z.one(target, samples, evaluated)
		}
		return sum
	}
	fits := func(replicates, samples int) bool {
		z.seeds, z.samples, z.every = cmp.Or(opt.Replicates, replicates), samples, max(1, samples/fewPoints)
		z.spent = float64(z.seeds+firstReplicates) * cost(samples, z.evaluated())
		return z.spent <= (1-searchShare)*all
	}
	for asked == 0 && z.order > 64 && !fits(3, z.rows) { // else smaller models
		z.order /= 2
	}
	for samples := z.passes() * z.rows; !fits(5, samples) && !fits(3, samples) && samples > leastSamples; samples /= 2 {
	}
	z.spent += z.shorten(all, func() float64 {
		held := z.tail * z.rows / 6
		return trials*z.one(float64(z.order), z.tried, held)/otherCost + 2*cost(z.tried, held)
	})
	return z
}

// otherCost is the mean time of a heuristic at equal order, in that of KOMP, in the recorded
// tournament (results/reference/tournament). Some take up to sixteen times as long.
const otherCost = 2

// one is what a run of a heuristic to an order costs, in multiply-adds.
func (z *sizes) one(order float64, samples, evaluated int) float64 {
	polk := method{name: experiments.MethodPOLK}
	return otherCost * z.run(&polk, int(math.Ceil(order)), samples, float64(evaluated))
}

// evaluated is how many rows a run of the tournament evaluates.
func (z *sizes) evaluated() int { return (fewPoints + z.tail) * (z.test + min(trainLimit, z.rows)) }

// replicates is how many replicates of the values of knobs the budget has time for, but at
// least as many as it was divided by.
func (t *tournament) replicates(budgets map[string][]reached) int {
	if t.opt.Replicates > 0 {
		return t.opt.Replicates
	}
	each := 0.0
	for _, name := range t.heuristics {
		values, ok := budgets[name]
		if !ok {
			values = budgets[orderKnob]
		}
		for _, v := range values {
			each += t.size.one(v.middle(), t.size.samples, t.size.evaluated())
		}
	}
	all := t.opt.Budget.Seconds()*speed*(1-searchShare) - t.scouted
	n := min(max(int(all/each), t.size.seeds), mostReplicates)
	t.opt.Note("replicates: %d, from the budget left after the first runs", n)
	return n
}

// levels are the model orders at which heuristics are compared.
func (z *sizes) levels() []int {
	if len(z.asked) > 0 {
		return z.asked
	}
	return []int{z.small(), max(z.small()+1, z.order/2), max(z.small()+2, z.order)}
}

// The model orders that values of a knob are to lead to: a level is to lie between two that
// are near each other by their ratio, and beyond the least and the largest level there is
// one more, so that all replicates reach them.
const (
	beside     = 1.05
	near       = 1.2
	beyondEnds = 1.25
)

// targets are these orders, ascending.
func (z *sizes) targets() []float64 {
	levels := z.levels()
	out := []float64{float64(levels[0]) / beyondEnds}
	for _, level := range levels {
		out = append(out, float64(level)/beside, float64(level)*beside)
	}
	return append(out, float64(levels[len(levels)-1])*beyondEnds)
}

func (t *tournament) lines() []string {
	z := &t.size
	return []string{
		fmt.Sprintf("%d training rows, %d test rows, %d features, %d classes", z.rows, z.test, z.dim, z.classes),
		fmt.Sprintf("model orders %s; %d samples a run (%.3g times the training rows), %d in the search; replicates: at least %d",
			joined(z.levels(), strconv.Itoa), z.samples, float64(z.samples)/float64(z.rows), z.tried, z.seeds),
		fmt.Sprintf("heuristics: %d; at least %v by estimate, of the budget of %v", len(t.heuristics), seconds(z.spent), t.opt.Budget),
	}
}

// spec is the tournament of heuristics with the values of their knobs by name. Those without
// a value are left out.
func (t *tournament) spec(heuristics []string, budgets map[string][]reached, replicates int) string {
	heuristics = slices.DeleteFunc(slices.Clone(heuristics), func(name string) bool {
		values, sought := budgets[name]
		return sought && len(values) == 0
	})
	var s strings.Builder
	fmt.Fprintf(&s, `name: compare-%s
title: Pruning heuristics on %s
reference: %s
heuristics: %s
`, t.ref.Name, t.ref.Name, heuristics[0], list(heuristics, quoted))
	if len(t.commands) > 0 {
		s.WriteString("commands:\n")
		for _, name := range slices.Sorted(maps.Keys(t.commands)) {
			fmt.Fprintf(&s, "  %s: %q\n", name, t.commands[name])
		}
	}
	fmt.Fprintf(&s, `fields:
  - name: %s
    title: %s, %s
    data: %s
    task: %s
    bandwidth: %s
    learning_rate: %s
    regularizer: 1e-6
    batch_size: %d
    levels: [%s]
    budgets:
`, t.ref.Name, t.ref.Name, experiments.LossOf(t.opt.Task), t.dataWords(), t.opt.Task,
		number(t.bandwidth), number(t.rate), batchSize, joined(t.size.levels(), strconv.Itoa))
	for _, name := range slices.Sorted(maps.Keys(budgets)) {
		if values := budgets[name]; len(values) > 0 {
			fmt.Fprintf(&s, "      %s: %s\n", quoted(name), list(values, func(v reached) string { return number(v.k) }))
		}
	}
	fmt.Fprintf(&s, "    profiles:\n      quick: {samples: %d, replicates: %d, every: %d}\n", t.size.samples, replicates, t.size.every)
	return s.String()
}

// quoted writes the name of a heuristic; that of a variant has a colon.
func quoted(name string) string {
	if strings.Contains(name, ":") {
		return strconv.Quote(name)
	}
	return name
}

// orderKnob is the knob of heuristics that keep to a model order. Others are sought.
const orderKnob = "order"

// The rounds of both searches, and by what ratio orders may be apart that a level lies
// between in the first, which is of shorter runs on fewer rows. It begins with the value of
// the grid that leads to the least order, as a run to a large one takes minutes.
const (
	roughRounds = 12
	firstRounds = 5
	roughNear   = 1.5
)

// A reached is a value of a knob with the model orders that it led to.
type reached struct{ k, low, high float64 }

func (r reached) middle() float64 { return math.Sqrt(max(r.low, 0.5) * max(r.high, 0.5)) }

func byOrder(a, b reached) int {
	return cmp.Or(cmp.Compare(a.middle(), b.middle()), cmp.Compare(b.k, a.k))
}

// A knobSearch is the search for the values of a heuristic's knob.
type knobSearch struct {
	knob   prune.Param
	first  []float64 // to begin with
	seen   []reached // by ascending order
	failed []float64
}

// findBudgets finds the values of all heuristics' knobs, by their names.
func (t *tournament) findBudgets(ctx context.Context) (map[string][]reached, error) {
	searches := make(map[string]*knobSearch)
	for _, name := range t.heuristics {
		h, _ := prune.Variant(name)
		if knob, ok := h.Knob(); ok && !knob.Integer {
			searches[name] = &knobSearch{knob: knob, first: knob.Grid[:1]}
		}
	}
	if err := t.seek(ctx, searches, roughRounds, roughNear, t.rough); err != nil {
		return nil, err
	}
	for _, s := range searches {
		for _, target := range t.size.targets() {
			if v, ok := s.toward(target); ok && !slices.Contains(s.first, v) {
				s.first = append(s.first, v)
			}
		}
		s.seen = nil
	}
	if err := t.seek(ctx, searches, firstRounds, near, t.first); err != nil {
		return nil, err
	}
	budgets := map[string][]reached{orderKnob: t.orders()}
	for _, name := range slices.Sorted(maps.Keys(searches)) {
		s := searches[name]
		kept := s.kept(t.size.levels())
		budgets[name] = kept
		if len(kept) == 0 {
			t.note("%s is left out: it failed with every %s that was tried", name, s.knob.Name)
			continue
		}
		words := joined(kept, func(v reached) string { return fmt.Sprintf("%s (%.0f)", number(v.k), v.middle()) })
		t.note("%s: %s and the model order that it leads to: %s", name, s.knob.Name, words)
		for _, v := range s.seen {
			if !slices.Contains(kept, v) {
				t.scouted += firstReplicates * t.size.one(v.middle(), t.size.samples, t.size.evaluated())
			}
		}
	}
	if len(budgets[t.heuristics[0]]) == 0 && searches[t.heuristics[0]] != nil {
		return nil, fmt.Errorf("%s, with which the others are compared, failed with every value of its knob; another --scale or --against may help", t.heuristics[0])
	}
	return budgets, nil
}

// orders are the values of a knob that is the model order: the levels, one between two and
// one beyond both ends, where times are compared.
func (t *tournament) orders() []reached {
	targets := t.size.targets()
	all := []float64{math.Ceil(targets[0]), math.Ceil(targets[len(targets)-1])}
	levels := t.size.levels()
	for i, level := range levels {
		if all = append(all, float64(level)); i > 0 {
			all = append(all, math.Round(math.Sqrt(float64(level*levels[i-1]))))
		}
	}
	slices.Sort(all)
	var out []reached
	for _, v := range slices.Compact(all) {
		out = append(out, reached{v, v, v})
	}
	return out
}

// seek runs values of each search's knob until each level lies between two whose orders are near each other, or the rounds are over.
func (t *tournament) seek(ctx context.Context, searches map[string]*knobSearch, rounds int, near float64,
	run func(context.Context, []experiments.Contest) (orders map[string][]float64, err error)) error {
	for range rounds {
		budgets := make(map[string][]reached)
		for name, s := range searches {
			for _, v := range s.next(t.size.levels(), near) {
				budgets[name] = append(budgets[name], reached{k: v})
			}
		}
		names := slices.Sorted(maps.Keys(budgets))
		if len(names) == 0 {
			return nil
		}
		spec, err := experiments.ParseTournament(t.opt.Spec, []byte(t.spec(names, budgets, firstReplicates)))
		if err != nil {
			return err
		}
		plan, err := spec.Plan(experiments.ProfileQuick)
		if err != nil {
			return err
		}
		orders, err := run(ctx, plan)
		if err != nil {
			return err
		}
		seen := make(map[string]bool)
		for _, c := range plan {
			if !seen[c.Group] {
				seen[c.Group] = true
				searches[c.Heuristic].add(c.Value, orders[c.Group])
			}
		}
	}
	return nil
}

// rough trains the first replicates on five sixths of the training rows, and returns the
// final orders by group; none where a run failed.
func (t *tournament) rough(ctx context.Context, contests []experiments.Contest) (map[string][]float64, error) {
	var plan []experiments.Planned
	for _, c := range contests {
		if c.Replicate == 1 {
			c.Planned.Run.Samples = t.size.tried
			c.Planned.ID = experiments.ID(c.Planned.Run)
			plan = append(plan, c.Planned)
		}
	}
	tried, _, err := harness.Settings(ctx, plan, t.opt.Options)
	orders := make(map[string][]float64)
	for _, s := range tried {
		if s.Ended() {
			orders[s.Group] = []float64{s.Order}
		}
	}
	return orders, err
}

// first carries out runs of the tournament, which keep their records, and returns their
// final orders by group; none where a run failed.
func (t *tournament) first(ctx context.Context, contests []experiments.Contest) (map[string][]float64, error) {
	plan, opt := Runs(contests), t.opt.Options
	if opt.Progress != nil {
		opt.Progress = gridPoints{opt.Progress}
	}
	if _, err := harness.Reproduce(ctx, plan, opt); err != nil && !errors.Is(err, harness.ErrRunsFailed) {
		return nil, err
	}
	have, err := harness.ReadResults(opt.Results, func(error) {})
	if err != nil {
		return nil, err
	}
	if opt.Keep {
		plan = harness.Adopt(plan, have.Records)
	}
	orders := make(map[string][]float64)
	for _, p := range plan {
		if r := have.Records[p.ID]; r != nil {
			orders[p.Group] = append(orders[p.Group], r.Final.ModelOrder)
		}
	}
	maps.DeleteFunc(orders, func(_ string, o []float64) bool { return len(o) < firstReplicates })
	return orders, nil
}

// gridPoints are the runs of a search: the end of one that fails is no failure.
type gridPoints struct{ harness.Progress }

func (p gridPoints) Report(e harness.Event) {
	if e.Kind == harness.EventFail {
		e.Kind = harness.EventFinish
	}
	p.Progress.Report(e)
}

// add adds a value of the knob with the orders that it led to.
func (s *knobSearch) add(k float64, orders []float64) {
	if len(orders) == 0 {
		s.failed = append(s.failed, k)
		return
	}
	s.seen = append(s.seen, reached{k, slices.Min(orders), slices.Max(orders)})
	slices.SortFunc(s.seen, byOrder)
}

// around returns the values whose orders an order lies between in all replicates, nil where
// there is none.
func (s *knobSearch) around(order float64) (below, above *reached) {
	for i := range s.seen {
		v := &s.seen[i]
		if v.high <= order && (below == nil || v.high >= below.high) {
			below = v
		}
		if v.low >= order && above == nil {
			above = v
		}
	}
	return below, above
}

// next returns the values to be tried: those to begin with, and then beyond the ends where the first or last level is not
// passed, and beside a level whose neighbours are not near each other.
func (s *knobSearch) next(levels []int, near float64) (out []float64) {
	if len(s.first) > 0 {
		out, s.first = s.first, nil
		return out
	}
	try := func(target float64) {
		v, ok := s.toward(target)
		tried := func(r reached) bool { return r.k == v }
		if ok && !slices.Contains(out, v) && !slices.ContainsFunc(s.seen, tried) && !slices.Contains(s.failed, v) {
			out = append(out, v)
		}
	}
	first, last := float64(levels[0]), float64(levels[len(levels)-1])
	if below, _ := s.around(first / beside); below == nil {
		try(first / beyondEnds)
	}
	for _, level := range levels {
		order := float64(level)
		below, above := s.around(order)
		if below == nil || above == nil || above.low > near*max(below.high, 1) {
			try(order / beside)
			try(order * beside)
		}
	}
	if _, above := s.around(last * beside); above == nil {
		try(last * beyondEnds)
	}
	return out
}

// toward returns the value that is to lead to an order, by a line through the two that were
// seen about it on logarithmic scales, and at most a step of the knob's grid beyond them.
func (s *knobSearch) toward(order float64) (float64, bool) {
	n := len(s.seen)
	if n == 0 {
		return 0, false
	}
	i := slices.IndexFunc(s.seen, func(r reached) bool { return r.middle() > order })
	if i < 0 {
		i = n
	}
	step := 2.0
	if g := s.knob.Grid; len(g) > 1 {
		step = g[1] / g[0] // towards larger orders
	}
	var v float64
	switch {
	case i > 0 && s.seen[i-1].middle() == order:
		v = s.seen[i-1].k
	case i == 0:
		v = s.seen[0].k / step
	case i == n:
		v = s.seen[n-1].k * step
	default:
		a, b := s.seen[i-1], s.seen[i]
		part := math.Log(order/a.middle()) / math.Log(b.middle()/a.middle())
		v = a.k * math.Pow(b.k/a.k, part)
	}
	if most := s.knob.Most; most != nil && v >= *most {
		v = (s.seen[min(i, n-1)].k + *most) / 2
	}
	v = rounded(v)
	low := s.knob.Above != nil && v <= *s.knob.Above || s.knob.Least != nil && v < *s.knob.Least
	return v, v > 0 && !low
}

// kept returns the values that the comparison needs: about each level the two that it lies
// between, and one beyond each end.
func (s *knobSearch) kept(levels []int) (out []reached) {
	keep := func(v *reached) {
		if v != nil && !slices.Contains(out, *v) {
			out = append(out, *v)
		}
	}
	for _, level := range levels {
		below, above := s.around(float64(level))
		keep(below)
		keep(above)
	}
	below, _ := s.around(float64(levels[0]) / beside)
	_, above := s.around(float64(levels[len(levels)-1]) * beside)
	keep(below)
	keep(above)
	if len(out) == 0 { // no level is reached
		out = slices.Clone(s.seen)
	}
	slices.SortFunc(out, byOrder)
	return out
}
