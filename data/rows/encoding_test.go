package rows

import (
	"math"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
)

// column returns rows of one feature.
func column(values ...float64) (rows []Row) {
	for _, v := range values {
		rows = append(rows, Row{Values: []float64{v}, Dim: 1})
	}
	return rows
}

// A feature is constant only if all its values are the same, in whatever unit.
func TestScalingOfExtremes(t *testing.T) {
	for _, s := range []Scale{ScaleStandard, ScaleUnit} {
		for _, unit := range []float64{1, 1e-200, 1e200} {
			out, constant, err := newScaling(s, column(unit, 2*unit, 4*unit), 1)
			if err != nil || constant != 0 {
				t.Fatalf("%s, unit %g: %d constant, %v", s, unit, constant, err)
			}
			var x [2]float32
			testutil.NoError(t, out.Apply(x[:1], []float64{unit}))
			if err := out.Apply(x[1:], []float64{4 * unit}); err != nil || !(x[1]-x[0] >= 0.9) {
				t.Errorf("%s, unit %g: %v, %v", s, unit, x, err)
			}
		}
		if _, constant, err := newScaling(s, column(1e200, 1e200), 1); err != nil || constant != 1 {
			t.Errorf("%s: %d constant, %v", s, constant, err)
		}
		if _, _, err := newScaling(s, column(0, 5e-324), 1); err == nil || !strings.Contains(err.Error(), "feature 1 goes from 0 to 5e-324: too wide or too narrow to scale") {
			t.Errorf("%s: %v", s, err)
		}
	}
	if _, _, err := newScaling(ScaleUnit, column(-1.5e308, 1.5e308), 1); err == nil {
		t.Error("no error of a range that no float64 holds")
	}
}

// Standard scaling gives mean 0 and standard deviation 1.
func TestStandardScaling(t *testing.T) {
	rows := column(1, 2, 3, 6)
	s, _, err := newScaling(ScaleStandard, rows, 1)
	testutil.NoError(t, err)
	var sum, sum2 float64
	for _, row := range rows {
		var x [1]float32
		testutil.NoError(t, s.Apply(x[:], row.Values))
		sum, sum2 = sum+float64(x[0]), sum2+float64(x[0])*float64(x[0])
	}
	if !(math.Abs(sum) <= 1e-6) || !(math.Abs(sum2/4-1) <= 1e-6) {
		t.Errorf("sum %v, mean square %v", sum, sum2/4)
	}
}
