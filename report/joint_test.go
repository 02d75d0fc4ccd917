package report

import (
	"strings"
	"testing"

	"polkrepro/evidence"
)

// combinations returns made-up ones: the chosen values, a better combination with more choices by
// result, and a worse one with fewer.
func combinations() *evidence.JointReport {
	chosen := evidence.JointReading{ByResult: 3, Cells: 9, Numbers: 30, Combinations: 1000}
	best := evidence.JointReading{Assumed: []evidence.Assumed{{Assumption: "a", Alternative: "x"}}, ByResult: 4, Cells: 13, Numbers: 37, OneRun: 1, Combinations: 1}
	worst := evidence.JointReading{Assumed: []evidence.Assumed{{Assumption: "b", Alternative: "y"}}, ByResult: 2, NotRun: 4, Combinations: 2}
	return &evidence.JointReport{
		Cells: 17, Numbers: 48, Combinations: 1003, Chosen: chosen, Front: []evidence.JointReading{worst, chosen, best},
		Counts: []evidence.JointReading{worst, chosen, best},
	}
}

// TestJointFigure checks that the front is drawn with its numbers, legible and not cut off at the
// edge, and that the figure is missing if nothing is reproduced.
func TestJointFigure(t *testing.T) {
	f := JointFigure(combinations())
	texts := svgTexts(legible(t, f))
	for _, want := range []string{"cells reproduced, of 17", "numbers reproduced, of 48", "choices by result", "13", "37", "as chosen"} {
		if texts[want] == 0 {
			t.Errorf("%q is not in the picture: %v", want, texts)
		}
	}
	if !strings.Contains(f.Caption, "13 of 17 cells and 37 of 48 numbers") {
		t.Errorf("caption %q", f.Caption)
	}

	nothing := combinations()
	nothing.Front = nothing.Front[:1]
	if f := JointFigure(nothing); f.Missing != whyNotRun {
		t.Errorf("nothing reproduced: %q", f.Missing)
	}
}
