package harness

import (
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/record"
)

// A scored learner keeps the scores that its latest step computed before it learned.
type scored interface {
	// Scored returns the scores f_t(x_i) of samples of the latest mini-batch, row by
	// row, and the samples' indices; nil for all of them in their order. A sample that
	// is left out met its margin: it has no loss and is decided correctly. Both are
	// the learner's own until the next step.
	Scored() (samples []int, scores []float64)
}

// A prequential adds up loss and errors of samples that a learner is about to learn
// from: test, then train. A scored learner tells its scores; of another one the model is
// evaluated before each step.
type prequential struct {
	learner Learner
	classes int
	tally   tally
	samples int

	scored scored // the learner, or nil
	scorer kernel.Scorer
	scores []float64
}

func newPrequential(l Learner, ell loss.Loss, classes int) *prequential {
	s, _ := l.(scored)
	return &prequential{learner: l, classes: classes, tally: tally{loss: ell}, scored: s}
}

// before scores the next mini-batch, unless the learner will.
func (p *prequential) before(n int, x []float32, threads int) {
	if p == nil || p.scored != nil {
		return
	}
	c := p.tally.loss.Outputs(p.classes)
	if cap(p.scores) < n*c {
		p.scores = make([]float64, n*c)
	}
	p.scores = p.scores[:n*c]
	if f, ok := p.learner.(featured); ok {
		f.Model().Scores(n, x, p.scores, threads)
		return
	}
	p.scorer.Scores(p.learner.Expansion(), n, x, p.scores, threads)
}

// after takes in the mini-batch of targets y that the learner has learned from.
func (p *prequential) after(y []float64) {
	if p == nil {
		return
	}
	var samples []int
	scores := p.scores
	if p.scored != nil {
		samples, scores = p.scored.Scored()
	}
	c := p.tally.loss.Outputs(p.classes)
	for row := range len(scores) / c {
		i := row
		if samples != nil {
			i = samples[row]
		}
		p.tally.add(scores[row*c:(row+1)*c], y[i])
	}
	p.samples += len(y)
}

// figures returns the means so far, nil if there are none or they are not finite.
func (p *prequential) figures() *record.Prequential {
	if p == nil {
		return nil
	}
	mean, wrong := p.tally.means(p.samples)
	if !finite(mean) || !finite(wrong) {
		return nil
	}
	return &record.Prequential{Loss: mean, Error: wrong}
}
