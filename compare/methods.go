package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"polkrepro/internal/words"
	"polkrepro/record"
	"polkrepro/spec"
)

// withinOrder is the largest relative difference between final and requested model order that counts
// as reaching the requested order. In a comparison, any smaller final order counts too.
const withinOrder = 0.05

// NewMethods compares the methods of a spec with its reference, the first method with a requested
// model order, by pairs of runs on the same replicate. The result has up to two data_sets: the methods
// with a requested model order at the reference's model orders, and the methods whose model order
// cannot be chosen, such as C-SVC, beside the reference at its largest. NewMethods returns nil if
// there are no two methods to compare, or if another setting varies.
func NewMethods(plan []spec.Planned, records map[string]*record.Record) *Result {
	first := slices.IndexFunc(plan, func(p spec.Planned) bool { return askedOrder(p.Run.Params) > 0 })
	if first < 0 {
		return nil
	}
	reference, task := MethodName(plan[first]), plan[first].Run.Task
	var levels []float64
	for _, p := range plan {
		if level := askedOrder(p.Run.Params); MethodName(p) == reference && level > 0 && !slices.Contains(levels, level) {
			levels = append(levels, level)
		}
	}
	slices.Sort(levels)
	largest := levels[len(levels)-1]
	name := plan[first].Run.Data.Name
	equal := &DataSetResult{Name: "methods", Title: plan[first].Spec, Data: name, Task: task, Orders: levels}
	free := &DataSetResult{Name: "methods-free", Title: plan[first].Spec + ", model order by the data", Data: name, Task: task, Orders: []float64{largest}, OwnOrders: true}
	equal.entry(reference)
	free.entry(reference)
	of, resplit := spec.Replicates(plan)
	seen, replicates, finals := make(map[string]bool), make(map[uint64]bool), make(finalOrders)
	for i, p := range plan {
		asked, name := askedOrder(p.Run.Params), MethodName(p)
		for _, replicate := range of[i] {
			key := fmt.Sprint(name, asked, replicate)
			if seen[key] { // another setting varies
				return nil
			}
			seen[key], replicates[replicate] = true, true
			r := records[p.ID]
			if r == nil || len(r.Points) == 0 {
				continue
			}
			t := newTrial(asked, int(replicate), r)
			at := methodOrder{name, asked}
			finals[at] = append(finals[at], t.Order)
			if asked == 0 {
				t.Order = largest
			} else if t.Order <= (1+withinOrder)*asked { // a model is not penalized for needing fewer elements
				t.Order = asked
			}
			if asked > 0 {
				e := equal.entry(name)
				e.Runs = append(e.Runs, t)
			}
			if asked == 0 || name == reference && asked == largest {
				e := free.entry(name)
				e.Runs = append(e.Runs, t)
			}
		}
	}
	if len(equal.Reference().Runs) == 0 {
		return nil
	}
	basis := words.Count(len(replicates), "seed") + " on the same training and test rows: the results hold for new seeds, not for other rows."
	inflation := 0.0
	if resplit {
		// The training parts of J splits overlap, so the variance of a mean difference is not s²/J but
		// s²(1/J + test rows/training rows) (C. Nadeau, Y. Bengio, "Inference for the generalization
		// error", Machine Learning 52, 2003).
		h := plan[first].Run.Data.Files.Holdout
		inflation = math.Sqrt(1 + float64(len(replicates))*h/(1-h))
		basis = words.Count(len(replicates), "split") + " of one file, which share training rows: the variance is that of Nadeau and Bengio (2003). The results hold for new splits of this file, not for other data."
	}
	equal.Basis = fmt.Sprintf("%s Model orders: %s; a smaller final order counts as the one asked for.%s", basis, Numbers(levels), finals.off(equal))
	own := joined(free.Entries[1:], func(e *Entry) string {
		return e.Name + " " + Number(stat.Mean(finals[methodOrder{name: e.Name}], nil))
	})
	free.Basis = fmt.Sprintf("%s %s has %s elements; the others have as many as their data ask for: %s.", basis, reference, Number(largest), own)
	res := &Result{Title: plan[first].Spec, Reference: reference}
	for _, f := range []*DataSetResult{equal, free} {
		if len(f.Entries) > 1 {
			f.inflation = inflation
			f.compare()
			res.DataSets = append(res.DataSets, f)
		}
	}
	if len(res.DataSets) == 0 {
		return nil
	}
	return res
}

// RankMethods ranks the methods of several results of NewMethods, for the same task, by their error at
// equal model order; a block is a data set. It returns nil if the results differ in their reference, if
// two are on data sets of the same name, or if there are no two methods or data sets to rank.
func RankMethods(results []*Result) *Standing {
	var sets []*DataSetResult
	var free, data []string
	for _, res := range results {
		name := res.DataSets[0].Data
		if slices.Contains(data, name) || res.Reference != results[0].Reference {
			return nil
		}
		data = append(data, name)
		for _, f := range res.DataSets {
			if !f.OwnOrders {
				sets = append(sets, f)
				continue
			}
			for _, e := range f.Entries[1:] {
				free = append(free, e.Name)
			}
		}
	}
	s := standing(sets, blockDataSet)
	if s != nil {
		slices.Sort(free)
		s.Task, s.Free = sets[0].Task, slices.Compact(free)
	}
	return s
}

// A methodOrder is a method with a requested model order, 0 if none.
type methodOrder struct {
	name  string
	asked float64
}

// finalOrders holds the final model orders of runs.
type finalOrders map[methodOrder][]float64

// off returns a sentence that names the methods of a data set whose mean final orders differ from those
// asked for, or that have no run of one; "" if there are none.
func (o finalOrders) off(f *DataSetResult) string {
	var off []string
	for _, e := range f.Entries {
		for _, level := range f.Orders {
			if runs := o[methodOrder{e.Name, level}]; len(runs) == 0 {
				off = append(off, fmt.Sprintf("%s, no run of %s", e.Name, Number(level)))
			} else if final := stat.Mean(runs, nil); math.Abs(final-level) > withinOrder*level {
				off = append(off, fmt.Sprintf("%s, %s of %s", e.Name, Number(final), Number(level)))
			}
		}
	}
	if len(off) == 0 {
		return ""
	}
	return " Final orders more than 5 % from those asked for: " + strings.Join(off, "; ") + "."
}

// askedOrder returns the requested model order of a run, or 0 if the run requests none.
func askedOrder(p spec.Params) float64 {
	return cmp.Or(float64(p.Budget), p.PrunerParams["order"])
}

// MethodName returns the name of a spec's entry in tables and figures: its method and, if it has
// one, its label.
func MethodName(p spec.Planned) string {
	name := spec.Method(p.Run.Method).Title
	if p.Label != p.Run.Method {
		name += " (" + p.Label + ")"
	}
	return name
}
