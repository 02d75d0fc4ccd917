package kernel

// A Model is what a learner has learned: functions f_1, …, f_C of a point.
type Model interface {
	// Order returns the model order: how many elements or features there are.
	Order() int
	// NormSq returns Σ_c ‖f_c‖², NaN of functions that have no norm.
	NormSq(threads int) float64
	// Scores writes f_c(x_i) to dst, n×C row-major, for x of n×Dim. The result does not
	// depend on threads.
	Scores(n int, x []float32, dst []float64, threads int)
}

var _ Model = (*Expansion)(nil)

// Scored are scores f_t(x_i) that a step computed before it learned.
type Scored struct {
	// Samples has the indices in the mini-batch of those with scores, nil for all of them.
	// A sample that is left out met its margin: it has no loss and is decided correctly.
	Samples []int
	Scores  []float64 // of these samples, row by row
}
