// Package dataset validates the training sets and the configurations of learners.
package dataset

import (
	"errors"
	"fmt"
	"math"

	"polkrepro/kernel"
	"polkrepro/loss"
)

// Problems collects the errors in a configuration of the named package.
type Problems struct {
	Package string
	errs    []error
}

// If adds an error about a field, with its value and what it must be, if bad is true.
func (p *Problems) If(bad bool, field string, value any, must string) {
	if bad {
		p.errs = append(p.errs, fmt.Errorf("%s: %s %v: must be %s", p.Package, field, value, must))
	}
}

// Add adds an error of a field's own check, unless it is nil.
func (p *Problems) Add(field string, err error) {
	if err != nil {
		p.errs = append(p.errs, fmt.Errorf("%s: %s: %w", p.Package, field, err))
	}
}

// Kernel adds the errors of a kernel. A nil kernel is an error.
func (p *Problems) Kernel(k kernel.Kernel) {
	p.If(k == nil, "Kernel", nil, "set")
	if k != nil {
		p.Add("Kernel", k.Validate())
	}
}

// Model adds the errors of a model's kernel and sizes.
func (p *Problems) Model(k kernel.Kernel, classes, dim int) {
	p.If(classes < 2, "Classes", classes, "at least 2")
	p.If(dim < 1, "Dim", dim, "at least 1")
	p.Kernel(k)
}

// Loss adds an error unless there is a loss, with one function for each class.
func (p *Problems) Loss(l loss.Loss, classes int) {
	p.If(l == nil, "Loss", nil, "set")
	if l != nil && classes >= 2 { // Model reports fewer
		n := l.Outputs(classes)
		p.If(n != classes, "Loss", l.Name(), fmt.Sprintf("a loss of one function for each of the %d classes, and has %d", classes, n))
	}
}

// A Schedule gives the learning rates; it is package polk's.
type Schedule interface{ Rate(t int) float64 }

// Descent adds the errors of what gradient descent needs besides a kernel and a loss: the rate of the
// first step, and λ.
func (p *Problems) Descent(rates Schedule, lambda float64) {
	p.If(rates == nil, "LearningRate", nil, "set")
	bad := !(lambda >= 0) || math.IsInf(lambda, 1)
	p.If(bad, "Regularizer", lambda, "finite and at least 0")
	if rates != nil && !bad {
		p.Add("LearningRate", CheckRate(0, rates.Rate(0), lambda))
	}
}

// CheckRate reports an invalid learning rate of step t.
func CheckRate(t int, rate, lambda float64) error {
	if !(rate > 0 && rate*lambda < 1) || math.IsInf(rate, 1) {
		return fmt.Errorf("learning rate %v in step %d: must be positive, finite and below 1/λ = %v", rate, t, 1/lambda)
	}
	return nil
}

// Err returns all errors, joined, or nil if there are none.
func (p *Problems) Err() error { return errors.Join(p.errs...) }

// Check validates a training set of n samples: x is n×dim row-major, y holds n labels. It fails
// if sizes don't fit, features are not finite, or labels are not classes 0 … classes−1. With one
// class, labels are the targets of a regression, any finite numbers.
func Check(n, dim, classes int, x []float32, y []float64) error {
	if n < 1 || dim < 1 || len(x) != n*dim || len(y) != n {
		return fmt.Errorf("%d samples of dimension %d: want %d features and %d labels, got %d and %d",
			n, dim, n*dim, n, len(x), len(y))
	}
	if err := loss.CheckTargets(nil, classes, y); err != nil {
		return err
	}
	for i, v := range x {
		if v-v != 0 { // true only for NaN and ±Inf
			return fmt.Errorf("sample %d: feature %d is %v", i/dim, i%dim, v)
		}
	}
	return nil
}
