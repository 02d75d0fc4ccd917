package evidence

import (
	"fmt"

	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/internal/words"
)

// Sentence says in one line what a test measured and what is claimed, with the names of the methods
// in the paper's tables: "error of BSGD on multidist, hinge loss: 4.597 [4.42, 4.77] %; the paper
// prints 21.8."
func (f *Finding) Sentence() string {
	t := f.Test
	text, claimed := describe(t.Of, subject(&t)), "claimed "+f.Target.String()
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

// subject names the runs of a cell's test and the runs that they are compared with. The result is
// meaningless for a test of a spec's runs.
func subject(t *experiments.Test) string {
	of := experiments.Paper().Cells[t.Of.Cell]
	to, against := of, ""
	if t.To != nil {
		to = experiments.Paper().Cells[t.To.Cell]
		against = " against " + to.Title
	}
	on := fmt.Sprintf(" on %s, %s", of.Data, experiments.LossOf(of.Task))
	if of.Data == to.Data && of.Task == to.Task {
		return of.Title + against + on
	}
	return of.Title + on + against + fmt.Sprintf(" on %s, %s", to.Data, experiments.LossOf(to.Task))
}
