package report

import (
	"errors"

	"polkrepro/loss"
	"polkrepro/scaling"
)

// A Scale is the figure of what training costs: the time of a sample by model
// order and by features, and that of a training by the number of samples.
type Scale struct {
	steps   []scaling.Step
	growths []scaling.Growth
}

// ScaleFigure makes the figure of what training costs.
func ScaleFigure(steps []scaling.Step, growths []scaling.Growth) *Scale {
	return &Scale{steps, growths}
}

// WriteAll writes figures/scale.{svg,png,pdf} into a folder and returns their
// paths. It returns an error if nothing was measured.
func (s *Scale) WriteAll(dir string) ([]string, error) {
	if len(s.steps) == 0 || len(s.growths) == 0 {
		return nil, errors.New("the figure of the costs has no points")
	}
	w := writer{dir: dir}
	w.picture("scale", s.picture())
	return w.paths, w.err
}

// shownMethods are the trainings in the figure, by method and task.
var shownMethods = []struct{ method, task, label string }{
	{"bsgd", "ksvm", "BSGD"}, {"csvc", "ksvm", "LIBSVM's C-SVC"}, {"lbfgs", "klr", "L-BFGS, logistic"},
}

// picture lays the figure out for drawing.
func (s *Scale) picture() *picture {
	at := s.reference()
	byOrder := panel{tag: "(a)", xlabel: "model order M", ylabel: "time of a sample (µs)", log: true}
	byFeatures := panel{tag: "(b)", xlabel: "features p", ylabel: "time of a sample (µs)", log: true}
	p := &picture{}
	for i, l := range []loss.Loss{loss.MultiHinge{}, loss.MultiLogistic{}} {
		lk := lookOf("polk", i)
		same := func(q scaling.Step) bool { return q.Loss == l.Name() && q.Batch == at.Batch && q.Classes == at.Classes }
		byOrder.traces = append(byOrder.traces, trace{look: lk, curve: s.curve(
			func(q scaling.Step) bool { return same(q) && q.Features == at.Features },
			func(q scaling.Step) float64 { return q.MeanOrder })})
		byFeatures.traces = append(byFeatures.traces, trace{look: lk, curve: s.curve(
			func(q scaling.Step) bool { return same(q) && q.Order == at.Order },
			func(q scaling.Step) float64 { return float64(q.Features) })})
	}
	p.panels = []panel{byOrder, byFeatures, s.trainings()}
	p.legend = legend{lineEntry("POLK, hinge", lookOf("polk", 0)), lineEntry("POLK, logistic", lookOf("polk", 1))}
	for _, m := range shownMethods {
		p.legend = append(p.legend, lineEntry(m.label, lookOf(m.method, 0)))
	}
	for i := range p.panels {
		p.panels[i].span()
	}
	return p
}

// reference is the configuration whose neighbours are drawn: of n = 32 the largest
// model order but one, features but one, and the middle number of classes.
func (s *Scale) reference() scaling.Step {
	pick := func(of func(scaling.Step) int, from int) int {
		var values []int
		for _, q := range s.steps {
			if q.Batch == 32 && (len(values) == 0 || of(q) > values[len(values)-1]) {
				values = append(values, of(q))
			}
		}
		return values[max(0, min(len(values)-1, len(values)-from))]
	}
	return scaling.Step{Batch: 32,
		Order:    pick(func(q scaling.Step) int { return q.Order }, 2),
		Features: pick(func(q scaling.Step) int { return q.Features }, 2),
		Classes:  pick(func(q scaling.Step) int { return q.Classes }, 2)}
}

// curve is the time of a sample, in µs, of some steps.
func (s *Scale) curve(of func(scaling.Step) bool, x func(scaling.Step) float64) []sample {
	var out []sample
	for _, q := range s.steps {
		if of(q) {
			y := 1e6 * q.PerSample()
			out = append(out, sample{x: x(q), mean: y, low: y, high: y})
		}
	}
	return out
}

// trainings is the panel of whole trainings.
func (s *Scale) trainings() panel {
	p := panel{tag: "(c)", xlabel: "samples N (multidist)", ylabel: "time of training (s)", log: true}
	add := func(method, task string, l look) {
		for _, g := range s.growths {
			if g.Method != method || g.Task != task {
				continue
			}
			var c []sample
			for _, q := range g.Points {
				c = append(c, sample{x: float64(q.Samples), mean: q.Seconds, low: q.Seconds, high: q.Seconds})
			}
			p.traces = append(p.traces, trace{look: l, curve: c})
		}
	}
	add("polk", "ksvm", lookOf("polk", 0))
	add("polk", "klr", lookOf("polk", 1))
	for _, m := range shownMethods {
		add(m.method, m.task, lookOf(m.method, 0))
	}
	return p
}

// span makes the panel's logarithmic x axis as long as its curves.
func (p *panel) span() {
	for _, t := range p.traces {
		for _, s := range t.curve {
			if p.xmin == 0 || s.x < p.xmin {
				p.xmin = s.x
			}
			p.xmax = max(p.xmax, s.x)
		}
	}
}
