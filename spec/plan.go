package spec

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// A Planned is one run of a plan, with the properties that do not determine its result but that
// the harness and the report need.
type Planned struct {
	Run     Run      `json:"run"`
	ID      string   `json:"id"`      // ID(Run): names the run's record
	Spec    string   `json:"spec"`    // name of the spec
	Label   string   `json:"label"`   // label of the spec's entry: the method's name if it has none
	Series  string   `json:"series"`  // legend entry such as "POLK, K = 0.04": the same for all seeds and draws
	Group   string   `json:"group"`   // key of (spec, method, hyper-parameters): the same for all seeds and draws
	Cells   []string `json:"cells"`   // table cells the run feeds, such as "table2.multidist.ksvm.polk"
	Figures []string `json:"figures"` // figures the run feeds, such as "2"
	Cost    float64  `json:"cost"`    // rough relative cost: samples × (features + elementWork) × expected model order
}

// elementWork is the work on a dictionary element for each sample, besides that on its features and in
// their unit. Without it, recorded runs on 2 features take 200 times as long for their cost as runs on 784.
const elementWork = 400

// Distinct returns the runs of a plan without duplicates. Of a run that several specs share,
// it keeps the first.
func Distinct(plan []Planned) []Planned {
	seen := make(map[string]bool, len(plan))
	return slices.DeleteFunc(slices.Clone(plan), func(p Planned) bool {
		again := seen[p.ID]
		seen[p.ID] = true
		return again
	})
}

// Replicates returns, for each run of a plan, the replicates that it belongs to. Methods are
// compared in pairs on the same replicate. If the plan has several splits of a user's file, a
// replicate is a split and resplit is true; otherwise a replicate is a seed. A run of a
// method that does not depend on the seed then belongs to all replicates.
func Replicates(plan []Planned) (of [][]uint64, resplit bool) {
	var splits, seeds []uint64
	for _, p := range plan {
		splits, seeds = append(splits, p.Run.Data.Files.SplitSeed), append(seeds, p.Run.Seed)
	}
	resplit = len(plan) > 0 && slices.Max(splits) > slices.Min(splits)
	for i, p := range plan {
		switch {
		case resplit:
			of = append(of, []uint64{splits[i]})
		case Method(p.Run.Method).Seedless:
			of = append(of, slices.Compact(slices.Sorted(slices.Values(seeds))))
		default:
			of = append(of, []uint64{seeds[i]})
		}
	}
	return of, resplit
}

// Varied says in words what differs between runs of one setting on a user's rows, such as "orders of
// one split". It is empty for a single run, and for other data.
func Varied(runs []Planned) string {
	if len(runs) < 2 || !runs[0].Run.Data.Own() {
		return ""
	}
	splits := make(map[uint64]bool)
	for _, p := range runs {
		splits[p.Run.Data.Files.SplitSeed] = true
	}
	switch {
	case len(splits) == len(runs):
		return "splits"
	case len(splits) > 1:
		return fmt.Sprintf("orders of %d splits", len(splits))
	case runs[0].Run.Data.Files.Holdout > 0:
		return "orders of one split"
	}
	return "orders of one training file"
}

// A Setting is one setting of a method in a spec: a point of its entry's grid.
type Setting struct {
	Label, Series string // as in Planned
}

// Settings returns the settings of a spec's methods in order.
func (s *Spec) Settings() []Setting {
	return valuesOf(s.variants, func(v *variant) Setting { return Setting{v.label, v.series} })
}

// PlanOptions change a plan from outside the spec. Spec.Plan uses Seeds alone; package harness finds
// specs with Set and executes the runs that Only selects.
type PlanOptions struct {
	Seeds int // if positive, every repeat runs seeds 1 … Seeds instead of its own
	Set   Overrides
	Only  Only
}

// A runKey is a property of runs.
type runKey struct {
	name string
	of   func(Planned) string
}

// runKeys are the properties by which Only selects runs.
var runKeys = []runKey{
	{"spec", func(p Planned) string { name, _, _ := strings.Cut(p.Spec, " "); return name }}, // without overrides
	{"data", func(p Planned) string { return p.Run.Data.Name }},
	{"task", func(p Planned) string { return p.Run.Task }},
	{"method", func(p Planned) string { return p.Run.Method }},
	{"label", func(p Planned) string { return p.Label }},
	{"seed", func(p Planned) string { return strconv.FormatUint(p.Run.Seed, 10) }},
}

// OnlyKeys returns the names of the properties by which Only selects runs.
func OnlyKeys() []string { return valuesOf(runKeys, func(k runKey) string { return k.name }) }

// Only selects runs by their properties: those that have, of each property that is named, one of the
// values. It selects all runs if it is empty.
type Only map[string][]string

// Add adds KEY=VALUE,KEY=VALUE…, with some of OnlyKeys.
func (o Only) Add(text string, keys []string) error {
	for _, pair := range strings.Split(text, ",") {
		key, value, _ := strings.Cut(pair, "=")
		if !slices.Contains(keys, key) || value == "" {
			return fmt.Errorf("%q: must be KEY=VALUE, such as method=polk, with one of the keys %s", pair, list(keys))
		}
		o[key] = append(o[key], value)
	}
	return nil
}

// String returns the selection as Add reads it.
func (o Only) String() string {
	var pairs []string
	for _, key := range runKeys {
		for _, value := range o[key.name] {
			pairs = append(pairs, key.name+"="+value)
		}
	}
	return strings.Join(pairs, ",")
}

