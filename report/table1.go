package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"polkrepro/evidence"
	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
	"polkrepro/evidence/theory"
	"polkrepro/internal/words"
	"polkrepro/paper"
	"polkrepro/record"
	"polkrepro/report/plot"
	"polkrepro/spec"
)

// Table1Spec is the spec whose runs are compared with Table 1, the convergence theorems. The
// names of its tables and figures and the IDs of its claims begin with it.
const Table1Spec = "table1"

// A theoryStudy holds the runs behind Table 1.
type theoryStudy struct {
	claims []evidence.ClaimResult
	series []*Series // in the plan's order, each with a record
}

// theory gathers the runs behind Table 1, and says if some are missing. It returns nil unless each of
// their series has a record.
func (b *builder) theory() (s *theoryStudy, missing string) {
	planned := b.planned(func(p spec.Planned) bool { return p.Spec == Table1Spec })
	records := b.records(planned)
	if len(records) == 0 || records[0].Final.Measured == nil {
		return nil, ""
	}
	if n := len(planned) - len(records); n > 0 {
		missing = fmt.Sprintf("Table 1: %d of its runs are missing, and each series needs one: `runall reproduce %s --profile %s` makes them.", n, Table1Spec, b.in.Profile)
	}
	s = &theoryStudy{series: b.group(planned)}
	if slices.ContainsFunc(s.series, func(x *Series) bool { return len(x.Runs) == 0 }) {
		return nil, missing
	}
	if b.in.Assessment != nil {
		s.claims = b.in.Assessment.Claims
	}
	return s, missing
}

// diminishing reports whether the series' learning rate diminishes.
func (s *Series) diminishing() bool {
	return s.Run.Params.Schedule == spec.ScheduleInverse
}

// polk returns the series of POLK with a diminishing or with a constant learning rate.
func (s *theoryStudy) polk(diminishing bool) (out []*Series) {
	for _, x := range s.series {
		if x.Run.Method == spec.MethodPOLK && x.diminishing() == diminishing {
			out = append(out, x)
		}
	}
	return out
}

// statistic returns a statistic of package theory by name.
func statistic(name string) func(*record.Record) float64 {
	return func(r *record.Record) float64 { return theory.Value(r, name) }
}

// final returns a measurement in the last line of a record by name.
func final(name string) func(*record.Record) float64 {
	return func(r *record.Record) float64 { return r.Final.Measured[name] }
}

// radius returns Δ of a record's run, with σ² as measured.
func radius(r *record.Record) float64 {
	return theory.Radius(r.Header.Run, theory.Variance(r))
}

// finalOrder returns M_T, NaN for a record without points.
func finalOrder(r *record.Record) float64 {
	if len(r.Points) == 0 {
		return math.NaN()
	}
	return float64(r.Points[len(r.Points)-1].ModelOrder)
}

// verdict returns the worst verdict on the claims with the given IDs, or an empty string if the
// report has no verdicts.
func (s *theoryStudy) verdict(ids ...string) (text string) {
	worst := stats.Reproduced
	for _, c := range s.claims {
		if slices.Contains(ids, c.Claim.ID) {
			worst = max(worst, c.Verdict)
			text = worst.String()
		}
	}
	return text
}

