package scaling

import (
	"fmt"
	"math"
	"slices"

	"polkrepro/experiments"
	"polkrepro/loss"
	"polkrepro/record"
)

// Costs are what was measured, and what the records of a full run say.
type Costs struct {
	Steps   []Step
	Growths []Growth

	Rates []Rate
	Jobs  []float64 // seconds of each run of a full plan, on one core
	Specs int       // that the jobs are of
	Gone  int       // runs of the plan without a record
	Start float64   // seconds that a process takes to begin
}

// Take takes from records the rates and times of the runs of a full plan that feed a
// table or figure.
func (c *Costs) Take(plan []experiments.Planned, have map[string]*record.Record) {
	series := make(map[string]string)
	seen := make(map[string]bool)
	var records []*record.Record
	for _, p := range plan {
		r := have[p.ID]
		switch {
		case series[p.ID] != "" || len(p.Cells)+len(p.Figures) == 0: // an alternative of the multiverse
			continue
		case r == nil:
			c.Gone++
		default:
			records = append(records, r)
			c.Jobs = append(c.Jobs, Seconds(r))
			seen[p.Spec] = true
		}
		series[p.ID] = p.Run.Data.Name + ", " + p.Run.Task + ", " + p.Series
	}
	c.Specs = len(seen)
	c.Rates = Rates(records, func(r *record.Record) string {
		if r.Header.Run.Batch() {
			return ""
		}
		return series[r.Header.ID]
	})
}

// A Table is a title and rows of cells, of which the first is the header.
type Table struct {
	Title string
	Rows  [][]string
}

// Tables puts costs and what follows from them into tables. Those without a row are
// left out.
func (c *Costs) Tables() ([]Table, error) {
	steps, err := c.stepRows()
	if err != nil {
		return nil, err
	}
	trainings, err := c.trainingRows()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc([]Table{
		{"A step of POLK: seconds as n^a M^b p^c C^d, with standard errors", steps},
		{"A training on multidist: seconds as N^a (10⁹ samples at the pace of the last; a kernel matrix of as many has 4·10¹⁸ bytes)", trainings},
		{"10⁹ samples, from the processor time of a sample in the second half of the recorded runs, on one core", c.rateRows()},
		{c.planTitle(), c.planRows()},
	}, func(t Table) bool { return len(t.Rows) < 2 }), nil
}

// stepRows are the fits of the steps: over all configurations, and over the large
// ones, where products and not overheads take the time.
func (c *Costs) stepRows() ([][]string, error) {
	rows := [][]string{{"loss", "configurations", "a (n)", "b (M)", "c (p)", "d (C)", "typically off by", "R²"}}
	order, features := c.large()
	for _, l := range []loss.Loss{loss.MultiHinge{}, loss.MultiLogistic{}} {
		for _, part := range []struct {
			name            string
			order, features int
		}{{"all", 0, 0}, {fmt.Sprintf("M ≥ %d, p ≥ %d", order, features), order, features}} {
			fit, err := FitSteps(c.Steps, l.Name(), part.order, part.features)
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
func (c *Costs) large() (order, features int) {
	var orders, widths []int
	for _, q := range c.Steps {
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
func (c *Costs) trainingRows() ([][]string, error) {
	rows := [][]string{{"method", "task", "largest N", "seconds", "order", "a", "from N", "10⁹ samples"}}
	for _, g := range c.Growths {
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
func exponent(p Power, i int) string {
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
func (c *Costs) rateRows() [][]string {
	rows := [][]string{{"data, task, series", "runs", "order", "µs a sample (least–most)", "10⁹ samples"}}
	for _, r := range c.Rates {
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
func (c *Costs) planTitle() string {
	if len(c.Jobs) == 0 {
		return ""
	}
	return fmt.Sprintf("1,000 specs like the %d recorded (%d runs; without %d that have no record), each run on one core and a process of its own, which takes %.0f ms to begin; the longest run takes %s",
		c.Specs, len(c.Jobs), c.Gone, 1000*c.Start, span(slices.Max(c.Jobs)))
}

// planRows say how long the runs of many specs take on so many cores.
func (c *Costs) planRows() [][]string {
	rows := [][]string{{"cores", "time", "share of the cores' time at work"}}
	if len(c.Jobs) == 0 {
		return rows
	}
	var jobs []float64
	total := 0.0
	for i := range len(c.Jobs) * manySpecs / c.Specs {
		seconds := c.Jobs[i%len(c.Jobs)] + c.Start
		jobs = append(jobs, seconds)
		total += seconds
	}
	for _, cores := range []int{1, 2, 16, 128, 1024} {
		time := Makespan(jobs, cores)
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
