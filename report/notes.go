package report

import (
	"fmt"
	"slices"
	"strings"

	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/report/table"
)

// tableNotes are the lines below a table.
func (b *builder) tableNotes(t *Table) []string {
	notes := []string{
		"risk / error in % / model order; ours: mean ± standard deviation over runs (seeds and draws), those of POLK and BSGD averaged over the last 5 % of the processed samples; 90 %: the interval of the mean, Student's.",
		"Δ: ours against the paper's; in percentage points for the error, in % of the paper's value for risk and order.",
	}
	for _, blk := range t.Blocks {
		if n := b.bayesNote(blk.Data); n != "" {
			notes = appendNew(notes, n)
		}
	}
	var gaps, lost []string
	for blk, row := range t.All() {
		c := b.cells[row.Cell]
		if c.Gap > 0 {
			gaps = append(gaps, fmt.Sprintf("%s: %.2g %%", place(t, blk, row), 100*c.Gap))
		}
		why := c.Lost
		if words.Shorten(c.Why, whyWidth) != c.Why { // a column can't hold it
			why = c.Why
		}
		if why != "" {
			lost = append(lost, fmt.Sprintf("%s, %s on %s: %s", row.Title, blk.Title, blk.Data, why))
		}
	}
	if len(gaps) > 0 {
		notes = append(notes, fmt.Sprintf("Ended before their tolerance, with a duality gap by the objective of: %s.", strings.Join(gaps, "; ")))
	}
	return slices.Concat(notes, dashNotes(t, b.cells), lost)
}

// bayesNote gives the Bayes error of a data set's draws, each counted once.
func (b *builder) bayesNote(dataSet string) string {
	byDraw := map[string]float64{}
	figure := ""
	for _, r := range b.records(b.planned(func(p experiments.Planned) bool { return p.Run.Data.Name == dataSet && len(p.Cells) > 0 })) {
		if e, ok := r.Header.DataFacts["bayes_error"]; ok {
			byDraw[fmt.Sprintf("%020d", r.Header.Run.Data.Draw)] = 100 * e
			if r.Header.Run.Data.Draw == b.figureDraw {
				figure = fmt.Sprintf("; of the figures' draw (%d): %.2f %%", b.figureDraw, 100*e)
			}
		}
	}
	if len(byDraw) == 0 {
		return ""
	}
	var values []float64
	for _, k := range sortedKeys(byDraw) {
		values = append(values, byDraw[k])
	}
	s := statOf(values)
	return fmt.Sprintf("Bayes error of %s: %s %% over %d draws of the means%s.", dataSet, s.text(qError), s.N, figure)
}

// dashNotes say why the paper leaves numbers out, a line a reason.
func dashNotes(t *Table, cells map[string]*Cell) []string {
	where := map[string][]string{}
	var reasons []string
	for blk, row := range t.All() {
		why := cells[row.Cell].Dash
		if why == "" {
			continue
		}
		if where[why] == nil {
			reasons = append(reasons, why)
		}
		name := place(t, blk, row)
		if dashed(t, cells, row.ID, why) {
			name = row.Title
		}
		where[why] = appendNew(where[why], name)
	}
	var notes []string
	for _, r := range reasons {
		notes = append(notes, fmt.Sprintf("—: %s (%s).", strings.TrimRight(words.Message(r), "."), strings.Join(where[r], "; ")))
	}
	return notes
}

// dashed reports whether all cells of a row, of more than one, have a dash for
// the same reason.
func dashed(t *Table, cells map[string]*Cell, id, why string) bool {
	n := 0
	for _, row := range t.All() {
		if row.ID == id && cells[row.Cell].Dash != why {
			return false
		}
		if row.ID == id {
			n++
		}
	}
	return n > 1
}

// place names a cell in a note.
func place(t *Table, blk *table.Block, row *table.Row) string {
	place := row.Title + ", " + blk.Title
	for _, other := range t.Blocks {
		if other.Data != blk.Data {
			return place + " on " + blk.Data
		}
	}
	return place
}
