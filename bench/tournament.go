package bench

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/polk/prune"
)

// The budget of a tournament is divided as if so many heuristics with so many values each
// took part, so that a heuristic's runs are the same whoever is compared with it.
const (
	nominalHeuristics = 20
	nominalValues     = 2 // for each model order
)

// Tournament finds POLK's bandwidth and learning rate on held-out training rows, as
// [Settle] does, and for each heuristic the values of its knob that lead to a range of model
// orders. It returns a tournament of the heuristics, the reference first, on these data.
// The task is one of experiments.Tasks, the errors are those of Settle. A comment in the
// tournament names the command that repeats it.
func Tournament(ctx context.Context, opt Options, heuristics []string, again string) ([]byte, error) {
	b, set, err := open(opt, 0)
	if err != nil {
		return nil, err
	}
	t := &tournament{bench: b, heuristics: heuristics}
	t.size = tournamentSizes(set, opt)
	polk := []method{{name: experiments.MethodPOLK, pruner: "komp-order", axes: []axis{width, rate(8)}}}
	starts, err := t.starts(polk)
	if err != nil {
		return nil, err
	}
	key := t.key(starts)
	if strings.HasPrefix(string(opt.Before), key) {
		opt.Note("settings of %s, which an earlier search found", opt.Spec)
		return opt.Before, nil
	}
	for _, line := range t.lines() {
		opt.Note("%s", line)
	}
	found, err := t.settle(ctx, polk, starts)
	if err != nil {
		return nil, err
	}
	best := found[0].best.run.Run.Params
	t.bandwidth, t.rate = best.Kernel.Bandwidth, best.LearningRate
	budgets, err := t.findBudgets(ctx)
	if err != nil {
		return nil, err
	}
	text := key + t.comment(again) + t.spec(budgets, t.size.samples, t.size.seeds)
	_, err = experiments.ParseTournament(opt.Spec, []byte(text))
	return []byte(text), err
}

// A tournament is one whose settings are sought.
type tournament struct {
	*bench
	heuristics []string // the reference first
	bandwidth  float64
	rate       float64
}

// tournamentSizes divides the budget.
func tournamentSizes(set *data.Set, opt Options) sizes {
	z := sizes{rows: set.Train.N, test: set.Test.N, dim: set.Train.Dim, classes: set.Classes, tail: points / 4}
	all := opt.Budget.Seconds() * speed
	z.order = opt.Order
	if z.order == 0 {
		z.order = min(max(z.rows/20, 8), largestOrder)
	}
	polk := method{name: experiments.MethodPOLK}
	cost := func(samples, evaluated int) (sum float64) {
		for _, order := range z.levels() {
			sum += nominalHeuristics * nominalValues * z.run(&polk, order, samples, float64(evaluated))
		}
		return sum
	}
	fits := func(seeds, samples int) bool {
		z.seeds, z.samples, z.every = seeds, samples, max(1, samples/fewPoints)
		z.spent = float64(seeds) * cost(samples, (fewPoints+z.tail)*(z.test+min(trainLimit, z.rows)))
		return z.spent <= (1-searchShare)*all
	}
	for opt.Order == 0 && z.order > 64 && !fits(3, z.rows) { // else smaller models
		z.order /= 2
	}
	passes := 1
	for passes < 8 && 2*passes*z.rows <= mostSamples {
		passes *= 2
	}
	for samples := passes * z.rows; !fits(5, samples) && !fits(3, samples) && samples > leastSamples; samples /= 2 {
	}
	search := func() float64 {
		held := z.tail * z.rows / 6
		return trials*z.run(&polk, z.order, z.tried, float64(held)) + 2*cost(z.tried, held)
	}
	for z.tried = z.samples; search() > searchShare*all && z.tried > leastSamples; {
		z.tried = max(min(leastSamples, z.samples), z.tried/2)
	}
	z.spent += search()
	return z
}

// levels are the model orders at which heuristics are compared.
func (z *sizes) levels() []int {
	return []int{z.small(), max(z.small()+1, z.order/2), max(z.small()+2, z.order)}
}

