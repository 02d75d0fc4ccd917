package evidence

import (
	"fmt"
	"maps"
	"slices"

	"polkrepro/experiments"
)

// alternatives is what is assumed instead of what was chosen: an alternative to each
// flipped assumption, with what follows from them.
type alternatives struct {
	ledger  *experiments.Ledger
	flipped map[string]*experiments.Alternative // by assumption
	answers map[string]experiments.Answer       // by cell: the runs that take the place of its own
	risk    map[string]string                   // by data set: the risk that is read instead
	penalty map[string]float64                  // by task: what the penalty in the risk is multiplied by
	without []string                            // tests that don't count, CLAIM.TEST
}

// newAlternatives looks up alternatives by assumption and checks that each is run by a
// spec or is another reading of the runs there are.
func newAlternatives(l *experiments.Ledger, assume map[string]string) (alternatives, error) {
	w := noAlternatives(l)
	for _, id := range slices.Sorted(maps.Keys(assume)) {
		a := l.Assumption(id)
		if a == nil {
			return w, fmt.Errorf("evidence: unknown assumption %q", id)
		}
		alternative := a.Alternative(assume[id])
		if alternative == nil {
			return w, fmt.Errorf("evidence: assumption %s has no alternative %q", id, assume[id])
		}
		if len(alternative.Answers) == 0 && !alternative.Reading() {
			return w, fmt.Errorf("evidence: no spec runs the alternative %s of assumption %s", assume[id], id)
		}
		if err := w.flip(id, alternative); err != nil {
			return w, err
		}
	}
	return w, nil
}

// noAlternatives is that of a ledger with nothing flipped.
func noAlternatives(l *experiments.Ledger) alternatives {
	return alternatives{
		ledger:  l,
		flipped: make(map[string]*experiments.Alternative),
		answers: make(map[string]experiments.Answer),
		risk:    make(map[string]string),
		penalty: make(map[string]float64),
	}
}

// flip assumes an alternative too. It is an error if another one answers for
// the same cell: no run has both.
func (w *alternatives) flip(assumption string, a *experiments.Alternative) error {
	for _, answer := range a.Answers {
		if _, taken := w.answers[answer.Cell]; taken {
			return fmt.Errorf("evidence: no spec runs %s=%s together with the other alternatives, for %s", assumption, a.ID, answer.Cell)
		}
		w.answers[answer.Cell] = answer
	}
	w.flipped[assumption] = a
	maps.Copy(w.risk, a.Risk)
	maps.Copy(w.penalty, a.Penalty)
	w.without = append(w.without, a.Without...)
	return nil
}

// unanswered says why a test of a claim has no answer under the flipped
// assumptions; it is empty where there is one.
func (w *alternatives) unanswered(c experiments.Claim, t experiments.Test) string {
	cells := []string{t.Of.Cell}
	if t.To != nil {
		cells = append(cells, t.To.Cell)
	}
	for _, id := range slices.Sorted(maps.Keys(w.flipped)) {
		a := w.flipped[id]
		if a.Reading() || !slices.Contains(c.Assumptions, id) {
			continue
		}
		for _, cell := range cells {
			if w.ledger.Depends(cell, id) && a.Answer(cell) == nil {
				return fmt.Sprintf("no spec runs %s with %s=%s", cell, id, a.ID)
			}
		}
	}
	return ""
}
