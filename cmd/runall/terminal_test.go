package main

import (
	"strings"
	"testing"
	"unicode/utf8"

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

// TestNarrowTerminal: a line that is too long is continued where a column or a
// word ends, and loses nothing.
func TestNarrowTerminal(t *testing.T) {
	d := display{width: 30}
	for in, want := range map[string]string{
		"short":                                   "short",
		"123456789 123456789 123456789 ":          "123456789 123456789 123456789 ",
		"name      ksvm    a title that goes":     "name      ksvm\n    a title that goes",
		"one two three four five six seven eight": "one two three four five six\n    seven eight",
		"──────────────────────────────────────": "──────────────────────────────\n    ────────",
	} {
		got := d.line(in)
		if got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
		for line := range strings.SplitSeq(got, "\n") {
			if utf8.RuneCountInString(line) > 30 {
				t.Errorf("%q is too long", line)
			}
		}
	}
	for _, wide := range []display{{}, {width: 19}} {
		if line := strings.Repeat("word ", 30); wide.line(line) != line {
			t.Errorf("width %d: the line was changed", wide.width)
		}
	}
}
