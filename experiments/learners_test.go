package experiments

import (
	"encoding/csv"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// TestLearnersSettings: the specs of learners at equal memory have the settings that were
// best on held-out training rows, of all that the file in settings has on a method.
func TestLearnersSettings(t *testing.T) {
	specs, err := EmbeddedAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range specs {
		if !strings.HasPrefix(s.Name, "learners-") {
			continue
		}
		if !s.ByName {
			t.Errorf("%s is part of the reproduction", s.Name)
		}
		tried, err := LoadFile("settings/" + s.Name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open("settings/" + s.Name + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		failed := make(map[string]bool)
		errors := make(map[string]float64) // by series
		for _, row := range rows[1:] {
			if errors[row[2]], err = strconv.ParseFloat(row[5], 64); err != nil {
				t.Fatal(err)
			}
			failed[row[2]] = row[4] != "0"
		}
		if len(errors) != len(tried.variants) {
			t.Errorf("%s: %d settings in the table, %d in its spec", s.Name, len(errors), len(tried.variants))
		}
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
			if chosen > least || found == 0 && v.method != "forgetron" { // which has nothing to choose
				t.Errorf("%s: %s has error %v on held-out rows, and the best of %d settings %v", s.Name, v.series, chosen, found, least)
			}
		}
	}
}
