package page

import (
	"encoding/json"
	"math"
	"testing"
)

// TestCharts compares the curves in the page with the records behind them: of
// each line the mean at its last point, and the number of points.
func TestCharts(t *testing.T) {
	in, _ := whole()
	_, scripts := wholePage()
	var charts [][]struct {
		Title string
		LogY  bool
		Lines []struct {
			Label, Color       string
			Flat               bool
			X, Mean, Low, High []*float64
			Levels             []float64
		}
	}
	if err := json.Unmarshal([]byte(scripts[0]), &charts); err != nil {
		t.Fatal(err)
	}
	lines, bands, levels := 0, 0, 0
	next := 0
	for _, f := range in.Report.Figures {
		if len(f.Charts()) == 0 {
			continue
		}
		panels := charts[next]
		next++
		if len(panels) != 3 || !panels[0].LogY || panels[2].LogY {
			t.Fatalf("%s: panels %v", f.Name, panels)
		}
		for _, s := range f.Series {
			for _, l := range panels[1].Lines {
				if l.Label != s.Label {
					continue
				}
				lines++
				sum := 0.0
				for _, r := range s.Runs {
					sum += 100 * r.Points[len(r.Points)-1].TestError / float64(len(s.Runs))
				}
				last := len(l.X) - 1
				if got := *l.Mean[last]; math.Abs(got-sum) > 1e-5*sum {
					t.Errorf("%s, %s: mean %g, want %g", f.Name, s.Label, got, sum)
				}
				if l.Low != nil {
					bands++
					if *l.Low[last] > *l.Mean[last] || *l.High[last] < *l.Mean[last] {
						t.Errorf("%s, %s: [%g, %g] around %g", f.Name, s.Label, *l.Low[last], *l.High[last], *l.Mean[last])
					}
				}
				levels += len(l.Levels)
				if !l.Flat && last != len(s.Runs[0].Points)-1 {
					t.Errorf("%s, %s: %d points", f.Name, s.Label, last+1)
				}
				if s.Run.Method == "polk" && s.Rank == 0 && l.Color != "#084594" {
					t.Errorf("%s, %s: colour %s, in the pictures it is #084594", f.Name, s.Label, l.Color)
				}
			}
		}
	}
	if next != len(charts) || lines < 20 || bands < 10 || levels < 5 {
		t.Errorf("%d of %d figures, %d lines, %d bands, %d levels", next, len(charts), lines, bands, levels)
	}
}
