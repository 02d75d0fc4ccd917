package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"polkrepro/experiments"
	"polkrepro/record"
)

// wellFormed checks a picture in one format.
func wellFormed(t *testing.T, format string, b []byte) {
	t.Helper()
	switch format {
	case "svg":
		d := xml.NewDecoder(bytes.NewReader(b))
		for {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("SVG: %v", err)
			}
		}
		if !bytes.Contains(b, []byte("(a)")) || bytes.Contains(b, []byte("NaN")) || bytes.Contains(b, []byte("Inf")) {
			t.Error("the SVG has no panel (a), or coordinates that are not numbers")
		}
	case "png":
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("PNG: %v", err)
		}
		if got, want := img.Bounds().Dx(), 13*pngDPI/2; got != want { // its width in print
			t.Errorf("%d pixels wide, want %d", got, want)
		}
		checkEdges(t, img)
	case "pdf":
		if !bytes.HasPrefix(b, []byte("%PDF-")) || !bytes.Contains(b, []byte("%%EOF")) || bytes.Contains(b, []byte("NaN")) {
			t.Error("not a PDF")
		}
	}
}

// checkEdges checks that nothing touches the edge of a picture, where it would
// be cut.
func checkEdges(t *testing.T, img image.Image) {
	t.Helper()
	r := img.Bounds()
	dark := func(x, y int) bool {
		red, green, blue, _ := img.At(x, y).RGBA()
		return red+green+blue < 3*0xf000
	}
	for x := r.Min.X; x < r.Max.X; x++ {
		if dark(x, r.Min.Y) || dark(x, r.Max.Y-1) {
			t.Fatalf("ink on the edge at x = %d", x)
		}
	}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		if dark(r.Min.X, y) || dark(r.Max.X-1, y) {
			t.Fatalf("ink on the edge at y = %d", y)
		}
	}
}

// vectors are the formats that are quick to draw: a PNG takes seconds under
// the race detector.
var vectors = []string{"svg", "pdf"}

// renderAll renders and checks a picture in the given formats, by default in
// all.
func renderAll(t *testing.T, d drawing, formats ...string) map[string][]byte {
	t.Helper()
	if formats == nil {
		formats = Formats
	}
	out := map[string][]byte{}
	for _, format := range formats {
		b, err := safely(func() ([]byte, error) { return render(d, format) })
		if err != nil {
			t.Fatal(err)
		}
		wellFormed(t, format, b)
		out[format] = b
	}
	return out
}

func TestFigures(t *testing.T) {
	r := built(fixtureInput())
	var drawn []string
	for _, f := range r.Figures {
		if f.Missing != "" {
			if f.Missing != "not planned" {
				t.Errorf("%s: %q", f.Name, f.Missing)
			}
			continue
		}
		drawn = append(drawn, f.Name)
		formats := Formats
		if f.Name != "figure2" {
			formats = vectors
		}
		first, second := renderAll(t, f.content.drawing(), formats...), renderAll(t, f.content.drawing(), formats...)
		for _, format := range formats {
			if !bytes.Equal(first[format], second[format]) {
				t.Errorf("%s.%s differs when it is drawn again", f.Name, format)
			}
		}
	}
	if want := []string{"figure2", "figure4", "figure5", "figure7"}; !slices.Equal(drawn, want) {
		t.Errorf("drawn: %v, want %v", drawn, want)
	}
	f := r.Figures[0]
	var labels []string
	for _, s := range f.Series {
		labels = append(labels, s.Label)
		if want := map[bool]int{false: 3, true: 1}[s.batch()]; len(s.Runs) != want {
			t.Errorf("%s: %d runs, want the %d on the figures' draw", s.Label, len(s.Runs), want)
		}
	}
	if want := []string{"POLK, K = 0.0001", "POLK, K = 0.04", "BSGD, B = 129", "BSGD, B = 16", "C-SVC", "L-BFGS"}; !slices.Equal(labels, want) {
		t.Errorf("series: %v, want %v", labels, want)
	}
}

