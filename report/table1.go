package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"polkrepro/convergence"
	"polkrepro/evidence/stats"
)

// A Table1 is the report on Table 1, the convergence theorems.
type Table1 struct {
	Study   *convergence.Study
	Tables  []*Table // the paper's table beside what was measured; the series of runs
	Tests   *Table   // a row a test of a claim
	Figures []*Figure
}

// NewTable1 makes the report on a study.
func NewTable1(s *convergence.Study) *Table1 {
	return &Table1{
		Study:   s,
		Tables:  []*Table{table1(s), table1Series(s)},
		Tests:   table1Tests(s),
		Figures: table1Figures(s),
	}
}

// Text writes all tables for a terminal.
func (t *Table1) Text(w io.Writer) error {
	for _, table := range append(t.Tables[:len(t.Tables):len(t.Tables)], t.Tests) {
		if err := table.Text(w); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	return nil
}

// WriteAll writes tables and figures into a folder, as Report.WriteAll does,
// and returns their paths.
func (t *Table1) WriteAll(dir string) ([]string, error) {
	w := writer{dir: dir}
	for _, table := range append(t.Tables[:len(t.Tables):len(t.Tables)], t.Tests) {
		w.table(table)
	}
	for _, f := range t.Figures {
		w.figure(f)
	}
	return w.paths, w.err
}

// verdictOf is the worst verdict of claims.
func verdictOf(s *convergence.Study, ids ...string) string {
	worst := stats.Reproduced
	for _, c := range s.Claims {
		for _, id := range ids {
			if c.ID == id {
				worst = max(worst, c.Verdict)
			}
		}
	}
	return worst.String()
}

// table1 sets the paper's Table 1 beside what was run and measured.
func table1(s *convergence.Study) *Table {
	dim, constant := polkSeries(s, convergence.Diminishing), polkSeries(s, convergence.Constant)
	t := &Table{
		Name: "table1", Title: "Table 1. Summary of convergence results, by experiment",
		Caption: "The paper's Table 1 beside this reproduction, on multidist with the multinomial logistic loss.",
		Header:  []string{"", "regime", "paper", "here", "verdict"},
	}
	var rates, ks, horizon []string
	for _, x := range constant {
		rates, ks = appendNew(rates, fmt.Sprint(x.Run.Rate)), appendNew(ks, fmt.Sprint(x.Run.Parsimony))
	}
	for _, x := range dim {
		horizon = append(horizon, fmt.Sprintf("η_t = %g/(1 + t/%g)", x.Run.Rate, x.Run.Horizon))
	}
	limit := fmt.Sprintf(" < 1/λ = %g", 1/convergence.Regularizer)
	t.Rows = [][]string{
		{"step-size", "diminishing", "η_t = O(1/t)", strings.Join(horizon, "; "), ""},
		{"", "constant", "η_t = η > 0", "η = " + strings.Join(rates, ", "), ""},
		{"approximation budget", "diminishing", "ε_t = η_t²", "ε_t = η_t²", ""},
		{"", "constant", "ε = O(η^{3/2})", "ε = K·η^{3/2}, K = " + strings.Join(ks, ", "), ""},
		{"regularization condition", "diminishing", "η_t < 1/λ", "η_0 = " + fmt.Sprint(dim[0].Run.Rate) + limit, ""},
		{"", "constant", "η < 1/λ", "η ≤ " + rates[0] + limit, ""},
		{"convergence result", "diminishing", "f_t → f* a.s.", diminishingText(dim),
			verdictOf(s, "table1.diminishing.convergence", "table1.diminishing.risk")},
		{"", "constant", "lim inf ‖f_t − f*‖ = O(√η) a.s.", constantText(s, constant),
			verdictOf(s, "table1.constant.radius", "table1.constant.rate")},
		{"model order guarantee", "diminishing", "none", diminishingOrderText(dim), verdictOf(s, "table1.diminishing.order")},
		{"", "constant", "finite", constantOrderText(constant), verdictOf(s, "table1.constant.order")},
	}
	t.Notes = table1Notes(s)
	return t
}

// appendNew appends a word that is not among words.
func appendNew(words []string, word string) []string {
	for _, w := range words {
		if w == word {
			return words
		}
	}
	return append(words, word)
}

// table1Notes say what the table is about.
func table1Notes(s *convergence.Study) []string {
	notes := []string{fmt.Sprintf("multidist, multinomial logistic loss, mini-batches of one drawn with replacement from the training set, λ = %g "+
		"(with the 1e-6 of the paper's other experiments 10⁶ samples are the very beginning of a run). Mean ± standard deviation over runs.", convergence.Regularizer)}
	if !s.Empty() {
		p := s.Problem
		notes = append(notes, fmt.Sprintf("f* by L-BFGS: R(f*) = %.6g, duality gap %.1e, so that ‖f − f*‖ is known to √(2·gap/λ) = %.1e; ‖f*‖ = %.4g.",
			p.Objective, p.Gap, math.Sqrt(2*p.Gap/convergence.Regularizer), p.Norm))
	}
	if n := s.Missing(); n > 0 {
		notes = append(notes, fmt.Sprintf("%d of its runs are not there yet: `runall reproduce table1 --profile %s` makes them.", n, s.Profile))
	}
	for _, err := range s.Damaged {
		notes = append(notes, "Left out: "+oneLine(err.Error()))
	}
	return notes
}

// polkSeries returns the series of POLK in a regime.
func polkSeries(s *convergence.Study, regime string) []convergence.Series {
	var out []convergence.Series
	for _, x := range s.Series {
		if x.Run.Method == convergence.POLK && x.Run.Regime == regime {
			out = append(out, x)
		}
	}
	return out
}

// spreadText writes the mean of a statistic over a series' runs with its
// standard deviation.
func spreadText(x convergence.Series, of func(*convergence.Record) float64) string {
	if len(x.Records) == 0 {
		return whyDash
	}
	return statOf(x.Values(of)).text(qRisk)
}

func diminishingText(series []convergence.Series) string {
	var out []string
	for _, x := range series {
		if len(x.Records) == 0 {
			return whyNotRun
		}
		out = append(out, fmt.Sprintf("distance %s ‖f*‖ at the end, as t^%.2f",
			spreadText(x, relativeDistance), statOf(x.Values((*convergence.Record).Exponent)).Mean))
	}
	return strings.Join(out, "; ")
}

func relativeDistance(r *convergence.Record) float64 {
	return r.Points[len(r.Points)-1].Distance / r.Header.Problem.Norm
}

// constantText gives the floors by their bounds and the exponents in η.
func constantText(s *convergence.Study, series []convergence.Series) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range series {
		for _, r := range x.Records {
			low, high = min(low, r.Floor()/r.Radius()), max(high, r.Floor()/r.Radius())
		}
	}
	if low > high {
		return whyNotRun
	}
	text := fmt.Sprintf("least distance %.2g to %.2g Δ", low, high)
	for _, c := range s.Claims {
		for _, t := range c.Tests {
			if c.ID == "table1.constant.rate" && t.Verdict != stats.NotRun {
				text += fmt.Sprintf("; as η^%.2f (%s)", t.Estimate.Value, strings.TrimSuffix(strings.TrimPrefix(t.ID, "exponent["), "]"))
			}
		}
	}
	return text
}

