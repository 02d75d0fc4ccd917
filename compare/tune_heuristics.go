package compare

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"polkrepro/data"
	"polkrepro/harness"
	"polkrepro/polk/prune"
	"polkrepro/spec"
)

// TuneHeuristics finds POLK's bandwidth and learning rate on held-out training rows, as
// [TuneMethods] does. For each heuristic it then finds the size parameter values that lead to the model
// orders at which heuristics are compared, by runs on the other training rows, until each level lies
// between two values that lead to orders near it. It returns a comparison of the heuristics, the
// reference first, on these data, with the commands of the heuristics that are not part of this
// program. The task is one of spec.Tasks. The errors are those of TuneMethods. A comment in
// the comparison names the command that repeats it.
func TuneHeuristics(ctx context.Context, opt Options, heuristics []string, commands map[string]string) ([]byte, error) {
	remaining := slices.Clone(heuristics)
	return ofHeuristics.tuned(ctx, opt, func(s *tuning, set *data.Set) {
		t := &heuristicTuning{tuning: s, heuristics: &remaining, commands: commands}
		for _, name := range heuristics {
			h, _ := prune.Lookup(name)
			t.key += fmt.Sprintln(name, h.Code(), commands[name])
			if param, ok := h.SizeParam(); ok && !param.Integer { // the values of a size parameter that is the model order need no search
				t.searches = append(t.searches, &sizeSearch{heuristic: h, param: param})
			}
		}
		t.size = comparisonSizes(set, s.opt, len(heuristics), len(t.searches), nil)
		if len(commands) > 0 {
			t.price = func(ctx context.Context) error {
				t.best = t.runs[0].Run.Params
				prices, err := t.prices(ctx)
				if err == nil {
					t.size = comparisonSizes(set, s.opt, len(heuristics), len(t.searches), prices)
					t.runs, err = t.starts()
				}
				return err
			}
		}
		t.finish = func(ctx context.Context, found []*search) (err error) {
			t.best = found[0].best.run.Run.Params
			t.budgets, err = t.findBudgets(ctx)
			return err
		}
		t.body = t.spec
	})
}

// A heuristicTuning is the search for the settings of a comparison of heuristics on one file.
type heuristicTuning struct {
	*tuning
	heuristics *[]string         // the reference first; all files share the list
	commands   map[string]string // of external heuristics, by name
	searches   []*sizeSearch
	best       spec.Params          // of POLK
	budgets    map[string][]float64 // found size parameter values by heuristic
}

// A price is the time that a step waits for the process of a heuristic, at two model orders.
type price struct {
	order, seconds [2]float64
	start          float64 // time until the process of a run is ready
	searched       bool    // its size parameter is not the model order
}

// at returns the time at an order, by a line through the two, and never less than at the smaller one.
func (p price) at(order float64) float64 {
	slope := 0.0
	if p.order[1] > p.order[0] {
		slope = max(0, p.seconds[1]-p.seconds[0]) / (p.order[1] - p.order[0])
	}
	return max(p.seconds[0], p.seconds[0]+slope*(order-p.order[0]))
}

// probeShare is the share of the budget for one of the two probes of a heuristic.
const probeShare = 0.05

// prices measures the heuristics in processes of their own, with the first and the last value of the
// size parameter.
func (t *heuristicTuning) prices(ctx context.Context) (out []price, err error) {
	plan, err := t.plan()
	if err != nil {
		return nil, err
	}
	for _, name := range *t.heuristics {
		runs := slices.DeleteFunc(slices.Clone(plan), func(c spec.ComparedRun) bool { return c.Heuristic != name || c.Replicate > 1 })
		if h, _ := prune.Lookup(name); h.Identity == "" || len(runs) == 0 {
			continue
		}
		p := price{searched: slices.ContainsFunc(t.searches, func(q *sizeSearch) bool { return q.heuristic.Name == name })}
		for i, c := range []spec.ComparedRun{runs[0], runs[len(runs)-1]} {
			limit := time.Duration(probeShare * float64(t.opt.Budget))
			order, seconds, start, err := harness.StepTime(ctx, c.Planned, t.opt.Options, limit)
			if err != nil {
				return nil, fmt.Errorf("%s: a probe run failed: %w", name, err)
			}
			p.order[i], p.seconds[i], p.start = float64(order), seconds, start
		}
		t.note("%s, by a probe: its process starts in %.3g ms, and a step waits for it %.3g ms at order %.0f, %.3g ms at order %.0f",
			name, 1000*p.start, 1000*p.seconds[0], p.order[0], 1000*p.seconds[1], p.order[1])
		out = append(out, p)
	}
	return out, nil
}

