package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"polkrepro/data"
	"polkrepro/evidence"
	"polkrepro/evidence/ledger"
	"polkrepro/internal/testutil"
	"polkrepro/record"
	"polkrepro/spec"
)

// fixtureDraw is the figures' draw in the fixture.
const fixtureDraw = 447

// built returns the report on an input, with the fixture's draw as the figures' draw.
func built(in Input) *Report { return build(in, fixtureDraw) }

// judged is the assessment of the claims by an input's records.
func judged(t *testing.T, in Input) *evidence.Assessment {
	t.Helper()
	a, err := evidence.Assess(evidence.Input{Ledger: ledger.Embedded(), Plan: in.Planned, Records: in.Records, Failed: in.Failed})
	testutil.NoError(t, err)
	return a
}

// figureNamed returns a figure of a report or of its parts.
func figureNamed(t *testing.T, r *Report, name string) *Figure {
	t.Helper()
	for _, f := range r.allFigures() {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no %s", name)
	return nil
}

// A shape describes made-up runs of one series.
type shape struct {
	data, task, method, series, cell, figure string
	draws                                    []uint64
	seeds                                    int
	samples, every                           int
	risk, err, order                         float64 // final values
	peak                                     float64 // of the model order, relative to its final value
	noise                                    float64
}

// shapes are the runs of the fixture.
func shapes() []shape {
	draws := []uint64{36, 60, 192, fixtureDraw, 467}
	return []shape{
		{"multidist", "ksvm", "polk", "POLK, K = 0.04", "table2.multidist.ksvm.polk", "2", draws, 3, 50000, 250, 0.092, 0.041, 16, 1.3, 0.06},
		{"multidist", "ksvm", "polk", "POLK, K = 0.0001", "table2.multidist.ksvm.polk-large", "2", draws, 3, 50000, 250, 0.085, 0.039, 131, 1.05, 0.03},
		{"multidist", "ksvm", "bsgd", "BSGD, B = 16", "table2.multidist.ksvm.bsgd", "2", draws, 3, 50000, 250, 0.40, 0.21, 16, 1, 0.2},
		{"multidist", "ksvm", "bsgd", "BSGD, B = 129", "table2.multidist.ksvm.bsgd-large", "2", draws, 3, 50000, 250, 0.11, 0.05, 129, 1, 0.1},
		{"multidist", "ksvm", "csvc", "C-SVC", "table2.multidist.ksvm.libsvm", "2", draws, 1, 5000, 5000, math.NaN(), 0.039, 650, 1, 0.05},
		{"multidist", "ksvm", "lbfgs", "L-BFGS", "table2.multidist.ksvm.lbfgs", "2", draws, 1, 5000, 5000, 0.085, 0.040, 5000, 1, 0},
		{"multidist", "klr", "polk", "POLK, K = 0.03", "table2.multidist.klr.polk", "4", draws, 1, 50000, 250, 0.121, 0.043, 17, 1.3, 0.05},
		{"multidist", "klr", "polk", "POLK, K = 0.001", "table2.multidist.klr.polk-large", "4", draws, 1, 50000, 250, 0.097, 0.040, 80, 1.1, 0.04},
		{"mnist", "ksvm", "polk", "POLK, K = 0.016", "table3.mnist.ksvm.polk", "5", nil, 3, 240000, 4000, 0.0668, 0.0251, 1250, 1.75, 0.03},
		{"mnist", "ksvm", "polk", "POLK, K = 0.024", "table3.mnist.ksvm.polk-small", "5", nil, 3, 240000, 4000, 0.101, 0.036, 327, 1.4, 0.04},
		{"mnist", "ksvm", "bsgd", "BSGD, B = 1086", "table3.mnist.ksvm.bsgd", "5", nil, 3, 240000, 4000, 0.075, 0.0271, 1086, 1, 0.05},
		{"mnist", "ksvm", "bsgd", "BSGD, B = 324", "table3.mnist.ksvm.bsgd-small", "5", nil, 3, 240000, 4000, 0.15, 0.051, 324, 1, 0.09},
		{"mnist", "klr", "polk", "POLK, K = 0.008", "table3.mnist.klr.polk", "7", nil, 1, 240000, 4000, 0.093, 0.0272, 2356, 1.2, 0.02},
	}
}

// fixtureInput makes up planned runs and their records.
func fixtureInput() Input {
	in := Input{Records: map[string]*record.Record{}, Failed: map[string]string{}, Unavailable: map[string]string{}, Profile: "full"}
	for _, s := range shapes() {
		draws := s.draws
		if draws == nil {
			draws = []uint64{0}
		}
		for _, d := range draws {
			for seed := range uint64(s.seeds) {
				p := s.planned(d, seed+1)
				if d != 0 && d != fixtureDraw || s.figure == "" {
					p.Figures = nil
				}
				in.Planned = append(in.Planned, p)
				in.Records[p.ID] = s.record(p)
			}
		}
	}
	return in
}

func (s shape) planned(draw, seed uint64) spec.Planned {
	var params spec.Params
	if _, err := fmt.Sscanf(s.series, "POLK, K = %g", &params.Parsimony); err != nil {
		fmt.Sscanf(s.series, "BSGD, B = %d", &params.Budget)
	}
	run := spec.Run{Data: data.Ref{Name: s.data, Draw: draw}, Task: s.task, Method: s.method, Params: params, Seed: seed, Samples: s.samples}
	run.Code = run.PresentCode()
	return spec.Planned{
		Run: run,
		ID:  fmt.Sprintf("%s-%s-%s-%d-%d", s.data, s.task, s.series, draw, seed), Spec: s.data + "-" + s.task,
		Series: s.series, Group: s.data + s.task + s.series, Cells: []string{s.cell}, Figures: []string{s.figure},
	}
}

// record returns a made-up record whose values fall from a start to their final values, with noise.
func (s shape) record(p spec.Planned) *record.Record {
	rng := rand.New(rand.NewPCG(p.Run.Seed, p.Run.Data.Draw+uint64(len(p.ID))))
	r := &record.Record{Header: record.Header{ID: p.ID, Run: p.Run}}
	if p.Run.Data.Draw != 0 {
		r.Header.DataFacts = map[string]float64{"bayes_error": 0.036 + 0.000004*float64(p.Run.Data.Draw)}
	}
	bias := 1 + s.noise*(rng.Float64()-0.5)
	for t := 0; t <= s.samples; t += s.every {
		f := math.Exp(-8 * math.Sqrt(float64(t)/float64(s.samples)))
		wobble := bias * (1 + s.noise*(rng.Float64()-0.5)*2)
		rise := 1 - math.Exp(-30*float64(t)/float64(s.samples))
		hump := 1 + (s.peak-1)*4*rise*math.Exp(-4*float64(t)/float64(s.samples))
		r.Points = append(r.Points, record.Point{
			Samples: t, TrainRisk: (s.risk*(1-f) + f) * wobble, TestRisk: (s.risk*(1-f)*1.05 + f) * wobble,
			TestError: (s.err*(1-f) + 0.8*f) * wobble, ModelOrder: int(s.order * rise * hump * bias),
			KernelEvals: int64(t) * 100,
		})
	}
	last := r.Points[len(r.Points)-1]
	r.Final = record.Final{Samples: s.samples, TrainRisk: last.TrainRisk, TestRisk: last.TestRisk, TestError: last.TestError,
		ModelOrder: float64(last.ModelOrder), KernelEvals: last.KernelEvals,
		Timing: record.Timing{Wall: 12.5 * bias, CPU: 11.25 * bias}}
	if s.method == "lbfgs" {
		r.Final.Health = map[string]float64{"objective": 0.08, "gap": 0.0012, "unconverged": 1}
	}
	return r
}
