package learnertest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"polkrepro/baselines/fogd"
	"polkrepro/baselines/forgetron"
	"polkrepro/baselines/fsgd"
	"polkrepro/baselines/learnertest"
	"polkrepro/baselines/nogd"
	"polkrepro/baselines/norma"
	"polkrepro/baselines/projectron"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// TestStepDoesNotAllocate: no step allocates, not even one that drops elements. Package bsgd has
// its own test, of all ways to keep to a budget.
func TestStepDoesNotAllocate(t *testing.T) {
	s := task{Threads: 1, Classes: 3, N: 200, Dim: 2}
	s.X, s.Y = learnertest.Blobs(2, s.N, s.Dim, s.Classes)
	for name, counter := range map[string]string{ // counter of dropped elements
		"norma": "dropped", "forgetron": "removals", "projectron": "", "nogd": "", "rff-sgd": "",
	} {
		l := must(method(name).New(problem(gaussian, loss.MultiLogistic{}, settings[name], s)))
		learnertest.DoesNotAllocate(t, l, s.X, s.Y)
		if h := l.Health(); counter != "" && !(h[counter] >= 100) {
			t.Errorf("%s: %v: the test shows little", name, h)
		}
	}
}

// TestNoInternals: a learner has documented methods of its own, and neither fields nor methods of
// something that it embeds.
func TestNoInternals(t *testing.T) {
	s := task{Threads: 1, Classes: 3, N: 60, Dim: 2}
	s.X, s.Y = learnertest.Blobs(2, s.N, s.Dim, s.Classes)
	for key := range settings {
		m := method(key)
		if m.New == nil || key == "polk" { // the harness wraps it
			continue
		}
		of := reflect.TypeOf(must(m.New(problem(gaussian, loss.MultiHinge{}, settings[key], s)))).Elem()
		for _, f := range reflect.VisibleFields(of) {
			if f.Anonymous || f.IsExported() {
				t.Errorf("%s: %v shows the field %s", key, of, f.Name)
			}
		}
	}
}

// TestBadConfigs: Validate names every field that is wrong, in one error, and New fails with it.
func TestBadConfigs(t *testing.T) {
	k, l, rates, one := gaussian, loss.MultiHinge{}, polk.Constant(0.5), loss.BinaryLogistic{}
	none := func(kernel string) string {
		return "NAME: Classes -3: must be at least 2|NAME: Dim 0: must be at least 1|NAME: " + kernel +
			"|NAME: Loss <nil>: must be set|NAME: LearningRate <nil>: must be set|NAME: Regularizer -1: must be finite and at least 0|NAME: "
	}
	const unset = "Kernel <nil>: must be set"
	functions := "NAME: Loss binary-logistic: must be a loss of one function for each of the 3 classes, and has 1|NAME: Regularizer +Inf: must be finite and at least 0|NAME: "
	for _, c := range []struct {
		name, want string
		err        error
	}{
		{"norma", none(unset) + "Memory 0: must be at least 1", failure(norma.New(norma.Config{Classes: -3, Regularizer: -1}))},
		{"nogd", none(unset) + "Landmarks 0: must be at least 1|NAME: Rank 4: must be at least 0 and at most Landmarks, 0",
			failure(nogd.New(nogd.Config{Classes: -3, Rank: 4, Regularizer: -1}))},
		{"fogd", none("Kernel: kernel: bandwidth 0: must be positive and finite") + "Frequencies 0: must be at least 1",
			failure(fogd.New(fogd.Config{Classes: -3, Regularizer: -1}))},
		{"fsgd", none(unset) + "Points of length 0: must be a positive number of rows of 0 features",
			failure(fsgd.New(fsgd.Config{Classes: -3, Regularizer: -1}))},
		{"norma", functions + "Memory -1: must be at least 1", failure(norma.New(norma.Config{Kernel: k, Loss: one, Classes: 3, Dim: 2, LearningRate: rates, Regularizer: math.Inf(1), Memory: -1}))},
		{"fsgd", functions + "Points of length 3: must be a positive number of rows of 2 features",
			failure(fsgd.New(fsgd.Config{Kernel: k, Loss: one, Classes: 3, Dim: 2, LearningRate: rates, Regularizer: math.Inf(1), Points: make([]float32, 3)}))},
		{"norma", "NAME: Regularizer 0: must be above 0", failure(norma.New(norma.Config{Kernel: k, Loss: l, Classes: 3, Dim: 2, Memory: 3, LearningRate: rates}))},
		{"forgetron", "NAME: Classes 1: must be at least 2|NAME: Budget 0: must be at least 1", failure(forgetron.New(forgetron.Config{Kernel: k, Classes: 1, Dim: 2}))},
		{"projectron", "NAME: " + unset + "|NAME: Error 0: must be above 0 and finite|NAME: Budget -1: must be at least 1, or 0 for no limit", failure(projectron.New(projectron.Config{Classes: 3, Dim: 2, Budget: -1}))},
	} {
		if want := strings.NewReplacer("NAME", c.name, "|", "\n").Replace(c.want); c.err == nil || c.err.Error() != want {
			t.Errorf("%v\nwant\n%s", c.err, want)
		}
	}
}