func diminishingOrderText(series []convergence.Series) string {
	for _, x := range series {
		if len(x.Records) > 0 {
			return fmt.Sprintf("M = %s at the end, ×%.2f in the last decade",
				statOf(x.Values(finalOrder)).text(qOrder), statOf(x.Values((*convergence.Record).DecadeGrowth)).Mean)
		}
	}
	return whyNotRun
}

func finalOrder(r *convergence.Record) float64 { return float64(r.Points[len(r.Points)-1].Order) }

func constantOrderText(series []convergence.Series) string {
	most, growth := 0, math.Inf(-1)
	for _, x := range series {
		for _, r := range x.Records {
			most = max(most, r.Summary.MaxOrder)
		}
		if len(x.Records) > 0 {
			growth = max(growth, statOf(x.Values((*convergence.Record).OrderGrowth)).Mean)
		}
	}
	if most == 0 {
		return whyNotRun
	}
	return fmt.Sprintf("M ≤ %d at every step, at most ×%.3f in the last quarter", most, growth)
}

// table1Series sums the series up, a row each.
func table1Series(s *convergence.Study) *Table {
	t := &Table{
		Name: "table1-series", Title: "Table 1. The runs",
		Caption: "The runs behind Table 1.",
		Header: []string{"series", "runs", "samples", "least distance", "Δ", "Δ, proven σ²", "σ²", "M at the end", "largest M", "M^∞",
			"largest bound ratio", "wall (s)"},
		Notes: []string{
			"Mean ± standard deviation over runs, in brackets the 90 % interval of the mean. Least distance: the least ‖f_t − f*‖ in the last half of a run. Δ: the radius of the constant-rate theorem, with σ² as measured: the largest over a run of a bound of E‖∇̃‖², " +
				"exact over the training set; and with the σ² = (2CX + ε/η)² that holds for all data. C = √2, X = 1. M of FSGD: distinct training points, each of which the paper counts as often as it is drawn.",
			"M^∞: a packing bound of the least rectangle that holds the points; no dictionary can have more elements than there are points, 5000, either.",
			"Bound ratio: ‖∇̃ − ∇̂‖ by ε_t/η_t, the largest of all steps of all runs.",
		},
	}
	for _, x := range s.Series {
		t.Rows = append(t.Rows, seriesRow(x))
	}
	return t
}