// Of returns the selected runs of a plan. A value that no run of the plan has is an error.
func (o Only) Of(plan []Planned) ([]Planned, error) {
	for _, key := range runKeys {
		if len(o[key.name]) == 0 {
			continue
		}
		var there []string
		for _, p := range plan {
			there = union(there, []string{key.of(p)})
		}
		for _, value := range o[key.name] {
			if !slices.Contains(there, value) {
				return nil, fmt.Errorf("--only %s=%s: no run has it; the runs have %s", key.name, value, list(there))
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(plan), func(p Planned) bool { return !o.Selects(p) }), nil
}

// Selects reports whether a run is one of those selected.
func (o Only) Selects(p Planned) bool {
	return !slices.ContainsFunc(runKeys, func(key runKey) bool {
		return len(o[key.name]) > 0 && !slices.Contains(o[key.name], key.of(p))
	})
}

// Plan returns the runs of a spec in a profile, none if the profile skips the
// spec. A run that several repeats request is in the plan once, and feeds the cells
// and figures of all of them, or nothing if the spec is [Spec.Apart]. Two calls return the same runs in the same order.
// The first one describes a user's data files; what is wrong with them is reported as Errors.
func (s *Spec) Plan(profile string, opt PlanOptions) ([]Planned, error) {
	if s.described != nil {
		whole, err := s.described()
		if err != nil {
			return nil, err
		}
		return whole.Plan(profile, opt)
	}
	w, ok := s.work[profile]
	if !ok {
		return nil, fmt.Errorf("unknown profile %q, want one of %s", profile, list(Profiles()))
	}
	if opt.Seeds < 0 || opt.Seeds > MaxSeeds {
		return nil, fmt.Errorf("%d seeds: want 1 to %d, or 0 for the spec's own", opt.Seeds, MaxSeeds)
	}
	if w.skip {
		return nil, nil
	}
	var plan []Planned
	index := make(map[string]int) // position in the plan by run ID
	for _, v := range s.variants {
		if w.only != nil && !slices.Contains(w.only, v.label) {
			continue
		}
		for _, r := range w.repeats {
			if r.only != nil && !slices.Contains(r.only, v.label) ||
				!r.all && !(r.cells && len(v.cells) > 0) && !(r.figures && len(v.figures) > 0) {
				continue
			}
			for run := range s.repeat(v, w, r, opt.Seeds) {
				id := ID(run)
				k, ok := index[id]
				if !ok {
					order := v.order
					if run.Batch() {
						order = max(order, float64(s.train)/10) // stands for a batch method's many passes, which Samples does not count
					}
					k, index[id] = len(plan), len(plan)
					plan = append(plan, Planned{
						Run: run, ID: id, Spec: s.Name, Label: v.label, Series: v.series, Group: v.group,
						Cells: []string{}, Figures: []string{},
						Cost: float64(run.Samples) * float64(s.dim+elementWork) * order,
					})
				}
				if len(plan) > maxRuns {
					return nil, fmt.Errorf("spec %s has more than %d runs", s.Name, maxRuns)
				}
				if r.cells && !s.apart {
					plan[k].Cells = union(plan[k].Cells, v.cells)
				}
				if r.figures && !s.apart {
					plan[k].Figures = union(plan[k].Figures, v.figures)
				}
			}
		}
	}
	return plan, nil
}

// repeat returns the runs of a variant in a repeat, one for each draw and seed. If seeds is
// positive, the seeds are 1 … seeds instead of those of the repeat.
func (s *Spec) repeat(v *variant, w work, r repeat, seeds int) iter.Seq[Run] {
	each := r.seeds
	if seeds > 0 {
		each = upTo(seeds)
	}
	seedless := Method(v.method).Seedless
	if seedless && !r.resplit {
		each = []uint64{1}
	}
	return func(yield func(Run) bool) {
		for i, draw := range r.draws {
			if r.paired {
				each = []uint64{uint64(i + 1)}
			}
			for _, seed := range each {
				run := s.run(v, w.evaluation, cmp.Or(r.samples, w.samples))
				if run.Seed = seed; seedless {
					run.Seed = 1
				}
				switch {
				case r.resplit:
					run.Data.Files.SplitSeed = seed
				case run.Data.Own() && draw > 0:
					run.Data.Files.SplitSeed = draw
				default:
					run.Data.Draw = draw
				}
				if run.Code = run.PresentCode(); !yield(run) {
					return
				}
			}
		}
	}
}

// run returns the run of a variant on the spec's data with the given number of samples. A
// run of a batch method has the whole training set instead.
func (s *Spec) run(v *variant, e Evaluation, samples int) Run {
	run := Run{Data: s.Data, Task: s.Task, Method: v.method, Params: v.params, Samples: samples, Sampling: s.sampling, Evaluation: s.completed(e, samples)}
	if run.Batch() {
		run.Samples, run.Sampling, run.Evaluation.Every, run.Evaluation.Tail = s.train, "", 0, 0
	}
	return run
}

// completed returns an evaluation of a run with the defaults of what the spec leaves open.
func (s *Spec) completed(e Evaluation, samples int) Evaluation {
	every, tail, train := max(1, samples/defaultEvaluations), defaultTail, mostTrain
	if e.Minimizer {
		every, tail = 0, 0
	}
	if s.train <= mostTrain {
		train = 0
	}
	for number, usual := range map[*int]int{&e.Every: every, &e.Tail: tail, &e.TrainLimit: train} {
		if *number == byDefault {
			*number = usual
		}
	}
	return e
}

// union appends to a the elements of b that it lacks.
func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}
