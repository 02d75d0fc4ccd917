package record

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Tolerances of two executions of one run. Versions that compute the same give the same
// bits on every machine (docs/numerics.md). For those that round differently: where another
// summation order was compared, over the series of multidist and 19,200 samples of MNIST,
// risks differed by 4e-8 of themselves, errors and model orders not at all. But a test
// sample on a class boundary may fall on the other side, and a removal that hangs on the
// last bit may come a step later, which the tolerances leave room for. A wrong gradient
// scaling, budget rule or kernel width moves these figures by tens of per cent.
const (
	RiskTolerance  = 1e-4 // relative
	ErrorTolerance = 4e-4 // one of multidist's 2,500 test samples, two of Brodatz', four of MNIST's
	OrderTolerance = 0.5  // elements
)

// Figures are what two executions of a run are compared by.
type Figures struct {
	TrainRisk, TestRisk, TestError, ModelOrder float64
}

// Figures returns what a point is compared by.
func (p Point) Figures() Figures {
	return Figures{p.TrainRisk, p.TestRisk, p.TestError, float64(p.ModelOrder)}
}

// Figures returns what the final figures are compared by.
func (f Final) Figures() Figures {
	return Figures{f.TrainRisk, f.TestRisk, f.TestError, f.ModelOrder}
}

// A Comparison is one figure of two executions.
type Comparison struct {
	What      string
	Got, Want float64
	Tolerance float64 // absolute
}

// Agrees reports whether the figures differ by no more than the tolerance.
// Figures that are not finite agree if they are the same.
func (c Comparison) Agrees() bool {
	same := c.Got == c.Want || math.IsNaN(c.Got) && math.IsNaN(c.Want)
	return same || math.Abs(c.Got-c.Want) <= c.Tolerance && !math.IsInf(c.Want, 0)
}

// String returns "test risk is 0.1, was 0.2 ± 2e-05".
func (c Comparison) String() string {
	return fmt.Sprintf("%s is %.5g, was %.5g ± %.2g", c.What, c.Got, c.Want, c.Tolerance)
}

// Compare returns the comparisons of all figures with those of another
// execution.
func (f Figures) Compare(want Figures) []Comparison {
	return []Comparison{
		{"training risk", f.TrainRisk, want.TrainRisk, RiskTolerance * math.Abs(want.TrainRisk)},
		{"test risk", f.TestRisk, want.TestRisk, RiskTolerance * math.Abs(want.TestRisk)},
		{"test error", f.TestError, want.TestError, ErrorTolerance},
		{"model order", f.ModelOrder, want.ModelOrder, OrderTolerance},
	}
}

// compareMeasured returns the comparisons of what else was measured. A quantity that
// one of the executions lacks is 0 there.
func compareMeasured(got, want map[string]float64) (out []Comparison) {
	names := maps.Clone(want)
	maps.Copy(names, got)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, Comparison{name, got[name], want[name], RiskTolerance * max(1, math.Abs(want[name]))})
	}
	return out
}

// compareDiagnostics returns the comparisons of those that both executions have: a record
// made before they were recorded says nothing of them.
func compareDiagnostics(got, want Diagnostics) (out []Comparison) {
	relative := func(what string, got, want float64) {
		out = append(out, Comparison{what, got, want, RiskTolerance * max(1, math.Abs(want))})
	}
	if g, w := got.NormSq, want.NormSq; g != nil && w != nil {
		relative("squared norm", *g, *w)
	}
	if g, w := got.Prequential, want.Prequential; g != nil && w != nil {
		relative("prequential loss", g.Loss, w.Loss)
		out = append(out, Comparison{"prequential error", g.Error, w.Error, ErrorTolerance})
	}
	if g, w := got.Reliability, want.Reliability; g != nil && w != nil {
		relative("log loss", g.LogLoss, w.LogLoss)
		out = append(out, Comparison{"calibration error", g.CalibrationError, w.CalibrationError, ErrorTolerance})
	}
	return out
}

// Disagreements compares two records of one run, every point and the final
// figures, and says where they differ by more than the tolerances; nothing if
// they agree. Records of different data, or with different points, disagree.
// It panics if the records are of different runs.
func Disagreements(got, want *Record) []string {
	if got.Header.ID != want.Header.ID {
		panic("record: compared records are of different runs")
	}
	if !maps.Equal(got.Header.DataSums, want.Header.DataSums) {
		return []string{"the data are not the same"}
	}
	if len(got.Points) != len(want.Points) {
		return []string{fmt.Sprintf("%d points, was %d", len(got.Points), len(want.Points))}
	}
	var out []string
	compare := func(where string, comparisons ...Comparison) {
		for _, c := range comparisons {
			if !c.Agrees() {
				out = append(out, where+c.String())
			}
		}
	}
	for i, p := range got.Points {
		if p.Samples != want.Points[i].Samples {
			return append(out, fmt.Sprintf("point %d is at %d samples, was at %d", i+1, p.Samples, want.Points[i].Samples))
		}
		where := fmt.Sprintf("at %d samples ", p.Samples)
		compare(where, p.Figures().Compare(want.Points[i].Figures())...)
		compare(where, compareMeasured(p.Measured, want.Points[i].Measured)...)
		compare(where, compareDiagnostics(p.Diagnostics, want.Points[i].Diagnostics)...)
	}
	compare("final ", got.Final.Figures().Compare(want.Final.Figures())...)
	compare("final ", compareMeasured(got.Final.Measured, want.Final.Measured)...)
	compare("final ", compareDiagnostics(got.Final.Diagnostics, want.Final.Diagnostics)...)
	return out
}

// An Agreement says what a comparison of the records of two folders came to.
type Agreement struct {
	Compared   int            `json:"compared"`    // runs that both folders have
	Same       int            `json:"same"`        // those of them that are the same bit for bit
	OnlyFirst  int            `json:"only_first"`  // runs that only the first folder has
	OnlySecond int            `json:"only_second"` // runs that only the second folder has
	Differing  []DifferingRun `json:"differing"`   // runs that differ by more than the tolerances
}

// A DifferingRun is one run of both folders.
type DifferingRun struct {
	RunID       string   `json:"run_id"`      // its record is ID.jsonl
	File        string   `json:"file"`        // the first folder's record
	Data        string   `json:"data"`        // name of the data set
	Task        string   `json:"task"`        // ksvm, klr or regression
	Method      string   `json:"method"`      // as in specs
	Seed        uint64   `json:"seed"`        // of the order of the samples
	Differences []string `json:"differences"` // each beyond a tolerance, in words
}

// Agree compares the records of two folders, run by run in order of the IDs.
func Agree(got, want map[string]*Record) *Agreement {
	a := &Agreement{Differing: []DifferingRun{}}
	for _, id := range slices.Sorted(maps.Keys(got)) {
		if want[id] == nil {
			continue
		}
		a.Compared++
		if got[id].Final.Digest == want[id].Final.Digest {
			a.Same++
		}
		if wrong := Disagreements(got[id], want[id]); len(wrong) > 0 {
			r := got[id].Header.Run
			a.Differing = append(a.Differing, DifferingRun{id, got[id].Path, r.Data.Name, r.Task, r.Method, r.Seed, wrong})
		}
	}
	a.OnlyFirst, a.OnlySecond = len(got)-a.Compared, len(want)-a.Compared
	return a
}
