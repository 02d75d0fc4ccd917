package harness

import (
	"slices"
	"testing"

	"polkrepro/experiments"
	"polkrepro/record"
)

func TestEvaluationPoints(t *testing.T) {
	tests := []struct {
		name  string
		total int
		ev    experiments.Evaluation
		want  []int
	}{
		{"every and tail", 1000, experiments.Evaluation{Every: 400, Tail: 5}, []int{400, 800, 960, 970, 980, 990, 1000}},
		{"a multiple of every", 1000, experiments.Evaluation{Every: 500}, []int{500, 1000}},
		{"tail meets every", 1000, experiments.Evaluation{Every: 980, Tail: 5}, []int{960, 970, 980, 990, 1000}},
		{"end only", 1000, experiments.Evaluation{}, []int{1000}},
		{"more tail points than samples", 3, experiments.Evaluation{Tail: 9}, []int{3}},
		{"longer than the run", 10, experiments.Evaluation{Every: 100, Tail: 1}, []int{10}},
	}
	for _, tt := range tests {
		if got := EvaluationPoints(tt.total, tt.ev); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestEvaluationTailLiesInTheLastFivePercent(t *testing.T) {
	for _, total := range []int{100, 999, 20000, 240000, 240017} {
		for tail := 1; tail <= 25; tail++ {
			marks := EvaluationPoints(total, experiments.Evaluation{Tail: tail})
			for _, m := range marks {
				if float64(m) <= tailStart(total) {
					t.Errorf("total %d, tail %d: mark %d is outside", total, tail, m)
				}
			}
			if marks[len(marks)-1] != total {
				t.Errorf("total %d, tail %d: the end is not a mark", total, tail)
			}
		}
	}
}

func TestAverageTakesTheTailOnly(t *testing.T) {
	points := []record.Point{
		{Samples: 500, TestError: 1, TrainRisk: 100, TestRisk: 100, ModelOrder: 7000},
		{Samples: 950, TestError: 1, TrainRisk: 100, TestRisk: 100, ModelOrder: 7000}, // 95 % is not in the last 5 %
		{Samples: 960, TestError: 0.25, TrainRisk: 1, TestRisk: 3, ModelOrder: 10, Diagnostics: record.Diagnostics{NormSq: new(2.0)}},
		{Samples: 1000, TestError: 0.75, TrainRisk: 2, TestRisk: 5, ModelOrder: 13, KernelEvals: 42, Timing: record.Timing{Wall: 9},
			Diagnostics: record.Diagnostics{NormSq: new(3.0), Prequential: new(record.Prequential), Reliability: new(record.Reliability)}},
	}
	got := Average(points, 1000)
	want := record.Final{Type: "final", Samples: 1000, TestError: 0.5, TrainRisk: 1.5, TestRisk: 4, ModelOrder: 11.5,
		KernelEvals: 42, Timing: record.Timing{Wall: 9}}
	if got.Samples != want.Samples || got.TestError != want.TestError || got.TrainRisk != want.TrainRisk ||
		got.TestRisk != want.TestRisk || got.ModelOrder != want.ModelOrder || got.KernelEvals != want.KernelEvals || got.Timing != want.Timing {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got.NormSq == nil || *got.NormSq != 2.5 || got.Prequential != points[3].Prequential || got.Reliability != points[3].Reliability {
		t.Errorf("%+v, want the norm's mean and the others of the last point", got.Diagnostics)
	}
	points[2].NormSq = nil
	if got := Average(points, 1000).NormSq; got != nil {
		t.Errorf("mean of norms of which one is missing: %v", *got)
	}
}

func TestEpochRule(t *testing.T) {
	tests := []struct {
		name    string
		rule    EpochRule
		curve   []float64
		epochs  int
		settled bool
	}{
		{"flat after three", EpochRule{}, []float64{0.10, 0.05, 0.03, 0.0295, 0.0298, 0.0296}, 3, true},
		{"flat from the first", EpochRule{}, []float64{0.04, 0.04, 0.04}, 1, true},
		{"still falling", EpochRule{}, []float64{0.10, 0.09, 0.08, 0.07}, 4, false},
		{"noise below the gain", EpochRule{}, []float64{0.10, 0.0402, 0.0398, 0.0405, 0.0400}, 2, true},
		{"gets worse", EpochRule{}, []float64{0.05, 0.04, 0.06, 0.07}, 1, true},
		{"too short to confirm", EpochRule{}, []float64{0.05, 0.05}, 2, false},
		{"a greater gain", EpochRule{Gain: 0.02}, []float64{0.10, 0.05, 0.04, 0.035}, 2, true},
		{"fewer to confirm", EpochRule{Confirm: 1}, []float64{0.05, 0.05}, 1, true},
		{"nothing", EpochRule{}, nil, 0, false},
	}
	for _, tt := range tests {
		epochs, settled := tt.rule.Choose(tt.curve)
		if epochs != tt.epochs || settled != tt.settled {
			t.Errorf("%s: got %d, %v, want %d, %v", tt.name, epochs, settled, tt.epochs, tt.settled)
		}
	}
}

// TestMinimizerPoints: ascending, the last at the end, eight a decade and
// twenty-one evenly over the last half.
func TestMinimizerPoints(t *testing.T) {
	for _, n := range []int{1000, 3001, 1_000_000} {
		points := EvaluationPoints(n, experiments.Evaluation{Minimizer: true})
		if !slices.IsSorted(points) || len(slices.Compact(slices.Clone(points))) != len(points) || points[len(points)-1] != n || points[0] != 10 {
			t.Errorf("%d samples: points %v", n, points)
		}
		half := 0
		for _, m := range points {
			if 2*m >= n {
				half++
			}
		}
		if half < 20 || half > 26 {
			t.Errorf("%d samples: %d points in the last half", n, half)
		}
	}
}
