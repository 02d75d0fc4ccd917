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
	"polkrepro/paper"
	"polkrepro/report/plot"
)

// ForestName is the stem of the forest plot's files.
const ForestName = "forest"

// A forest is a forest plot of the verdicts. It shows every number that Tables 2 and 3 print, as
// the distance from the printed value in margins, and every test of a sentence that claims one
// side of a bound, as the distance from that bound.
type forest struct {
	numbers   []forestGroup
	sentences []forestGroup
}

// A forestGroup is the rows on one data set and task.
type forestGroup struct {
	title string
	rows  []forestRow
}

// A forestRow is a method's three numbers, by quantity, or one test of a
// sentence. An entry is nil where the paper prints no number.
type forestRow struct {
	label   string
	entries []*forestEntry
}

// A forestEntry is one test with its position on the axis, NaN if it has none.
type forestEntry struct {
	claim        string
	result       *evidence.Finding
	x, low, high float64
}

// forest makes the forest plot, or nil if the report has no verdicts.
func (b *builder) forest() *Figure {
	a := b.in.Assessment
	if a == nil {
		return nil
	}
	d := newForest(a, b.paper)
	f := &Figure{Name: ForestName, Title: "The paper's numbers and signed sentences, with their verdicts", Caption: d.caption(a), Drawing: d}
	f.Alt = f.Title + ": a point with its interval for each test. The list of claims has the values."
	if !slices.ContainsFunc(d.entries(), func(e *forestEntry) bool { return e.result.Verdict != stats.NotRun }) {
		f.Missing = whyNotRun
	}
	return f
}

// newForest lays the verdicts out in the order of the paper's tables.
func newForest(a *evidence.Assessment, paper *paper.Values) *forest {
	d := &forest{}
	for _, t := range paper.Tables {
		for _, c := range t.Columns {
			in := func(cell string) bool { return paper.Cells[cell].Data == c.Data && paper.Cells[cell].Task == c.Task }
			numbers := forestGroup{title: paper.Data[c.Data].Title + ", " + c.Title}
			sentences := numbers
			numbers.title += " (" + riskName(paper.Data[c.Data].Risk) + ")"
			for i := range a.Claims {
				claim := &a.Claims[i]
				if claim.Claim.Cell {
					if in(claim.Claim.ID) {
						numbers.rows = append(numbers.rows, numberRow(claim, paper.Cells[claim.Claim.ID].Title))
					}
					continue
				}
				if !plottedSection(claim.Claim.Section) {
					continue
				}
				for j := range claim.Tests {
					r := &claim.Tests[j]
					oneSided := math.IsInf(r.Target.Low, -1) != math.IsInf(r.Target.High, 1)
					if in(r.Test.Of.Cell) && oneSided {
						sentences.rows = append(sentences.rows, forestRow{sentenceLabel(r, paper), []*forestEntry{fromBound(claim.Claim.ID, r)}})
					}
				}
			}
			if len(numbers.rows) > 0 {
				d.numbers = append(d.numbers, numbers)
			}
			if len(sentences.rows) > 0 {
				d.sentences = append(d.sentences, sentences)
			}
		}
	}
	return d
}

// plottedSection reports whether the sentences of a section of the paper are plotted. Only the
// sentences of the experiments and of captions are; there is no room for ranks and the
// discussion.
func plottedSection(section string) bool {
	return strings.HasPrefix(section, "Experiments") || strings.HasPrefix(section, "Figure")
}

// entries are all entries, the numbers first.
func (d *forest) entries() (out []*forestEntry) {
	for _, g := range slices.Concat(d.numbers, d.sentences) {
		for _, r := range g.rows {
			for _, e := range r.entries {
				if e != nil {
					out = append(out, e)
				}
			}
		}
	}
	return out
}

// numberRow is the row of a cell of a table. A printed number is placed by
// (ours − paper) / margin.
func numberRow(c *evidence.ClaimResult, label string) forestRow {
	row := forestRow{label, make([]*forestEntry, quantityCount)}
	for i := range c.Tests {
		r := &c.Tests[i]
		if q := slices.Index(Quantities[:], r.Test.Of.Quantity); q >= 0 {
			at := func(v float64) float64 { return (v - *r.Test.Paper) / r.Test.Margin }
			row.entries[q] = &forestEntry{c.Claim.ID, r, at(r.Ours.Value), at(r.Ours.Low), at(r.Ours.High)}
		}
	}
	return row
}

