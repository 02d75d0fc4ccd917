package record

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Tolerances for comparing two executions of one run. Versions with the same arithmetic give
// the same bits on every machine (docs/numerics.md). The tolerances are for versions that
// round differently. With another summation order, over the series of multidist and 19,200
// samples of MNIST, risks differed by 4e-8 relative; errors and model orders did not differ.
// The tolerances also allow for a test sample on a class boundary that changes its class,
// and for a removal that depends on the last bit and comes a step later. A wrong gradient
// scaling, budget rule or kernel width moves these figures by tens of per cent.
const (
	RiskTolerance  = 1e-4 // relative
	ErrorTolerance = 4e-4 // one of multidist's 2,500 test samples, two of Brodatz', four of MNIST's
	OrderTolerance = 0.5  // elements
)

// Figures are the quantities in which two executions of a run are compared.
type Figures struct {
	TrainRisk, TestRisk, TestError, ModelOrder float64
}

// Figures returns the point's quantities that are compared.
func (p Point) Figures() Figures {
	return Figures{p.TrainRisk, p.TestRisk, p.TestError, float64(p.ModelOrder)}
}

// Figures returns the final quantities that are compared.
func (f Final) Figures() Figures {
	return Figures{f.TrainRisk, f.TestRisk, f.TestError, f.ModelOrder}
}

// A comparison of two records lists the figures that differ by more than the tolerances.
type comparison struct {
	where       string // the place that is compared, a prefix of its differences
	differences []string
}

// figure compares one figure. Non-finite figures agree only if both are NaN or the same
// infinity.
func (c *comparison) figure(what string, got, want, tolerance float64) {
	same := got == want || math.IsNaN(got) && math.IsNaN(want)
	if !same && (math.IsInf(want, 0) || !(math.Abs(got-want) <= tolerance)) {
		c.differences = append(c.differences, fmt.Sprintf("%s%s is %.5g, was %.5g ± %.2g", c.where, what, got, want, tolerance))
	}
}

// relative compares one figure with the tolerance RiskTolerance · max(1, |want|).
func (c *comparison) relative(what string, got, want float64) {
	c.figure(what, got, want, RiskTolerance*max(1, math.Abs(want)))
}

func (c *comparison) figures(got, want Figures) {
	c.figure("training risk", got.TrainRisk, want.TrainRisk, RiskTolerance*math.Abs(want.TrainRisk))
	c.figure("test risk", got.TestRisk, want.TestRisk, RiskTolerance*math.Abs(want.TestRisk))
	c.figure("test error", got.TestError, want.TestError, ErrorTolerance)
	c.figure("model order", got.ModelOrder, want.ModelOrder, OrderTolerance)
}

// measured compares the other measured quantities. A missing quantity counts as 0.
func (c *comparison) measured(got, want map[string]float64) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(got)), maps.Keys(want))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		c.relative(name, got[name], want[name])
	}
}

// diagnostics compares the diagnostics that both records have: older records lack them.
func (c *comparison) diagnostics(got, want Diagnostics) {
	if g, w := got.NormSq, want.NormSq; g != nil && w != nil {
		c.relative("squared norm", *g, *w)
	}
	if g, w := got.Prequential, want.Prequential; g != nil && w != nil {
		c.relative("prequential loss", g.Loss, w.Loss)
		c.figure("prequential error", g.Error, w.Error, ErrorTolerance)
	}
	if g, w := got.Reliability, want.Reliability; g != nil && w != nil {
		c.relative("log loss", g.LogLoss, w.LogLoss)
		c.figure("calibration error", g.CalibrationError, w.CalibrationError, ErrorTolerance)
	}
}

// Disagreements compares every point and the final figures of two records of one
// run. It describes each difference beyond the tolerances; the result is empty if
// there are none. Records of different data, or with different points, disagree.
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
	var c comparison
	for i, p := range got.Points {
		w := want.Points[i]
		if p.Samples != w.Samples {
			return append(c.differences, fmt.Sprintf("point %d is at %d samples, was at %d", i+1, p.Samples, w.Samples))
		}
		c.where = fmt.Sprintf("at %d samples ", p.Samples)
		c.figures(p.Figures(), w.Figures())
		c.measured(p.Measured, w.Measured)
		c.diagnostics(p.Diagnostics, w.Diagnostics)
	}
	c.where = "final "
	c.figures(got.Final.Figures(), want.Final.Figures())
	c.measured(got.Final.Measured, want.Final.Measured)
	c.diagnostics(got.Final.Diagnostics, want.Final.Diagnostics)
	return c.differences
}

// An Agreement is the result of comparing the records of two folders.
type Agreement struct {
	Compared   int            `json:"compared"`    // number of runs that both folders have
	Same       int            `json:"same"`        // number of runs that are the same bit for bit in both folders
	OnlyFirst  int            `json:"only_first"`  // number of runs that only the first folder has
	OnlySecond int            `json:"only_second"` // number of runs that only the second folder has
	Differing  []DifferingRun `json:"differing"`   // runs that differ by more than the tolerances
}

// A DifferingRun is a run whose records in the two folders differ by more than the tolerances.
type DifferingRun struct {
	RunID       string   `json:"run_id"`      // ID of the run; its record is ID.jsonl
	File        string   `json:"file"`        // path of the first folder's record
	Data        string   `json:"data"`        // name of the data set
	Task        string   `json:"task"`        // ksvm, klr or the name of a loss, such as squared-error for a regression
	Method      string   `json:"method"`      // name of the method, as in specs
	Seed        uint64   `json:"seed"`        // seed of the order of the samples
	Differences []string `json:"differences"` // differences beyond a tolerance, in words
}

// Agree compares the records of two folders, keyed by run ID, in order of the IDs.
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
