package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"polkrepro/evidence/stats"
	"polkrepro/internal/words"
)

// Difference formats a mean difference without its unit: in points, or for Time as a factor.
func (m Measure) Difference(v float64) string {
	if m == Time {
		return "×" + twoDigits(math.Exp(v))
	}
	return words.Signed(v, 2)
}

// Interval formats the 95 % interval of a comparison, or returns "unknown" if it has none.
func (m Measure) Interval(c Comparison) string {
	if c.Basis == stats.Point {
		return "unknown"
	}
	return m.Difference(c.Low) + " to " + m.Difference(c.High)
}

// Verdict returns a verdict in words. For Time, better is "faster" and worse is "slower".
func (m Measure) Verdict(v Verdict) string {
	switch {
	case m == Time && v == Better:
		return "faster"
	case m == Time && v == Worse:
		return "slower"
	}
	return string(v)
}

// Off formats c.Bend, the possible interpolation error of a comparison, with its unit.
func (m Measure) Off(c Comparison) string {
	if m == Time {
		return "a factor of " + twoDigits(math.Exp(c.Bend))
	}
	return strings.TrimPrefix(words.Signed(c.Bend, 2), "+") + " points"
}

// doubt returns why a comparison has no verdict although its interval excludes 0, or "" for any
// other comparison. alone is the uncorrected p-value; of is the number of heuristics compared.
func (c *Comparison) doubt(m Measure, alone float64, of int) string {
	switch {
	case c.Basis == stats.Point || c.Low <= 0 && c.High >= 0:
		return ""
	case c.Verdict == TooCoarse:
		return "the interval excludes 0, but interpolation between runs may be off by up to " + m.Off(*c)
	case c.Verdict == Open:
		return fmt.Sprintf("the interval excludes 0 (p %s), but not after correction for %d comparisons", PValue(alone), of)
	}
	return ""
}

// twoDigits formats a positive number with two significant digits, or its whole integer part if
// that is longer, without an exponent.
func twoDigits(x float64) string {
	decimals := max(0, 1-int(math.Floor(math.Log10(x))))
	if math.IsInf(x, 0) || math.IsNaN(x) || x <= 0 {
		decimals = 0
	}
	return strconv.FormatFloat(x, 'f', min(decimals, 6), 64)
}

// PValue formats a p-value.
func PValue(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// Number formats a model order or a time.
func Number(x float64) string {
	if x >= 100 || x == math.Trunc(x) {
		return strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	}
	return twoDigits(x)
}

// Numbers formats several model orders or times, separated by commas.
func Numbers(x []float64) string { return joined(x, Number) }

// Summary returns sentences that say which heuristics are better than the reference over all
// fields, and on what basis. The size and the certainty of each difference are in the tables of the
// fields.
func (r *Result) Summary() []string {
	var out []string
	if len(r.Fields) == 0 {
		return []string{fmt.Sprintf("There are no runs of %s to compare with.", r.Reference)}
	}
	if r.Mixed != "" {
		out = append(out, r.Mixed)
	}
	out = append(out, r.overall(ErrorAtOrder), r.overall(Anytime))
	if s := r.Standing; s != nil {
		out = append(out, s.sentence(r.Reference))
	}
	out = append(out, fmt.Sprintf("Differences are heuristic less %s, replicate by replicate, on the same examples in the same order, averaged over "+
		"the model orders, or times, that both reach in every replicate. Intervals are 95 %% intervals of Student's t over replicates, of one comparison each; "+
		"p is two-sided and corrected by Holm's method for the heuristics compared on the field: where the verdict is not distinguishable, of no difference; elsewhere, of a difference within the possible error of interpolation between runs. Replicates are seeds of the order, and draws where data are "+
		"generated: none of this speaks of other data sets, and times are those of one machine.", r.Reference))
	if s := r.processes(); s != "" {
		out = append(out, s)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Missing)) {
		are := "are"
		if r.Missing[name] == 1 {
			are = "is"
		}
		out = append(out, fmt.Sprintf("%s of %s failed or %s missing, and %[3]s left out.", words.Count(r.Missing[name], "run"), name, are))
	}
	return out
}

// processes returns a sentence on the training times that include waiting for the separate process
// of a heuristic, or "" if there are none.
func (r *Result) processes() string {
	seconds, process := make(map[string]float64), make(map[string]float64)
	for _, f := range r.Fields {
		for _, e := range f.Entries {
			for _, t := range e.Runs {
				seconds[e.Heuristic.Name] += t.Seconds
				process[e.Heuristic.Name] += t.Process
			}
		}
	}
	var shares []string
	for _, name := range slices.Sorted(maps.Keys(process)) {
		if process[name] > 0 {
			shares = append(shares, fmt.Sprintf("%s (%.0f %% of its time)", name, 100*process[name]/seconds[name]))
		}
	}
	if len(shares) == 0 {
		return ""
	}
	return fmt.Sprintf("Training times are processor times of this program. For heuristics in a process of their own they include the time that training waits for it, "+
		"from each question to the answer: %s.", strings.Join(shares, ", "))
}

