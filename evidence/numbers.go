package evidence

// Numbers returns the verdicts on the numbers that the paper prints in its
// tables: one for each risk, error and model order of each cell.
func (a *Assessment) Numbers() Counts {
	var n Counts
	for _, c := range a.Claims {
		if !c.Claim.Cell {
			continue
		}
		for _, t := range c.Tests {
			if t.Test.Paper == nil {
				continue
			}
			n.add(t.Verdict)
			if t.Verdict == Deviates && t.Test.Explained != "" {
				n.Explained++
			}
		}
	}
	return n
}

// add counts a verdict.
func (n *Counts) add(v Verdict) {
	switch v {
	case Reproduced:
		n.Reproduced++
	case Inconclusive:
		n.Inconclusive++
	case NotRun:
		n.NotRun++
	case Deviates:
		n.Deviates++
	}
}
