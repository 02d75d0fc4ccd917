package loss

// A Flat loss is constant around some scores: those that meet their margin.
type Flat interface {
	Loss

	// Slack returns how much every score may change, at least, before the
	// gradient is other than zero: 0 or less where it is not zero now.
	Slack(f []float64, y float64) float64
}

var (
	_ Flat = MultiHinge{}
	_ Flat = SquaredHinge{}
)

// Slack returns (f_y − f_r − 1)/2: both scores may change.
func (MultiHinge) Slack(f []float64, y float64) float64 {
	return (f[int(y)] - f[Rival(f, int(y))] - 1) / 2
}

// Slack returns y·f − 1.
func (SquaredHinge) Slack(f []float64, y float64) float64 { return float64(y*f[0]) - 1 }
