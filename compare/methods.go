package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/record"
)

// Methods compares the methods of a spec with the reference, its first method with a requested
// model order, at the requested model orders. A method whose model order cannot be chosen, such as
// C-SVC, is compared with the reference at the reference's largest order.
type Methods struct {
	Spec     string
	Equal    *FieldResult // methods with a requested model order, the reference first
	Any      *FieldResult // the reference at its largest order, and the methods without a requested order
	Standing *Standing    // ranking of Equal; nil if there is nothing to rank
	Resplit  bool         // replicates are splits of a file, not seeds
}

// withinOrder is the largest relative difference between final and requested model order that counts
// as reaching the requested order. In a comparison, any smaller final order counts too.
const withinOrder = 0.05

// NewMethods compares the methods of each spec in a plan by pairs of runs on the same replicate. It
// leaves out specs without two methods to compare at a model order, and specs that vary any other
// setting.
func NewMethods(plan []experiments.Planned, records map[string]*record.Record) (out []*Methods) {
	var specs []string
	of := make(map[string][]experiments.Planned)
	for _, p := range plan {
		if of[p.Spec] == nil {
			specs = append(specs, p.Spec)
		}
		of[p.Spec] = append(of[p.Spec], p)
	}
	for _, spec := range specs {
		if m := newMethods(of[spec], records); m != nil {
			out = append(out, m)
		}
	}
	return out
}

func newMethods(plan []experiments.Planned, records map[string]*record.Record) *Methods {
	first := slices.IndexFunc(plan, func(p experiments.Planned) bool { return askedOrder(p.Run.Params) > 0 })
	if first < 0 {
		return nil
	}
	reference := plan[first]
	isOther := func(p experiments.Planned) bool { return p.Label != reference.Label }
	plan = append(slices.DeleteFunc(slices.Clone(plan), isOther), slices.DeleteFunc(plan, func(p experiments.Planned) bool { return !isOther(p) })...)
	m := &Methods{Spec: reference.Spec, Equal: new(FieldResult), Any: new(FieldResult)}
	for _, p := range plan {
		if level := askedOrder(p.Run.Params); p.Label == reference.Label && !slices.Contains(m.Equal.Levels, level) {
			m.Equal.Levels = append(m.Equal.Levels, level)
		}
	}
	slices.Sort(m.Equal.Levels)
	largest := slices.Max(m.Equal.Levels)
	m.Any.Levels = []float64{largest}
	var of [][]uint64
	of, m.Resplit = experiments.Replicates(plan)
	seen := make(map[string]bool)
	replicates := make(map[uint64]bool)
	for i, p := range plan {
		asked, name := askedOrder(p.Run.Params), MethodName(p)
		r := records[p.ID]
		for _, replicate := range of[i] {
			key := fmt.Sprint(name, asked, replicate)
			if seen[key] { // another setting varies
				return nil
			}
			seen[key], replicates[replicate] = true, true
			if r == nil || len(r.Points) == 0 {
				continue
			}
			t := newTrial(asked, int(replicate), r)
			if asked > 0 && t.Order <= (1+withinOrder)*asked { // a model is not penalized for needing fewer elements
				t.Order = asked
			}
			var fields []*FieldResult
			if asked > 0 {
				fields = append(fields, m.Equal)
			} else {
				t.Order = largest
			}
			if asked == 0 || name == MethodName(reference) && asked == largest {
				fields = append(fields, m.Any)
			}
			for _, f := range fields {
				e := f.Entry(name)
				e.Runs = append(e.Runs, t)
			}
		}
	}
	if len(m.Any.Entries) > 0 && m.Any.Reference().Heuristic.Name != MethodName(reference) {
		m.Any.Entries = nil // the reference has no run yet
	}
	m.Equal.Replicates = len(replicates)
	if len(m.Equal.Entries)+len(m.Any.Entries) < 3 || m.Equal.Reference().Heuristic.Name != MethodName(reference) {
		return nil
	}
	m.Equal.compare()
	m.Standing = standing([]*FieldResult{m.Equal})
	for _, f := range []*FieldResult{m.Equal, m.Any} {
		if h := reference.Run.Data.Files.Holdout; m.Resplit {
			f.widen(math.Sqrt(1 + float64(len(replicates))*h/(1-h)))
		}
		if len(f.Entries) > 1 {
			f.compare()
		}
	}
	return m
}

// askedOrder returns the requested model order of a run, or 0 if the run requests none.
func askedOrder(p experiments.Params) float64 {
	return cmp.Or(float64(p.Budget), p.PrunerParams["order"])
}

// MethodName returns the name of a spec's entry in tables and figures: its method and, if it has
// one, its label.
func MethodName(p experiments.Planned) string {
	name := experiments.Method(p.Run.Method).Title
	if p.Label != p.Run.Method {
		name += " (" + p.Label + ")"
	}
	return name
}

