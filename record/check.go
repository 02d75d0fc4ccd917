package record

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"polkrepro/spec"
)

// A figure is a number in a line of a record, with its key.
type figure struct {
	key   string
	value float64
}

// negative returns an error for the first figure below 0.
func negative(figures ...figure) error {
	for _, f := range figures {
		if f.value < 0 {
			return fmt.Errorf("%s is %v: must be at least 0", f.key, f.value)
		}
	}
	return nil
}

// check returns an error for values that no evaluation can have. Risks may be NaN or infinite.
func (p *Point) check() error {
	return cmp.Or(p.Diagnostics.check(), p.Timing.check(), negative(
		figure{"train_risk", p.TrainRisk}, figure{"test_risk", p.TestRisk}, figure{"test_error", p.TestError},
		figure{"model_order", float64(p.ModelOrder)}, figure{"kernel_evals", float64(p.KernelEvals)}))
}

// check returns an error for values that no run can end with. Record.check compares the others
// with the points.
func (f *Final) check() error {
	return cmp.Or(f.Diagnostics.check(), f.Timing.check(), negative(figure{"elapsed", f.Elapsed}))
}

func (t Timing) check() error {
	return negative(figure{"wall", t.Wall}, figure{"cpu", t.CPU}, figure{"pruner", t.Pruner})
}

// check returns an error if no run leaves such a record, finished or failed. The digest and the
// sum only say that nobody has changed the file since they were computed. Check says whether the
// lines fit the run and each other.
func (r *Record) check() error {
	run := r.Header.Run
	if !spec.Identifies(r.Header.ID, run) {
		return fmt.Errorf("the ID of the run in its first line is %s", spec.ID(run))
	}
	if len(r.Header.DataSums) == 0 {
		return errors.New("data_sums is empty: must have the SHA-256 of the data")
	}
	evals := int64(0)
	for _, p := range r.Points {
		if p.TestError > 1 && run.Task != spec.TaskRegression {
			return fmt.Errorf("test_error is %v at %d samples: must be a fraction", p.TestError, p.Samples)
		}
		if p.KernelEvals < evals {
			return fmt.Errorf("kernel_evals is %d at %d samples: must be at least %d, as before", p.KernelEvals, p.Samples, evals)
		}
		evals = p.KernelEvals
	}
	if r.Failure.Type != "" {
		if at := r.Failure.Samples; at > run.Samples {
			return fmt.Errorf("failed after %d samples: the run has %d", at, run.Samples)
		}
		return nil
	}
	return r.checkFinal()
}

// checkFinal compares the last line of a finished run with its points.
func (r *Record) checkFinal() error {
	samples := r.Header.Run.Samples
	if n := len(r.Points); n == 0 || r.Points[n-1].Samples != samples {
		return fmt.Errorf("no point at %d samples, the end of the run", samples)
	}
	want := Average(r.Points, samples)
	figures := want.averaged()
	for i, f := range r.Final.averaged() {
		if cmp.Compare(f.value, figures[i].value) != 0 { // NaN equals NaN
			return fmt.Errorf("%s is %v in the last line: by the points it is %v", f.key, f.value, figures[i].value)
		}
	}
	if m := r.Final.Model; m != nil {
		order := r.Points[len(r.Points)-1].ModelOrder
		if len(m.Dictionary) != order*m.Dim || len(m.Weights) != order*m.Outputs {
			return fmt.Errorf("model has %d features and %d weights: must be those of %d elements", len(m.Dictionary), len(m.Weights), order)
		}
	}
	return nil
}

// averaged returns the figures that [Average] sets, NaN for missing diagnostics.
func (f *Final) averaged() []figure {
	norm, q, p := math.NaN(), Prequential{math.NaN(), math.NaN()}, Reliability{LogLoss: math.NaN(), CalibrationError: math.NaN()}
	if f.NormSq != nil {
		norm = *f.NormSq
	}
	if f.Prequential != nil {
		q = *f.Prequential
	}
	if f.Reliability != nil {
		p = *f.Reliability
	}
	return []figure{
		{"samples", float64(f.Samples)}, {"train_risk", f.TrainRisk}, {"test_risk", f.TestRisk}, {"test_error", f.TestError},
		{"model_order", f.ModelOrder}, {"kernel_evals", float64(f.KernelEvals)}, {"norm_sq", norm},
		{"prequential loss", q.Loss}, {"prequential error", q.Error}, {"log_loss", p.LogLoss}, {"calibration_error", p.CalibrationError},
	}
}
