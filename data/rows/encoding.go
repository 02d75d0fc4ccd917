package rows

import (
	"fmt"
	"math"
	"slices"

	"polkrepro/internal/portable"
)

// A Scale says how features are scaled, each by its values in some rows.
type Scale string

const (
	ScaleNone     Scale = "none"
	ScaleStandard Scale = "standard" // mean 0, standard deviation 1
	ScaleUnit     Scale = "unit"     // smallest value 0, largest 1
)

// Scales returns all ways to scale.
func Scales() []string {
	return []string{string(ScaleNone), string(ScaleStandard), string(ScaleUnit)}
}

// An Encoding says how rows become numbers to learn from, and how predictions become labels.
type Encoding struct {
	Labels   []string // labels of the classes, in order; nil for a regression
	Scaling  Scaling  // of the features
	Constant int      // number of features that are the same in all rows; 0 for ScaleNone

	// Mean and standard deviation of the targets of a regression.
	Mean, Deviation float64
}

// Fit fits an encoding to training rows, or to the first rows of a stream, with at most dim
// features. labels has the counted labels, or is nil for a regression. Fit returns an error
// if no finite factor scales a feature. With ScaleNone it returns an error if float32 is too
// coarse for the differences of a feature.
func Fit(rows []Row, dim int, scale Scale, labels *Labels) (e Encoding, err error) {
	if labels != nil {
		e.Labels = labels.Sorted()
	} else {
		y := make([]float64, len(rows))
		for i := range rows {
			if y[i], err = ParseNumber(rows[i].Label); err != nil {
				return e, err
			}
		}
		e.Mean, e.Deviation = portable.MeanDeviation(y)
	}
	e.Scaling, e.Constant, err = newScaling(scale, rows, dim)
	return e, err
}

// A Scaling maps feature q of x to (x_q − Shift_q)·Factor_q. The zero value
// leaves x as it is.
type Scaling struct {
	Shift, Factor []float64
}

// newScaling returns the scaling of rows with at most dim features, and the number
// of constant features, which ScaleNone does not count. Constant features get the
// factor 0, because the effect of a change in them can't be known.
func newScaling(s Scale, rows []Row, dim int) (out Scaling, constant int, err error) {
	if s != ScaleNone {
		out = Scaling{make([]float64, dim), make([]float64, dim)}
	}
	var columns [columnBlock][]float64
	for k := range min(dim, columnBlock) {
		columns[k] = make([]float64, len(rows))
	}
	next := make([]int, len(rows))
	for q := range dim {
		if q%columnBlock == 0 {
			for i := range rows {
				for k := range min(dim-q, columnBlock) {
					columns[k][i] = valueOf(&rows[i], q+k, &next[i])
				}
			}
		}
		column := columns[q%columnBlock]
		least, most := slices.Min(column), slices.Max(column)
		if s == ScaleNone {
			if err := checkRounding(q, column, least, most); err != nil {
				return out, 0, err
			}
			continue
		}
		if least == most {
			out.Shift[q] = least
			constant++
			continue
		}
		shift, spread := least, most-least
		if s == ScaleStandard {
			shift, spread = portable.MeanDeviation(column)
		}
		if factor := 1 / spread; factor > 0 && !math.IsInf(factor, 1) {
			out.Shift[q], out.Factor[q] = shift, factor
			continue
		}
		return out, 0, fmt.Errorf("feature %d goes from %v to %v: too wide or too narrow to scale", q+1, least, most)
	}
	return out, constant, nil
}

// columnBlock is the number of features collected in one pass over the rows: this many lie
// together in memory.
const columnBlock = 16

// valueOf returns feature q of a row. next is the position of the row's first value
// of feature q or a later feature; valueOf moves it past feature q.
func valueOf(row *Row, q int, next *int) float64 {
	at := *next
	if at == len(row.Values) || row.Indices != nil && int(row.Indices[at]) != q {
		return 0
	}
	*next++
	return row.Values[at]
}

// coarsest is the largest allowed rounding error of an unscaled feature, relative
// to its spread: a feature keeps a few hundred values.
const coarsest = 1e-3

// checkRounding returns an error if float32 is too coarse for a feature.
func checkRounding(q int, column []float64, least, most float64) error {
	var rounding float64
	for _, v := range column {
		rounding = max(rounding, math.Abs(float64(float32(v))-v))
	}
	if rounding <= coarsest*(most-least) || least == most || math.IsInf(rounding, 1) {
		return nil // Apply reports values that are too large
	}
	return fmt.Errorf("feature %d ranges from %v to %v, but float32 rounds it by up to %.2g: scale the features", q+1, least, most, rounding)
}

// Apply scales the features of a row in float64, rounds them and writes them to x.
func (s *Scaling) Apply(x []float32, row []float64) error {
	for q, v := range row {
		if s.Shift != nil {
			v = (v - s.Shift[q]) * s.Factor[q]
		}
		x[q] = float32(v)
		if x[q]-x[q] != 0 {
			return fmt.Errorf("feature %d is %.6g, which is not finite or too large for a float32 once it is scaled", q+1, row[q])
		}
	}
	return nil
}
