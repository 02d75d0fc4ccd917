package harness

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"polkrepro/data"
	"polkrepro/record"
	"polkrepro/spec"
)

// PlanAll returns the runs of several specs in one plan.
func PlanAll(specs []*spec.Spec, profile string, opt spec.PlanOptions) ([]spec.Planned, error) {
	var plan []spec.Planned
	for _, s := range specs {
		runs, err := s.Plan(profile, opt)
		if err != nil {
			return nil, err
		}
		plan = append(plan, runs...)
	}
	return plan, nil
}

// needed returns the specs that are neither supplements nor stand-ins for an available
// data set. Without a finder every data set counts as available.
func needed(specs []*spec.Spec, finder *data.Finder) []*spec.Spec {
	return slices.DeleteFunc(slices.Clone(specs), func(s *spec.Spec) bool {
		return s.Supplement != "" || s.StandsInFor != "" && (finder == nil || finder.Available(data.Ref{Name: s.StandsInFor}) == nil)
	})
}

// FindSpecs returns the specs with the given names or files, with overrides, or all embedded specs
// if names is empty.
func FindSpecs(names []string, set ...spec.Override) ([]*spec.Spec, error) {
	if len(names) == 0 && len(set) > 0 {
		return nil, errors.New("--set changes named specs: name them")
	}
	if len(names) == 0 {
		return spec.Embedded(), nil
	}
	var specs []*spec.Spec
	for _, name := range names {
		found, err := spec.Find(name, set...)
		if err != nil {
			return nil, err
		}
		specs = append(specs, found...)
	}
	return specs, nil
}

// PlanNamed returns the runs of the specs with the given names or files, or of all
// needed embedded specs if names is empty. A named spec without runs in the profile
// is an error, and so is a selection of runs without one of its values. All errors wrap ErrUsage.
func PlanNamed(names []string, profile string, opt spec.PlanOptions, finder data.Finder) ([]spec.Planned, error) {
	_, plan, err := PlanSpecs(names, profile, opt, finder)
	return plan, err
}

// PlanSpecs is PlanNamed with the specs.
func PlanSpecs(names []string, profile string, opt spec.PlanOptions, finder data.Finder) ([]*spec.Spec, []spec.Planned, error) {
	specs, err := FindSpecs(names, opt.Set...)
	if err != nil {
		return nil, nil, Usage(err)
	}
	if len(names) == 0 {
		specs = needed(specs, &finder)
	}
	plan, err := PlanAll(specs, profile, opt)
	if err != nil {
		return nil, nil, Usage(err)
	}
	planned := make(map[string]bool) // by file: a profile can leave out some of its specs
	for _, s := range specs {
		planned[s.File] = planned[s.File] || slices.ContainsFunc(plan, func(p spec.Planned) bool { return p.Spec == s.Name })
	}
	var idle []error
	for _, s := range specs {
		if len(names) > 0 && !planned[s.File] {
			idle = append(idle, idleError(s, profile, opt))
		}
	}
	if len(idle) > 0 {
		return nil, nil, Usage(errors.Join(idle...))
	}
	if plan, err = opt.Only.Of(plan); err != nil {
		return nil, nil, Usage(err)
	}
	return specs, plan, nil
}

// idleError returns an error for a spec without runs in a profile. The error names the
// profiles in which the spec has runs.
func idleError(s *spec.Spec, profile string, opt spec.PlanOptions) error {
	var others []string
	for _, other := range spec.Profiles() {
		if runs, err := s.Plan(other, opt); err == nil && len(runs) > 0 {
			others = append(others, fmt.Sprintf("--profile %s has %d", other, len(runs)))
		}
	}
	if len(others) == 0 {
		others = []string{"nor in any other"}
	}
	return fmt.Errorf("%s has no runs in profile %s; %s", s.Name, profile, strings.Join(others, ", "))
}

// shown returns the runs of a plan that a report shows: those of the needed specs, and those of
// any spec that has a record. Without a finder every data set counts as available.
func shown(specs []*spec.Spec, plan []spec.Planned, have map[string]*record.Record, finder *data.Finder) []spec.Planned {
	of := make(map[string]bool)
	for _, s := range needed(specs, finder) {
		of[s.Name] = true
	}
	for _, p := range plan {
		if have[p.ID] != nil {
			of[p.Spec] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(plan), func(p spec.Planned) bool { return !of[p.Spec] })
}

// guessProfile returns the profile to which the finished records of a folder belong:
// the profile with the most records, and the quickest of several with equally many.
func guessProfile(specs []*spec.Spec, opt spec.PlanOptions, have map[string]*record.Record) (string, error) {
	best, most := "", -1
	for _, profile := range spec.Profiles() {
		plan, err := PlanAll(specs, profile, opt)
		if err != nil {
			return "", err
		}
		n := 0
		for _, p := range spec.Distinct(plan) {
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

// lacking returns the unavailable data sets by name, with the places that were searched.
// It checks the data sets of planned runs without a record, and the paper's data sets
// that are not in the plan.
func lacking(plan []spec.Planned, have map[string]*record.Record, finder data.Finder) map[string]string {
	out := make(map[string]string)
	check := func(ref data.Ref) {
		if err := finder.Available(ref); errors.Is(err, data.ErrNotAvailable) {
			out[ref.Name] = err.Error()
		}
	}
	planned := make(map[string]bool)
	for _, p := range plan {
		planned[p.Run.Data.Name] = true
		if have[p.ID] == nil {
			check(p.Run.Data)
		}
	}
	for _, set := range data.List() {
		if !planned[set.Name] && !set.Extra {
			check(data.Ref{Name: set.Name})
		}
	}
	return out
}
