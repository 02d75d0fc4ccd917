package report

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/record"
	"polkrepro/spec"
)

// fixtureModel returns a model with an element at each mean of the figures' draw, weighted for the
// class of that mean.
func fixtureModel(weight float64) *record.Model {
	m := &record.Model{Dim: 2, Outputs: 5}
	for class, modes := range data.MultidistMeans(fixtureDraw) {
		for _, at := range modes {
			m.Dictionary = append(m.Dictionary, float32(at[0]), float32(at[1]))
			for q := range m.Outputs {
				if q == class {
					m.Weights = append(m.Weights, weight)
				} else {
					m.Weights = append(m.Weights, -weight/4)
				}
			}
		}
	}
	return m
}

// decisionInput returns the fixture with models for Figure 3. Only runs of seed 1 have models; the
// others can't be drawn.
func decisionInput() Input {
	in := fixtureInput()
	for i := range in.Planned {
		p := &in.Planned[i]
		if p.Run.Data.Draw != fixtureDraw || p.Series != "POLK, K = 0.04" && p.Series != "POLK, K = 0.03" {
			continue
		}
		p.Figures = append(slices.Clone(p.Figures), "3")
		p.Run.Params.Kernel = spec.Kernel{Type: "gaussian", Bandwidth: 0.6}
		r := in.Records[p.ID]
		r.Header.Run = p.Run
		if p.Run.Seed == 1 {
			r.Final.Model = fixtureModel(4)
		}
	}
	return in
}

// TestDecisionsAgainstDefinition compares the scores with sums over the kernel functions, one by
// one, and looks for every class among the decisions.
func TestDecisionsAgainstDefinition(t *testing.T) {
	m, k := fixtureModel(4), kernel.Gaussian{Bandwidth: 0.6}
	for _, r := range decisionInput().Records {
		if r.Final.Model == nil {
			continue
		}
		s, err := newSurface(r)
		testutil.NoError(t, err)
		if got, want := s.logits, r.Header.Run.Task == spec.TaskKLR; got != want {
			t.Errorf("%s: confidence drawn: %t", r.Header.Run.Task, got)
		}
		seen := map[int]bool{}
		for at := 0; at < gridNodes*gridNodes; at += 7 {
			px, py := s.area.at(float64(at%gridNodes), float64(at/gridNodes))
			x := []float32{float32(px), float32(py)}
			got, want := s.scores[at*m.Outputs:(at+1)*m.Outputs], make([]float64, m.Outputs)
			for j := range len(m.Dictionary) / 2 {
				for q := range want {
					want[q] += m.Weights[j*m.Outputs+q] * k.Eval(x, m.Dictionary[2*j:2*j+2])
				}
			}
			sum := 0.0
			for q := range want {
				if !(math.Abs(got[q]-want[q]) <= 1e-4) { // x is rounded to a float32
					t.Fatalf("%v: scores %v, want %v", x, got, want)
				}
				sum += math.Exp(want[q])
			}
			best := loss.Predict(want)
			if c := confidence(got); !(math.Abs(c-math.Exp(want[best])/sum) <= 2e-4) {
				t.Fatalf("%v: confidence %v, want %v", x, c, math.Exp(want[best])/sum)
			}
			seen[best] = true
		}
		if len(seen) != 5 {
			t.Errorf("not every class is decided for somewhere: %v", seen)
		}
	}
}

// TestContour checks a level of a field that falls off from a point in the middle of a grid. The area
// would be below 0 if the hill were on the line's right.
func TestContour(t *testing.T) {
	const n, radius = 41, 12.5
	v := make([]float64, n*n)
	for i := range v {
		v[i] = radius - math.Hypot(float64(i%n)-20, float64(i/n)-20)
	}
	lines := contour(n, v, func(i, j float64) vg.Point { return vg.Point{X: vg.Length(i), Y: vg.Length(j)} })
	if len(lines) != 1 || lines[0][0] != lines[0][len(lines[0])-1] {
		t.Fatalf("%d lines, want a closed one", len(lines))
	}
	area := 0.0
	for i, p := range lines[0][1:] {
		// Linear interpolation of a distance is off by at most 1/(4·radius).
		if r := math.Hypot(float64(p.X)-20, float64(p.Y)-20); !(math.Abs(r-radius) <= 0.02) {
			t.Errorf("%v lies %v from the middle, want %v", p, r, radius)
		}
		last := lines[0][i]
		area += float64(last.X*p.Y-p.X*last.Y) / 2
	}
	if !(math.Abs(area-math.Pi*radius*radius) <= 3) {
		t.Errorf("the line encloses %v, want π·%v²", area, radius)
	}
}

