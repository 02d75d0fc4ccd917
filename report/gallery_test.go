package report

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"polkrepro/experiments"
	"polkrepro/report/plot"
)

// patterns are w×h images, each dark in its upper half.
func patterns(n, w, h int) []*image.Gray {
	var out []*image.Gray
	for range n {
		m := image.NewGray(image.Rect(0, 0, w, h))
		for i := range m.Pix {
			m.Pix[i] = 0x40
			if i >= len(m.Pix)/2 {
				m.Pix[i] = 0xb0
			}
		}
		out = append(out, m)
	}
	return out
}

func TestDataFigure(t *testing.T) {
	in := Input{Pictures: map[string]DataPicture{
		"mnist":   {Images: patterns(6, 28, 28), Columns: 3, Caption: "six patterns"},
		"brodatz": {Images: patterns(1, 100, 100), Columns: 1, Caption: "one pattern"},
	}}
	f := figureNamed(t, built(in), "figure1")
	want := "(a) multidist, the first 1500 of 5000 training points of draw 447, with the means of each class's components; (b) one pattern; (c) six patterns."
	if f.Missing != "" || f.Caption != want {
		t.Errorf("%q, %q", f.Missing, f.Caption)
	}
	out := renderTwice(t, f, vectors...)
	renderAll(t, f.Drawing, "png")
	if n := strings.Count(string(out["svg"]), "data:image/png;base64,"); n != 2 {
		t.Errorf("%d images in the SVG, want 2", n)
	}
	if n := bytes.Count(out["pdf"], []byte("/Subtype /Image")); n < 2 {
		t.Errorf("%d images in the PDF, want 2", n)
	}
}