// table compares the paper's Table 1 with the settings and measurements of the runs.
func (s *theoryStudy) table() *Table {
	diminishing, constant := s.polk(true)[0], s.polk(false)
	var rates, ks []string
	for _, x := range constant {
		rates, ks = appendNew(rates, fmt.Sprint(x.Run.Params.LearningRate)), appendNew(ks, fmt.Sprint(x.Run.Params.Parsimony))
	}
	p := diminishing.Run.Params
	limit := fmt.Sprintf(" < 1/λ = %g", 1/p.Regularizer)
	distance := fmt.Sprintf("distance %s ‖f*‖ at the end, as t^%.2f",
		statOf(diminishing.values(statistic(paper.MeasuredDistance))).text(qRisk), statOf(diminishing.values(statistic(paper.MeasuredSlope))).Mean)
	order := fmt.Sprintf("M = %s at the end, ×%.2f in the last decade",
		statOf(diminishing.values(finalOrder)).text(qOrder), statOf(diminishing.values(theory.DecadeGrowth)).Mean)
	return &Table{
		Name: Table1Spec, Title: "Table 1. Summary of convergence results, by experiment",
		Caption: "The paper's Table 1 beside this reproduction, on multidist with the multinomial logistic loss.",
		Header:  []string{"", "regime", "paper", "here", "verdict"},
		Rows: [][]string{
			{"step-size", "diminishing", "η_t = O(1/t)", fmt.Sprintf("η_t = %g/(1 + t/%g)", p.LearningRate, p.Horizon), ""},
			{"", "constant", "η_t = η > 0", "η = " + strings.Join(rates, ", "), ""},
			{"approximation budget", "diminishing", "ε_t = η_t²", "ε_t = η_t²", ""},
			{"", "constant", "ε = O(η^{3/2})", "ε = K·η^{3/2}, K = " + strings.Join(ks, ", "), ""},
			{"regularization condition", "diminishing", "η_t < 1/λ", fmt.Sprint("η_0 = ", p.LearningRate, limit), ""},
			{"", "constant", "η < 1/λ", "η ≤ " + rates[0] + limit, ""},
			{"convergence result", "diminishing", "f_t → f* a.s.", distance, s.verdict("table1.diminishing.convergence", "table1.diminishing.risk")},
			{"", "constant", "lim inf ‖f_t − f*‖ = O(√η) a.s.", s.constantText(constant), s.verdict("table1.constant.radius", "table1.constant.rate")},
			{"model order guarantee", "diminishing", "none", order, s.verdict("table1.diminishing.order")},
			{"", "constant", "finite", constantOrderText(constant), s.verdict("table1.constant.order")},
		},
		Notes: s.notes(),
	}
}

// notes describes the setting of the table and the accuracy of f*.
func (s *theoryStudy) notes() []string {
	lambda := s.series[0].Run.Params.Regularizer
	f := s.series[0].Runs[0].Final.Measured // all runs have the same f*
	return []string{
		fmt.Sprintf("multidist, multinomial logistic loss, mini-batches of one drawn with replacement from the training set, λ = %g "+
			"(with the 1e-6 of the paper's other experiments 10⁶ samples are the very beginning of a run). Mean ± standard deviation over runs.", lambda),
		fmt.Sprintf("f* by L-BFGS: R(f*) = %.6g, duality gap %.1e, so that ‖f − f*‖ is known to √(2·gap/λ) = %.1e; ‖f*‖ = %.4g.",
			f[theory.StarRisk], f[theory.StarGap], math.Sqrt(2*f[theory.StarGap]/lambda), f[theory.StarNorm]),
	}
}

// constantText gives the range of the least distances, in units of their bound Δ, and the
// exponents in η.
func (s *theoryStudy) constantText(series []*Series) string {
	var floors []float64
	for _, x := range series {
		floors = append(floors, x.values(statistic(paper.MeasuredFloorRadius))...)
	}
	text := fmt.Sprintf("least distance %.2g to %.2g Δ", slices.Min(floors), slices.Max(floors))
	for _, c := range s.claims {
		for _, t := range c.Tests {
			if t.Test.Kind == ledger.KindExponent && t.Verdict != stats.NotRun {
				text += fmt.Sprintf("; as η^%.2f (K = %v)", t.Ours.Value, t.Of.Runs[0].Run.Params.Parsimony)
			}
		}
	}
	return text
}

func constantOrderText(series []*Series) string {
	most, growth := 0.0, math.Inf(-1)
	for _, x := range series {
		most = max(most, slices.Max(x.values(final(theory.MaxOrder))))
		growth = max(growth, float64(statOf(x.values(theory.OrderGrowth)).Mean))
	}
	return fmt.Sprintf("M ≤ %.0f at every step, at most ×%.3f in the last quarter", most, growth)
}

