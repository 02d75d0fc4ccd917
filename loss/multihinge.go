package loss

// MultiHinge is the multi-class hinge of Crammer and Singer, the data term of
// the paper's eq. (multi_svm):
//
//	ℓ(f, y) = max(0, 1 + f_r − f_y),  r = argmax_{c≠y} f_c
//
// Ties for r go to the lowest index. Where the value is 0 the gradient is the zero vector, so
// that such samples do not change a learner's dictionary. MultiHinge needs at least two scores.
type MultiHinge struct{}

func init() { Register(MultiHinge{}) }

// Name returns "multi-hinge".
func (MultiHinge) Name() string { return "multi-hinge" }

// Outputs returns classes.
func (MultiHinge) Outputs(classes int) int { return classes }

// Value returns max(0, 1 + f_r − f_y).
func (MultiHinge) Value(f []float64, y float64) float64 {
	r := Rival(f, int(y))
	return max(0, 1+(f[r]-f[int(y)]))
}

// Gradient writes e_r − e_y to g, or 0 if the margin is met.
func (l MultiHinge) Gradient(g, f []float64, y float64) float64 {
	clear(g)
	r := Rival(f, int(y))
	v := max(0, 1+(f[r]-f[int(y)]))
	if v > 0 {
		g[r], g[int(y)] = 1, -1
	}
	return v
}

// Rival returns r = argmax_{c≠y} f_c, the strongest wrong class; ties go to
// the lowest index.
func Rival(f []float64, y int) int {
	r := -1
	for c, v := range f {
		if c != y && (r < 0 || v > f[r]) {
			r = c
		}
	}
	return r
}
