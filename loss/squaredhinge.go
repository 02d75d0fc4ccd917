package loss

// SquaredHinge is the squared hinge for y = ±1, without a factor ½:
//
//	ℓ(f, y) = max(0, 1 − y·f)²
type SquaredHinge struct{}

func init() { Register(SquaredHinge{}) }

// Name returns "squared-hinge".
func (SquaredHinge) Name() string { return "squared-hinge" }

// Outputs returns 1.
func (SquaredHinge) Outputs(int) int { return 1 }

// Binary does nothing: see [Binary].
func (SquaredHinge) Binary() {}

// Value returns max(0, 1 − y·f)².
func (SquaredHinge) Value(f []float64, y float64) float64 {
	m := max(0, 1-float64(y*f[0]))
	return m * m
}

// Gradient writes −2y·max(0, 1 − y·f) to g.
func (SquaredHinge) Gradient(g, f []float64, y float64) float64 {
	m := max(0, 1-float64(y*f[0]))
	g[0] = 0
	if m > 0 {
		g[0] = -2 * y * m
	}
	return m * m
}
