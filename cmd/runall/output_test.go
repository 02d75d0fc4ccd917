package main

import (
	"strings"
	"testing"

	"polkrepro/experiments"
)

// TestLocale: text for people is ASCII in the locale C; what programs read is the
// same in every locale.
func TestLocale(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: reading and writing alone, and the race detector makes it half a minute")
	}
	results := madeUp(t, experiments.ProfileSmoke)
	people := [][]string{
		{"--help"}, {"train", "--help"}, {"compare", "--help"}, {"list", "methods"}, {"list", "specs"}, {"list", "pruners"}, {"list", "datasets"},
		{"data", "status"}, {"data", "verify"}, {"report", "--results", results}, {"verify", "--results", results},
		{"verify", "multiverse", "--results", results}, {"verify", "records", "--results", results, "--with", results}, {"explain", "table2.multidist.ksvm.polk", "--results", results},
	}
	programs := [][]string{
		{"report", "--results", results, "--format", "markdown"}, {"report", "--results", results, "--format", "latex"},
		{"verify", "--results", results, "--json"}, {"list", "methods", "--json"}, {"export", "--results", results},
	}
	outside := 0
	for _, args := range append(people, programs...) {
		t.Setenv("LC_ALL", "C.UTF-8")
		_, inUTF8, _ := call(t, args...)
		t.Setenv("LC_ALL", "C")
		_, inC, stderr := call(t, args...)
		if !ascii(inUTF8) {
			outside++
		}
		if !ascii(stderr) {
			t.Errorf("%v: stderr %q", args, stderr)
		}
		if forPeople := len(people) > 0 && contains(people, args); forPeople && (!ascii(inC) || strings.Contains(inC, "?") != strings.Contains(inUTF8, "?")) {
			t.Errorf("%v: outside ASCII in\n%s", args, inC)
		} else if !forPeople && inC != inUTF8 {
			t.Errorf("%v: another output in the locale C", args)
		}
	}
	if outside < 8 {
		t.Errorf("%d outputs have characters outside ASCII", outside)
	}
}

func contains(list [][]string, args []string) bool {
	for _, l := range list {
		if &l[0] == &args[0] {
			return true
		}
	}
	return false
}

func ascii(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r > 0x7e }) < 0 }