// plan returns the runs of the comparison with the size parameters' grids.
func (t *heuristicTuning) plan() ([]spec.ComparedRun, error) {
	parsed, err := spec.ParseComparison(t.opt.Spec, []byte(ofHeuristics.heading(t.ref.Name, t.ref.Name)+t.spec()))
	if err != nil {
		return nil, err
	}
	return parsed.Plan(spec.ProfileQuick)
}

// spec returns the comparison of the heuristics on the file as YAML, without its heading. A heuristic
// without budgets has the values of its grid.
func (t *heuristicTuning) spec() string {
	var s strings.Builder
	fmt.Fprintf(&s, `compare:
  reference: %s
  heuristics: %s
  orders: %s
`, (*t.heuristics)[0], list(*t.heuristics, strconv.Quote), list(t.size.levels, strconv.Itoa))
	if len(t.commands) > 0 {
		s.WriteString("  commands:\n")
		for _, name := range slices.Sorted(maps.Keys(t.commands)) {
			fmt.Fprintf(&s, "    %s: %q\n", name, t.commands[name])
		}
	}
	fmt.Fprintf(&s, "  values:\n    %s: %s\n", prune.Order.Name, list(t.size.orders(), strconv.Itoa))
	for _, name := range slices.Sorted(maps.Keys(t.budgets)) {
		if slices.Contains(*t.heuristics, name) {
			fmt.Fprintf(&s, "    %q: %s\n", name, list(t.budgets[name], number))
		}
	}
	fmt.Fprintf(&s, `data: %s
task: %s
kernel: {type: gaussian, bandwidth: %s}
regularizer: 1e-6
defaults: {polk: {learning_rate: %s, batch_size: %d}}
stopping: {samples: %d}
evaluation: {every: %d, tail: 5, train_limit: %d}
repeats: {seeds: %d}
profiles: {smoke: {skip: true}, full: {skip: true}}
`, t.dataWords(), t.opt.Task, number(t.best.Kernel.Bandwidth), number(t.best.LearningRate), batchSize,
		t.size.samples, t.size.every, min(heuristicTrain, t.size.rows), t.size.seeds)
	return s.String()
}

// Ratios of model orders. A level lies between two values, one that leads to an order of at most
// level/beside and one to an order of at least level·beside, so that all replicates reach it. Below
// the first and above the last level, where no other value helps, the ratio is ends. The search tries
// values that should lead to orders beyond these by the ratio aim, and ends when the two orders are at
// most as far from each other as near times the ratio of the bounds. beyondEnds is the ratio of the
// first and last order of [sizes.orders] to the levels.
const (
	beside     = 1.05
	ends       = 1.2
	aim        = 1.05
	near       = 1.13
	beyondEnds = 1.25
)

// sizeRounds is the largest number of rounds of a search for size parameter values.
const sizeRounds = 12

// bounds returns the largest order below a level and the smallest above it that bracket it safely.
func (z *sizes) bounds(i int) (low, high float64) {
	level, down, up := float64(z.levels[i]), beside, beside
	if i == 0 {
		down = ends
	}
	if i == len(z.levels)-1 {
		up = ends
	}
	return level / down, level * up
}

// A sizeSearch is the search for the values of a heuristic's size parameter. It begins with the grid value
// that leads to the smallest order, because a run to a large order takes minutes.
type sizeSearch struct {
	heuristic prune.Heuristic
	param     prune.Param
	run       spec.Planned // a run with some value of the size parameter
	rounds    int
	tried     []*trial
	seen      []*trial // those of tried that ended, by ascending model order
}

// findBudgets returns, by heuristic, the values of size parameters other than the model order. It removes the
// heuristics that fail with every value.
func (t *heuristicTuning) findBudgets(ctx context.Context) (map[string][]float64, error) {
	plan, err := t.plan()
	if err != nil {
		return nil, err
	}
	t.searches = slices.DeleteFunc(t.searches, func(q *sizeSearch) bool { return !slices.Contains(*t.heuristics, q.heuristic.Name) }) // failed on another file
	for _, q := range t.searches {
		q.run = plan[slices.IndexFunc(plan, func(c spec.ComparedRun) bool { return c.Heuristic == q.heuristic.Name })].Planned
	}
	if err := seek(ctx, t.tuning, t.searches); err != nil {
		return nil, err
	}
	budgets := make(map[string][]float64)
	for _, q := range t.searches {
		name := q.heuristic.Name
		if kept := q.kept(&t.size); len(kept) > 0 {
			words := joined(kept, func(v *trial) string { return fmt.Sprintf("%s (%.0f)", number(v.value), v.Order) })
			t.note("%s: %s and the model order that it leads to: %s", name, q.param.Name, words)
			for _, v := range kept {
				budgets[name] = append(budgets[name], v.value)
			}
			continue
		}
		if name == (*t.heuristics)[0] {
			return nil, fmt.Errorf("the reference %s failed with every value of its size parameter: try another --scale or --against", name)
		}
		t.note("%s is left out: it failed with every %s that was tried", name, q.param.Name)
		*t.heuristics = slices.DeleteFunc(*t.heuristics, func(other string) bool { return other == name })
	}
	return budgets, nil
}