func TestBrodatzFiguresNeedDataOnly(t *testing.T) {
	in := fixtureInput()
	s := shape{"brodatz", "ksvm", "polk", "POLK, K = 0.01", "table3.brodatz.ksvm.polk", "6", nil, 1, 100000, 2000, 0.05, 0.045, 1200, 1.3, 0.03}
	p := s.planned(0, 1)
	in.Planned, in.Records[p.ID] = append(in.Planned, p), s.record(p)
	r := built(in)
	if f := r.Figures[3]; f.Name != "figure6" || f.Missing != "" {
		t.Errorf("%s: %q", f.Name, f.Missing)
	}
}

// oddInput is the fixture's figure 5 with the points of its runs replaced.
func oddInput(points func(series string, p []record.Point) []record.Point) Input {
	in := fixtureInput()
	in.Planned = slices.DeleteFunc(in.Planned, func(p experiments.Planned) bool { return p.Run.Data.Name != "mnist" || p.Run.Task != "ksvm" })
	for _, p := range in.Planned {
		r := in.Records[p.ID]
		r.Points = points(p.Series, r.Points)
	}
	return in
}

func TestOddValues(t *testing.T) {
	set := func(f func(i int, p *record.Point)) func(string, []record.Point) []record.Point {
		return func(_ string, ps []record.Point) []record.Point {
			for i := range ps {
				f(i, &ps[i])
			}
			return ps
		}
	}
	for name, points := range map[string]func(string, []record.Point) []record.Point{
		"one point":   func(_ string, ps []record.Point) []record.Point { return ps[30:31] },
		"at zero":     func(_ string, ps []record.Point) []record.Point { return ps[:1] },
		"all NaN":     set(func(_ int, p *record.Point) { p.TestRisk, p.TestError = math.NaN(), math.NaN() }),
		"zero risk":   set(func(_ int, p *record.Point) { p.TestRisk, p.TestError, p.ModelOrder = 0, 0, 0 }),
		"negative":    set(func(i int, p *record.Point) { p.TestRisk = float64(i - 30) }),
		"huge":        set(func(i int, p *record.Point) { p.TestRisk = math.Pow(10, float64(10*i)) }),
		"the largest": set(func(i int, p *record.Point) { p.TestRisk = math.MaxFloat64; p.ModelOrder = math.MaxInt }),
		"the least":   set(func(i int, p *record.Point) { p.TestRisk = math.SmallestNonzeroFloat64 * float64(i) }),
		"all powers":  set(func(i int, p *record.Point) { p.TestRisk = math.Pow(10, float64(20*(i-15))) }),
		"constant":    set(func(_ int, p *record.Point) { p.TestRisk, p.TestError, p.ModelOrder = 0.07, 0.025, 100 }),
		"gaps": set(func(i int, p *record.Point) {
			if i%7 == 3 || i%7 == 5 {
				p.TestRisk, p.TestError = math.Inf(1), math.NaN()
			}
		}),
		"negative order": set(func(_ int, p *record.Point) { p.ModelOrder, p.Samples = -p.ModelOrder, -p.Samples }),
		"one diverges": func(series string, ps []record.Point) []record.Point {
			for i := range ps {
				if series == "BSGD, B = 324" && i > 20 {
					ps[i].TestRisk = math.Pow(10, float64(i-20)*3)
				}
			}
			return ps
		},
	} {
		t.Run(name, func(t *testing.T) {
			renderAll(t, built(oddInput(points)).Figures[2].content.drawing(), vectors...)
		})
	}
}

func TestUndrawnValuesAreCounted(t *testing.T) {
	in := oddInput(func(series string, ps []record.Point) []record.Point {
		if series == "POLK, K = 0.016" {
			ps[3].TestRisk, ps[4].TestError = math.NaN(), 0
		}
		return ps
	})
	f := built(in).Figures[2]
	if !strings.Contains(f.Caption, "6 values that are not finite, or not positive") {
		t.Error(f.Caption)
	}
}

