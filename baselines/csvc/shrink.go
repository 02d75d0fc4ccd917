package csvc

// shrink removes points from the active set that are at a bound and that the optimality
// conditions leave there: points only in I_up with v_i < M, and points only in I_low with v_i > m
// (LIBSVM, section 5.1). Once, when m − M ≤ 10ε, it restores all points first, because a wrong
// guess made far from the optimum would be expensive near it.
func (s *solver) shrink() {
	s.findExtremes()
	m, least := s.m, s.least
	if !s.unshrunk && m-least <= 10*s.tolerance {
		s.unshrunk = true
		s.restore()
	}
	kept := s.active[:0]
	for _, t := range s.active {
		idle := s.side[t] == up && s.v[t] < least || s.side[t] == low && s.v[t] > m
		if !idle {
			kept = append(kept, t)
		}
	}
	s.active = kept
	s.findExtremes()
}

// restore makes all points active. LIBSVM stores the part of the gradient that is due to points
// at the bound C. Here it is recomputed, which happens a few times per run and saves a pass over
// a row whenever a point reaches the bound.
func (s *solver) restore() {
	if len(s.active) == s.n {
		return
	}
	s.restored++
	idle := s.idle()
	for _, t := range idle {
		s.v[t] = s.label(int(t))
	}
	// v_t = y_t − Σ_i β_i κ(x_i, x_t), row by row over the support vectors: this takes few rows
	// of K, and reads each row as it lies in memory.
	for i, b := range s.beta {
		if b == 0 {
			continue
		}
		row := s.rows.get(i, s.laterSupport)
		for _, t := range idle {
			s.v[t] -= float64(b * float64(row[t]))
		}
	}
	s.activateAll()
	s.findExtremes()
}

// idle returns the points that are not active, ascending.
func (s *solver) idle() []int32 {
	idle := make([]int32, 0, s.n-len(s.active))
	next := 0
	for i := range s.n {
		if next < len(s.active) && int(s.active[next]) == i {
			next++
			continue
		}
		idle = append(idle, int32(i))
	}
	return idle
}

// laterSupport returns the points after i whose rows restore will need next.
func (s *solver) laterSupport(i int) []int {
	s.likely = s.likely[:0]
	for t := i + 1; t < s.n && len(s.likely) < rowBatch-1; t++ {
		if s.beta[t] != 0 && !s.rows.has(t) {
			s.likely = append(s.likely, t)
		}
	}
	return s.likely
}

// violators returns the active points, other than i, whose rows are not kept and that lie
// farthest on the wrong side of the middle between m and M.
func (s *solver) violators(i int) []int {
	s.likely, s.scores = s.likely[:0], s.scores[:0]
	middle := (s.m + min(s.least, s.m)) / 2
	for _, t := range s.active {
		score := s.v[t] - middle
		if s.side[t] == low || s.side[t] == up|low && score < 0 {
			score = -score
		}
		if int(t) != i && !s.rows.has(int(t)) {
			s.rank(int(t), score)
		}
	}
	return s.likely
}

// rank inserts t into the list of at most rowBatch−1 points, in order of decreasing score.
func (s *solver) rank(t int, score float64) {
	at := len(s.likely)
	if at == rowBatch-1 {
		if score <= s.scores[at-1] {
			return
		}
		at--
	} else {
		s.likely, s.scores = append(s.likely, t), append(s.scores, score)
	}
	for ; at > 0 && s.scores[at-1] < score; at-- {
		s.likely[at], s.scores[at] = s.likely[at-1], s.scores[at-1]
	}
	s.likely[at], s.scores[at] = t, score
}
