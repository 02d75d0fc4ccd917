package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"polkrepro/internal/words"
)

// Difference formats a mean difference without its unit: in points, or for Time as a factor.
func (m Measure) Difference(v words.Nullable) string {
	if m == Time {
		return "×" + twoDigits(math.Exp(float64(v)))
	}
	return words.Signed(float64(v), 2)
}

// Interval formats the 95 % interval of a comparison, or returns "unknown" if it has none.
func (m Measure) Interval(c Comparison) string {
	if !words.Finite(float64(c.Low)) {
		return "unknown"
	}
	return m.Difference(c.Low) + " to " + m.Difference(c.High)
}

// Verdict returns a verdict in words. For Time, better is "faster" and worse is "slower".
func (m Measure) Verdict(v Verdict) string {
	if inTime := map[Verdict]string{Better: "faster", Worse: "slower"}; m == Time && inTime[v] != "" {
		return inTime[v]
	}
	return string(v)
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
func PValue(p words.Nullable) string {
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
// data sets, and on what basis. The size and the certainty of each difference are in the tables of the
// data sets.
func (r *Result) Summary() []string {
	var out []string
	if len(r.DataSets) == 0 {
		return []string{fmt.Sprintf("There are no runs of %s to compare with.", r.Reference)}
	}
	if r.Mixed != "" {
		out = append(out, r.Mixed)
	}
	out = append(out, r.overall(ErrorAtOrder), r.overall(Anytime))
	if s := r.Standing; s != nil {
		out = append(out, s.Sentence(r.Reference))
	}
	out = append(out, fmt.Sprintf("Differences are heuristic less %s, replicate by replicate, on the same examples in the same order, averaged over "+
		"the model orders, or times, that both reach in every replicate. Intervals are 95 %% intervals of Student's t over replicates, of one comparison each; "+
		"p is two-sided and corrected by Holm's method for the heuristics compared on the data set: where the verdict is not distinguishable, of no difference; elsewhere, of a difference within the possible error of interpolation between runs. Replicates are seeds of the order, and draws where data are "+
		"generated: none of this speaks of other data sets, and times are those of one machine. For a heuristic in a process of its own they include the time waited for it, process_seconds in runs.csv.", r.Reference))
	if r.MissingRuns > 0 {
		out = append(out, fmt.Sprintf("Runs left out, because they failed or are missing: %d, of %s.", r.MissingRuns, strings.Join(slices.Sorted(maps.Keys(r.Missing)), ", ")))
	}
	return append(out, r.LeftOut...)
}

// overall groups the heuristics by their verdicts over all data_sets: better on some data set and worse
// on none, and so on.
func (r *Result) overall(m Measure) string {
	groups := []group{
		{title: "Better than " + r.Reference + " on at least one and worse on none"}, {title: "Better on one, worse on another"},
		{title: "Worse on at least one and better on none"}, {title: "Not distinguishable on any"},
		{title: "Undecided, because the grid is too coarse"}, {title: "Not comparable"},
	}
	for _, e := range r.DataSets[0].Entries[1:] { // all data sets have the same heuristics
		has := func(v Verdict) bool {
			return slices.ContainsFunc(r.DataSets, func(f *DataSetResult) bool { return f.entry(e.Name).Compared[m].Verdict == v })
		}
		better, worse, coarse := has(Better), has(Worse), has(TooCoarse)
		g := &groups[slices.Index([]bool{better && !worse, better, worse, has(Open) && !coarse, coarse, true}, true)]
		g.names = append(g.names, e.Name)
	}
	return fmt.Sprintf("By %s, on %s. ", m, words.Count(len(r.DataSets), "data set")) + lists(groups...)
}

// Sentence says which heuristics rank ahead of the reference, level with it and behind it, and for
// ranks over data sets what the tests mean.
func (s *Standing) Sentence(reference string) string {
	own := s.Ranks[slices.IndexFunc(s.Ranks, func(r Rank) bool { return r.Name == reference })].Mean
	groups := []group{{title: "Ahead by more than that"}, {title: "Within it"}, {title: "Behind"}, {"Not ranked, because not comparable everywhere", s.Absent},
		{"Not ranked, because their model order can't be chosen", s.Free}}
	for _, r := range s.Ranks {
		if r.Name != reference {
			d := r.Mean - own
			g := &groups[slices.Index([]bool{d < -s.CD, d <= s.CD, true}, true)]
			g.names = append(g.names, r.Name)
		}
	}
	over := fmt.Sprintf("%d blocks (replicates of %s; Friedman's test: p %s)", s.Blocks, words.Count(s.DataSets, "data set"), PValue(s.P))
	means := ""
	if s.Block == blockDataSet {
		over = fmt.Sprintf("%s (each with its mean over the replicates; Friedman's test: p %s)", words.Count(s.Blocks, blockDataSet), PValue(s.P))
		means = " If p is small, the ranks differ by more than chance; two whose mean ranks differ by less than the critical difference can't be told apart."
		if s.Blocks < 5 {
			means += " The tests are those of Demšar (2006). Ranks over so few data sets say little: take at least 5."
		}
	}
	return fmt.Sprintf("Ranked by error at equal model order over %s, %s has mean rank %.1f of %d; "+
		"Nemenyi's critical difference is %.2f. ", over, reference, own, len(s.Ranks), s.CD) + lists(groups...) + means
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

// span returns the range of the cost of measure m, a model order or a time in seconds, over all
// runs with a finite error.
func (e *Entry) span(m Measure) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range e.curves(m) {
		if len(c) > 0 {
			low, high = min(low, c[0].Cost), max(high, c[len(c)-1].Cost)
		}
	}
	if low > high {
		return e.Name + " has no finite error"
	}
	return fmt.Sprintf("%s %s to %s", e.Name, Number(low), Number(high))
}