// seriesTable summarizes the series, with a row for each.
func (s *theoryStudy) seriesTable() *Table {
	polk := func(constant bool, of func(*Series) string) func(*Series) string { // a dash for other methods and, if constant, for a diminishing rate
		return func(x *Series) string {
			if x.Run.Method != spec.MethodPOLK || constant && x.diminishing() {
				return words.Dash
			}
			return of(x)
		}
	}
	return tabulate(Table{
		Name: Table1Spec + "-series", Title: "Table 1. The runs", Caption: "The runs behind Table 1.",
		Notes: []string{
			"Mean ± standard deviation over runs, in brackets the 90 % interval of the mean. Least distance: the least ‖f_t − f*‖ in the last half of a run. Δ: the radius of the constant-rate theorem, with σ² as measured: the largest over a run of a bound of E‖∇̃‖², " +
				"exact over the training set; and with the σ² = (2CX + ε/η)² that holds for all data. C = √2, X = 1. M of FSGD: distinct training points, each of which the paper counts as often as it is drawn.",
			"M^∞: a packing bound of the least rectangle that holds the points; no dictionary can have more elements than there are points, 5000, either.",
			"Bound ratio: ‖∇̃ − ∇̂‖ by ε_t/η_t, the largest of all steps of all runs.",
		},
	}, s.series, []column{
		{"series", func(x *Series) string { return x.Label }},
		{"runs", (*Series).runCount},
		{"samples", func(x *Series) string { return strconv.Itoa(x.Run.Samples) }},
	}, []column{
		{"least distance", func(x *Series) string { return statOf(x.values(theory.Floor)).full(qRisk) }},
		{"Δ", polk(true, func(x *Series) string { return statOf(x.values(radius)).text(qRisk) })},
		{"Δ, proven σ²", polk(true, func(x *Series) string { return fmt.Sprintf("%.3g", theory.Radius(x.Run, theory.ProvenVariance(x.Run))) })},
		{"σ²", func(x *Series) string { return statOf(x.values(theory.Variance)).text(qRisk) }},
		{"M at the end", func(x *Series) string { return statOf(x.values(finalOrder)).full(qOrder) }},
		{"largest M", func(x *Series) string { return fmt.Sprintf("%.0f", slices.Max(x.values(final(theory.MaxOrder)))) }},
		{"M^∞", polk(true, func(x *Series) string {
			f := x.Runs[0].Final.Measured
			return fmt.Sprintf("%.3g", theory.OrderBound(x.Run, f[theory.PlaneWidth], f[theory.PlaneHeight]))
		})},
		{"largest bound ratio", polk(false, func(x *Series) string { return fmt.Sprintf("%.6f", slices.Max(x.values(final(theory.Ratio)))) })},
		{"wall (s)", func(x *Series) string { return seconds(statOf(x.values(wall))) }},
	})
}

// figures makes table1a, table1b, …: a figure of the runs for each K, then the figure of the
// floors.
func (s *theoryStudy) figures() (out []*Figure) {
	add := func(title, caption string, drawing plot.Drawing) {
		out = append(out, &Figure{Name: Table1Spec + string(rune('a'+len(out))), Title: "Table 1 by experiment: " + title, Caption: caption, Drawing: drawing})
	}
	ks, byK := grouped(s.polk(false), func(x *Series) float64 { return x.Run.Params.Parsimony })
	for i, k := range ks {
		add(fmt.Sprintf("diminishing learning rate, and constant ones with K = %g", k),
			"(a) distance to f* in the Hilbert space, (b) model order, (c) largest ‖∇̃ − ∇̂‖/(ε_t/η_t) of the steps since the point before, "+
				"or of the last tenth of all steps where these are more, "+
				"against the number of samples. "+linesAre+"; dotted in (a): the same without projection.",
			s.curves(append(s.polk(true), byK[i]...)))
	}
	add("the floor and its bound",
		"(a) least ‖f_t − f*‖ in the last half of the runs, and the theorem's radius Δ with σ² as measured, (b) largest model order of all steps, "+
			"against the constant learning rate. "+linesAre+"; the level in (a) is ‖f*‖, the distance of f = 0.",
		floors(ks, byK))
	return out
}