func (t *tournament) lines() []string {
	z := &t.size
	return []string{
		fmt.Sprintf("%d training rows, %d test rows, %d features, %d classes", z.rows, z.test, z.dim, z.classes),
		fmt.Sprintf("model orders %s; %d samples a run (%.3g times the training rows), %d in the search; replicates: %d",
			t.levelWords(), z.samples, float64(z.samples)/float64(z.rows), z.tried, z.seeds),
		fmt.Sprintf("about %v by estimate, for %d heuristics", seconds(z.spent), nominalHeuristics),
	}
}

func (t *tournament) levelWords() string {
	var words []string
	for _, level := range t.size.levels() {
		words = append(words, strconv.Itoa(level))
	}
	return strings.Join(words, ", ")
}

// key is the line that a tournament begins with: it stands for the data, the code, the
// heuristics and the sizes.
func (t *tournament) key(starts []experiments.Planned) string {
	h := sha256.New()
	for _, p := range starts {
		fmt.Fprintln(h, p.ID)
	}
	for _, name := range t.heuristics {
		base, _ := prune.Variant(name)
		fmt.Fprintln(h, name, base.Code())
	}
	fmt.Fprint(h, t.lines(), t.size.every)
	return fmt.Sprintf("# runall compare --data, search %x\n", h.Sum(nil)[:8])
}

func (t *tournament) comment(again string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "#\n# To repeat it: %s\n#\n", again)
	for _, line := range slices.Concat(t.lines(), []string{"", "Found on a sixth of the training rows, which was held out; test rows were not looked at."}, t.notes) {
		s.WriteString(strings.TrimRight("# "+line, " ") + "\n")
	}
	return s.String()
}

// spec is the tournament with the values of the heuristics' knobs by name.
func (t *tournament) spec(budgets map[string][]float64, samples, replicates int) string {
	var s strings.Builder
	fmt.Fprintf(&s, `name: compare-%s
title: Pruning heuristics on %s
reference: %s
heuristics: [%s]
fields:
  - name: %s
    title: %s, %s
    data: {%s}
    task: %s
    bandwidth: %s
    learning_rate: %s
    regularizer: 1e-6
    batch_size: %d
    levels: [%s]
    budgets:
      order: [%s]
`, t.name, t.name, t.heuristics[0], strings.Join(t.heuristics, ", "), t.name, t.name, lossWords[t.opt.Task], t.dataWords(), t.opt.Task,
		number(t.bandwidth), number(t.rate), batchSize, t.levelWords(), t.levelWords())
	for _, name := range slices.Sorted(maps.Keys(budgets)) {
		fmt.Fprintf(&s, "      %s: %s\n", name, list(budgets[name]))
	}
	fmt.Fprintf(&s, "    profiles:\n      quick: {samples: %d, replicates: %d, every: %d}\n", samples, replicates, t.size.every)
	return s.String()
}

var lossWords = map[string]string{experiments.TaskKSVM: "hinge loss", experiments.TaskKLR: "logistic loss"}

// The search for the values of a knob ends after so many extensions of its grid, and then
// as many values between those whose orders a level lies between.
const (
	mostBeyond  = 6
	mostBetween = 4
)

// A sought is a value of a knob with the model order and the error that it led to.
type sought struct{ k, order, err float64 }

// A knobSearch is the search for the values of a heuristic's knob.
type knobSearch struct {
	knob prune.Param
	next []float64 // to be tried
	seen []sought  // by ascending order
}

// findBudgets finds, for each heuristic whose knob is not the model order, values from
// below the least level to above the largest. Variants share them.
func (t *tournament) findBudgets(ctx context.Context) (map[string][]float64, error) {
	searches := make(map[string]*knobSearch)
	for _, name := range t.heuristics {
		h, _ := prune.Variant(name)
		if knob, ok := h.Knob(); ok && !knob.Integer {
			searches[h.Base()] = &knobSearch{knob: knob, next: knob.Grid}
		}
	}
	levels := t.size.levels()
	low, high := 0.8*float64(levels[0]), 1.25*float64(levels[len(levels)-1])
	for i := range mostBeyond + mostBetween {
		if err := t.tryKnobs(ctx, searches); err != nil {
			return nil, err
		}
		for _, s := range searches {
			if s.next = nil; i < mostBeyond {
				s.next = s.beyond(low, high)
				continue
			}
			for _, level := range levels {
				if v, ok := between(s.seen, float64(level)); ok && !slices.Contains(s.next, v) {
					s.next = append(s.next, v)
				}
			}
		}
	}
	if err := t.tryKnobs(ctx, searches); err != nil {
		return nil, err
	}
	budgets := make(map[string][]float64)
	for _, name := range slices.Sorted(maps.Keys(searches)) {
		s := searches[name]
		kept := s.covering(low, high)
		if len(kept) == 0 {
			t.note("%s failed with every %s that was tried", name, s.knob.Name)
			continue
		}
		var words []string
		for _, v := range kept {
			budgets[name] = append(budgets[name], v.k)
			words = append(words, fmt.Sprintf("%s (%.0f)", number(v.k), v.order))
		}
		t.note("%s: %s and the model order that it leads to: %s", name, s.knob.Name, strings.Join(words, ", "))
	}
	return budgets, nil
}

