package harness

import (
	"fmt"

	"polkrepro/record"
)

// A prequential adds up the losses and errors of samples before the learner learns from
// them: test, then train.
type prequential struct {
	outputs int
	tally   tally
	samples int
}

// add adds a mini-batch with targets y by its scores before the step.
func (p *prequential) add(scores []float64, y []float64) error {
	if len(scores) != len(y)*p.outputs {
		return fmt.Errorf("%d scores of a step on %d samples: want %d each", len(scores), len(y), p.outputs)
	}
	for i, target := range y {
		p.tally.add(scores[i*p.outputs:(i+1)*p.outputs], target)
	}
	p.samples += len(y)
	return nil
}

// figures returns the means so far, or nil if there are no samples or a mean is not finite.
func (p *prequential) figures() *record.Prequential {
	if p.samples == 0 {
		return nil
	}
	mean, wrong := p.tally.means(p.samples)
	if !finite(mean) || !finite(wrong) {
		return nil
	}
	return &record.Prequential{Loss: mean, Error: wrong}
}
