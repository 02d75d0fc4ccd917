package prune

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCode: Code is empty for the recorded source of version 1, the number for that of a later
// version, and the hash for edited source. For a heuristic from outside this package it is the
// heuristic's Identity.
func TestCode(t *testing.T) {
	h, _ := Lookup(KOMP)
	sum := sourceHashes()[h.file]
	if h.file != "komp.go" || sum == "" {
		t.Fatalf("komp is registered by %q, with the hash %q", h.file, sum)
	}
	defer func(recorded func() map[string]version) { versions = recorded }(versions)
	for _, tt := range []struct {
		recorded version
		want     string
	}{
		{version{1, sum, nil}, ""},
		{version{3, sum, nil}, "version 3"},
		{version{1, "of other source", nil}, "source " + sum},
		{version{}, "source " + sum}, // not recorded
	} {
		versions = func() map[string]version { return map[string]version{KOMP: tt.recorded} }
		if got := h.Code(); got != tt.want {
			t.Errorf("recorded as %+v, komp is of %q, want %q", tt.recorded, got, tt.want)
		}
	}
	if code := (Heuristic{Name: "elsewhere", Identity: "mine"}).Code(); code != "mine" {
		t.Errorf("with an identity: %q", code)
	}
}

// TestMethodsAreWithTheirTypes: the hash of a file covers methods only in the files of their types.
func TestMethodsAreWithTheirTypes(t *testing.T) {
	entries, _ := sources.ReadDir(".")
	for _, e := range entries {
		text, _ := sources.ReadFile(e.Name())
		for _, m := range regexp.MustCompile(`(?m)^func \((?:\w+ )?\*?(\w+)`).FindAllSubmatch(text, -1) {
			of := regexp.MustCompile(`(?m)^(type |\t)` + string(m[1]) + `(\[\w+ any\])? +(struct|interface|func|map|\[)`)
			if e.Name() != "source.go" && !of.Match(text) { // source.go has no hash
				t.Errorf("%s has a method of %s, which it does not declare", e.Name(), m[1])
			}
		}
	}
}

// TestRegisterAgain: a heuristic with an Identity replaces another one with an Identity, and no
// other.
func TestRegisterAgain(t *testing.T) {
	h := Heuristic{Name: "for-this-test", About: "first", Identity: "1", New: func(Params) Pruner { return none{} }}
	defer delete(registered, h.Name)
	Register(h)
	h.About, h.Identity = "second", "2"
	Register(h)
	if got, ok := Lookup(h.Name); !ok || got.About != "second" || !slices.Contains(Names(), h.Name) {
		t.Errorf("%+v", got)
	}
	h.About = ""
	panics(t, `prune: heuristic "for-this-test" has no description, or a description or source of more than one line`, func() { Register(h) })
	h.About, h.Identity = "third", ""
	panics(t, "prune: two heuristics are named for-this-test", func() { Register(h) })
}

// TestNewRefuses: New fails if Check or Complete does, and lists the parameters of the heuristic.
func TestNewRefuses(t *testing.T) {
	noParams := Heuristic{Name: "no-params", About: "for this test", New: func(Params) Pruner { return none{} }}
	if _, err := New(noParams, Params{"order": 3}); err == nil || err.Error() != "prune: pruner no-params takes no parameter order (it takes none)" {
		t.Error(err)
	}
	if _, err := New(Heuristic{Name: "empty"}, nil); err == nil || !strings.Contains(err.Error(), "want one") {
		t.Error(err)
	}
	if i, err := New(noParams, nil); err != nil || i.Ridge() != 0 || len(i.Params()) != 0 {
		t.Errorf("%+v, %v", i, err)
	}
}
