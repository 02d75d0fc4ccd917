package kernel

// A Snapshot holds what an [Evaluator] needs of an expansion at one moment,
// so that the expansion may go on changing. The zero value is ready for Take
// and keeps its memory from one to the next. It must not be shared by
// goroutines.
type Snapshot struct {
	kernel       Kernel
	dim, outputs int
	ids          []uint64
	x            []float32 // M×dim
	w            []float64 // M×outputs
	whole        *Expansion
}

// Take copies the expansion: M×Dim float32 features and M×Outputs float64
// weights, but not the packed form of the dictionary.
func (s *Snapshot) Take(e *Expansion) {
	s.kernel, s.dim, s.outputs = e.Kernel, e.Dict.Dim(), e.Outputs
	s.ids = append(s.ids[:0], e.Dict.ids...)
	s.x = append(s.x[:0], e.Dict.raw...)
	s.w = append(s.w[:0], e.W...)
	s.whole = nil
}

// Order returns the model order M.
func (s *Snapshot) Order() int { return len(s.ids) }

// NormSq returns Σ_c ‖f_c‖². For many snapshots an Evaluator is faster.
func (s *Snapshot) NormSq(threads int) float64 { return s.expansion().NormSq(threads) }

// Scores is [Scorer.Scores] of the snapshot. For many snapshots an Evaluator is faster.
func (s *Snapshot) Scores(n int, x []float32, dst []float64, threads int) {
	s.expansion().Scores(n, x, dst, threads)
}

// Keep returns the snapshot, which nothing changes but Take.
func (s *Snapshot) Keep(Model) Model { return s }

// vector returns dictionary element j, without copying.
func (s *Snapshot) vector(j int) []float32 { return s.x[j*s.dim : (j+1)*s.dim] }

// expansion returns the snapshot in the form that can be evaluated from
// scratch; the dictionary is packed once.
func (s *Snapshot) expansion() *Expansion {
	if s.whole == nil {
		e := NewExpansion(s.kernel, s.dim, s.outputs)
		for j := range s.ids {
			e.Dict.Append(s.vector(j))
		}
		e.W = s.w
		s.whole = e
	}
	return s.whole
}
