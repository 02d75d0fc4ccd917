package report

import (
	"fmt"
	"math"
	"slices"

	"polkrepro/evidence/stats"
	"polkrepro/internal/words"
)

// A Stat is a mean over runs and its spread. A number that does not exist is NaN, null in JSON.
type Stat struct {
	Mean     words.Nullable `json:"mean"`     // mean of the runs that did not diverge
	SD       words.Nullable `json:"sd"`       // sample standard deviation of the runs that did not diverge; 0 for one run
	Low      words.Nullable `json:"low"`      // lower end of Student's 90 % interval of the mean; null for fewer than 3 runs, or if one diverged
	High     words.Nullable `json:"high"`     // upper end of Student's 90 % interval of the mean; null for fewer than 3 runs, or if one diverged
	N        int            `json:"runs"`     // number of runs with a record
	Diverged int            `json:"diverged"` // number of runs whose value is not finite
}

// statOf returns the mean and spread of values.
func statOf(values []float64) Stat {
	finite := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !words.Finite(v) })
	none := words.Nullable(math.NaN())
	s := Stat{none, none, none, none, len(values), len(values) - len(finite)}
	if len(finite) == 0 {
		return s
	}
	s.Mean, s.SD = words.Nullable(mean(finite)), words.Nullable(deviation(finite))
	if e := stats.Mean(finite); s.Diverged == 0 && e.Basis != stats.Point {
		s.Low, s.High = words.Nullable(e.Low), words.Nullable(e.High)
	}
	return s
}

// mean returns the mean of values, NaN if there are none. It divides each value by the count
// before it adds, so that a sum of huge risks does not overflow.
func mean(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	first, sum := values[0], 0.0
	for _, v := range values {
		sum += v/float64(len(values)) - first/float64(len(values))
	}
	return first + sum
}

// deviation returns the sample standard deviation of values, 0 for fewer than two.
func deviation(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	m, sum := mean(values), 0.0
	for _, v := range values {
		sum = math.Hypot(sum, v-m)
	}
	return sum / math.Sqrt(float64(len(values)-1))
}

// The three quantities of a cell, in the paper's order.
const (
	qRisk = iota
	qError
	qOrder
	quantityCount
)

// Quantities are the names of the quantities of a cell.
var Quantities = [quantityCount]string{"risk", "error", "order"}

// text writes the mean and, for several runs, the standard deviation; if runs diverged, it counts
// them instead.
func (s Stat) text(q int) string {
	switch {
	case s.N == 0:
		return ""
	case s.Diverged > 0:
		return fmt.Sprintf("%d of %d diverged", s.Diverged, s.N)
	case s.N == 1:
		return number(s.Mean, q, s.Mean)
	}
	return number(s.Mean, q, s.Mean) + " ± " + number(s.SD, q, s.Mean)
}

// full writes the mean, the standard deviation and, in brackets, the interval.
func (s Stat) full(q int) string {
	if interval := s.interval(q); interval != "" {
		return s.text(q) + " (" + interval + ")"
	}
	return s.text(q)
}

// interval writes the 90 % interval of the mean; it returns an empty string if there is none.
func (s Stat) interval(q int) string {
	if !words.Finite(float64(s.Low)) {
		return ""
	}
	return between(s.Low, s.High, q, s.Mean)
}

// between writes the range from low to high with the decimals that suit a value of quantity q of
// the size of like.
func between[F ~float64](low, high F, q int, like F) string {
	from, to := number(low, q, like), number(high, q, like)
	if from == to {
		return from
	}
	return from + " to " + to
}

// number writes v with the decimals that suit a value of quantity q of the size of like.
func number[F ~float64](value F, q int, like F) string {
	v, size := float64(value), math.Abs(float64(like))
	decimals := 3
	switch {
	case !words.Finite(v):
		return words.Exact(v)
	case size >= 1e6 || q == qRisk && size > 0 && size < 1e-4:
		return fmt.Sprintf("%.2e", v)
	case q == qError:
		decimals = 2
	case q == qOrder && (size >= 100 || v == math.Trunc(v)):
		decimals = 0
	case q == qOrder:
		decimals = 1
	case size > 0: // three significant digits of size
		decimals = min(7, max(0, 2-int(math.Floor(math.Log10(size)))))
	}
	return fmt.Sprintf("%.*f", decimals, v)
}

// difference writes the difference of a mean from the paper's value: in points for an error rate,
// otherwise in per cent of the paper's value, or as a factor from ten times that value on.
func difference(s Stat, paper *float64, q int) string {
	if s.N == 0 || s.Diverged > 0 || paper == nil {
		return ""
	}
	ours := float64(s.Mean)
	d := ours - *paper
	switch {
	case q == qError:
		return words.Signed(d, 2)
	case *paper == 0:
		return ""
	case ours / *paper >= 10:
		return fmt.Sprintf("×%.2g", ours / *paper)
	}
	return words.Signed(100*d / *paper, 0) + " %"
}
