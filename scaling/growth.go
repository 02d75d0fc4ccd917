package scaling

// A Growth is the cost of one method's training on multidist by the number N of
// samples.
type Growth struct {
	Method string // as specs name it
	Task   string // ksvm or klr
	Batch  bool   // a training for each N; otherwise one stream that never repeats
	Points []GrowthPoint
}

// A GrowthPoint is one N.
type GrowthPoint struct {
	Samples int
	Seconds float64 // from the first sample to this one
	Order   int
}

// Fit fits the seconds by N, on the points from so many samples on.
func (g Growth) Fit(from int) (Power, error) {
	var x [][]float64
	var y []float64
	for _, p := range g.Points {
		if p.Samples >= from {
			x, y = append(x, []float64{float64(p.Samples)}), append(y, p.Seconds)
		}
	}
	return FitPower([]string{"N"}, x, y)
}