func seriesRow(x convergence.Series) []string {
	row := []string{x.Name, fmt.Sprintf("%d of %d", len(x.Records), x.Planned), strconv.Itoa(x.Run.Samples)}
	if len(x.Records) == 0 {
		return append(row, "", "", "", "", "", "", "", "", "")
	}
	row = append(row, statOf(x.Values((*convergence.Record).Floor)).full(qRisk))
	last := x.Records[0]
	constant := x.Run.Regime == convergence.Constant && x.Run.Method == convergence.POLK
	if constant {
		row = append(row, spreadText(x, (*convergence.Record).Radius),
			fmt.Sprintf("%.3g", convergence.Radius(x.Run.Rate, x.Run.Parsimony, x.Run.Regularizer, x.Run.ProvenVariance())))
	} else {
		row = append(row, whyDash, whyDash)
	}
	row = append(row, spreadText(x, func(r *convergence.Record) float64 { return r.Variance(convergence.Classes) }),
		statOf(x.Values(finalOrder)).full(qOrder), strconv.Itoa(int(largestOf(x, func(r *convergence.Record) float64 { return float64(r.Summary.MaxOrder) }))))
	if constant {
		row = append(row, fmt.Sprintf("%.3g", x.Run.OrderBound(last.Header.Problem.Width, last.Header.Problem.Height)))
	} else {
		row = append(row, whyDash)
	}
	ratio := whyDash
	if x.Run.Method == convergence.POLK {
		ratio = fmt.Sprintf("%.6f", largestOf(x, func(r *convergence.Record) float64 { return r.Summary.Ratio }))
	}
	return append(row, ratio, seconds(statOf(x.Values(func(r *convergence.Record) float64 { return r.Summary.Seconds }))))
}

// largestOf is the largest of a statistic over a series' runs.
func largestOf(x convergence.Series, of func(*convergence.Record) float64) float64 {
	most := math.Inf(-1)
	for _, v := range x.Values(of) {
		most = max(most, v)
	}
	return most
}

// table1Tests lists the tests of all claims; what they are about is in the
// notes.
func table1Tests(s *convergence.Study) *Table {
	t := &Table{
		Name: "table1-tests", Title: "Table 1. Claims and tests",
		Caption: "The claims of Table 1 and the tests that answer them.",
		Header:  []string{"claim, test", "target", "here [90 %]", "runs", "verdict", "note"},
	}
	for _, c := range s.Claims {
		t.Rows = append(t.Rows, []string{c.ID, "", "", "", c.Verdict.String(), ""})
		note := fmt.Sprintf("%s: “%s” (%s).", c.ID, c.Quote, c.Section)
		said := map[string]bool{}
		for _, test := range c.Tests {
			t.Rows = append(t.Rows, []string{"  " + test.ID, targetText(test), estimateText(test), strconv.Itoa(test.Runs), test.Verdict.String(), test.Note})
			if stem, _, _ := strings.Cut(test.ID, "["); !said[stem] {
				said[stem] = true
				note += fmt.Sprintf(" Test %s: %s; target: %s.", stem, test.Of, test.Reason)
			}
		}
		t.Notes = append(t.Notes, note)
	}
	return t
}

// targetText writes the interval in which a statistic must lie.
func targetText(t convergence.Test) string {
	short := func(v float64) string { return strconv.FormatFloat(v, 'g', 7, 64) }
	switch {
	case math.IsInf(t.Low, -1):
		return "≤ " + short(t.High)
	case math.IsInf(t.High, 1):
		return "≥ " + short(t.Low)
	case t.Low == 0:
		return "≤ " + short(t.High)
	}
	return short(t.Low) + " to " + short(t.High)
}

func estimateText(t convergence.Test) string {
	e := t.Estimate
	switch {
	case t.Verdict == stats.NotRun:
		return whyDash
	case e.Basis == stats.Point:
		return fmt.Sprintf("%.6g", e.Value)
	}
	return fmt.Sprintf("%.4g [%.4g, %.4g]", e.Value, e.Low, e.High)
}
