package report

import (
	"os"
	"path/filepath"
	"testing"

	"polkrepro/experiments"
	"polkrepro/scaling"
)

// Every configuration of the reference's row and column is drawn, and nothing else.
func TestScaleFigure(t *testing.T) {
	steps := scaling.Grid(experiments.ProfileQuick)
	for i := range steps {
		steps[i].MeanOrder, steps[i].Seconds = float64(steps[i].Order), float64(i+1)
	}
	growths := []scaling.Growth{
		{Method: "polk", Task: "ksvm", Points: []scaling.GrowthPoint{{Samples: 1000, Seconds: 1, Order: 3}, {Samples: 2000, Seconds: 2, Order: 3}}},
		{Method: "lbfgs", Task: "klr", Batch: true, Points: []scaling.GrowthPoint{{Samples: 100, Seconds: 1, Order: 3}}},
	}
	f := ScaleFigure(steps, growths)
	p := f.content.drawing().(*picture)
	for i, want := range []int{3, 3} { // three model orders, three numbers of features
		for _, tr := range p.panels[i].traces {
			if len(tr.curve) != want {
				t.Errorf("panel %d: %d points, want %d", i, len(tr.curve), want)
			}
		}
	}
	if c := p.panels[2]; len(c.traces) != 2 || c.xmin != 100 || c.xmax != 2000 {
		t.Errorf("trainings: %d curves from %v to %v", len(c.traces), c.xmin, c.xmax)
	}
	dir := t.TempDir()
	if _, err := f.WriteAll(dir); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "figures", "scale.png")); err != nil || info.Size() == 0 {
		t.Error(err)
	}
	if _, err := ScaleFigure(nil, nil).WriteAll(dir); err == nil {
		t.Error("a figure of nothing was drawn")
	}
}
