package experiments

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
)

// TestLearnersSettings checks that the specs of learners at equal memory have, for each
// method, the settings that were best on held-out training rows, of all settings of the
// method in the spec's file in settings.
func TestLearnersSettings(t *testing.T) {
	specs := EmbeddedAll()
	for _, s := range specs {
		if !strings.HasPrefix(s.Name, "learners-") {
			continue
		}
		if s.Supplement != "equal-memory" {
			t.Errorf("%s is part of the reproduction", s.Name)
		}
		tried := must(LoadFile("settings/" + s.Name + ".yaml"))
		errors, failed := triedSettings(t, tried, s.Name)
		for _, v := range s.variants {
			least, chosen, found := 100.0, 100.0, 0
			for _, w := range tried.variants {
				if w.method != v.method || failed[w.series] {
					continue
				}
				found++
				least = min(least, errors[w.series])
				if reflect.DeepEqual(w.params, v.params) {
					chosen = errors[w.series]
				}
			}
			if !(chosen <= least) || found == 0 && v.method != "forgetron" { // the Forgetron has no settings to choose
				t.Errorf("%s: %s has error %v on held-out rows, and the best of %d settings %v", s.Name, v.series, chosen, found, least)
			}
		}
	}
}

// triedSettings returns the errors on held-out rows of a spec of settings, and which series
// failed, both by series.
func triedSettings(t *testing.T, tried *Spec, name string) (errors map[string]float64, failed map[string]bool) {
	t.Helper()
	errors, failed = make(map[string]float64), make(map[string]bool)
	for _, row := range testutil.Table(t, "settings/"+name+".csv") {
		errors[row["series"]] = must(strconv.ParseFloat(row["held-out error (%)"], 64))
		failed[row["series"]] = row["failed"] != "0"
	}
	if len(errors) != len(tried.variants) {
		t.Errorf("%s: %d settings in the table, %d in its spec", name, len(errors), len(tried.variants))
	}
	return errors, failed
}

// TestPublicSettings checks that POLK has, on public data, the bandwidth and learning rate
// that were best on held-out training rows. The tournament's field has the same bandwidth,
// and its error on these rows is within 0.7 points of the best.
func TestPublicSettings(t *testing.T) {
	tour := must(FindTournament(""))
	plan := must(tour.Plan(ProfileQuick))
	for _, name := range []string{"fashion-ksvm", "fashion-klr", "letter-ksvm", "letter-klr", "satimage-ksvm", "satimage-klr"} {
		tried := must(LoadFile("settings/" + name + ".yaml"))
		errors, _ := triedSettings(t, tried, name)
		least, best := 100.0, Params{}
		for _, v := range tried.variants {
			if errors[v.series] < least {
				least, best = errors[v.series], v.params
			}
		}
		spec := must(LoadFile(name + ".yaml"))
		held := 0
		for _, v := range spec.variants {
			if v.method == MethodPOLK && v.params.Kernel.Bandwidth == best.Kernel.Bandwidth && v.params.LearningRate == best.LearningRate {
				held++
			}
		}
		if held != 4 {
			t.Errorf("%s: %d of 4 series of POLK have the settings that were best, %+v", name, held, best)
		}
		i := slices.IndexFunc(plan, func(c Contest) bool { return c.Field == name })
		if i < 0 {
			continue
		}
		field, at := plan[i].Run.Params, 100.0
		for _, v := range tried.variants {
			if v.params.Kernel.Bandwidth == field.Kernel.Bandwidth && v.params.LearningRate == field.LearningRate {
				at = errors[v.series]
			}
		}
		if field.Kernel.Bandwidth != best.Kernel.Bandwidth || !(at <= least+0.7) {
			t.Errorf("field %s: error %v on held-out rows, and the least is %v", name, at, least)
		}
	}
}
