package harness

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"polkrepro/internal/words"
	"polkrepro/record"
	"polkrepro/spec"
)

// A Forecast is a plan as it stands in a results folder: which runs have a record, and about how long the
// others take.
type Forecast struct {
	Profile  string         `json:"profile"`      // size of the runs
	Runs     int            `json:"runs"`         // number of runs
	Recorded int            `json:"recorded"`     // number of runs with a record
	Workers  int            `json:"workers"`      // number of parallel runs
	Seconds  float64        `json:"seconds"`      // estimated time of the runs without a record, one after the other
	Wall     float64        `json:"wall_seconds"` // the same on that many workers
	Missing  []string       `json:"missing"`      // names of data sets that are not available, whose runs would not start
	LeftOut  []string       `json:"left_out"`     // which methods were left out of a spec, because they do not fit its task
	Settings []ForecastItem `json:"settings"`     // settings of methods in the order of the specs
}

// A ForecastItem is a setting of a method with its runs.
type ForecastItem struct {
	Spec     string        `json:"spec"`     // name of the spec, with the flags --set that changed it
	Label    string        `json:"label"`    // label of the spec's entry
	Series   string        `json:"series"`   // legend entry of the runs
	Method   string        `json:"method"`   // name of the method
	Task     string        `json:"task"`     // name of the task
	Data     string        `json:"data"`     // name of the data set
	Settings string        `json:"settings"` // kernel and hyper-parameters as NAME=VALUE, separated by commas
	Seconds  float64       `json:"seconds"`  // estimated time of a run
	Basis    string        `json:"basis"`    // what the time is estimated from: recorded runs of the setting, similar runs that are recorded, or rough rates of the program
	Runs     []ForecastRun `json:"runs"`     // the setting's runs

	splits bool // the draws are splits of a user's file
}

// A ForecastRun is a run of a setting.
type ForecastRun struct {
	ID       string `json:"id"`       // name of the run's record
	Seed     uint64 `json:"seed"`     // seed of the order of the samples
	Draw     uint64 `json:"draw"`     // draw of a generated data set, or seed of a split of a file; 0 if there is none
	Recorded bool   `json:"recorded"` // whether the results folder has the run's record
}

// The values of ForecastItem.Basis.
const (
	BasisRecorded = "recorded"
	BasisSimilar  = "similar"
	BasisRough    = "rough"
)

// roughRates are the medians, over the recorded runs of each method, of seconds per Planned.Cost.
// TestRoughRates computes them from results/reference. otherRate is that over all methods, for any other.
var roughRates = map[string]float64{
	"bsgd": 8.2e-10, "csvc": 6.5e-11, "fogd": 1.4e-9, "forgetron": 3.7e-10, "fsgd": 1.2e-9, "ivm": 7.4e-9, "lbfgs": 1.8e-9,
	"lbfgs-weights": 5.9e-12, "nogd": 7.7e-10, "norma": 4.1e-10, "nystrom": 1.1e-10, "nystrom-sgd": 1.2e-9, "polk": 5.4e-11,
	"projectron": 8.5e-10, "rff-sgd": 1.5e-9,
}

const otherRate = 2.5e-10

