package scaling

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/experiments"
	"polkrepro/record"
)

// A power law without noise is found again, whatever it is.
func TestFitPowerExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		exponent := rapid.Float64Range(-3, 3)
		want := []float64{exponent.Draw(t, "a"), exponent.Draw(t, "b")}
		constant := rapid.Float64Range(1e-6, 1e3).Draw(t, "constant")
		var x [][]float64
		var y []float64
		for _, u := range []float64{1, 3, 10} {
			for _, v := range []float64{2, 20} {
				x, y = append(x, []float64{u, v}), append(y, constant*math.Pow(u, want[0])*math.Pow(v, want[1]))
			}
		}
		p, err := FitPower([]string{"u", "v"}, x, y)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if math.Abs(p.Exponents[i]-want[i]) > 1e-9 {
				t.Errorf("exponents %v, want %v", p.Exponents, want)
			}
		}
		if math.Abs(math.Log(p.Constant/constant)) > 1e-8 {
			t.Errorf("constant %v, want %v", p.Constant, constant)
		}
		if p.Spread > 1+1e-6 {
			t.Errorf("spread %v without noise", p.Spread)
		}
	})
}

// Of y = 2x at x = 1, 2, 4 times the factors e^d, e^−2d, e^d the slope is that of
// the law still, because the noise is orthogonal to the line; the residuals are the
// noise.
func TestFitPowerNoise(t *testing.T) {
	const d = 0.1
	p, err := FitPower([]string{"x"}, [][]float64{{1}, {2}, {4}}, []float64{2 * math.Exp(d), 4 * math.Exp(-2*d), 8 * math.Exp(d)})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(p.Exponents[0]-1) > 1e-12 || math.Abs(math.Log(p.Constant/2)) > 1e-12 {
		t.Errorf("fit %v x^%v, want 2 x^1", p.Constant, p.Exponents[0])
	}
	if want := math.Exp(d * math.Sqrt(2)); math.Abs(p.Spread-want) > 1e-12 {
		t.Errorf("spread %v, want %v", p.Spread, want)
	}
	// σ² = 6d²/(3−2), Σ(log x − mean)² = 2 log²2.
	if want := d * math.Sqrt(3) / math.Ln2; math.Abs(p.StdErrs[0]-want) > 1e-12 {
		t.Errorf("standard error %v, want %v", p.StdErrs[0], want)
	}
}

func TestFitPowerRefuses(t *testing.T) {
	for _, c := range []struct {
		x    [][]float64
		y    []float64
		want string
	}{
		{[][]float64{{1}}, []float64{1}, "1 points for 2 parameters"},
		{[][]float64{{1}, {0}}, []float64{1, 1}, "x is 0, not positive"},
		{[][]float64{{1}, {2}}, []float64{1, -1}, "-1 is not positive"},
		{[][]float64{{2}, {2}, {2}}, []float64{1, 2, 3}, "do not vary independently"},
	} {
		if _, err := FitPower([]string{"x"}, c.x, c.y); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.x, err, c.want)
		}
	}
}

// The makespan of the longest-first rule is at least what any schedule needs, and
// at most 4/3 of the best (Graham 1969), which is at most the mean load and the
// longest job together.
func TestMakespanBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := rapid.SliceOfN(rapid.Float64Range(0, 100), 1, 40).Draw(t, "jobs")
		cores := rapid.IntRange(1, 10).Draw(t, "cores")
		sum, longest := 0.0, 0.0
		for _, j := range jobs {
			sum, longest = sum+j, max(longest, j)
		}
		low := max(sum/float64(cores), longest)
		if got := Makespan(jobs, cores); got < low-1e-9 || got > sum/float64(cores)+longest+1e-9 {
			t.Errorf("makespan %v, lower bound %v", got, low)
		}
	})
	// Graham's worst case of two cores: 3, 3, 2, 2, 2 takes 7, the best is 6.
	if got := Makespan([]float64{2, 3, 2, 3, 2}, 2); got != 7 {
		t.Errorf("makespan %v, want 7", got)
	}
}

// The rate is that of the second half, of all runs of a series together.
func TestRates(t *testing.T) {
	rec := func(id string, cpu ...float64) *record.Record {
		r := &record.Record{Header: record.Header{ID: id}}
		for i, c := range cpu {
			r.Points = append(r.Points, record.Point{Samples: 100 * (i + 1), Timing: record.Timing{CPU: c}})
		}
		r.Final = record.Final{Samples: 100 * len(cpu), ModelOrder: 10}
		return r
	}
	records := []*record.Record{
		rec("a", 100, 200, 201, 203), // 3 s for 200 samples
		rec("b", 0, 0, 3, 5),         // 5 s for 200
		rec("c", 1),                  // too few points
		rec("d", 1, 2, 3, 4),         // not asked for
	}
	rates := Rates(records, func(r *record.Record) string {
		if r.Header.ID == "d" {
			return ""
		}
		return "all"
	})
	want := Rate{Series: "all", Runs: 2, Order: 10, Core: 8.0 / 400, Low: 3.0 / 200, High: 5.0 / 200, Timed: 8}
	if len(rates) != 1 || rates[0] != want {
		t.Errorf("rates %+v, want %+v", rates, want)
	}
}

// Every profile that experiments know is one of a measurement, and its grid has
// what the fits need.
func TestGridsCanBeFitted(t *testing.T) {
	for _, profile := range experiments.Profiles() {
		grid := Grid(profile)
		for i := range grid {
			grid[i].MeanOrder, grid[i].Seconds = float64(grid[i].Order), 1
		}
		fit, err := FitSteps(grid, "multi-hinge", 0, 0)
		if err != nil {
			t.Fatal(profile, err)
		}
		for _, e := range fit.Exponents {
			if math.Abs(e) > 1e-9 {
				t.Errorf("%s: exponents %v of a constant", profile, fit.Exponents)
			}
		}
	}
}
