package page

import (
	"encoding/json"
	"testing"

	"polkrepro/report"
)

// TestCharts: the page's first script is the charts of all figures with curves, which a test of
// report compares with the pictures.
func TestCharts(t *testing.T) {
	in, _ := whole()
	_, scripts := wholePage()
	var want [][]report.Chart
	for _, f := range in.Report.Figures {
		if charts := f.Charts(); len(charts) > 0 {
			want = append(want, charts)
		}
	}
	text, err := json.Marshal(want)
	if err != nil || len(want) == 0 || scripts[0] != string(text) {
		t.Errorf("%d figures, %v: %.200s\nwant %.200s", len(want), err, scripts[0], text)
	}
}