// overall groups the heuristics by their verdicts over all fields: better on some field and worse
// on none, and so on.
func (r *Result) overall(m Measure) string {
	better, mixed := group{title: "Better than " + r.Reference + " on at least one and worse on none"}, group{title: "Better on one, worse on another"}
	worse, level := group{title: "Worse on at least one and better on none"}, group{title: "Not distinguishable on any"}
	coarse, unknown := group{title: "Undecided, because the grid is too coarse"}, group{title: "Not comparable"}
	for _, e := range r.Fields[0].Entries[1:] { // all fields have the same heuristics
		has := func(v Verdict) bool {
			return slices.ContainsFunc(r.Fields, func(f *FieldResult) bool { return f.Entry(e.Heuristic.Name).Compared[m].Verdict == v })
		}
		g := &unknown
		switch {
		case has(Better) && has(Worse):
			g = &mixed
		case has(Better):
			g = &better
		case has(Worse):
			g = &worse
		case has(TooCoarse):
			g = &coarse
		case has(Open):
			g = &level
		}
		g.names = append(g.names, e.Heuristic.Name)
	}
	return fmt.Sprintf("By %s, on %s. ", m, words.Count(len(r.Fields), "field")) + lists(better, mixed, worse, level, coarse, unknown)
}

// sentence says which heuristics rank ahead of the reference, level with it and behind it.
func (s *Standing) sentence(reference string) string {
	at := slices.Index(s.Names, reference)
	var ahead, level, behind []string
	for i, name := range s.Names {
		switch d := s.Mean[i] - s.Mean[at]; {
		case i == at:
		case d < -s.CD:
			ahead = append(ahead, name)
		case d > s.CD:
			behind = append(behind, name)
		default:
			level = append(level, name)
		}
	}
	return fmt.Sprintf("Ranked by error at equal model order over %d blocks (replicates of %s; Friedman's test: p %s), %s has mean rank %.1f of %d; "+
		"Nemenyi's critical difference is %.2f. ", s.Blocks, words.Count(s.Fields, "field"), PValue(s.P), reference, s.Mean[at], len(s.Names), s.CD) +
		lists(group{"Ahead by more than that", ahead}, group{"Within it", level}, group{"Behind", behind}, group{"Not ranked, because not comparable everywhere", s.Absent})
}

// A group is a statement and the heuristics to which it applies.
type group struct {
	title string
	names []string
}

// lists writes each non-empty group as a sentence.
func lists(groups ...group) string {
	var parts []string
	for _, g := range groups {
		if len(g.names) > 0 {
			parts = append(parts, g.title+": "+strings.Join(g.names, ", ")+".")
		}
	}
	return strings.Join(parts, " ")
}

// noRuns is the reason why a heuristic without runs is not comparable.
const noRuns = "all runs failed or are missing"

// apart returns why no level is reached by all replicates of both heuristics.
func apart(e, reference *Entry, m Measure, levels []float64, replicates []int) string {
	switch {
	case len(e.Runs) == 0:
		return noRuns
	case len(replicates) == 0:
		return "no replicate in common"
	case len(levels) == 0:
		return fmt.Sprintf("no %s in common to all replicates of %s", measures[m].cost, reference.Heuristic.Name)
	}
	theirLow, theirHigh := reference.span(m)
	low, high := e.span(m)
	if low > high {
		return "no run has a finite error"
	}
	spans := fmt.Sprintf("%s %s, %s %s", reference.Heuristic.Name, m.span(theirLow, theirHigh), e.Heuristic.Name, m.span(low, high))
	if high < theirLow || low > theirHigh {
		return fmt.Sprintf("no %s in common: %s", measures[m].cost, spans)
	}
	return fmt.Sprintf("both reach no compared %s in every replicate: %s", measures[m].cost, spans)
}

// span returns the range of the cost of measure m, a model order or a time, over all finite runs.
// If there are none, low is above high.
func (e *Entry) span(m Measure) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, c := range e.curves(m) {
		if from, to, ok := c.Range(); ok {
			low, high = min(low, from), max(high, to)
		}
	}
	return low, high
}

// span formats a range of costs.
func (m Measure) span(low, high float64) string {
	words := Number(low)
	if to := Number(high); to != words {
		words += " to " + to
	}
	if m == ErrorAtTime {
		words += " s"
	}
	return words
}