// A run whose record has no evaluations has no curve: the figure is drawn of the
// others and says so.
func TestFiguresWithoutEvaluations(t *testing.T) {
	in := fixtureInput()
	for _, p := range in.Planned {
		if p.Run.Method == "csvc" || p.Run.Method == "lbfgs" || p.Run.Data.Name == "mnist" {
			in.Records[p.ID].Points = nil
		}
	}
	r := built(in)
	f := figureNamed(t, r, "figure2")
	if f.Missing != "" || !strings.Contains(f.Caption, " 2 runs whose records have no evaluations are not drawn.") || len(f.Charts()) != 3 {
		t.Fatalf("figure 2: missing %q, caption %q, %d charts", f.Missing, f.Caption, len(f.Charts()))
	}
	renderAll(t, f.content.drawing(), "svg")
	if f := figureNamed(t, r, "figure5"); f.Missing != "the records have no evaluations" {
		t.Errorf("figure 5: missing %q", f.Missing)
	}
}

func TestOneRunHasNoBand(t *testing.T) {
	r := built(fixtureInput())
	for name, want := range map[string]bool{"figure5": true, "figure7": false} {
		legend := figureNamed(t, r, name).content.drawing().(*picture).legend
		if got := slices.ContainsFunc(legend, func(e legendEntry) bool { return e.text == "range over runs" }); got != want {
			t.Errorf("%s: the legend has a band: %v", name, got)
		}
	}
}

// TestBatchMethodsAreLines: a batch method's value goes from edge to edge, where
// it has one, and not into the panel of model orders.
func TestBatchMethodsAreLines(t *testing.T) {
	r := built(fixtureInput())
	c := r.Figures[0].content.(*curves)
	want := map[string][]string{"risk": {"L-BFGS"}, "error": {"C-SVC", "L-BFGS"}, "order": nil}
	for _, q := range c.quantities() {
		pn := c.panel(q)
		var names []string
		for _, s := range c.series {
			if !s.batch() || !s.shows(q) {
				continue
			}
			names = append(names, s.Label)
			i := slices.IndexFunc(pn.traces, func(t trace) bool { return slices.Equal(t.look.dash, lookOf(s.Run.Method, 0).dash) })
			if i < 0 {
				t.Fatalf("%s: no trace of %s", q.name, s.Label)
			}
			left, right := pn.traces[i].curve[0], pn.traces[i].curve[1]
			if value := q.of(s.Runs[0].Points[len(s.Runs[0].Points)-1]); left.x != 0 || right.x != 50000 || left.mean != value || right.mean != value {
				t.Errorf("%s of %s goes from %+v to %+v, want %v", q.name, s.Label, left, right, value)
			}
		}
		if !slices.Equal(names, want[q.name]) {
			t.Errorf("%s: lines of %v, want %v", q.name, names, want[q.name])
		}
	}
	if n := c.undrawn(); n != 0 {
		t.Errorf("%d values are called undrawn", n)
	}
}

func TestLostSeriesKeepsTheLooks(t *testing.T) {
	f := figureNamed(t, built(mixedInput()), "figure2")
	if s := f.Series[2]; s.Label != "BSGD, B = 16" || s.Rank != 1 || !strings.HasSuffix(f.Caption, "3 of 14 runs failed.") {
		t.Errorf("%s has rank %d; %s", s.Label, s.Rank, f.Caption)
	}
}

