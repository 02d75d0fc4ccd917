package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"

	"polkrepro/evidence/theory"
	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/record"
)

// table1Looks are how the series of Table 1's figures look: a diminishing
// learning rate, then constant ones from the largest on.
var table1Looks = []look{
	{rgb(0x1b, 0x7a, 0x4b), nil, 1.3},
	{rgb(0x08, 0x30, 0x6b), nil, 1.2},
	{rgb(0x34, 0x90, 0xd6), []vg.Length{6, 2}, 1.2},
	{rgb(0xb8, 0x43, 0x00), []vg.Length{3, 1.2}, 1.2},
}

// plain is the look of the same series without projection.
func (l look) plain() look {
	return look{l.color, []vg.Length{0.8, 1.2}, 0.9}
}

// table1Curves are the contents of a figure of runs over samples: the series of
// POLK, each with that of FSGD at the same learning rate if there is one.
type table1Curves struct {
	series []*Series
	plain  []*Series // a series without records where there is none
	looks  []look
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
		series := append(s.polk(true), byK.series[i]...)
		out = append(out, &Figure{
			Name:    table1Figure(i),
			Title:   fmt.Sprintf("Table 1 by experiment: diminishing learning rate, and constant ones with K = %g", k),
			Caption: curvesCaption,
			Missing: missingWithout(byK.series[i]),
			content: s.curves(series),
		})
	}
	return append(out, &Figure{
		Name:    table1Figure(len(byK.ks)),
		Title:   "Table 1 by experiment: the floor and its bound",
		Caption: radiusCaption,
		Missing: missingWithout(slices.Concat(byK.series...)),
		content: byK,
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

func (c *table1Curves) drawing() drawing {
	p := &picture{panels: []panel{
		c.panel("(a)", "RKHS distance to f*", func(p record.Point) float64 { return p.Measured[theory.Distance] }, true),
		c.panel("(b)", "model order M_t", func(p record.Point) float64 { return float64(p.ModelOrder) }, false),
		c.ratios("(c)", "bound ratio, largest"),
	}}
	p.panels[0].log = true
	for i, x := range c.series {
		p.legend = append(p.legend, lineEntry(plainLetters(x.Label), c.looks[i]))
	}
	for i, x := range c.plain {
		if len(x.Runs) > 0 {
			p.legend = append(p.legend, lineEntry("without projection (FSGD)", c.looks[i].plain()))
			break
		}
	}
	if slices.ContainsFunc(c.series, func(x *Series) bool { return len(x.Runs) > 1 }) {
		p.legend = append(p.legend, bandEntry())
	}
	return p
}

// panel makes the panel of a quantity, with that of FSGD if both says so.
func (c *table1Curves) panel(tag, label string, of func(record.Point) float64, both bool) panel {
	pn := panel{tag: tag, ylabel: label}
	for i, x := range c.series {
		pn.traces = append(pn.traces, trace{look: c.looks[i], curve: average(x.Runs, of)})
		if both {
			pn.traces = append(pn.traces, trace{look: c.looks[i].plain(), curve: centre(average(c.plain[i].Runs, of))})
		}
	}
	pn.span()
	return pn
}

// ratioWindow is the part of the samples so far of which the largest ratio is drawn, if a
// point has fewer steps behind it: points a decade apart and points evenly spread may come
// to lie side by side, and the largest of a hundred ratios is less than that of thousands.
const ratioWindow = 0.1

// ratios makes the panel of the largest ratio.
func (c *table1Curves) ratios(tag, label string) panel {
	pn := panel{tag: tag, ylabel: label}
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
		pn.traces = append(pn.traces, trace{look: c.looks[i], curve: averaged(at)})
	}
	pn.span()
	return pn
}

// centre is a curve without its band.
func centre(curve []sample) []sample {
	for i := range curve {
		curve[i].low, curve[i].high = curve[i].mean, curve[i].mean
	}
	return curve
}

// rows are the points of all runs.
func (c *table1Curves) rows() [][]string {
	rows := [][]string{{"series", "seed", "samples", "distance", "excess_risk", "model_order", "mean_order", "norm", "gradient_square", "separation", "bound_ratio"}}
	for _, x := range slices.Concat(c.series, c.plain) {
		for _, r := range x.Runs {
			for _, p := range r.Points {
				m := p.Measured
				rows = append(rows, []string{x.Label, strconv.FormatUint(r.Header.Run.Seed, 10), strconv.Itoa(p.Samples),
					words.Exact(m[theory.Distance]), words.Exact(m[theory.Excess]), strconv.Itoa(p.ModelOrder), words.Exact(m[theory.MeanOrder]),
					words.Exact(m[theory.Norm]), words.Exact(m[theory.Gradient]), words.Exact(m[theory.Separation]), words.Exact(m[theory.Ratio])})
			}
		}
	}
	return rows
}

// byRate is the mean and range over runs of a statistic, by η.
func byRate(series []*Series, of func(*record.Record) float64) []sample {
	var out []sample
	for _, x := range series {
		if v := x.values(of); len(v) > 0 {
			out = append(out, sample{x.Run.Params.LearningRate, mean(v), slices.Min(v), slices.Max(v)})
		}
	}
	slices.SortFunc(out, func(a, b sample) int { return cmp.Compare(a.x, b.x) })
	return out
}

func (f *table1Radius) drawing() drawing {
	floor := panel{tag: "(a)", xlabel: "learning rate", ylabel: "RKHS distance to f*", log: true}
	order := panel{tag: "(b)", xlabel: "learning rate", ylabel: "largest model order"}
	p := &picture{}
	for i, k := range f.ks {
		l := table1Looks[1+i%(len(table1Looks)-1)]
		floor.traces = append(floor.traces,
			trace{look: l, curve: byRate(f.series[i], theory.Floor)},
			trace{look: l.plain(), curve: centre(byRate(f.series[i], radius))})
		order.traces = append(order.traces, trace{look: l, curve: byRate(f.series[i], final(theory.MaxOrder))})
		p.legend = append(p.legend, lineEntry(fmt.Sprintf("K = %g", k), l), lineEntry(fmt.Sprintf("radius of the theorem, K = %g", k), l.plain()))
	}
	for i := range f.series {
		for _, x := range f.series[i] {
			if len(x.Runs) > 0 {
				floor.traces[0].levels = []float64{x.Runs[0].Final.Measured[theory.StarNorm]}
			}
		}
	}
	p.panels = []panel{floor, order}
	for i := range p.panels {
		p.panels[i].xmin, p.panels[i].xmax = f.rates()
	}
	p.legend = append(p.legend, levelEntry("norm of f*"))
	return p
}

// rates returns the range of the learning rates, widened.
func (f *table1Radius) rates() (low, high float64) {
	low, high = math.Inf(1), 0
	for _, series := range f.series {
		for _, x := range series {
			low, high = min(low, x.Run.Params.LearningRate), max(high, x.Run.Params.LearningRate)
		}
	}
	return low / 1.3, high * 1.3
}

// rows are the runs' floors, radii and orders.
func (f *table1Radius) rows() [][]string {
	rows := [][]string{{"series", "seed", "learning_rate", "parsimony", "least_distance", "radius", "variance", "largest_order", "order_bound"}}
	for _, series := range f.series {
		for _, x := range series {
			for _, r := range x.Runs {
				run, m := r.Header.Run, r.Final.Measured
				rows = append(rows, []string{x.Label, strconv.FormatUint(run.Seed, 10), words.Exact(run.Params.LearningRate), words.Exact(run.Params.Parsimony),
					words.Exact(theory.Floor(r)), words.Exact(radius(r)), words.Exact(theory.Variance(r)), words.Exact(m[theory.MaxOrder]),
					words.Exact(theory.OrderBound(run, m[theory.PlaneWidth], m[theory.PlaneHeight]))})
			}
		}
	}
	return rows
}
