package scaling

import (
	"polkrepro/experiments"
	"polkrepro/loss"
)

// A Step is what POLK's step costs on one configuration, at steady state.
type Step struct {
	Loss     string // of loss.MultiHinge or loss.MultiLogistic
	Batch    int    // n, samples of a mini-batch
	Order    int    // M that the budget holds
	Features int    // p
	Classes  int    // C

	MeanOrder float64 // M over the steps that were timed
	Active    float64 // samples with a gradient, of a step's n
	Seconds   float64 // of a step: the median over blocks of steps
}

// PerSample returns the seconds of a sample.
func (s Step) PerSample() float64 { return s.Seconds / float64(s.Batch) }

// Grid returns the configurations that a profile measures: model orders, features
// and classes in all combinations at n = 32, and other n at some of them. Smoke
// takes seconds and shows that it works, quick a minute or two, full, which is
// what is recorded, some ten.
func Grid(profile string) []Step {
	orders, features, classes, batches := []int{64, 256, 1024}, []int{2, 64, 784}, []int{2, 10}, []int{8, 128}
	switch profile {
	case experiments.ProfileSmoke:
		orders, features, classes = []int{32, 48, 64}, []int{2, 8, 16}, []int{2, 5}
	case experiments.ProfileFull:
		orders, features, classes = []int{64, 128, 256, 512, 1024, 2048}, []int{2, 32, 256, 1024}, []int{2, 10, 32}
		batches = []int{4, 8, 16, 64, 128}
	}
	var grid []Step
	for _, l := range []loss.Loss{loss.MultiHinge{}, loss.MultiLogistic{}} {
		for _, m := range orders {
			for _, p := range features {
				for _, c := range classes {
					grid = append(grid, Step{Loss: l.Name(), Batch: 32, Order: m, Features: p, Classes: c})
				}
			}
		}
		for _, n := range batches {
			for _, m := range orders[1:] {
				grid = append(grid, Step{Loss: l.Name(), Batch: n, Order: m, Features: features[len(features)/2], Classes: classes[1]})
			}
		}
	}
	return grid
}

// StepVariables are the names of the variables of FitSteps.
var StepVariables = []string{"n", "M", "p", "C"}

// FitSteps fits the seconds of a step of one loss by n, M, p and C, on the
// configurations with at least so large an order and so many features.
func FitSteps(steps []Step, lossName string, order, features int) (Power, error) {
	var x [][]float64
	var y []float64
	for _, s := range steps {
		if s.Loss == lossName && s.Order >= order && s.Features >= features {
			x = append(x, []float64{float64(s.Batch), s.MeanOrder, float64(s.Features), float64(s.Classes)})
			y = append(y, s.Seconds)
		}
	}
	return FitPower(StepVariables, x, y)
}
