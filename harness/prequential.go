package harness

import (
	"fmt"

	"polkrepro/kernel"
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
func (p *prequential) add(s kernel.Scored, y []float64) error {
	rows := len(y)
	if s.Samples != nil {
		rows = len(s.Samples)
	}
	if len(s.Scores) != rows*p.outputs {
		return fmt.Errorf("%d scores of a step on %d samples: want %d each", len(s.Scores), rows, p.outputs)
	}
	for row := range rows {
		i := row
		if s.Samples != nil {
			i = s.Samples[row]
		}
		p.tally.add(s.Scores[row*p.outputs:(row+1)*p.outputs], y[i])
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
