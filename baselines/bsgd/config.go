package bsgd

import (
	"errors"
	"fmt"
	"math"

	"polkrepro/kernel"
)

// Names of the schedules and of the maintenance strategies.
const (
	Constant = "constant" // η_t = η
	Inverse  = "inverse"  // η_t = 1/(λt)

	Removal    = "removal"
	Projection = "projection"
	Merging    = "merging"
	KeepNewest = "keep-newest"
)

// A Config is everything that determines a Learner.
type Config struct {
	Kernel       kernel.Kernel // κ; merging needs a kernel.Gaussian
	Classes      int           // C ≥ 2
	Dim          int           // p ≥ 1, features of a sample
	Regularizer  float64       // λ ≥ 0; above 0 for the inverse schedule
	LearningRate float64       // η > 0 with ηλ < 1; the inverse schedule does not use it
	Schedule     string        // "constant" or "inverse"
	Budget       int           // B ≥ 1, the largest model order
	Maintenance  string        // "removal", "projection", "merging" or "keep-newest"
	Threads      int           // goroutines of the matrix products; 0 means 1
}

// Validate returns every reason why c describes no learner.
func (c Config) Validate() error {
	var errs []error
	fail := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("bsgd: "+format, args...))
		}
	}
	fail(c.Classes < 2, "%d classes: at least 2 are needed", c.Classes)
	fail(c.Dim < 1, "dimension %d is below 1", c.Dim)
	fail(c.Budget < 1, "budget %d is below 1", c.Budget)
	fail(c.Threads < 0, "%d threads", c.Threads)
	fail(!finite(c.Regularizer) || c.Regularizer < 0, "regularizer %v is not a number ≥ 0", c.Regularizer)
	return errors.Join(append(errs, c.validateKernel(), c.validateSchedule())...)
}

func (c Config) validateKernel() error {
	if c.Kernel == nil {
		return errors.New("bsgd: no kernel")
	}
	if err := c.Kernel.Validate(); err != nil {
		return fmt.Errorf("bsgd: %w", err)
	}
	_, err := newMaintainer(c)
	return err
}

func (c Config) validateSchedule() error {
	switch c.Schedule {
	case Constant:
		if !finite(c.LearningRate) || c.LearningRate <= 0 {
			return fmt.Errorf("bsgd: learning rate %v is not a number > 0", c.LearningRate)
		}
		if c.LearningRate*c.Regularizer >= 1 {
			return fmt.Errorf("bsgd: learning rate %v is not below 1/λ = %v: 1 − ηλ would not be positive",
				c.LearningRate, 1/c.Regularizer)
		}
	case Inverse:
		if c.Regularizer == 0 {
			return errors.New("bsgd: the inverse schedule 1/(λt) needs a regularizer above 0")
		}
	default:
		return fmt.Errorf("bsgd: unknown schedule %q (have %s, %s)", c.Schedule, Constant, Inverse)
	}
	return nil
}

// rate returns η_t for the t-th sample, t = 1, 2, …
func (c Config) rate(t int64) float64 {
	if c.Schedule == Inverse {
		return 1 / (c.Regularizer * float64(t))
	}
	return c.LearningRate
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
