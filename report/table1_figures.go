package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"polkrepro/evidence/theory"
	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/record"
	"polkrepro/report/plot"
)

// table1Curves are the contents of a figure of runs over samples: the series of
// POLK, each with that of FSGD at the same learning rate if there is one.
type table1Curves struct {
	series []*Series
	plain  []*Series // a series without records where there is none
	looks  []plot.Look
}

// table1Radius are the contents of the figure of the floors over η.
type table1Radius struct {
	ks     []float64
	series [][]*Series // by K, by η
}

// figures makes the figures.
func (s *theoryStudy) figures() []*Figure {
	byK := &table1Radius{}
	for _, x := range s.polk(false) {
		i := slices.Index(byK.ks, x.Run.Params.Parsimony)
		if i < 0 {
			i = len(byK.ks)
			byK.ks, byK.series = append(byK.ks, x.Run.Params.Parsimony), append(byK.series, nil)
		}
		byK.series[i] = append(byK.series[i], x)
	}
	var out []*Figure
	for i, k := range byK.ks {
		c := s.curves(append(s.polk(true), byK.series[i]...))
		out = append(out, &Figure{
			Name:    table1Figure(i),
			Title:   fmt.Sprintf("Table 1 by experiment: diminishing learning rate, and constant ones with K = %g", k),
			Caption: curvesCaption,
			Missing: missingWithout(byK.series[i]),
			Drawing: c.picture(), Data: c.rows,
		})
	}
	return append(out, &Figure{
		Name:    table1Figure(len(byK.ks)),
		Title:   "Table 1 by experiment: the floor and its bound",
		Caption: radiusCaption,
		Missing: missingWithout(slices.Concat(byK.series...)),
		Drawing: byK.picture(), Data: byK.rows,
	})
}

const (
	curvesCaption = "(a) distance to f* in the Hilbert space, (b) model order, (c) largest ‖∇̃ − ∇̂‖/(ε_t/η_t) of the steps since the point before, " +
		"or of the last tenth of all steps where these are more, " +
		"against the number of samples. Lines are means over runs, bands reach from the least to the greatest; dotted in (a): the same without projection."
	radiusCaption = "(a) least ‖f_t − f*‖ in the last half of the runs, and the theorem's radius Δ with σ² as measured, (b) largest model order of all steps, " +
		"against the constant learning rate. Lines are means over runs, bands reach from the least to the greatest; the level in (a) is ‖f*‖, the distance of f = 0."
)

// table1Figure is the stem of the i-th figure's files: table1a, table1b, …
func table1Figure(i int) string { return Table1Spec + string(rune('a'+i)) }

// missingWithout says that there is no picture of series without records.
func missingWithout(series []*Series) string {
	if slices.ContainsFunc(series, func(x *Series) bool { return len(x.Runs) > 0 }) {
		return ""
	}
	return whyNotRun
}

func (s *theoryStudy) curves(series []*Series) *table1Curves {
	c := &table1Curves{}
	for i, x := range series {
		if len(x.Runs) == 0 {
			continue
		}
		plain := &Series{}
		for _, y := range s.series {
			if y.Run.Method == experiments.MethodFSGD && y.diminishing() == x.diminishing() && y.Run.Params.LearningRate == x.Run.Params.LearningRate {
				plain = y
			}
		}
		c.series, c.plain, c.looks = append(c.series, x), append(c.plain, plain), append(c.looks, table1Looks[i%len(table1Looks)])
	}
	return c
}

func (c *table1Curves) picture() *plot.Picture {
	p := &plot.Picture{Panels: []*plot.Panel{
		c.panel("(a)", "RKHS distance to f*", func(p record.Point) float64 { return p.Measured[theory.Distance] }, true),
		c.panel("(b)", "model order M_t", func(p record.Point) float64 { return float64(p.ModelOrder) }, false),
		c.ratios("(c)", "bound ratio, largest"),
	}}
	p.Panels[0].LogY = true
	for i, x := range c.series {
		p.Legend = append(p.Legend, plot.LineEntry(x.Label, c.looks[i]))
	}
	if i := slices.IndexFunc(c.plain, func(x *Series) bool { return len(x.Runs) > 0 }); i >= 0 {
		p.Legend = append(p.Legend, plot.LineEntry("without projection (FSGD)", unprojected(c.looks[i])))
	}
	if slices.ContainsFunc(c.series, func(x *Series) bool { return len(x.Runs) > 1 }) {
		p.Legend = append(p.Legend, plot.BandEntry())
	}
	return p
}

// panel makes the panel of a quantity, with that of FSGD if both says so.
func (c *table1Curves) panel(title, label string, of func(record.Point) float64, both bool) *plot.Panel {
	pn := &plot.Panel{Title: title, YLabel: label}
	for i, x := range c.series {
		pn.Traces = append(pn.Traces, plot.Trace{Look: c.looks[i], Curve: average(x.Runs, of)})
		if both {
			pn.Traces = append(pn.Traces, plot.Trace{Look: unprojected(c.looks[i]), Curve: centre(average(c.plain[i].Runs, of))})
		}
	}
	pn.Span()
	return pn
}

