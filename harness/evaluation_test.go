package harness

import (
	"slices"
	"testing"

	"polkrepro/record"
	"polkrepro/spec"
)

func TestEvaluationPoints(t *testing.T) {
	tests := []struct {
		name  string
		total int
		ev    spec.Evaluation
		want  []int
	}{
		{"every and tail", 1000, spec.Evaluation{Every: 400, Tail: 5}, []int{400, 800, 960, 970, 980, 990, 1000}},
		{"a multiple of every", 1000, spec.Evaluation{Every: 500}, []int{500, 1000}},
		{"tail meets every", 1000, spec.Evaluation{Every: 980, Tail: 5}, []int{960, 970, 980, 990, 1000}},
		{"end only", 1000, spec.Evaluation{}, []int{1000}},
		{"more tail points than samples", 3, spec.Evaluation{Tail: 9}, []int{3}},
		{"longer than the run", 10, spec.Evaluation{Every: 100, Tail: 1}, []int{10}},
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
			marks := EvaluationPoints(total, spec.Evaluation{Tail: tail})
			for _, m := range marks {
				if len(record.Tail([]record.Point{{Samples: m}}, total)) == 0 {
					t.Errorf("total %d, tail %d: mark %d is outside", total, tail, m)
				}
			}
			if marks[len(marks)-1] != total {
				t.Errorf("total %d, tail %d: the end is not a mark", total, tail)
			}
		}
	}
}

// TestMinimizerPoints: the points of a run measured against the minimizer ascend, eight per decade
// and twenty-one evenly over the last half. The last point is at the end.
func TestMinimizerPoints(t *testing.T) {
	for _, n := range []int{1000, 3001, 1_000_000} {
		points := EvaluationPoints(n, spec.Evaluation{Minimizer: true})
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