// PlanForecast returns the forecast of the runs that [PlanNamed] returns. Recorded runs of the specs, in
// any profile, give the times of others: of the same setting, else of the same method and data set, else
// of the same method.
func PlanForecast(names []string, profile string, opt spec.PlanOptions, o Options) (*Forecast, error) {
	specs, plan, err := PlanSpecs(names, profile, opt, o.Finder)
	if err != nil {
		return nil, err
	}
	have, err := record.ReadDir(RecordsDir(o.Results))
	if errors.Is(err, fs.ErrNotExist) {
		have, err = &record.Collection{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("results folder: %w", err)
	}
	seconds, cost := make(map[string]float64), make(map[string]float64)
	for _, other := range spec.Profiles() {
		all, err := PlanAll(specs, other, opt)
		if err != nil {
			return nil, Usage(err)
		}
		for _, p := range all {
			if r := have.Records[p.ID]; r != nil {
				for _, key := range likeness(p) {
					seconds[key] += r.Final.Elapsed
					cost[key] += p.Cost
				}
			}
		}
	}
	f := &Forecast{Profile: profile, Missing: []string{}, LeftOut: []string{}}
	for _, s := range specs {
		if s.LeftOut != "" {
			f.LeftOut = append(f.LeftOut, s.LeftOut)
		}
	}
	for _, u := range NotFound(o.Finder, plan) {
		f.Missing = append(f.Missing, u.Ref.Name)
	}
	var todo []float64
	index := make(map[string]int) // position in Settings by group
	for _, p := range spec.Distinct(plan) {
		k, ok := index[p.Group]
		if !ok {
			k, index[p.Group] = len(f.Settings), len(f.Settings)
			f.Settings = append(f.Settings, forecastOf(p, seconds, cost))
		}
		run := ForecastRun{p.ID, p.Run.Seed, cmp.Or(p.Run.Data.Draw, p.Run.Data.Files.SplitSeed), have.Records[p.ID] != nil}
		s := &f.Settings[k]
		s.Runs = append(s.Runs, run)
		if f.Runs++; run.Recorded {
			f.Recorded++
		} else {
			todo = append(todo, s.Seconds)
		}
	}
	f.Workers, f.Seconds, f.Wall = schedule(todo, o.Workers)
	return f, nil
}

// likeness returns keys that runs have in common, from the most alike.
func likeness(p spec.Planned) []string {
	return []string{p.Group, p.Run.Method + " on " + p.Run.Data.Name, p.Run.Method}
}

// forecastOf returns the setting of a run, without runs, with the time that the seconds and cost of
// recorded runs give, or else the rough rate.
func forecastOf(p spec.Planned, seconds, cost map[string]float64) ForecastItem {
	s := ForecastItem{
		Spec: p.Spec, Label: p.Label, Series: p.Series, Method: p.Run.Method, Task: p.Run.Task, Data: p.Run.Data.Name,
		splits:   p.Run.Data.Own(),
		Settings: strings.TrimPrefix(p.Group, p.Spec+"/"+p.Label+"/"),
		Seconds:  p.Cost * cmp.Or(roughRates[p.Run.Method], otherRate), Basis: BasisRough,
	}
	for i, key := range likeness(p) {
		if cost[key] > 0 {
			s.Seconds, s.Basis = p.Cost*seconds[key]/cost[key], BasisSimilar
			if i == 0 {
				s.Basis = BasisRecorded
			}
			break
		}
	}
	return s
}

// schedule returns how long runs take one after the other, and on the workers that they get for a value
// of Options.Workers if each takes the longest run that is left.
func schedule(runs []float64, asked int) (workers int, all, wall float64) {
	workers, _ = layout(asked, len(runs))
	slices.SortFunc(runs, func(a, b float64) int { return cmp.Compare(b, a) })
	loads := make([]float64, workers)
	for _, s := range runs {
		all += s
		loads[slices.Index(loads, slices.Min(loads))] += s
	}
	return workers, all, slices.Max(loads)
}

// Repeats says over what a setting's runs are repeated, such as "20 draws, 5 seeds".
func (s *ForecastItem) Repeats() string {
	distinct := func(of func(ForecastRun) uint64) int {
		seen := make(map[uint64]bool)
		for _, r := range s.Runs {
			seen[of(r)] = true
		}
		return len(seen)
	}
	seeds := words.Count(distinct(func(r ForecastRun) uint64 { return r.Seed }), "seed")
	draws := distinct(func(r ForecastRun) uint64 { return r.Draw })
	switch {
	case draws < 2:
		return seeds
	case s.splits:
		return words.Count(draws, "split") + ", " + seeds
	}
	return words.Count(draws, "draw") + ", " + seeds
}

// Recorded returns the number of the setting's runs with a record.
func (s *ForecastItem) Recorded() (n int) {
	for _, r := range s.Runs {
		if r.Recorded {
			n++
		}
	}
	return n
}
