package experiments

import (
	"cmp"
	"fmt"
	"slices"

	"polkrepro/internal/strictyaml"
)

// A Planned is one run of a plan with all that the harness and the report need
// to know of it beyond what determines its result.
type Planned struct {
	Run     Run      `json:"run"`
	ID      string   `json:"id"`      // ID(Run): names the run's record
	Spec    string   `json:"spec"`    // name of the spec
	Label   string   `json:"label"`   // of the spec's entry: the method's name if it has none of its own
	Series  string   `json:"series"`  // legend entry such as "POLK, K = 0.04": the same for all seeds and draws
	Group   string   `json:"group"`   // key of (spec, method, hyper-parameters): the same for all seeds and draws
	Cells   []string `json:"cells"`   // table cells the run feeds, such as "table2.multidist.ksvm.polk"
	Figures []string `json:"figures"` // figures the run feeds, such as "2"
	Cost    float64  `json:"cost"`    // rough relative cost: samples × features × expected model order
}

// Replicates returns, for each run of a plan, the replicates that it belongs to, on which
// methods are compared pair by pair: the split of a user's file where the plan has several,
// which resplit says, else the run's seed. A method that depends on no seed has the same
// result in all.
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

// PlanOptions change a plan from outside the spec.
type PlanOptions struct {
	Seeds int // if positive, every repeat runs seeds 1 … Seeds instead of its own
}

// Plan returns the runs of a spec in a profile, none if the profile skips the
// spec. Runs that several repeats ask for are in it once and feed what all of
// them say. Two calls return the same runs in the same order.
func (s *Spec) Plan(profile string, opt PlanOptions) ([]Planned, error) {
	w, ok := s.work[profile]
	if !ok {
		return nil, unknownProfile(profile)
	}
	if opt.Seeds < 0 || opt.Seeds > maxSeeds {
		return nil, fmt.Errorf("%d seeds: want 1 to %d, or 0 for the spec's own", opt.Seeds, maxSeeds)
	}
	if w.skip {
		return nil, nil
	}
	b := planBuilder{spec: s, work: w, index: make(map[string]int)}
	for i := range s.variants {
		v := &s.variants[i]
		if w.only != nil && !slices.Contains(w.only, v.label) {
			continue
		}
		for _, r := range w.repeats {
			if r.only != nil && !slices.Contains(r.only, v.label) {
				continue
			}
			if !r.all && !(r.cells && len(v.cells) > 0) && !(r.figures && len(v.figures) > 0) {
				continue
			}
			if err := b.repeat(v, r, opt.Seeds); err != nil {
				return nil, err
			}
		}
	}
	return b.plan, nil
}

// unknownProfile is the error of a profile that there is not.
func unknownProfile(name string) error {
	return fmt.Errorf("unknown profile %q%s (known: %s)", name, strictyaml.Suggest(name, Profiles()), list(Profiles()))
}

// A planBuilder makes the plan of one spec in one profile.
type planBuilder struct {
	spec  *Spec
	work  work
	plan  []Planned
	index map[string]int // of a run's ID in the plan
}

// repeat adds the runs of a variant in a repeat: one for each draw and seed.
func (b *planBuilder) repeat(v *variant, r repeat, seeds int) error {
	each := r.seeds
	switch {
	case Method(v.method).Seedless:
		each = []uint64{1}
	case seeds > 0:
		each = upTo(seeds)
	}
	for _, draw := range r.draws {
		for _, seed := range each {
			p := b.add(v, draw, seed, cmp.Or(r.samples, b.work.samples))
			if len(b.plan) > maxRuns {
				return fmt.Errorf("spec %s has more than %d runs", b.spec.Name, maxRuns)
			}
			if r.cells {
				p.Cells = union(p.Cells, v.cells)
			}
			if r.figures {
				p.Figures = union(p.Figures, v.figures)
			}
		}
	}
	return nil
}

// add returns the run of a variant on a draw with a seed, of so many samples, which
// it adds to the plan if it is not there.
func (b *planBuilder) add(v *variant, draw, seed uint64, samples int) *Planned {
	s := b.spec
	run := s.run(v, b.work.evaluation, samples)
	run.Seed = seed
	if run.Data.Own() && draw > 0 {
		run.Data.Files.SplitSeed = draw
	} else {
		run.Data.Draw = draw
	}
	order := v.order
	if run.Batch() {
		order = max(order, float64(s.train)/10) // one of many passes
	}
	run.Code = run.PresentCode()
	id := ID(run)
	k, ok := b.index[id]
	if !ok {
		k = len(b.plan)
		b.index[id] = k
		b.plan = append(b.plan, Planned{
			Run: run, ID: id, Spec: s.Name, Label: v.label, Series: v.series, Group: v.group,
			Cells: []string{}, Figures: []string{},
			Cost: float64(run.Samples) * float64(s.dim) * order,
		})
	}
	return &b.plan[k]
}

// run returns the run of a variant on the spec's data, of so many samples or, of a batch
// method, on the training set.
func (s *Spec) run(v *variant, e Evaluation, samples int) Run {
	run := Run{Data: s.Data, Task: s.Task, Method: v.method, Params: v.params, Samples: samples, Sampling: s.sampling, Evaluation: e}
	if run.Batch() {
		run.Samples, run.Sampling, run.Evaluation.Every, run.Evaluation.Tail = s.train, "", 0, 0
	}
	return run
}

// union appends what a lacks of b.
func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}
