package loss

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// registered holds the losses by name.
var registered = make(map[string]Loss)

// Register registers a loss under its name; call it in init. It panics if the name is
// already registered.
func Register(l Loss) {
	if _, ok := registered[l.Name()]; ok {
		panic("loss: loss " + l.Name() + " is already registered")
	}
	registered[l.Name()] = l
}

// Names returns the names that ByName knows, sorted.
func Names() []string { return slices.Sorted(maps.Keys(registered)) }

// ByName returns the loss with the given name, or an error if none is registered.
func ByName(name string) (Loss, error) {
	if l, ok := registered[name]; ok {
		return l, nil
	}
	return nil, fmt.Errorf("loss: unknown loss %q (have %s)", name, strings.Join(Names(), ", "))
}

// A Probabilistic loss turns scores into class probabilities.
type Probabilistic interface {
	Loss

	// Probabilities writes the probability of each class to p. For the
	// multi-class losses p has the length of f; for the binary losses it has
	// length 2 and starts with the class −1. p and f may be the same slice
	// if their lengths agree.
	Probabilities(p, f []float64)
}

// Predict returns the predicted class argmax_c f_c (paper, "Tasks"). Ties go to the
// lowest index. It panics if f is empty.
func Predict(f []float64) int {
	best := 0
	for c, v := range f {
		if v > f[best] {
			best = c
		}
	}
	return best
}

// Decide returns the predicted target: the class of [Predict], or the sign of a
// single score, −1 or +1, with +1 for 0. It does not apply to regression, where the
// score itself is the prediction. It panics if f is empty.
func Decide(f []float64) float64 {
	switch {
	case len(f) > 1:
		return float64(Predict(f))
	case f[0] < 0:
		return -1
	}
	return 1
}

// Multiclass reports whether a loss has one function for each class, so that its targets are classes.
func Multiclass(l Loss) bool { return l.Outputs(3) == 3 }

// A Binary loss has one function, for the targets −1 and +1 alone.
type Binary interface {
	Loss

	// Binary does nothing.
	Binary()
}

// CheckTargets returns an error that names the first target that l does not have for a model
// with the given number of functions. The targets are the classes 0 … outputs−1 of several
// functions, −1 and 1 of a [Binary] loss, and any finite number of another loss.
func CheckTargets(l Loss, outputs int, y []float64) error {
	_, binary := l.(Binary)
	for i, v := range y {
		switch {
		case outputs > 1 && !(v >= 0 && v < float64(outputs) && v == math.Trunc(v)):
			return fmt.Errorf("sample %d: label %v is not a class 0 … %d", i, v, outputs-1)
		case binary && v != -1 && v != 1:
			return fmt.Errorf("sample %d: target %v is neither −1 nor 1, the targets of the %s loss", i, v, l.Name())
		case v-v != 0: // true only for NaN and ±Inf
			return fmt.Errorf("sample %d: target %v is not a finite number", i, v)
		}
	}
	return nil
}
