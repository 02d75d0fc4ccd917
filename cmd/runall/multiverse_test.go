package main

import (
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"polkrepro/evidence"
	"polkrepro/experiments"
	"polkrepro/harness"
)

// TestMultiverse has records of the profile quick only, which runs none of the
// alternatives: they are not run, and the command that runs them is said.
func TestMultiverse(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: reading and writing alone, and the race detector makes it half a minute")
	}
	results := madeUp(t, experiments.ProfileQuick)
	code, stdout, stderr := call(t, "verify", "multiverse", "--results", results)
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for _, want := range []string{
		"each alternative is flipped alone",
		"to run it:   runall reproduce multiverse-mnist-ksvm multiverse-mnist-klr --profile full --results " + results,
		"risk=captions: as in the captions",
		"claims hinge on a choice",
	} {
		if !strings.Contains(strings.ToLower(stdout), strings.ToLower(want)) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}

	code, stdout, _ = call(t, "verify", "multiverse", "--results", results, "--json")
	validJSON(t, "verify-multiverse", stdout)
	var m evidence.MultiverseReport
	if err := json.Unmarshal([]byte(stdout), &m); code != 0 || err != nil {
		t.Fatalf("exit %d, %v", code, err)
	}
	i := slices.IndexFunc(m.Assumptions, func(a evidence.AssumptionOutcome) bool { return a.ID == "mnist-parsimony" })
	printed := m.Assumptions[i].Alternatives[0]
	if m.Profile != experiments.ProfileQuick || len(printed.NotRun()) != len(printed.Claims) || len(printed.Claims) == 0 {
		t.Errorf("profile %s, %+v", m.Profile, printed)
	}
	if code, _, _ := call(t, "verify", "multiverse", "--results", t.TempDir()); code != harness.ExitIncomplete {
		t.Errorf("no records: exit %d", code)
	}

	// With quick's records alone, other readings of the risk and fewer passes are left.
	code, stdout, stderr = call(t, "verify", "multiverse", "--joint", "--results", results)
	if code != 0 || stderr != "" || !strings.Contains(stdout, "combinations of alternatives") || !strings.Contains(stdout, "nothing (as chosen)") {
		t.Errorf("--joint: exit %d, %s\n%s", code, stderr, stdout)
	}
	code, stdout, _ = call(t, "verify", "multiverse", "--joint", "--results", results, "--json")
	validJSON(t, "verify-multiverse-joint", stdout)
	var j struct {
		evidence.JointReport
		Best []json.RawMessage `json:"best"`
	}
	if err := json.Unmarshal([]byte(stdout), &j); code != 0 || err != nil || j.Profile != experiments.ProfileQuick || len(j.Counts) < 2 || len(j.Best) != j.Cells {
		t.Errorf("--joint --json: exit %d, %v, %d counts", code, err, len(j.Counts))
	}
	code, stdout, _ = call(t, "verify", "multiverse", "--joint", "--results", results, "--csv")
	if rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll(); code != 0 || err != nil || len(rows) != 1+len(j.Counts) {
		t.Errorf("--joint --csv: exit %d, %v, %d rows, want %d", code, err, len(rows), 1+len(j.Counts))
	}
	for _, flags := range [][]string{{"--csv"}, {"--joint", "--csv", "--json"}} {
		if code, _, _ := call(t, append([]string{"verify", "multiverse", "--results", results}, flags...)...); code != harness.ExitUsage {
			t.Errorf("%v: exit %d", flags, code)
		}
	}
}
