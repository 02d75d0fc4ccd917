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

// Numbers of replicates of a tournament. The first replicates show which model orders the knob
// values lead to. The rest of the budget pays for more replicates of the values that are kept.
const (
	firstReplicates = 2
	mostReplicates  = 20
)

// SettleHeuristics finds POLK's bandwidth and learning rate on held-out training rows, as
// [SettleMethods] does. For each heuristic it then finds the knob values that lead to the model
// orders at which heuristics are compared: first by runs on five sixths of the training rows, then
// by running the first replicates of the tournament itself, until each level lies between two
// values that lead to orders near it. It returns a tournament of the heuristics, the reference
// first, on these data, with the commands of the heuristics that are not part of this program. The
// task is one of experiments.Tasks. The errors are those of SettleMethods and [harness.Reproduce].
// A comment in the tournament names the command that repeats it.
func SettleHeuristics(ctx context.Context, opt Options, heuristics []string, commands map[string]string) ([]byte, error) {
	s, set, err := open(opt, 0)
	if err != nil {
		return nil, err
	}
	s.size = tournamentSizes(set, opt, len(heuristics))
	t := &tournament{settling: s, heuristics: heuristics, commands: commands}
	key := ""
	for _, name := range heuristics {
		base, _ := prune.Lookup(name)
		key += fmt.Sprintln(name, base.Code(), commands[name])
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

// A tournament is a comparison of heuristics whose settings are being searched.
type tournament struct {
	*settling
	heuristics []string          // the reference first
	commands   map[string]string // of external heuristics, by name
	bandwidth  float64
	rate       float64
	scouted    float64 // multiply-adds of first replicates with knob values that are not kept
}

// tournamentSizes divides the budget among the given number of heuristics.
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
	for asked == 0 && z.order > 64 && !fits(3, z.rows) { // too expensive: smaller models
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

// otherCost is the mean time of a heuristic relative to KOMP at equal model order, in the recorded
// tournament (results/reference/tournament). Some heuristics take up to sixteen times as long.
const otherCost = 2

// one returns the multiply-adds of one run of a heuristic at a model order.
func (z *sizes) one(order float64, samples, evaluated int) float64 {
	polk := method{name: experiments.MethodPOLK}
	return otherCost * z.run(&polk, int(math.Ceil(order)), samples, float64(evaluated))
}

// evaluated returns the number of rows that a run of the tournament evaluates.
func (z *sizes) evaluated() int { return (fewPoints + z.tail) * (z.test + min(trainLimit, z.rows)) }

// replicates returns the requested number of replicates, or else as many as the rest of the budget
// allows: at least t.size.seeds, for which the budget was divided, and at most mostReplicates.
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

// levels returns the model orders at which heuristics are compared.
func (z *sizes) levels() []int {
	if len(z.asked) > 0 {
		return z.asked
	}
	return []int{z.small(), max(z.small()+1, z.order/2), max(z.small()+2, z.order)}
}

// Ratios of the model orders that knob values should lead to: level/beside and level·beside for
// each level, and one order beyond the smallest and the largest level by the ratio beyondEnds, so
// that all replicates reach every level. near is the largest ratio of two orders around a level at
// which the search stops.
const (
	beside     = 1.05
	near       = 1.2
	beyondEnds = 1.25
)

// targets returns the model orders that knob values should lead to, ascending.
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

// spec returns the tournament of the heuristics as YAML, with the knob values of each heuristic by
// name. It leaves out heuristics whose search found no value.
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
`, t.ref.Name, t.ref.Name, heuristics[0], "["+strings.Join(heuristics, ", ")+"]")
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
			fmt.Fprintf(&s, "      %s: %s\n", name, list(values, func(v reached) string { return number(v.k) }))
		}
	}
	fmt.Fprintf(&s, "    profiles:\n      quick: {samples: %d, replicates: %d, every: %d}\n", t.size.samples, replicates, t.size.every)
	return s.String()
}

// orderKnob is the knob of heuristics that limit the model order. Its values need no search; those of
// other knobs are searched for.
const orderKnob = "order"

// Limits of the two knob searches: their largest numbers of rounds, and roughNear, the largest
// ratio of the two orders around a level in the rough search. The rough search has shorter runs on
// fewer rows. It begins with the grid value that leads to the smallest order, because a run to a
// large order takes minutes.
const (
	roughRounds = 12
	firstRounds = 5
	roughNear   = 1.5
)

// A reached is a knob value and the lowest and highest model order that it led to.
type reached struct{ k, low, high float64 }

func (r reached) middle() float64 { return math.Sqrt(max(r.low, 0.5) * max(r.high, 0.5)) }

func byOrder(a, b reached) int {
	return cmp.Or(cmp.Compare(a.middle(), b.middle()), cmp.Compare(b.k, a.k))
}

// A knobSearch is the search for the values of a heuristic's knob.
type knobSearch struct {
	knob   prune.Param
	first  []float64 // values to try first
	seen   []reached // values tried, by ascending model order
	failed []float64
}

// findBudgets returns the knob values of all heuristics by name. Heuristics whose knob is the model
// order share the entry orderKnob.
func (t *tournament) findBudgets(ctx context.Context) (map[string][]reached, error) {
	searches := make(map[string]*knobSearch)
	for _, name := range t.heuristics {
		h, _ := prune.Lookup(name)
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
		return nil, fmt.Errorf("the reference %s failed with every value of its knob: try another --scale or --against", t.heuristics[0])
	}
	return budgets, nil
}

// orders returns the values of a knob that is the model order: the levels, one value between two
// levels, and one beyond each end, where training times are compared.
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

// seek tries knob values of each search until each level lies between two values whose orders have
// a ratio of at most near, or all rounds are over.
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

// rough trains the first replicate of each knob value on five sixths of the training rows. It
// returns the final model orders by group; a group whose run failed has none.
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

// first carries out runs of the tournament, which keep their records. It returns the final model
// orders by group; a group with a failed run has none.
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

// gridPoints reports the progress of a search, in which a run that fails counts as finished.
type gridPoints struct{ harness.Progress }

func (p gridPoints) Report(e harness.Event) {
	if e.Kind == harness.EventFail {
		e.Kind = harness.EventFinish
	}
	p.Progress.Report(e)
}

// add adds a knob value and the model orders that it led to. Without orders, the value failed.
func (s *knobSearch) add(k float64, orders []float64) {
	if len(orders) == 0 {
		s.failed = append(s.failed, k)
		return
	}
	s.seen = append(s.seen, reached{k, slices.Min(orders), slices.Max(orders)})
	slices.SortFunc(s.seen, byOrder)
}

// around returns the values whose orders are below and above an order in all replicates. Each is
// nil if there is none.
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

// next returns the values to try next: at first the initial values, then values beyond the first
// and last level if none lies there, and around each level whose two neighbours have a ratio above
// near.
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

// toward returns the value that should lead to an order: by a line on logarithmic scales through
// the two values seen around the order, or at most one step of the knob's grid beyond the first or
// last value. It returns false if no value was seen, or if the knob does not allow the result.
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

// kept returns the values that the comparison needs: the two around each level and one beyond each
// end.
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
