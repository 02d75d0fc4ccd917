package loss

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// registered holds the losses by name.
var registered = make(map[string]Loss)

// Register makes a loss known by its name; call it in init. It panics if there is
// one of that name.
func Register(l Loss) {
	if _, ok := registered[l.Name()]; ok {
		panic("loss: there is a loss " + l.Name() + " already")
	}
	registered[l.Name()] = l
}

// Names returns the names that ByName knows, sorted.
func Names() []string { return slices.Sorted(maps.Keys(registered)) }

// ByName returns the loss of that name. It fails if there is none.
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
	// multi-class losses p has the length of f; for the binary ones it has
	// length 2 and starts with the class −1. p and f may be the same slice
	// where their lengths agree.
	Probabilities(p, f []float64)
}

// Predict returns argmax_c f_c, the class that the scores decide for (paper,
// "Tasks"). Ties go to the lowest index. It panics if f is empty.
func Predict(f []float64) int {
	best := 0
	for c, v := range f {
		if v > f[best] {
			best = c
		}
	}
	return best
}

// Decide returns the target that scores decide for: the class of [Predict], or
// of a single score its sign, −1 or +1, with +1 for 0. A regression decides
// nothing: its prediction is the score. It panics if f is empty.
func Decide(f []float64) float64 {
	switch {
	case len(f) > 1:
		return float64(Predict(f))
	case f[0] < 0:
		return -1
	}
	return 1
}