// ratioWindow is the part of the samples so far of which the largest ratio is drawn, if a
// point has fewer steps behind it: points a decade apart and points evenly spread may come
// to lie side by side, and the largest of a hundred ratios is less than that of thousands.
const ratioWindow = 0.1

// ratios makes the panel of the largest ratio.
func (c *table1Curves) ratios(title, label string) *plot.Panel {
	pn := &plot.Panel{Title: title, YLabel: label}
	for i, x := range c.series {
		at := make(map[int][]float64)
		for _, r := range x.Runs {
			for j, p := range r.Points {
				largest := p.Measured[theory.Ratio]
				for _, q := range slices.Backward(r.Points[:j]) {
					if float64(q.Samples) <= (1-ratioWindow)*float64(p.Samples) {
						break
					}
					largest = max(largest, q.Measured[theory.Ratio])
				}
				at[p.Samples] = append(at[p.Samples], largest)
			}
		}
		pn.Traces = append(pn.Traces, plot.Trace{Look: c.looks[i], Curve: averaged(at)})
	}
	pn.Span()
	return pn
}

// centre is a curve without its band.
func centre(curve []plot.Sample) []plot.Sample {
	for i := range curve {
		curve[i].Low, curve[i].High = curve[i].Mean, curve[i].Mean
	}
	return curve
}

// rows are the points of all runs.
func (c *table1Curves) rows() [][]string {
	rows := [][]string{strings.Fields("series seed samples distance excess_risk model_order mean_order norm gradient_square separation bound_ratio")}
	for x, r := range runsOf(slices.Concat(c.series, c.plain)) {
		for _, p := range r.Points {
			m := p.Measured
			row := []string{x.Label, strconv.FormatUint(r.Header.Run.Seed, 10), strconv.Itoa(p.Samples), words.Exact(m[theory.Distance]), words.Exact(m[theory.Excess]), strconv.Itoa(p.ModelOrder)}
			rows = append(rows, append(row, exact(m[theory.MeanOrder], m[theory.Norm], m[theory.Gradient], m[theory.Separation], m[theory.Ratio])...))
		}
	}
	return rows
}

// byRate is the mean and range over runs of a statistic, by η.
func byRate(series []*Series, of func(*record.Record) float64) []plot.Sample {
	var out []plot.Sample
	for _, x := range series {
		if v := x.values(of); len(v) > 0 {
			out = append(out, plot.Sample{X: x.Run.Params.LearningRate, Mean: mean(v), Low: slices.Min(v), High: slices.Max(v)})
		}
	}
	slices.SortFunc(out, func(a, b plot.Sample) int { return cmp.Compare(a.X, b.X) })
	return out
}

func (f *table1Radius) picture() *plot.Picture {
	low, high := math.Inf(1), 0.0 // of the learning rates
	for _, x := range slices.Concat(f.series...) {
		low, high = min(low, x.Run.Params.LearningRate), max(high, x.Run.Params.LearningRate)
	}
	axis := plot.Panel{XLabel: "learning rate", LogX: true, XMin: low / 1.3, XMax: high * 1.3}
	floor, order := axis, axis
	floor.Title, floor.YLabel, floor.LogY = "(a)", "RKHS distance to f*", true
	order.Title, order.YLabel = "(b)", "largest model order"
	p := &plot.Picture{Panels: []*plot.Panel{&floor, &order}}
	for i, k := range f.ks {
		l := table1Looks[1+i%(len(table1Looks)-1)]
		floor.Traces = append(floor.Traces,
			plot.Trace{Look: l, Curve: byRate(f.series[i], theory.Floor)},
			plot.Trace{Look: unprojected(l), Curve: centre(byRate(f.series[i], radius))})
		order.Traces = append(order.Traces, plot.Trace{Look: l, Curve: byRate(f.series[i], final(theory.MaxOrder))})
		p.Legend = append(p.Legend, plot.LineEntry(fmt.Sprintf("K = %g", k), l), plot.LineEntry(fmt.Sprintf("radius of the theorem, K = %g", k), unprojected(l)))
	}
	for _, r := range runsOf(slices.Concat(f.series...)) { // f* is that of all
		floor.Traces[0].Levels = []float64{r.Final.Measured[theory.StarNorm]}
	}
	p.Legend = append(p.Legend, plot.LevelEntry("norm of f*"))
	return p
}

// rows are the runs' floors, radii and orders.
func (f *table1Radius) rows() [][]string {
	rows := [][]string{strings.Fields("series seed learning_rate parsimony least_distance radius variance largest_order order_bound")}
	for x, r := range runsOf(slices.Concat(f.series...)) {
		run, m := r.Header.Run, r.Final.Measured
		rows = append(rows, append([]string{x.Label, strconv.FormatUint(run.Seed, 10)}, exact(run.Params.LearningRate, run.Params.Parsimony,
			theory.Floor(r), radius(r), theory.Variance(r), m[theory.MaxOrder], theory.OrderBound(run, m[theory.PlaneWidth], m[theory.PlaneHeight]))...))
	}
	return rows
}
