package page

import (
	"slices"
	"strings"
	"testing"

	"polkrepro/evidence"
	"polkrepro/evidence/stats"
	"polkrepro/experiments"
)

// TestJointSection: the front, what the best assumes and leaves, and the picture.
func TestJointSection(t *testing.T) {
	chosen := evidence.JointReading{ByResult: 3, Cells: 9, Numbers: 30}
	best := evidence.JointReading{Assumed: []evidence.Assumed{{Assumption: "a", Alternative: "x", Value: "another", Chosen: "one", How: "by result"}}, ByResult: 4, Cells: 13, Numbers: 37}
	s := JointSection(&evidence.JointReport{
		Cells: 17, Numbers: 48, Combinations: 2, Chosen: chosen, Front: []evidence.JointReading{chosen, best},
		Counts: []evidence.JointCount{{JointReading: chosen, Combinations: 1}, {JointReading: best, Combinations: 1}},
		Best:   []evidence.ClaimResult{{Claim: experiments.Claim{ID: "c"}, Verdict: stats.Deviates, Tests: []evidence.Finding{{Test: experiments.Test{ID: "risk"}, Verdict: stats.Deviates}}}},
	})
	for i, want := range [][]string{{"4", "13", "37", "0", "0", "1", "a=x"}, {"a = x", "by result", "another", "one"}, {"c", "deviates", "risk deviates"}} {
		rows := s.Tables[i].Rows
		if got := rows[len(rows)-1]; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", s.Tables[i].Title, got, want)
		}
	}
	if len(s.Figures) != 1 || s.Figures[0].Missing != "" || !strings.Contains(strings.Join(s.Paragraphs, " "), "13 of 17 cells") {
		t.Errorf("%d figures, %q", len(s.Figures), s.Paragraphs)
	}
}
