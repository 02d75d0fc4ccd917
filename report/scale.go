package report

import (
	"polkrepro/loss"
	"polkrepro/scaling"
)

// ScaleFigure makes the figure of what training costs: the time of a sample by
// model order and by features, and that of a training by the number of samples.
func ScaleFigure(steps []scaling.Step, growths []scaling.Growth) *Figure {
	f := &Figure{Name: "scale", Title: "What training costs", imagesOnly: true, content: &costs{steps, growths}}
	if len(steps) == 0 || len(growths) == 0 {
		f.Missing = "nothing was measured"
	}
	return f
}

// costs are the contents of the figure of what training costs.
type costs struct {
	steps   []scaling.Step
	growths []scaling.Growth
}

// shownMethods are the trainings in the figure, by method and task.
var shownMethods = []struct{ method, task, label string }{
	{"bsgd", "ksvm", "BSGD"}, {"csvc", "ksvm", "LIBSVM's C-SVC"}, {"lbfgs", "klr", "L-BFGS, logistic"},
}

// rows are none: what was measured is written by its maker.
func (s *costs) rows() [][]string { return nil }

func (s *costs) drawing() drawing {
	at := s.reference()
	byOrder := panel{tag: "(a)", xlabel: "model order M", ylabel: "time of a sample (µs)", log: true}
	byFeatures := panel{tag: "(b)", xlabel: "features p", ylabel: "time of a sample (µs)", log: true}
	trainings := panel{tag: "(c)", xlabel: "samples N (multidist)", ylabel: "time of training (s)", log: true}
	l := legend{lineEntry("POLK, hinge", lookOf("polk", 0)), lineEntry("POLK, logistic", lookOf("polk", 1))}
	for i, of := range []loss.Loss{loss.MultiHinge{}, loss.MultiLogistic{}} {
		lk := lookOf("polk", i)
		same := func(q scaling.Step) bool {
			return q.Loss == of.Name() && q.Batch == at.Batch && q.Classes == at.Classes
		}
		byOrder.traces = append(byOrder.traces, trace{look: lk, curve: s.curve(
			func(q scaling.Step) bool { return same(q) && q.Features == at.Features },
			func(q scaling.Step) float64 { return q.MeanOrder })})
		byFeatures.traces = append(byFeatures.traces, trace{look: lk, curve: s.curve(
			func(q scaling.Step) bool { return same(q) && q.Order == at.Order },
			func(q scaling.Step) float64 { return float64(q.Features) })})
	}
	trainings.traces = append(s.training("polk", "ksvm", lookOf("polk", 0)), s.training("polk", "klr", lookOf("polk", 1))...)
	for _, m := range shownMethods {
		trainings.traces = append(trainings.traces, s.training(m.method, m.task, lookOf(m.method, 0))...)
		l = append(l, lineEntry(m.label, lookOf(m.method, 0)))
	}
	panels := []panel{byOrder, byFeatures, trainings}
	for i := range panels {
		panels[i].span()
	}
	return &picture{panels, l}
}

// reference is the configuration whose neighbours are drawn: of n = 32 the largest
// model order but one, features but one, and the middle number of classes.
func (s *costs) reference() scaling.Step {
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
func (s *costs) curve(of func(scaling.Step) bool, x func(scaling.Step) float64) []sample {
	var out []sample
	for _, q := range s.steps {
		if of(q) {
			out = append(out, single(x(q), 1e6*q.PerSample()))
		}
	}
	return out
}

// training is the time of whole trainings of a method on a task.
func (s *costs) training(method, task string, l look) []trace {
	var out []trace
	for _, g := range s.growths {
		if g.Method != method || g.Task != task {
			continue
		}
		var c []sample
		for _, q := range g.Points {
			c = append(c, single(float64(q.Samples), q.Seconds))
		}
		out = append(out, trace{look: l, curve: c})
	}
	return out
}
