package harness

import (
	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/record"
)

// PlanAll returns the runs of several specs in one plan.
func PlanAll(specs []*experiments.Spec, profile string, opt experiments.PlanOptions) ([]experiments.Planned, error) {
	var plan []experiments.Planned
	for _, s := range specs {
		runs, err := s.Plan(profile, opt)
		if err != nil {
			return nil, err
		}
		plan = append(plan, runs...)
	}
	return plan, nil
}

// FindSpecs returns the specs of the given names or files: all embedded ones
// if none is named.
func FindSpecs(names []string) ([]*experiments.Spec, error) {
	if len(names) == 0 {
		return experiments.Embedded()
	}
	specs := make([]*experiments.Spec, len(names))
	for i, name := range names {
		s, err := experiments.Find(name)
		if err != nil {
			return nil, err
		}
		specs[i] = s
	}
	return specs, nil
}

// GuessProfile returns the profile that the finished records of a folder
// belong to: the one of whose runs most are there, the quickest of equals.
func GuessProfile(specs []*experiments.Spec, opt experiments.PlanOptions, have map[string]*record.Record) (string, error) {
	best, most := "", -1
	for _, profile := range experiments.Profiles() {
		plan, err := PlanAll(specs, profile, opt)
		if err != nil {
			return "", err
		}
		n := 0
		for _, p := range dedupe(plan) {
			if have[p.ID] != nil {
				n++
			}
		}
		if n > most {
			best, most = profile, n
		}
	}
	return best, nil
}

// Lacking returns the data sets that can't be had, by name, with where they
// were searched: those that runs of a plan without a record need, and those
// that no run of the plan concerns.
func Lacking(plan []experiments.Planned, have map[string]*record.Record, finder data.Finder) map[string]string {
	lacking := make(map[string]string)
	check := func(ref data.Ref) {
		if err := finder.Available(ref); err != nil && missing(err) {
			lacking[ref.Name] = err.Error()
		}
	}
	planned := make(map[string]bool)
	for _, p := range plan {
		planned[p.Run.Data.Name] = true
		if have[p.ID] == nil {
			check(dataRef(p.Run.Data))
		}
	}
	for _, set := range data.List() {
		if !planned[set.Name] {
			check(data.Ref{Name: set.Name})
		}
	}
	return lacking
}