func TestMosaic(t *testing.T) {
	for _, c := range []struct {
		n, w, h, columns int
		want             image.Point // size
	}{
		{1, 600, 400, 1, image.Pt(600, 400)},
		{1, 28, 28, 5, image.Pt(560, 560)},
		{4, 28, 28, 2, image.Pt(10*62, 10*62)}, // gaps of 2 around each image, enlarged tenfold
		{5, 28, 14, 3, image.Pt(7*92, 7*34)},
		{3, 1, 1, 2, image.Pt(140*5, 140*5)},
	} {
		m := DataPicture{Images: patterns(c.n, c.w, c.h), Columns: c.columns}.mosaic()
		if got := m.Rect.Size(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	empty := DataPicture{Images: []*image.Gray{image.NewGray(image.Rectangle{})}, Columns: 1}.mosaic().Rect
	if empty.Dx() == 0 || empty.Dy() == 0 {
		t.Errorf("an image without pixels makes a mosaic without any: %v", empty)
	}
}

func TestDataFigureWithoutImages(t *testing.T) {
	in := Input{Pictures: map[string]DataPicture{"brodatz": {Missing: "the scanner is\non loan"}}}
	f := figureNamed(t, built(in), "figure1")
	if f.Missing != "" || !strings.Contains(f.Caption, "(b) brodatz: the scanner is on loan; (c) mnist: data not available.") {
		t.Errorf("%q, %q", f.Missing, f.Caption)
	}
	svg := string(renderAll(t, f.Drawing, vectors...)["svg"])
	for _, want := range []string{"multidist data", "the scanner is on loan", "data not available", "mean of a component"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in the SVG", want)
		}
	}
}

func TestStandIns(t *testing.T) {
	in := fixtureInput()
	has := func() bool {
		return slices.ContainsFunc(built(in).Figures, func(f *Figure) bool { return f.Name == "figureS1" })
	}
	in.Pictures = map[string]DataPicture{"glyphs": {Images: patterns(4, 28, 28), Columns: 2, Caption: "four glyphs"}}
	if has() {
		t.Error("a figure of stand-ins without runs on them")
	}
	s := shape{"glyphs", "ksvm", "polk", "POLK, K = 0.016", "", "", nil, 1, 1000, 100, 0.1, 0.1, 10, 1, 0}
	p := s.planned(0, 1)
	in.Planned = append(in.Planned, p)
	if !has() {
		t.Fatal("no figure of the stand-ins")
	}
	f := figureNamed(t, built(in), "figureS1")
	if f.Title != "Figure S1. Generated stand-ins" || !strings.HasPrefix(f.Caption, "(a) four glyphs. ") || f.CSV() != "" {
		t.Errorf("%q, %q", f.Title, f.Caption)
	}
	in.Pictures = nil
	if has() {
		t.Error("a figure of stand-ins without pictures")
	}
}

// deficiencies are the colour deficiencies at full strength, as matrices on linear RGB (Machado,
// Oliveira, Fernandes 2009), and the identity for none.
var deficiencies = map[string][3][3]float64{
	"none":   {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"deutan": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"protan": {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"tritan": {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// lab is a colour in CIELAB (white point D65) as seen with a deficiency.
func lab(c color.NRGBA, deficiency [3][3]float64) [3]float64 {
	var linear, seen [3]float64
	for i, v := range []uint8{c.R, c.G, c.B} {
		u := float64(v) / 255
		if linear[i] = u / 12.92; u > 0.04045 {
			linear[i] = math.Pow((u+0.055)/1.055, 2.4)
		}
	}
	for i, row := range deficiency {
		for k, w := range row {
			seen[i] += w * linear[k]
		}
		seen[i] = min(1, max(0, seen[i]))
	}
	f := func(x, y, z, white float64) float64 {
		t := (x*seen[0] + y*seen[1] + z*seen[2]) / white
		if t > 0.008856 {
			return math.Cbrt(t)
		}
		return 7.787*t + 16.0/116
	}
	x, y, z := f(0.4124, 0.3576, 0.1805, 0.9505), f(0.2126, 0.7152, 0.0722, 1), f(0.0193, 0.1192, 0.9505, 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// distance is ΔE between two colours as seen with a deficiency.
func distance(a, b color.NRGBA, deficiency [3][3]float64) float64 {
	p, q := lab(a, deficiency), lab(b, deficiency)
	return math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2])
}

// lightness is the difference of two colours in grey.
func lightness(a, b color.NRGBA) float64 {
	return math.Abs(lab(a, deficiencies["none"])[0] - lab(b, deficiencies["none"])[0])
}

// TestClassColors checks that, with every colour deficiency, ΔE is ≥ 30 between any two of the
// first five colours and ≥ 15 between any two (about 2 is just visible). In grey, their lightness
// differs by ≥ 10 and ≥ 3.
func TestClassColors(t *testing.T) {
	for name, d := range deficiencies {
		for i, a := range classColors {
			for j, b := range classColors[:i] {
				delta, grey := distance(a, b, d), lightness(a, b)
				least, leastGrey := 15.0, 3.0
				if i < 5 {
					least, leastGrey = 30, 10
				}
				if !(delta >= least) || !(grey >= leastGrey) {
					t.Errorf("classes %d and %d, deficiency %s: ΔE %.1f, lightness %.1f apart", j, i, name, delta, grey)
				}
			}
		}
	}
	if len(classColors) != 13 || len(markers) != 5 {
		t.Errorf("%d colours and %d markers, want 13 and 5", len(classColors), len(markers))
	}
}

// TestLooks checks that the lines of methods differ in grey by lightness or dashes.
func TestLooks(t *testing.T) {
	type named struct {
		name string
		look plot.Look
	}
	var all []named
	for _, m := range experiments.Methods() {
		if len(m.Lines) == 0 {
			t.Errorf("%s has no look of its own", m.Name)
		}
		for i := range m.Lines {
			all = append(all, named{m.Name, lookOf(m.Name, i)})
		}
	}
	for i, a := range all {
		for _, b := range all[:i] {
			if slices.Equal(a.look.Dash, b.look.Dash) && !(lightness(a.look.Color, b.look.Color) >= 15) {
				t.Errorf("%s and %s look alike in grey", a.name, b.name)
			}
		}
	}
}
