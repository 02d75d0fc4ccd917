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

// If adds an error, formatted as by fmt.Errorf after the package's name, if bad is true.
func (p *Problems) If(bad bool, format string, args ...any) {
	if bad {
		p.errs = append(p.errs, fmt.Errorf(p.Package+": "+format, args...))
	}
}

// Kernel adds the errors of a kernel. A nil kernel is an error.
func (p *Problems) Kernel(k kernel.Kernel) {
	p.If(k == nil, "no kernel")
	if k != nil {
		err := k.Validate()
		p.If(err != nil, "%w", err)
	}
}

// Model adds the errors of a model's kernel and sizes.
func (p *Problems) Model(k kernel.Kernel, classes, dim int) {
	p.If(classes < 2, "%d classes: at least 2 are needed", classes)
	p.If(dim < 1, "dimension %d: must be at least 1", dim)
	p.Kernel(k)
}

// Loss adds an error unless there is a loss, with one function for each class.
func (p *Problems) Loss(l loss.Loss, classes int) {
	p.If(l == nil, "no loss")
	if l != nil && classes >= 2 { // Model reports fewer
		out := l.Outputs(classes)
		p.If(out != classes, "loss %s: its number of functions is %d, want one for each of the %d classes", l.Name(), out, classes)
	}
}

// Descent adds the errors of what stochastic gradient descent needs besides a model.
func (p *Problems) Descent(l loss.Loss, classes int, rate func(t int) float64, lambda float64) {
	p.Loss(l, classes)
	p.If(rate == nil, "no learning rate")
	p.If(!(lambda >= 0) || math.IsInf(lambda, 1), "regularizer %v: must be finite and at least 0", lambda)
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
