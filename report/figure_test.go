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

	"polkrepro/internal/testutil"
	"polkrepro/record"
	"polkrepro/report/plot"
	"polkrepro/report/table"
	"polkrepro/spec"
)

// wellFormed checks a picture in one format.
func wellFormed(t *testing.T, format string, b []byte) {
	t.Helper()
	switch format {
	case "svg":
		xmlText(t, b)
		if !bytes.Contains(b, []byte("(a)")) || bytes.Contains(b, []byte("NaN")) || bytes.Contains(b, []byte("Inf")) {
			t.Error("the SVG has no panel (a), or coordinates that are not numbers")
		}
	case "png":
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("PNG: %v", err)
		}
		if got, want := img.Bounds().Dx(), 13*plot.DPI/2; got != want { // its width in print
			t.Errorf("%d pixels wide, want %d", got, want)
		}
		checkEdges(t, img)
	}
}

// xmlText is the text in well-formed XML.
func xmlText(t *testing.T, b []byte) (text string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		token, err := d.Token() // an invalid character is an error
		if errors.Is(err, io.EOF) {
			return text
		}
		if err != nil {
			t.Fatalf("XML: %v", err)
		}
		if c, ok := token.(xml.CharData); ok {
			text += string(c)
		}
	}
}

// checkEdges checks that nothing touches the edge of a picture, where it would be cut off.
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
var vectors = []string{"svg"}

// renderAll renders and checks a picture in the given formats, by default in
// all.
func renderAll(t *testing.T, d plot.Drawing, formats ...string) map[string][]byte {
	t.Helper()
	if formats == nil {
		formats = plot.Formats
	}
	out := map[string][]byte{}
	for _, format := range formats {
		b, err := plot.Render(d, format)
		testutil.NoError(t, err)
		wellFormed(t, format, b)
		out[format] = b
	}
	return out
}

// renderTwice renders a figure twice and checks that the results are identical.
func renderTwice(t *testing.T, f *Figure, formats ...string) map[string][]byte {
	t.Helper()
	first, second := renderAll(t, f.Drawing, formats...), renderAll(t, f.Drawing, formats...)
	for format, b := range first {
		if !bytes.Equal(b, second[format]) {
			t.Errorf("%s.%s differs when it is drawn again", f.Name, format)
		}
	}
	return first
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
		formats := plot.Formats
		if f.Name != "figure2" {
			formats = vectors
		}
		renderTwice(t, f, formats...)
	}
	if want := []string{"figure1", "figure2", "figure4", "figure5", "figure7"}; !slices.Equal(drawn, want) {
		t.Errorf("drawn: %v, want %v", drawn, want)
	}
}

// oddInput is the fixture's figure 5 with the points of its runs replaced.
func oddInput(points func(series string, p []record.Point) []record.Point) Input {
	in := fixtureInput()
	in.Planned = slices.DeleteFunc(in.Planned, func(p spec.Planned) bool { return p.Run.Data.Name != "mnist" || p.Run.Task != "ksvm" })
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
		"all NaN":     set(func(_ int, p *record.Point) { p.TestRisk, p.TestError = math.NaN(), math.NaN() }),
		"zero risk":   set(func(_ int, p *record.Point) { p.TestRisk, p.TestError, p.ModelOrder = 0, 0, 0 }),
		"negative":    set(func(i int, p *record.Point) { p.TestRisk = float64(i - 30) }),
		"the largest": set(func(i int, p *record.Point) { p.TestRisk = math.MaxFloat64; p.ModelOrder = math.MaxInt }),
		"all powers":  set(func(i int, p *record.Point) { p.TestRisk = math.Pow(10, float64(20*(i-15))) }),
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
			renderAll(t, figureNamed(t, built(oddInput(points)), "figure5").Drawing, vectors...)
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
	f := figureNamed(t, built(in), "figure5")
	if !strings.Contains(f.Caption, " Not drawn: 2 points of curves that are not finite, or not positive") {
		t.Error(f.Caption)
	}
}

// A run whose record has no evaluations has no curve. The figure shows the other runs, and its
// caption says so.
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
	renderAll(t, f.Drawing, "svg")
	if f := figureNamed(t, r, "figure5"); f.Missing != "the records have no evaluations" {
		t.Errorf("figure 5: missing %q", f.Missing)
	}
}

func TestOneRunHasNoBand(t *testing.T) {
	r := built(fixtureInput())
	for name, want := range map[string]bool{"figure5": true, "figure7": false} {
		legend := figureNamed(t, r, name).Drawing.(*plot.Picture).Legend
		if got := slices.ContainsFunc(legend, func(e plot.Entry) bool { return e.Text == "range over runs" }); got != want {
			t.Errorf("%s: the legend has a band: %v", name, got)
		}
	}
}

func TestLostSeriesKeepsTheLooks(t *testing.T) {
	f := figureNamed(t, built(mixedInput()), "figure2")
	if s := f.Series[2]; s.Label != "BSGD, B = 16" || s.Rank != 1 || !strings.HasSuffix(f.Caption, "3 of 14 runs failed.") {
		t.Errorf("%s has rank %d; %s", s.Label, s.Rank, f.Caption)
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
	r := built(in)
	paths, err := r.WriteAll(dir, nil)
	testutil.NoError(t, err)
	if want := 3*len(table.Faces) + 2*len(plot.Formats) + 2; len(paths) != want {
		t.Errorf("%d files, want %d", len(paths), want)
	}
	for _, p := range paths {
		if info, err := os.Stat(p); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", p, err)
		}
	}
	for _, name := range []string{"figure7.svg", "figure7.csv", "contact.png"} {
		if !slices.Contains(paths, filepath.Join(dir, "figures", name)) {
			t.Errorf("%s was not written", name)
		}
	}
	rows := testutil.Rows(t, []byte(figureNamed(t, r, "figure7").CSV()))
	if len(rows) != 3*61 || rows[0]["panel"] != "(a) test risk R(f_t)" || rows[0]["series"] != "POLK, K = 0.008" || rows[1]["x"] != "4000" {
		t.Errorf("figure7.csv: %d rows, %v", len(rows), rows[:2])
	}

	in.Records = nil
	r = built(in)
	if _, err := r.WriteAll(dir, nil); err != nil {
		t.Fatal(err)
	}
	if missing := r.Missing(); !slices.Contains(missing, "Figure 2. Multi-KSVM on multidist: not run yet") {
		t.Errorf("missing: %q", missing)
	}
}

func TestWriteAllReportsErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "tables")
	testutil.NoError(t, os.WriteFile(file, nil, 0o666))
	paths, err := built(Input{}).WriteAll(dir, nil)
	if err == nil || len(paths) != 0 || !strings.Contains(err.Error(), file) {
		t.Errorf("%v, %v", paths, err)
	}
}