// tryKnobs runs all searches' next values.
func (t *tournament) tryKnobs(ctx context.Context, searches map[string]*knobSearch) error {
	budgets := make(map[string][]float64)
	for name, s := range searches {
		if len(s.next) > 0 {
			budgets[name] = s.next
		}
	}
	if len(budgets) == 0 {
		return nil
	}
	trial := &tournament{bench: t.bench, heuristics: slices.Sorted(maps.Keys(budgets)), bandwidth: t.bandwidth, rate: t.rate}
	spec, err := experiments.ParseTournament(t.opt.Spec, []byte(trial.spec(budgets, t.size.tried, 1)))
	if err != nil {
		return err
	}
	contests, err := spec.Plan(experiments.ProfileQuick)
	if err != nil {
		return err
	}
	var plan []experiments.Planned
	values := make(map[string]float64) // by group
	for _, c := range contests {
		p := c.Planned
		p.Label = c.Heuristic
		plan, values[p.Group] = append(plan, p), c.Value
	}
	tried, err := t.try(ctx, plan)
	if err != nil {
		return err
	}
	for _, r := range tried {
		if !r.Ended() {
			continue
		}
		s := searches[r.Label]
		s.seen = append(s.seen, sought{values[r.Group], r.Order, r.Error})
		slices.SortFunc(s.seen, func(a, b sought) int { return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(b.k, a.k)) })
	}
	return nil
}

// beyond returns values beyond the ends of what was tried, by the steps of the knob's grid,
// where the orders do not reach from low to high.
func (s *knobSearch) beyond(low, high float64) (next []float64) {
	if len(s.seen) == 0 || len(s.knob.Grid) < 2 {
		return nil
	}
	step := s.knob.Grid[1] / s.knob.Grid[0] // towards larger orders
	add := func(from, v float64) {
		if most := s.knob.Most; most != nil && v >= *most {
			v = (from + *most) / 2
		}
		v = rounded(v)
		low := s.knob.Above != nil && v <= *s.knob.Above || s.knob.Least != nil && v < *s.knob.Least
		if v > 0 && !low && !slices.ContainsFunc(s.seen, func(a sought) bool { return a.k == v }) {
			next = append(next, v)
		}
	}
	if first := s.seen[0]; first.order > low {
		add(first.k, first.k/step)
	}
	if last := s.seen[len(s.seen)-1]; last.order < high {
		add(last.k, last.k*step)
	}
	return next
}

// between returns the value between two that were tried whose orders an order lies between.
func between(all []sought, order float64) (float64, bool) {
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		if a.order < order && order < b.order {
			t := 0.5
			if a.order > 0 {
				t = math.Log(order/a.order) / math.Log(b.order/a.order)
			}
			k := rounded(a.k * math.Pow(b.k/a.k, t))
			return k, k != a.k && k != b.k
		}
	}
	return 0, false
}

// covering returns what was tried from the last that is below low to the first that is above
// high, without those whose orders are within a tenth of the one before.
func (s *knobSearch) covering(low, high float64) (out []sought) {
	for i, v := range s.seen {
		below := i+1 < len(s.seen) && s.seen[i+1].order <= low
		above := i > 0 && s.seen[i-1].order >= high
		same := len(out) > 0 && v.order < 1.1*out[len(out)-1].order
		if !below && !above && !same {
			out = append(out, v)
		}
	}
	return out
}