// widen multiplies the deviations of the replicates' errors from their mean by factor, and so those
// of the differences of two methods. The training parts of J splits overlap, so the variance of a
// mean difference is not s²/J but s²(1/J + test rows/training rows) (C. Nadeau, Y. Bengio,
// "Inference for the generalization error", Machine Learning 52, 2003).
func (f *FieldResult) widen(factor float64) {
	for _, e := range f.Entries {
		e.average()
		for i := range e.Runs {
			t := &e.Runs[i]
			at := slices.IndexFunc(e.Points, func(p Means) bool { return p.Value == t.Value })
			t.Error = e.Points[at].Error + factor*(t.Error-e.Points[at].Error)
		}
	}
}

// Header returns the column titles of the comparison's table; [Methods.Rows] returns its rows.
func (m *Methods) Header() []string {
	return []string{"method", "model order", "error less " + m.Equal.Reference().Heuristic.Name + "'s", "95 % interval", "p", "verdict", "CPU time", "mean rank"}
}

// Rows returns a row for each method except the reference.
func (m *Methods) Rows() (rows [][]string) {
	for _, f := range []*FieldResult{m.Equal, m.Any} {
		for _, e := range f.Entries[min(1, len(f.Entries)):] {
			c, time := e.Compared[ErrorAtOrder], e.Compared[Time]
			row := []string{e.Heuristic.Name, "chosen", words.Dash, words.Dash, words.Dash, string(c.Verdict), words.Dash, words.Dash}
			if f == m.Equal {
				row[1] = Numbers(c.Levels)
			} else {
				row[1] = Number(e.meanOrder(0))
			}
			if len(c.Levels) > 0 {
				row[2], row[3] = ErrorAtOrder.Difference(c.Value), ErrorAtOrder.Interval(c)
				row[6] = Time.Difference(time.Value)
				if c.Verdict != TooFew {
					row[4] = PValue(c.Decisive())
				}
			}
			if s := m.Standing; s != nil && slices.Contains(s.Names, e.Heuristic.Name) {
				row[7] = fmt.Sprintf("%.1f", s.Mean[slices.Index(s.Names, e.Heuristic.Name)])
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// Notes returns the notes on the table: its basis, and the comparisons it lacks.
func (m *Methods) Notes() []string {
	n, what := m.Equal.Replicates, "seed"
	if m.Resplit {
		what = "split"
	}
	reference := m.Equal.Reference().Heuristic.Name
	out := []string{fmt.Sprintf("Points of the error on the test rows, method less %s, %s by %s, averaged over the model orders %s; methods whose order follows from the data are beside %s with %s elements. "+
		"CPU time: of training, as a multiple of %s's. Two-sided paired t over %s; intervals are not corrected, p is by Holm's method for all methods of a kind, so that an interval may exclude 0 where no difference is established.",
		reference, what, what, Numbers(m.Equal.Levels), reference, Number(m.Any.Levels[0]), reference, words.Count(n, what))}
	if m.Resplit {
		out = append(out, "Splits of one file share training rows: the variance is that of Nadeau and Bengio (2003). The results hold for new splits of this file, not for other data.")
	} else {
		out = append(out, "All runs have the same training and test rows: the results hold for new seeds, not for other rows.")
	}
	if n < stats.Fewest {
		out = append(out, fmt.Sprintf("%s decides nothing: a verdict needs %d.", words.Count(n, what), stats.Fewest))
	}
	if s := m.Standing; s != nil {
		at := slices.Index(s.Names, reference)
		overlap := ""
		if m.Resplit {
			overlap = " Both take the splits for independent, so p is too small."
		}
		out = append(out, fmt.Sprintf("Mean ranks over %s at the model orders that all methods reach, %s's is %.1f of %d: Friedman's test p %s, Nemenyi's critical difference %.2f.%s",
			words.Count(s.Blocks, what), reference, s.Mean[at], len(s.Names), PValue(s.P), s.CD, overlap))
	}
	for _, f := range []*FieldResult{m.Equal, m.Any} {
		for _, e := range f.Entries[min(1, len(f.Entries)):] {
			if c := e.Compared[ErrorAtOrder]; c.Verdict == NotComparable {
				out = append(out, fmt.Sprintf("%s: not comparable: %s.", e.Heuristic.Name, c.Reason))
			}
		}
	}
	var off []string
	for _, e := range m.Equal.Entries {
		for _, level := range m.Equal.Levels {
			if reached := e.meanOrder(level); math.IsNaN(reached) {
				off = append(off, fmt.Sprintf("%s, no run of %s", e.Heuristic.Name, Number(level)))
			} else if math.Abs(reached-level) > withinOrder*level {
				off = append(off, fmt.Sprintf("%s, %s of %s", e.Heuristic.Name, Number(reached), Number(level)))
			}
		}
	}
	if len(off) > 0 {
		return append(out, "Final model orders more than 5 % from those asked for: "+strings.Join(off, "; ")+".")
	}
	return append(out, "All final model orders are within 5 % of those asked for.")
}

// meanOrder returns the mean final model order of the runs with the requested order asked, or NaN
// if there are none.
func (e *Entry) meanOrder(asked float64) float64 {
	orders := e.Of(asked, func(t Trial) float64 { return t.finalOrder })
	mean := 0.0
	for _, v := range orders {
		mean += v / float64(len(orders))
	}
	if len(orders) == 0 {
		return math.NaN()
	}
	return mean
}