// An own is a loss with a wrong number of functions.
type own struct {
	loss.MultiHinge
	functions int
}

func (o own) Outputs(int) int { return o.functions }

// TestTargets: whatever loss, classes and labels a learner is given, it learns only if the loss
// fits the learner and the classes, and the labels are targets of the loss. Otherwise an error
// names what does not fit, and nothing is learned.
func TestTargets(t *testing.T) {
	keys := append(slices.Collect(maps.Keys(settings)), "csvc")
	for _, key := range keys {
		for _, l := range []loss.Loss{nil, loss.MultiHinge{}, loss.MultiLogistic{}, loss.BinaryLogistic{}, loss.SquaredHinge{}, loss.SquaredError{}, own{functions: 0}, own{functions: -1}, own{functions: 1e9}} {
			for _, classes := range []int{-3, 0, 1, 2, 5} {
				for _, labels := range [][]float64{{0, 1}, {1, -1}, {1, 2}, {1, 0.5}, {1, 1e9}, {1, math.Inf(1)}, {1, math.NaN()}} {
					s := task{Threads: 1, Classes: classes, N: 2, Dim: 2, X: []float32{0, 0, 1, 1}, Y: labels}
					what := fmt.Sprintf("%s, loss %T%[2]v, %d classes, labels %v", key, l, classes, labels)
					err := learns(t, what, key, l, s)
					switch want := fits(key, l, s); {
					case want && err != nil, !want && err == nil:
						t.Errorf("%s: %v", what, err)
					case err != nil && !regexp.MustCompile(`(?m)^\w+: (Loss|Classes |sample [01]: (label|target) )`).MatchString(err.Error()):
						t.Errorf("%s: the error names no field: %v", what, err)
					}
				}
			}
		}
	}
}

// learns trains a learner once. One that learns step by step must not change if it fails.
func learns(t *testing.T, what, key string, l loss.Loss, s task) error {
	m, p := method(key), problem(gaussian, l, settings[key], s)
	p.Params.Cost = 1 // of csvc
	if m.New == nil {
		_, err := fit(m, p, s)
		return err
	}
	made, err := m.New(p)
	if err != nil {
		return err
	}
	if _, err = made.Step(t.Context(), s.N, s.X, s.Y); err != nil {
		f := make([]float64, 2*max(1, s.Classes))
		if made.Model().Scores(2, s.X, f, 1); slices.ContainsFunc(f, func(v float64) bool { return v != 0 }) {
			t.Errorf("%s: scores %v after an error", what, f)
		}
	}
	return err
}

