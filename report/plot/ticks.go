package plot

import (
	"math"
	"strconv"

	gonum "gonum.org/v1/plot"
)

// logAxis maps a positive range onto [0, 1] by the logarithm. A value that
// has no logarithm goes to the lower end, so that nothing panics.
type logAxis struct{}

var _ gonum.Normalizer = logAxis{}

// Normalize returns the logarithmic position of x between min and max.
func (logAxis) Normalize(min, max, x float64) float64 {
	if !(x > 0) || !(min > 0) || !(max > min) {
		return 0
	}
	low := math.Log(min)
	return math.Max(0, (math.Log(x)-low)/(math.Log(max)-low))
}

// logTicks labels a logarithmic axis. On a range within a factor of five it labels round numbers,
// on other short ranges 1, 2 and 5 times the powers of ten, and on long ranges the powers of ten,
// thinned out.
func logTicks(min, max float64) []gonum.Tick {
	if !(min > 0) || !(max > min) || math.IsInf(max, 0) {
		return nil
	}
	lo, hi := int(math.Floor(math.Log10(min))), int(math.Ceil(math.Log10(max)))
	decades := math.Log10(max) - math.Log10(min)
	if decades < 0.7 {
		return roundTicks(min, max, func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) })
	}
	var ticks []gonum.Tick
	for e := lo; e <= hi; e++ {
		for m := 1; m < 10; m++ {
			v := float64(m) * math.Pow10(e)
			if v < min || v > max {
				continue
			}
			labelled := m == 1 && (e-lo)%(int(decades/6)+1) == 0
			if decades < 2 {
				labelled = m == 1 || m == 2 || m == 5
			}
			if labelled {
				ticks = append(ticks, gonum.Tick{Value: v, Label: logLabel(m, e)})
			} else if decades < 6 {
				ticks = append(ticks, gonum.Tick{Value: v})
			}
		}
	}
	return ticks
}

// roundTicks labels at most six round numbers.
func roundTicks(min, max float64, label func(float64) string) (ticks []gonum.Tick) {
	for _, v := range RoundNumbers(min, max, 5) {
		ticks = append(ticks, gonum.Tick{Value: v, Label: label(v)})
	}
	return ticks
}

// logLabel writes m·10^e: plainly near one, as a power of ten elsewhere.
func logLabel(m, e int) string {
	switch {
	case -3 <= e && e < 4:
		return strconv.FormatFloat(float64(m)*math.Pow10(e), 'f', max(0, -e), 64)
	case m == 1:
		return "10^{" + strconv.Itoa(e) + "}"
	}
	return strconv.Itoa(m) + "x10^{" + strconv.Itoa(e) + "}"
}

// countTicks labels a linear axis that starts at or near zero with at most
// six round numbers, thousands as k and millions as M.
func countTicks(min, max float64) []gonum.Tick {
	return roundTicks(min, max, func(v float64) string { return CountLabel(v, max) })
}

// RoundNumbers returns round numbers between min and max, at most parts + 1 of them.
func RoundNumbers(min, max float64, parts int) []float64 {
	step := RoundStep((max - min) / float64(parts))
	if step == 0 {
		return nil
	}
	var out []float64
	for i := math.Ceil(min / step); i*step <= max+1e-9*math.Abs(max); i++ {
		out = append(out, i*step)
	}
	return out
}

// RoundStep returns the least of 1, 2, 2.5 and 5 times a power of ten that is not below x, or 0
// if there is none.
func RoundStep(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return 0
	}
	base := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*base >= x*(1-1e-9) {
			return m * base
		}
	}
	return 10 * base
}

// CountLabel writes a count in short form. Counts below a million are in thousands if the largest
// on the axis is at least ten thousand.
func CountLabel(v, largest float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 1e9:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case v >= 1e6:
		return Trimmed(v/1e6) + "M"
	case largest >= 1e4:
		return Trimmed(v/1e3) + "k"
	}
	return Trimmed(v)
}

// Trimmed writes v with at most three decimals and no trailing zeros. Adding 0 makes −0 a 0.
func Trimmed(v float64) string { return strconv.FormatFloat(math.Round(1e3*v)/1e3+0, 'f', -1, 64) }
