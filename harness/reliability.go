package harness

import (
	"math"
	"slices"

	"polkrepro/loss"
	"polkrepro/record"
)

// reliability compares the class probabilities of scores, which have a row for each target,
// with the targets y. It returns nil if a probability is NaN.
func reliability(l loss.Probabilistic, scores, y []float64, logLoss float64) *record.Reliability {
	c := len(scores) / len(y)
	p := make([]float64, max(2, c)) // a loss with one output has two classes
	bins := make([]record.Bin, record.ReliabilityBins)
	for i, target := range y {
		f := scores[i*c : (i+1)*c]
		l.Probabilities(p, f)
		confidence := slices.Max(p) // NaN if any is
		if !(confidence > 0) {
			return nil
		}
		b := &bins[min(int(math.Ceil(confidence*record.ReliabilityBins)), record.ReliabilityBins)-1]
		b.Count++
		b.Confidence += confidence
		if loss.Decide(f) == target {
			b.Accuracy++
		}
	}
	out := &record.Reliability{LogLoss: logLoss, Bins: bins}
	for i := range bins {
		b := &bins[i]
		if n := float64(b.Count); n > 0 {
			b.Confidence /= n
			b.Accuracy /= n
			out.CalibrationError += float64(n / float64(len(y)) * math.Abs(b.Accuracy-b.Confidence))
		}
	}
	return out
}
