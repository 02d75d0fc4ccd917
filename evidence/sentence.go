package evidence

import (
	"fmt"
	"slices"

	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/internal/words"
)

// Sentence says in one line what a test measured and what is claimed: "error of BSGD on
// multidist, hinge loss: 4.597 [4.42, 4.77] %; the paper prints 21.8." The paper's values
// name the methods.
func (f *Finding) Sentence(paper *experiments.PaperValues) string {
	t := f.Test
	text, claimed := describe(t.Of), "claimed "+f.Target.String()
	if t.Of.Spec == "" {
		text = describeCell(t.Of, subject(paper, &t))
	}
	if t.Kind == experiments.KindEquivalence && t.Paper != nil {
		claimed = "the paper prints " + f.Paper.String()
	}
	unit := ""
	if t.Of.Below == nil && (t.Of.Quantity == experiments.QuantityError || t.Of.Quantity == experiments.QuantityNearModes) {
		unit = " %"
	}
	switch {
	case f.Verdict == stats.NotRun:
		text += ": not measured (" + f.Note() + ")"
	case t.To == nil:
		text += ": " + f.Ours.String() + unit
	default:
		kind := t.Kind
		if kind == experiments.KindLess {
			kind = experiments.KindDifference
		}
		mean := func(s *Side) string { return words.Four(stats.Mean(s.values()).Value) }
		text += fmt.Sprintf(": %s against %s%s, %s %s", mean(&f.Of), mean(&f.To), unit, kind, f.Ours)
	}
	return text + "; " + claimed + "."
}

// subject names the runs of a cell's test, and those that it compares with.
func subject(paper *experiments.PaperValues, t *experiments.Test) string {
	of, to := paper.Cells[t.Of.Cell], paper.Cells[t.Of.Cell]
	first, against := RowTitle(paper, t.Of.Cell), ""
	if t.To != nil {
		to, against = paper.Cells[t.To.Cell], " against "+RowTitle(paper, t.To.Cell)
	}
	on := fmt.Sprintf(" on %s, %s", of.Data, experiments.LossOf(of.Task))
	if of.Data == to.Data && of.Task == to.Task {
		return first + against + on
	}
	return first + on + against + fmt.Sprintf(" on %s, %s", to.Data, experiments.LossOf(to.Task))
}

// RowTitle is the title of a cell's row in its table.
func RowTitle(paper *experiments.PaperValues, cell string) string {
	c := paper.Cells[cell]
	for _, t := range paper.Tables {
		for _, r := range slices.Concat(t.Rows, t.Extra) {
			if t.ID == c.Table && r.ID == c.Row {
				return r.Title
			}
		}
	}
	return c.Row
}
