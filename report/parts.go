package report

import (
	"slices"

	"polkrepro/experiments"
	"polkrepro/record"
)

// A Part is a part of the report with figures that the paper does not have.
type Part struct {
	ID      string // anchor: online
	Title   string
	Text    string
	Figures []*Figure // at least one
}

// parts are those of which there are records.
func (b *builder) parts() []*Part {
	all := []*Part{
		onlinePart(b.online()),
		{ID: "confidence", Title: "What pruning does to the confidence", Text: confidenceText, Figures: b.confidence()},
		{ID: "seconds", Title: "Error against processor time", Text: secondsText, Figures: b.seconds()},
	}
	return slices.DeleteFunc(all, func(s *Part) bool { return len(s.Figures) == 0 })
}

// onlinePart is the part on learning online.
func onlinePart(figures []*Figure) *Part {
	return &Part{ID: "online", Title: "Learning online: prequential error and regret", Text: onlineText, Figures: figures}
}

// allFigures are the report's figures with those of its parts.
func (r *Report) allFigures() []*Figure {
	out := slices.Clone(r.Figures)
	for _, s := range r.Parts {
		out = append(out, s.Figures...)
	}
	return out
}

// ranked are the series of the runs that fit, each with its rank among those of its method
// and task, that have a record which holds what keep asks for.
func (b *builder) ranked(fits func(experiments.Planned) bool, keep func(*record.Record) bool) []*Series {
	all := b.series(fits)
	for i, s := range all {
		if i > 0 && all[i-1].Run.Method == s.Run.Method && all[i-1].Run.Task == s.Run.Task {
			s.Rank = all[i-1].Rank + 1
		}
		s.Runs = slices.DeleteFunc(s.Runs, func(r *record.Record) bool { return len(r.Points) == 0 || !keep(r) })
	}
	return slices.DeleteFunc(all, func(s *Series) bool { return len(s.Runs) == 0 })
}
