package report

import (
	"strings"
	"testing"
)

// A run whose record has no evaluations has no curve: the figure is drawn of the
// others and says so.
func TestFiguresWithoutEvaluations(t *testing.T) {
	in := fixtureInput()
	for _, p := range in.Planned {
		if p.Run.Method == "csvc" || p.Run.Method == "lbfgs" || p.Run.Data.Name == "mnist" {
			in.Records[p.ID].Points = nil
		}
	}
	r := build(in, fixturePaper(), fixtureDraw)
	for _, f := range r.Figures {
		switch f.Name {
		case "figure2":
			if f.Missing != "" || !strings.Contains(f.Caption, " 2 runs whose records have no evaluations are not drawn.") {
				t.Fatalf("figure 2: missing %q, caption %q", f.Missing, f.Caption)
			}
			renderAll(t, f.content.drawing(), "svg")
			if charts := f.Charts(); len(charts) != 3 {
				t.Errorf("%d charts", len(charts))
			}
		case "figure5":
			if f.Missing != "the records have no evaluations" {
				t.Errorf("figure 5: missing %q", f.Missing)
			}
		}
	}
}
