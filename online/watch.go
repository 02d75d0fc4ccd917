package online

import "time"

// quiet is the longest time between two progress messages, unless a single step
// takes longer. The clock decides only when there is a message, nothing else.
const quiet = 5 * time.Second

// A watch tells when to report progress.
type watch struct{ last time.Time }

// due reports whether the last message was at least quiet ago, and if so restarts the interval.
func (w *watch) due() bool {
	now := time.Now()
	if w.last.IsZero() {
		w.last = now
	}
	if now.Sub(w.last) < quiet {
		return false
	}
	w.last = now
	return true
}

// warnSorted warns of rows that are sorted by class and learned in that order. They count as
// sorted if the label changes less than a quarter as often as in random order, n·(1 − Σp²).
func (t *trainer) warnSorted(s *survey) {
	random := float64(s.rows) * (1 - s.labels.Same())
	if s.labels.Len() == 0 || s.rows < 20 || float64(s.changes) >= random/4 || t.at.Shuffled && s.rows <= blockRows(s.dim) {
		return
	}
	what := "are learned in their order"
	if t.at.Shuffled {
		what = "are too many to be shuffled as a whole"
	}
	t.opt.Note("warning: the rows are sorted by class and %s, which favours the last classes: shuffle the rows first (shuf)", what)
}

// warnNumbered warns of columns that number the rows: a model that learns from them does
// not generalize to other files.
func (t *trainer) warnNumbered(f *rowReader, s *survey) {
	if f.layout == nil {
		return
	}
	for _, column := range f.layout.Numbering(&s.numbers) {
		t.opt.Note("warning: %s seems to number the rows; if it is not a feature, remove it", column)
	}
}
