package experiments

import (
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
		return nil, fmt.Errorf("unknown profile %q%s (there are %s)", profile,
			strictyaml.Suggest(profile, Profiles()), list(Profiles()))
	}
	if opt.Seeds < 0 || opt.Seeds > maxSeeds {
		return nil, fmt.Errorf("%d seeds: want 1 to %d, or 0 for the spec's own", opt.Seeds, maxSeeds)
	}
	if w.skip {
		return nil, nil
	}
	var plan []Planned
	index := make(map[string]int) // of a run's ID in the plan
	for i := range s.variants {
		v := &s.variants[i]
		if w.only != nil && !slices.Contains(w.only, v.label) {
			continue
		}
		for _, r := range w.repeats {
			if !r.all && !(r.cells && len(v.cells) > 0) && !(r.figures && len(v.figures) > 0) {
				continue
			}
			method, seeds := lookupMethod(v.method), r.seeds
			switch {
			case method.Seedless:
				seeds = []uint64{1}
			case opt.Seeds > 0:
				seeds = upTo(opt.Seeds)
			}
			for _, draw := range r.draws {
				for _, seed := range seeds {
					run := Run{
						Data: s.Data, Task: s.Task, Method: v.method, Params: v.params,
						Seed: seed, Samples: w.samples, Evaluation: w.evaluation,
					}
					order := v.order
					if method.Batch {
						run.Samples, run.Evaluation.Every, run.Evaluation.Tail = s.train, 0, 0
						order = max(order, float64(s.train)/10) // one of many passes
					}
					run.Data.Draw = draw
					id := ID(run)
					k, ok := index[id]
					if !ok {
						k = len(plan)
						index[id] = k
						plan = append(plan, Planned{
							Run: run, ID: id, Spec: s.Name, Label: v.label, Series: v.series, Group: v.group,
							Cells: []string{}, Figures: []string{},
							Cost: float64(run.Samples) * float64(s.dim) * order,
						})
						if len(plan) > maxRuns {
							return nil, fmt.Errorf("spec %s has more than %d runs", s.Name, maxRuns)
						}
					}
					if r.cells {
						plan[k].Cells = union(plan[k].Cells, v.cells)
					}
					if r.figures {
						plan[k].Figures = union(plan[k].Figures, v.figures)
					}
				}
			}
		}
	}
	return plan, nil
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