func TestAverage(t *testing.T) {
	runs := []*record.Record{
		{Points: []record.Point{{Samples: 10, TestRisk: 1}, {Samples: 20, TestRisk: 2}}},
		{Points: []record.Point{{Samples: 10, TestRisk: 3}, {Samples: 30, TestRisk: math.NaN()}}},
	}
	got := average(runs, func(p record.Point) float64 { return p.TestRisk })
	if len(got) != 3 || got[0] != (sample{10, 2, 1, 3}) || got[1] != (sample{20, 2, 2, 2}) || !math.IsNaN(got[2].mean) {
		t.Errorf("%v", got)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		min, max float64
		want     string
	}{
		{0.07, 1.1, "0.1 0.2 0.5 1"}, {2.2, 90, "5 10 20 50"}, {0.9, 2, "0.9 1 2"},
		{1e-5, 1e5, "10^{-5} 0.001 0.1 10 1000 10^{5}"}, {1e-5, 3e-5, "1x10^{-5}"}, {-1, 1, ""}, {1, math.Inf(1), ""},
	} {
		var got []string
		for _, k := range logTicks(c.min, c.max) {
			if k.Label != "" {
				got = append(got, k.Label)
			}
		}
		s := strings.Join(got, " ")
		if c.want == "1x10^{-5}" {
			if !strings.Contains(s, "2x10^{-5}") {
				t.Errorf("[%v, %v]: %s", c.min, c.max, s)
			}
		} else if s != c.want {
			t.Errorf("[%v, %v]: %s, want %s", c.min, c.max, s, c.want)
		}
	}
	for _, c := range []struct {
		max  float64
		want string
	}{{50000, "0 10k 20k 30k 40k 50k"}, {1e6, "0 200k 400k 600k 800k 1M"}, {140, "0 50 100"}, {0, ""}, {math.Inf(1), ""}} {
		var got []string
		for _, k := range countTicks(0, c.max) {
			got = append(got, k.Label)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("[0, %v]: %s, want %s", c.max, s, c.want)
		}
	}
}

func TestRunsOf(t *testing.T) {
	line := func(s string) textRun { return textRun{s, 1, 0} }
	low, high := func(s string) textRun { return textRun{s, scriptSize, scriptDrop} }, func(s string) textRun { return textRun{s, scriptSize, scriptRaise} }
	for in, want := range map[string][]textRun{
		"M_t":      {line("M"), low("t")},
		"R(f_t) x": {line("R(f"), low("t"), line(") x")},
		"10^{-5}":  {line("10"), high("-5")},
		"a_":       {line("a_")},
		"a_{b":     {line("a"), low("{"), line("b")},
		"":         nil,
	} {
		if got := runsOf(in); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
	if got := plainLetters("POLK, η₀ = 6 — “x”"); got != "POLK, eta0 = 6 - ?x?" {
		t.Error(got)
	}
}

func TestWriteAll(t *testing.T) {
	dir := t.TempDir()
	in := fixtureInput()
	for id, r := range in.Records {
		if r.Header.Run.Data.Name != "mnist" || r.Header.Run.Task != "klr" {
			delete(in.Records, id)
		}
	}
	paths, err := built(in).WriteAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := 3*4 + 4 + 2 + 1; len(paths) != want {
		t.Errorf("%d files, want %d", len(paths), want)
	}
	for _, p := range paths {
		if info, err := os.Stat(p); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", p, err)
		}
	}
	for _, name := range []string{"figure7.svg", "contact.svg", "contact.png"} {
		if !slices.Contains(paths, filepath.Join(dir, "figures", name)) {
			t.Errorf("%s was not written", name)
		}
	}
	if rows := rowsOf(t, figureNamed(t, built(in), "figure7")); len(rows) != 1+61 {
		t.Errorf("figure7.csv: %d rows", len(rows))
	}

	in.Records = nil
	if _, err := built(in).WriteAll(dir); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "figures", "*"))
	if err != nil || len(left) != 0 {
		t.Errorf("pictures without data are left: %v %v", left, err)
	}
	index, err := os.ReadFile(filepath.Join(dir, "index.md"))
	if err != nil || !strings.Contains(string(index), "Figure 2. multidist, ksvm: not run yet") {
		t.Errorf("index: %v\n%s", err, index)
	}
}

func TestWriteAllReportsErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "tables")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	paths, err := built(Input{}).WriteAll(dir)
	if err == nil || len(paths) != 0 || !strings.Contains(err.Error(), file) {
		t.Errorf("%v, %v", paths, err)
	}
}

func TestSafely(t *testing.T) {
	p := &picture{legend: []legendEntry{{text: "no icon"}}, panels: []panel{{}}}
	if _, err := safely(func() ([]byte, error) { return render(p, "svg") }); err == nil {
		t.Error("a panic is no error")
	}
}
