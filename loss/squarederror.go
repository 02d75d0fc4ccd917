package loss

// SquaredError is the squared error of regression:
//
//	ℓ(f, y) = ½(f − y)²
type SquaredError struct{}

func init() { Register(SquaredError{}) }

// Name returns "squared-error".
func (SquaredError) Name() string { return "squared-error" }

// Outputs returns 1.
func (SquaredError) Outputs(int) int { return 1 }

// Value returns ½(f − y)².
func (SquaredError) Value(f []float64, y float64) float64 {
	d := f[0] - y
	return d * d / 2
}

// Gradient writes f − y to g.
func (l SquaredError) Gradient(g, f []float64, y float64) float64 {
	g[0] = f[0] - y
	return l.Value(f, y)
}
