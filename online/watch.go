package online

import "time"

// quiet is how long a training says nothing at most, as far as that depends on
// the number of rows and not on the time that one step takes. The clock decides
// when something is said, and nothing else.
const quiet = 5 * time.Second

// A watch tells when to report progress.
type watch struct{ last time.Time }

// due reports whether nothing was said for long, and counts that as said.
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

// warnSorted warns of rows sorted by class that are learned as they stand: the label changes
// less than a quarter as often as in rows in a random order, n·(1 − Σp²).
func (t *trainer) warnSorted(s *survey) {
	random := float64(s.rows) * (1 - s.labels.Same())
	if s.labels.Len() == 0 || s.rows < 20 || float64(s.changes) >= random/4 || t.at.Shuffled && s.all != nil {
		return
	}
	what := "are learned in their order"
	if t.at.Shuffled {
		what = "are too many to be shuffled as a whole"
	}
	t.opt.Note("warning: the rows are sorted by class and %s, so the classes that come last win: shuffle them first (shuf)", what)
}

// warnNumbered warns of columns that number the rows: what a model learns from them
// holds for no other file.
func (t *trainer) warnNumbered(f *rowReader, s *survey) {
	if f.layout == nil {
		return
	}
	for _, column := range f.layout.Numbering(&s.numbers) {
		t.opt.Note("warning: %s seems to number the rows; if it is not a feature, remove it", column)
	}
}