// fromBound places a test of one side of a bound. The position is the distance of the measured
// value from the bound, in per cent of the bound and negative on the claimed side. In a
// comparison with another mean the bound is that mean, plus an allowance or times a factor if the
// test has one.
func fromBound(claim string, r *evidence.Finding) *forestEntry {
	bound, side := r.Target.High, 1.0
	if math.IsInf(bound, 1) {
		bound, side = r.Target.Low, -1
	}
	if r.Test.Kind == ledger.KindLess {
		bound = 0 // the target ends just below it
	}
	whole := bound
	if r.Test.To != nil && r.Test.Kind != ledger.KindRatio {
		whole += meanOf(r.To)
	}
	at := func(v float64) float64 {
		if !(whole > 0) || math.IsInf(whole, 0) {
			return math.NaN()
		}
		return 100 * side * (v - bound) / whole
	}
	e := r.Ours
	low, high := at(e.Low), at(e.High)
	if side < 0 {
		low, high = high, low
	}
	return &forestEntry{claim, r, at(e.Value), low, high}
}

// meanOf is the mean of one side of a comparison, NaN if it has no runs.
func meanOf(s evidence.Side) float64 {
	sum := 0.0
	for _, r := range s.Runs {
		sum += r.Value
	}
	return sum / float64(len(s.Runs))
}

// sentenceLabel writes a test of one side of a bound as an inequality:
// "error: POLK < L-BFGS".
func sentenceLabel(r *evidence.Finding, paper *paper.Values) string {
	s := r.Test.Of
	what := s.Quantity
	switch {
	case s.Below != nil:
		what = fmt.Sprintf("samples to %s < %s", s.Quantity, plot.Trimmed(*s.Below))
	case s.Samples > 0:
		what = fmt.Sprintf("%s at %s", s.Quantity, plot.CountLabel(float64(s.Samples), float64(s.Samples)))
	}
	sign, bound := "<", r.Target.High
	if math.IsInf(bound, 1) {
		sign, bound = ">", r.Target.Low
	}
	right := plot.Trimmed(bound)
	if r.Test.To != nil {
		right = sideLabel(r.Test.To.Cell, s.Cell, paper)
		switch {
		case r.Test.Kind == ledger.KindRatio:
			right = strconv.FormatFloat(bound, 'g', 3, 64) + " x " + right
		case r.Test.Kind == ledger.KindDifference:
			right += " + " + plot.Trimmed(bound)
		}
	}
	return fmt.Sprintf("%s: %s %s %s", what, sideLabel(s.Cell, s.Cell, paper), sign, right)
}

// sideLabel names a cell's method beside another cell. It adds large or small for a method's
// second series, as in the cell's ID, and the data set or task if it is another one.
func sideLabel(cell, beside string, paper *paper.Values) string {
	c, o := paper.Cells[cell], paper.Cells[beside]
	title, _, _ := strings.Cut(c.Title, ", ")
	if _, series, second := strings.Cut(c.Row, "-"); second {
		title += " " + series
	}
	if c.Data != o.Data {
		title += " on " + paper.Data[c.Data].Title
	}
	if c.Task != o.Task {
		title += " (" + map[string]string{"ksvm": "KSVM", "klr": "logistic"}[c.Task] + ")"
	}
	return title
}

// caption says what is drawn, and counts the verdicts.
func (d *forest) caption(a *evidence.Assessment) string {
	numbers, signs := a.Numbers(), 0
	for _, g := range d.sentences {
		signs += len(g.rows)
	}
	return fmt.Sprintf("(a) The %d numbers that Tables 2 and 3 print: the difference of our mean from the printed value, in units of the declared margin, with its 90 %% interval. "+
		"The band is the margin. An interval within the band is reproduced, one outside it deviates, one that crosses its end is inconclusive: %s. "+
		"(b) The %d tests of sentences that claim one side of a bound: the distance of our value from the bound, in per cent of the bound, with its 90 %% interval. "+
		"The shaded side is the claimed one. In a comparison of two methods the bound is the mean of the second, times the factor or plus the points given. "+
		"\"Large\" and \"small\" mark the second series of POLK and BSGD in the paper's figures. "+
		"Right of an axis: the verdicts at half (½) and at twice (2) the margin, where there is one. "+
		"An arrow at the edge marks a value or interval beyond the axis, with the value. A point without an interval is from fewer than three runs. "+
		"Sentences that state a value within a margin are in the list of claims alone.",
		numbers.Total(), numbers, signs)
}
