package spec

import (
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
)

// memory holds the numbers that a learner may keep in the specs of learners at equal memory, by data set.
var memory = map[string]float64{"multidist": 400, "mnist": 200_000, "a9a": 20_000}

// TestLearnersSettings checks that the specs of learners at equal memory have, for each
// entry, the settings that were best on held-out training rows, of all settings of its method and
// pruner in the spec's files in settings. Of two entries of one method and pruner, each has those with
// its budget. An order that no setting fixes keeps to the memory after every step.
func TestLearnersSettings(t *testing.T) {
	for _, s := range EmbeddedAll() {
		if !strings.HasPrefix(s.Name, "learners-") {
			continue
		}
		if s.Supplement != "equal-memory" {
			t.Errorf("%s is part of the reproduction", s.Name)
		}
		var all []*variant
		results := make(map[*variant]tried)
		for _, name := range []string{s.Name, s.Name + "-pruners"} {
			spec := search(t, name)
			by := triedSettings(t, spec, name)
			for _, w := range spec.variants {
				all, results[w] = append(all, w), by[w.series]
			}
		}
		for _, v := range s.variants {
			same := func(w *variant) bool { return w.method == v.method && w.params.Pruner == v.params.Pruner }
			entries := slices.DeleteFunc(slices.Clone(s.variants), func(w *variant) bool { return !same(w) })
			least, chosen, found := 100.0, 100.0, 0
			for _, w := range all {
				r := results[w]
				large := w.params.Parsimony > 0 && Run{Data: s.Data, Method: w.method, Params: w.params}.Numbers(r.largest, nil) > memory[s.Data.Name]
				if !same(w) || r.failed || large || len(entries) > 1 && w.params.Budget != v.params.Budget {
					continue
				}
				found++
				least = min(least, r.err)
				if reflect.DeepEqual(w.params, v.params) {
					chosen = r.err
				}
			}
			if !(chosen <= least) || found == 0 && v.method != "forgetron" { // the Forgetron has no settings to choose
				t.Errorf("%s: %s has error %v on held-out rows, and the best of %d settings %v", s.Name, v.series, chosen, found, least)
			}
		}
	}
}

// tried is what a setting did on held-out rows: its error in percent, whether a run failed or diverged,
// and the largest model order, if it was recorded.
type tried struct {
	err, largest float64
	failed       bool
}

// search returns the spec of the search in which the settings of a spec were tuned.
func search(t *testing.T, name string) *Spec {
	t.Helper()
	for _, file := range must(filepath.Glob("../experiments/settings/*.yaml")) {
		for _, s := range must(LoadFile(file)) {
			if s.Name == "settings-"+name {
				return s
			}
		}
	}
	t.Fatalf("no search for %s", name)
	return nil
}

// triedSettings returns the recorded results of a spec of settings, by series.
func triedSettings(t *testing.T, spec *Spec, name string) map[string]tried {
	t.Helper()
	out := make(map[string]tried)
	for _, row := range testutil.Table(t, "../experiments/settings/"+name+".csv") {
		r := tried{err: must(strconv.ParseFloat(row["held-out error (%)"], 64)), failed: row["failed"] != "0" || row["diverged"] > "0"}
		if row["largest order"] != "" {
			r.largest = must(strconv.ParseFloat(row["largest order"], 64))
		}
		out[row["series"]] = r
	}
	if len(out) != len(spec.variants) {
		t.Errorf("%s: %d settings in the table, %d in its spec", name, len(out), len(spec.variants))
	}
	return out
}

// TestPublicSettings checks that POLK has, on public data, the bandwidth and learning rate
// that were best on held-out training rows. The comparison's field has the same bandwidth,
// and its error on these rows is within 0.7 points of the best.
func TestPublicSettings(t *testing.T) {
	tour := must(FindComparison(""))
	plan := must(tour.Plan(ProfileQuick))
	for _, name := range []string{"fashion-ksvm", "fashion-klr", "letter-ksvm", "letter-klr", "satimage-ksvm", "satimage-klr", "a9a-ksvm", "a9a-klr"} {
		settings := search(t, name)
		errors := triedSettings(t, settings, name)
		least, best := 100.0, Params{}
		for _, v := range settings.variants {
			if errors[v.series].err < least {
				least, best = errors[v.series].err, v.params
			}
		}
		spec := must(one(Find(name)))
		held := 0
		for _, v := range spec.variants {
			if v.method == MethodPOLK && v.params.Kernel.Bandwidth == best.Kernel.Bandwidth && v.params.LearningRate == best.LearningRate {
				held++
			}
		}
		if held != 4 {
			t.Errorf("%s: %d of 4 series of POLK have the settings that were best, %+v", name, held, best)
		}
		i := slices.IndexFunc(plan, func(c ComparedRun) bool { return c.DataSet == name })
		if i < 0 {
			continue
		}
		field, at := plan[i].Run.Params, 100.0
		for _, v := range settings.variants {
			if v.params.Kernel.Bandwidth == field.Kernel.Bandwidth && v.params.LearningRate == field.LearningRate {
				at = errors[v.series].err
			}
		}
		if field.Kernel.Bandwidth != best.Kernel.Bandwidth || !(at <= least+0.7) {
			t.Errorf("field %s: error %v on held-out rows, and the least is %v", name, at, least)
		}
	}
}
