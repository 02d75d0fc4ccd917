package scaling

import (
	"encoding/csv"
	"fmt"
	"io"
)

// WriteSteps writes a CSV table of steps, a row each.
func WriteSteps(w io.Writer, steps []Step) error {
	rows := [][]string{{"loss", "n", "order", "p", "C", "mean_order", "active", "step_seconds"}}
	for _, s := range steps {
		rows = append(rows, []string{s.Loss, fmt.Sprint(s.Batch), fmt.Sprint(s.Order), fmt.Sprint(s.Features), fmt.Sprint(s.Classes),
			fmt.Sprintf("%.1f", s.MeanOrder), fmt.Sprintf("%.2f", s.Active), fmt.Sprintf("%.4g", s.Seconds)})
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// WriteGrowths writes a CSV table of trainings, a row for each number of samples.
func WriteGrowths(w io.Writer, growths []Growth) error {
	rows := [][]string{{"method", "task", "samples", "seconds", "order"}}
	for _, g := range growths {
		for _, p := range g.Points {
			rows = append(rows, []string{g.Method, g.Task, fmt.Sprint(p.Samples), fmt.Sprintf("%.4g", p.Seconds), fmt.Sprint(p.Order)})
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// WriteRates writes a CSV table of rates, a row each.
func WriteRates(w io.Writer, rates []Rate) error {
	rows := [][]string{{"series", "runs", "order", "core_seconds_per_sample", "least", "most", "timed_seconds"}}
	for _, r := range rates {
		rows = append(rows, []string{r.Series, fmt.Sprint(r.Runs), fmt.Sprintf("%.1f", r.Order), fmt.Sprintf("%.4g", r.Core),
			fmt.Sprintf("%.4g", r.Low), fmt.Sprintf("%.4g", r.High), fmt.Sprintf("%.3g", r.Timed)})
	}
	return csv.NewWriter(w).WriteAll(rows)
}
