package kernel

// A Model is the result of learning: functions f_1, …, f_C of a point.
type Model interface {
	// Order returns the model order: the number of dictionary elements or features.
	Order() int
	// NormSq returns Σ_c ‖f_c‖², or NaN if the functions have no norm.
	NormSq(threads int) float64
	// Scores writes f_c(x_i) to dst, n×C row-major, for x of n×Dim. The result does not
	// depend on threads.
	Scores(n int, x []float32, dst []float64, threads int)
}

var _ Model = (*Expansion)(nil)
