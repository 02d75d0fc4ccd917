package evidence

import (
	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
)

// A Contrast is the estimate of a contrast of the ledger, in points.
type Contrast struct {
	ledger.Contrast
	Means  [2]float64     // mean errors of both sides, in percent
	N      int            // number of pairs, or of runs of the side that has more
	Runs   stats.Estimate // from the scatter of the runs
	Tested stats.Estimate // with the variance of the test rows that all runs share, if they share them
}

// Contrasts estimates the contrasts of a ledger. It leaves out those that lack a run, and
// ignores in.Assume. It returns an error if no records can answer an alternative.
func Contrasts(in Input) (out []Contrast, err error) {
	in.Assume = nil
	for _, d := range in.Ledger.Contrasts {
		x := newIndex(in)
		if err := x.assume(d.Assume); err != nil {
			return nil, err
		}
		of, to := x.side(d.Of, false), x.side(d.To, false)
		if len(of.Runs) == 0 || len(to.Runs) == 0 || len(of.Missing)+len(to.Missing) > 0 {
			continue
		}
		e := difference(&of, &to)
		out = append(out, Contrast{
			Contrast: d, N: max(len(of.Runs), len(to.Runs)), Runs: e, Tested: e.Sampled(of.testVariance(d.Of) + to.testVariance(d.To)),
			Means: [2]float64{stats.Mean(of.values()).Value, stats.Mean(to.values()).Value},
		})
	}
	return out, nil
}

// difference estimates the mean of of minus that of to, in pairs if the runs are pairs.
func difference(of, to *Side) stats.Estimate {
	if a, b, paired := pairs(of, to); paired {
		return stats.PairedDifference(a, b)
	}
	return stats.Difference(of.values(), to.values())
}