// TestContourOpen checks that the level of a plane is one line from border to border.
func TestContourOpen(t *testing.T) {
	const n = 9
	v := make([]float64, n*n)
	for i := range v {
		v[i] = float64(i%n) - 3.5
	}
	lines := contour(n, v, func(i, j float64) vg.Point { return vg.Point{X: vg.Length(i), Y: vg.Length(j)} })
	if len(lines) != 1 {
		t.Fatalf("%d lines, want one", len(lines))
	}
	ends := []vg.Point{lines[0][0], lines[0][len(lines[0])-1]}
	slices.SortFunc(ends, func(a, b vg.Point) int { return cmp.Compare(a.Y, b.Y) })
	if want := []vg.Point{{X: 3.5, Y: 0}, {X: 3.5, Y: n - 1}}; !slices.Equal(ends, want) {
		t.Errorf("the line ends at %v, want %v", ends, want)
	}
}

func TestDecisionsOfOneTask(t *testing.T) {
	in := decisionInput()
	in.Planned = slices.DeleteFunc(in.Planned, func(p spec.Planned) bool { return p.Run.Task == "klr" })
	f := figureNamed(t, built(in), "figure3")
	if f.Missing != "" || !strings.Contains(f.Caption, "(a) ksvm, POLK, K = 0.04, seed 1, draw 447. ") || !strings.HasSuffix(f.Caption, "Missing: (b) not planned.") || strings.Contains(f.Caption, "confidence") {
		t.Errorf("%q, %q", f.Missing, f.Caption)
	}
	svg := string(renderAll(t, f.Drawing, "svg")["svg"])
	if !strings.Contains(svg, "not planned") || strings.Contains(svg, "confidence") {
		t.Error("the panel of the logistic loss does not say that it is missing, or the legend has its lines")
	}
}

// TestDecisionsOfOddModels checks that invalid models are missing with the reason, that valid but
// degenerate models are drawn, and that none causes a panic.
func TestDecisionsOfOddModels(t *testing.T) {
	model := func(change func(m *record.Model)) func(in *Input, r *record.Record) {
		return func(_ *Input, r *record.Record) { change(r.Final.Model) }
	}
	for _, c := range []struct {
		name   string
		change func(in *Input, r *record.Record)
		want   string
	}{
		{"not run", func(in *Input, _ *record.Record) { in.Records = nil }, "not run yet"},
		{"not planned", func(in *Input, _ *record.Record) { in.Planned = nil }, "not planned"},
		{"failed", func(in *Input, _ *record.Record) {
			for id := range in.Records {
				in.Failed[id] = "the disk is full"
			}
			in.Records = nil
		}, "failed: the disk is full"},
		{"no model", func(_ *Input, r *record.Record) { r.Final.Model = nil }, "there is no model in the record"},
		{"far too large", model(func(m *record.Model) {
			m.Dictionary, m.Weights = make([]float32, 2*(record.MaxElements+1)), make([]float64, 5*(record.MaxElements+1))
		}), "514 coordinates and 1285 weights, want 2 features, 5 outputs and 1 to 256 elements"},
		{"empty", model(func(m *record.Model) { m.Dictionary, m.Weights = nil, nil }), "0 coordinates and 0 weights"},
		{"weights missing", model(func(m *record.Model) { m.Weights = m.Weights[1:] }), "30 coordinates and 74 weights"},
		{"half an element", model(func(m *record.Model) { m.Dictionary = m.Dictionary[:29] }), "29 coordinates and 75 weights"},
		{"features", model(func(m *record.Model) { m.Dim = 3 }), "3 features, 5 outputs"},
		{"outputs", model(func(m *record.Model) { m.Outputs = -1 }), "-1 outputs"},
		{"huge weights", model(func(m *record.Model) { m.Weights[3] = math.MaxFloat64 }), "values that are not finite"},
		{"element at infinity", model(func(m *record.Model) { m.Dictionary[3] = float32(math.NaN()) }), "values that are not finite"},
		{"bandwidth", func(_ *Input, r *record.Record) { r.Header.Run.Params.Kernel.Bandwidth = 0 }, "bandwidth 0"},
		{"one element", model(func(m *record.Model) { m.Dictionary, m.Weights = m.Dictionary[:2], m.Weights[:5] }), ""},
		{"zero", model(func(m *record.Model) { clear(m.Weights) }), ""},
		{"far away", model(func(m *record.Model) { m.Dictionary[0] = 1e6 }), ""},
		{"large scores", model(func(m *record.Model) { m.Weights[0] = 1e99 }), ""},
		{"variant", func(_ *Input, r *record.Record) { r.Header.Run.Data.Variant = "other" }, "no variant"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := decisionInput()
			for _, r := range in.Records { // one for each task
				if r.Final.Model != nil {
					c.change(&in, r)
				}
			}
			f := figureNamed(t, built(in), "figure3")
			if !strings.Contains(f.Missing, c.want) || c.want == "" && f.Missing != "" {
				t.Errorf("%q, want %q", f.Missing, c.want)
			}
			if f.Missing == "" {
				renderAll(t, f.Drawing, "svg")
			}
		})
	}
}