// curves lays out the runs of series of POLK over samples, each with the series of FSGD at the
// same learning rate if there is one.
func (s *theoryStudy) curves(series []*Series) *plot.Picture {
	distance := &plot.Panel{Title: "(a)", YLabel: "RKHS distance to f*", LogY: true}
	order := &plot.Panel{Title: "(b)", YLabel: "model order M_t"}
	ratio := &plot.Panel{Title: "(c)", YLabel: "bound ratio, largest"}
	p := &plot.Picture{Panels: []*plot.Panel{distance, order, ratio}}
	distances := func(x *Series) []plot.Sample {
		return average(x.Runs, func(p record.Point) float64 { return p.Measured[theory.Distance] })
	}
	var plain plot.Legend
	for i, x := range series {
		x.own = &table1Looks[i%len(table1Looks)]
		p.Legend = append(p.Legend, plot.LineEntry(x.Label, x.look()))
		distance.Traces = append(distance.Traces, x.trace(distances(x)))
		order.Traces = append(order.Traces, x.trace(average(x.Runs, func(p record.Point) float64 { return float64(p.ModelOrder) })))
		ratio.Traces = append(ratio.Traces, x.trace(largestRatios(x.Runs)))
		for _, y := range s.series {
			if y.Run.Method == spec.MethodFSGD && y.diminishing() == x.diminishing() && y.Run.Params.LearningRate == x.Run.Params.LearningRate {
				t := plot.Trace{Label: y.Label, Look: unprojected(x.look()), Curve: centre(distances(y))}
				distance.Traces = append(distance.Traces, t)
				plain = append(plain, plot.LineEntry("without projection (FSGD)", t.Look))
			}
		}
	}
	for _, pn := range p.Panels {
		pn.Span()
	}
	p.Legend = append(p.Legend, plain[:min(1, len(plain))]...)
	p.Explain("", "")
	return p
}

// ratioWindow is the minimum window over which the largest ratio of a point is taken, as a
// fraction of the samples so far; a point with more steps since the point before uses all of
// these. Points a decade apart and evenly spaced points may be neighbours, and the largest of a
// hundred ratios is less than the largest of thousands.
const ratioWindow = 0.1

// largestRatios returns the curve of the largest bound ratio.
func largestRatios(runs []*record.Record) []plot.Sample {
	at := make(map[int][]float64)
	for _, r := range runs {
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
	return averaged(at)
}

// centre removes the band from a curve, in place.
func centre(curve []plot.Sample) []plot.Sample {
	for i := range curve {
		curve[i].Low, curve[i].High = curve[i].Mean, curve[i].Mean
	}
	return curve
}

// byRate is the mean and range over runs of a statistic, by η.
func byRate(series []*Series, of func(*record.Record) float64) []plot.Sample {
	at := make(map[float64][]float64)
	for _, x := range series {
		at[x.Run.Params.LearningRate] = x.values(of)
	}
	return averaged(at)
}

// floors lays out the floors and the largest model orders over η, for each K and its series.
func floors(ks []float64, byK [][]*Series) *plot.Picture {
	low, high := math.Inf(1), 0.0 // of the learning rates
	for _, x := range slices.Concat(byK...) {
		low, high = min(low, x.Run.Params.LearningRate), max(high, x.Run.Params.LearningRate)
	}
	axis := plot.Panel{XLabel: "learning rate", LogX: true, XMin: low / 1.3, XMax: high * 1.3}
	floor, order := axis, axis
	floor.Title, floor.YLabel, floor.LogY = "(a)", "RKHS distance to f*", true
	order.Title, order.YLabel = "(b)", "largest model order"
	p := &plot.Picture{Panels: []*plot.Panel{&floor, &order}}
	for i, k := range ks {
		look := table1Looks[1+i%(len(table1Looks)-1)]
		own := plot.Trace{Label: fmt.Sprintf("K = %g", k), Look: look, Curve: byRate(byK[i], theory.Floor)}
		bound := plot.Trace{Label: "radius of the theorem, " + own.Label, Look: unprojected(look), Curve: centre(byRate(byK[i], radius))}
		floor.Traces = append(floor.Traces, own, bound)
		order.Traces = append(order.Traces, plot.Trace{Label: own.Label, Look: look, Curve: byRate(byK[i], final(theory.MaxOrder))})
		p.Legend = append(p.Legend, plot.LineEntry(own.Label, look), plot.LineEntry(bound.Label, bound.Look))
	}
	floor.Traces[0].Levels = []float64{byK[0][0].Runs[0].Final.Measured[theory.StarNorm]} // all runs have the same f*
	p.Legend = append(p.Legend, plot.LevelEntry("norm of f*"))
	return p
}