// fits reports whether a learner can learn a task: polk with all losses of package loss, the
// others with those of all classes.
func fits(key string, l loss.Loss, s task) bool {
	if slices.Contains([]string{"forgetron", "projectron", "ivm", "csvc"}, key) || strings.HasPrefix(key, "bsgd") {
		l = loss.MultiHinge{} // they have no field for it
	}
	var target func(y float64) bool
	switch l.(type) {
	case loss.MultiHinge, loss.MultiLogistic:
		target = func(y float64) bool { return y == 0 || y == 1 || y == 2 && s.Classes > 2 }
		return s.Classes >= 2 && target(s.Y[0]) && target(s.Y[1])
	case loss.BinaryLogistic, loss.SquaredHinge:
		target = func(y float64) bool { return y == 1 || y == -1 }
	case loss.SquaredError:
		target = func(y float64) bool { return y-y == 0 }
	default:
		return false
	}
	return key == "polk" && s.Classes >= 0 && target(s.Y[0]) && target(s.Y[1])
}

// TestBadRatesAndKernels: a rate outside (0, 1/λ) and a kernel that overflows end a step with an
// error.
func TestBadRatesAndKernels(t *testing.T) {
	s := task{Threads: 1, Classes: 2, N: 4, Dim: 2, X: []float32{1, 1, 2, 2, 1e30, 1e30, 3, 3}, Y: []float64{0, 1, 0, 1}}
	for _, key := range []string{"polk", "fsgd", "norma", "nogd", "nystrom-sgd", "forgetron", "projectron", "bsgd/removal"} {
		p := problem(kernel.Polynomial{Degree: 11}, loss.MultiHinge{}, settings[key], s)
		l := must(method(key).New(p))
		if _, err := l.Step(t.Context(), s.N, s.X, s.Y); err == nil {
			t.Errorf("%s: no error of an infinite kernel", key)
		}
	}
	for _, key := range []string{"polk", "fsgd", "norma", "rff-sgd", "nystrom-sgd", "bsgd/removal"} {
		for _, rate := range []float64{0, -1, 1 / regularizer, math.Inf(1), math.NaN()} {
			p := problem(gaussian, loss.MultiHinge{}, settings[key], s)
			p.Params.Regularizer, p.Rates = regularizer, polk.Constant(rate)
			l, err := method(key).New(p)
			if err == nil {
				_, err = l.Step(t.Context(), s.N, s.X, s.Y)
			}
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("learning rate %v", rate)) {
				t.Errorf("%s: rate %v: %v", key, rate, err)
			}
		}
	}
}

// TestStepStops: a step whose context ends has learned from the samples before, and from no other.
func TestStepStops(t *testing.T) {
	const n, learned = 90, 70
	x, y := learnertest.Blobs(3, n, 2, 3)
	s := task{Threads: 1, Classes: 3, N: n, Dim: 2, X: x, Y: y}
	for key := range settings {
		m := method(key)
		if m.New == nil || key == "polk" || key == "lbfgs-weights" { // their steps are one
			continue
		}
		l, twin := must(m.New(problem(gaussian, loss.MultiHinge{}, settings[key], s))), must(m.New(problem(gaussian, loss.MultiHinge{}, settings[key], s)))
		_, err := l.Step(&learnertest.Countdown{Context: t.Context(), Left: learned}, n, x, y)
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "sample 7") {
			t.Errorf("%s: %v", key, err)
		}
		learnertest.Step(t, twin, x[:learned*2], y[:learned])
		for _, more := range []int{0, n} {
			if more > 0 {
				learnertest.Step(t, l, x, y)
				learnertest.Step(t, twin, x, y)
			}
			if !slices.Equal(scored(l.Model(), 3).Scores(n, x, 1), scored(twin.Model(), 3).Scores(n, x, 1)) {
				t.Errorf("%s: the model differs from that of %d samples and %d more", key, learned, more)
			}
		}
	}
}

func failure[Learner any](_ Learner, err error) error { return err }
