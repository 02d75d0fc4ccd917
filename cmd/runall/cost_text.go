package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"polkrepro/harness"
	"polkrepro/loss"
	"polkrepro/scaling"
)

// write prints what was measured and what follows from it.
func (s *scale) write(w io.Writer) error {
	p := harness.Provenance()
	fmt.Fprintf(w, "Profile %s, revision %s, %s, %s, %s, one thread\n", s.profile, orUnknown(p.Revision), p.Go, p.CPU, p.Backend)
	steps, err := s.stepRows()
	if err != nil {
		return err
	}
	trainings, err := s.trainingRows()
	if err != nil {
		return err
	}
	for _, part := range []struct {
		title string
		rows  [][]string
	}{
		{"A step of POLK: seconds as n^a M^b p^c C^d, with standard errors", steps},
		{"A training on multidist: seconds as N^a (10⁹ samples at the pace of the last; a kernel matrix of as many has 4·10¹⁸ bytes)", trainings},
		{"10⁹ samples, from the processor time of a sample in the second half of the recorded runs, on one core", s.rateRows()},
		{s.planTitle(), s.planRows()},
	} {
		if len(part.rows) < 2 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n\n", part.title)
		if err := writeRows(w, part.rows); err != nil {
			return err
		}
	}
	return nil
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// stepRows are the fits of the steps: over all configurations, and over the large
// ones, where products and not overheads take the time.
func (s *scale) stepRows() ([][]string, error) {
	rows := [][]string{{"loss", "configurations", "a (n)", "b (M)", "c (p)", "d (C)", "typically off by", "R²"}}
	order, features := s.large()
	for _, l := range []loss.Loss{loss.MultiHinge{}, loss.MultiLogistic{}} {
		for _, part := range []struct {
			name            string
			order, features int
		}{{"all", 0, 0}, {fmt.Sprintf("M ≥ %d, p ≥ %d", order, features), order, features}} {
			fit, err := scaling.FitSteps(s.steps, l.Name(), part.order, part.features)
			if err != nil {
				return nil, err
			}
			row := []string{l.Name(), part.name}
			for i := range fit.Exponents {
				row = append(row, exponent(fit, i))
			}
			rows = append(rows, append(row, fmt.Sprintf("×%.2f", fit.Spread), fmt.Sprintf("%.3f", fit.R2)))
		}
	}
	return rows, nil
}

// large returns from where on a configuration is large: the upper half of the model
// orders and of the features.
func (s *scale) large() (order, features int) {
	var orders, widths []int
	for _, q := range s.steps {
		orders, widths = append(orders, q.Order), append(widths, q.Features)
	}
	upper := func(values []int) int {
		slices.Sort(values)
		values = slices.Compact(values)
		return values[len(values)/2]
	}
	return upper(orders), upper(widths)
}

// trainingRows are the times of the largest trainings, the exponents over the last
// few doublings, and what a billion samples take at the pace of the last one. That
// is for a stream alone: a batch method does not get there.
func (s *scale) trainingRows() ([][]string, error) {
	rows := [][]string{{"method", "task", "largest N", "seconds", "order", "a", "from N", "10⁹ samples"}}
	for _, g := range s.growths {
		last := g.Points[len(g.Points)-1]
		from := g.Points[max(0, len(g.Points)-5)].Samples
		fit, err := g.Fit(from)
		if err != nil {
			return nil, err
		}
		ahead := "—"
		if !g.Batch {
			before := g.Points[len(g.Points)-2]
			ahead = span(billion * (last.Seconds - before.Seconds) / float64(last.Samples-before.Samples))
		}
		rows = append(rows, []string{g.Method, g.Task, grouped(last.Samples), fmt.Sprintf("%.3g", last.Seconds), fmt.Sprint(last.Order),
			exponent(fit, 0), grouped(from), ahead})
	}
	return rows, nil
}

// exponent writes an exponent with its standard error, where there is one.
func exponent(p scaling.Power, i int) string {
	if math.IsNaN(p.StdErrs[i]) {
		return fmt.Sprintf("%.2f", p.Exponents[i])
	}
	return fmt.Sprintf("%.2f ± %.2f", p.Exponents[i], p.StdErrs[i])
}

// billion is the stream that is asked about.
const billion = 1e9

// shortest is how many seconds a rate must have been taken from: below, the clocks
// are too coarse.
const shortest = 2

// rateRows say what a billion samples cost.
func (s *scale) rateRows() [][]string {
	rows := [][]string{{"data, task, series", "runs", "order", "µs a sample (least–most)", "10⁹ samples"}}
	for _, r := range s.rates {
		if r.Timed < shortest {
			continue
		}
		rows = append(rows, []string{r.Series, fmt.Sprint(r.Runs), fmt.Sprintf("%.0f", r.Order),
			fmt.Sprintf("%.3g (%.3g–%.3g)", 1e6*r.Core, 1e6*r.Low, 1e6*r.High), span(billion * r.Core)})
	}
	return rows
}

// manySpecs is the number of specs that is asked about.
const manySpecs = 1000

// planTitle says what the plan is.
func (s *scale) planTitle() string {
	if len(s.jobs) == 0 {
		return ""
	}
	return fmt.Sprintf("1,000 specs like the %d recorded (%d runs; without %d that have no record), each run on one core and a process of its own, which takes %.0f ms to begin; the longest run takes %s",
		s.specs, len(s.jobs), s.gone, 1000*s.start, span(slices.Max(s.jobs)))
}

// planRows say how long the runs of many specs take on so many cores.
func (s *scale) planRows() [][]string {
	rows := [][]string{{"cores", "time", "share of the cores' time at work"}}
	if len(s.jobs) == 0 {
		return rows
	}
	var jobs []float64
	total := 0.0
	for i := range len(s.jobs) * manySpecs / s.specs {
		seconds := s.jobs[i%len(s.jobs)] + s.start
		jobs = append(jobs, seconds)
		total += seconds
	}
	for _, cores := range []int{1, 2, 16, 128, 1024} {
		time := scaling.Makespan(jobs, cores)
		rows = append(rows, []string{grouped(cores), span(time), fmt.Sprintf("%.0f %%", 100*total/(time*float64(cores)))})
	}
	return rows
}

// span puts seconds into words.
func span(seconds float64) string {
	switch {
	case seconds < 120:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 2*3600:
		return fmt.Sprintf("%.0f min", seconds/60)
	case seconds < 48*3600:
		return fmt.Sprintf("%.1f h", seconds/3600)
	}
	return fmt.Sprintf("%.1f days", seconds/86400)
}

// grouped writes a number with commas between its thousands.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