// next returns the trials to run next: at first one, then values beside each level whose neighbours
// are missing or too far from each other.
func (q *sizeSearch) next(s *tuning) (out []*trial) {
	if q.rounds++; q.rounds > sizeRounds {
		return nil
	}
	if len(q.tried) == 0 {
		return q.try(nil, q.param.Grid[0])
	}
	q.see()
	for i := range s.size.levels {
		low, high := s.size.bounds(i)
		below, above := q.around(low, high)
		// Orders are whole numbers, so the neighbours differ by 2 or more.
		if below == nil || above == nil || above.Order > max(below.Order+2, near*high/low*below.Order) {
			out = q.try(out, q.toward(low/aim))
			out = q.try(out, q.toward(high*aim))
		}
	}
	return out
}

// step returns the factor of one step of the size parameter's grid towards larger orders.
func (q *sizeSearch) step() float64 {
	if g := q.param.Grid; len(g) > 1 {
		return g[1] / g[0]
	}
	return 2
}

// see sorts the trials that ended by their model orders, equal orders in the direction of the size parameter.
func (q *sizeSearch) see() {
	q.seen = slices.DeleteFunc(slices.Clone(q.tried), func(t *trial) bool { return t.Runs == 0 })
	slices.SortFunc(q.seen, func(a, b *trial) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(q.step(), 1)*cmp.Compare(a.value, b.value))
	})
}

// try appends the trial of a value, unless the value was tried or is invalid.
func (q *sizeSearch) try(out []*trial, v float64) []*trial {
	tried := slices.ContainsFunc(q.tried, func(t *trial) bool { return t.value == v })
	if tried || prune.CheckValue(q.param, v) != "" {
		return out
	}
	p := q.run
	params := &p.Run.Params
	if q.heuristic.Epsilon {
		params.Parsimony = v
	} else {
		params.PrunerParams = maps.Clone(params.PrunerParams)
		params.PrunerParams[q.param.Name] = v
	}
	p.ID = spec.ID(p.Run)
	p.Group = q.heuristic.Name + " " + number(v)
	t := &trial{value: v, run: p}
	q.tried = append(q.tried, t)
	return append(out, t)
}

// around returns the last trial whose order is at most low and the first whose order is at least high.
// Each is nil if there is none.
func (q *sizeSearch) around(low, high float64) (below, above *trial) {
	for _, t := range q.seen {
		if t.Order <= low {
			below = t
		}
		if t.Order >= high && above == nil {
			above = t
		}
	}
	return below, above
}

// toward returns the value that should lead to an order: by a line on logarithmic scales through
// the two trials around the order, or at most one step of the size parameter's grid beyond the first or last
// trial. It returns NaN if no trial ended.
func (q *sizeSearch) toward(order float64) float64 {
	n := len(q.seen)
	if n == 0 {
		return math.NaN()
	}
	i := sort.Search(n, func(i int) bool { return q.seen[i].Order > order })
	var v float64
	switch {
	case i == 0:
		v = q.seen[0].value / q.step()
	case i == n:
		v = q.seen[n-1].value * q.step()
	default:
		a, b := q.seen[i-1], q.seen[i]
		low := max(a.Order, 0.5)
		v = a.value * math.Pow(b.value/a.value, math.Log(order/low)/math.Log(b.Order/low))
	}
	if most := q.param.Most; most != nil && v >= *most {
		v = (q.seen[min(i, n-1)].value + *most) / 2
	}
	return rounded(v)
}

// kept returns the trials that the comparison needs: the two around each level, or all if no level is
// reached.
func (q *sizeSearch) kept(z *sizes) []*trial {
	q.see()
	needed := make(map[*trial]bool)
	for i := range z.levels {
		below, above := q.around(z.bounds(i))
		needed[below], needed[above] = true, true
	}
	kept := slices.DeleteFunc(slices.Clone(q.seen), func(t *trial) bool { return !needed[t] })
	if len(kept) == 0 {
		return q.seen
	}
	return kept
}
