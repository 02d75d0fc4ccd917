package loss

// A Flat loss is constant near scores that meet their margin.
type Flat interface {
	Loss

	// Slack returns an amount by which every score may change without making the
	// gradient nonzero. It is 0 or less if the gradient is nonzero at f.
	Slack(f []float64, y float64) float64
}

var (
	_ Flat = MultiHinge{}
	_ Flat = SquaredHinge{}
)

// Slack returns (f_y − f_r − 1)/2, half the excess margin because both scores may change.
func (MultiHinge) Slack(f []float64, y float64) float64 {
	return (f[int(y)] - f[Rival(f, int(y))] - 1) / 2
}

// Slack returns y·f − 1.
func (SquaredHinge) Slack(f []float64, y float64) float64 { return float64(y*f[0]) - 1 }
