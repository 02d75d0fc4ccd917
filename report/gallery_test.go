package report

import (
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"polkrepro/report/plot"
	"polkrepro/spec"
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

// lightness is the lightness of a colour in grey: L* of CIELAB.
func lightness(c color.NRGBA) float64 {
	var y float64
	for i, v := range []uint8{c.R, c.G, c.B} {
		u := float64(v) / 255
		if u > 0.04045 {
			u = math.Pow((u+0.055)/1.055, 2.4)
		} else {
			u /= 12.92
		}
		y += []float64{0.2126, 0.7152, 0.0722}[i] * u
	}
	return 116*math.Cbrt(max(y, 0.008856)) - 16
}

// TestLooks checks that the lines of methods differ in grey by lightness or dashes.
func TestLooks(t *testing.T) {
	type named struct {
		name string
		look plot.Look
	}
	var all []named
	for _, m := range spec.Methods() {
		if len(m.Lines) == 0 {
			t.Errorf("%s has no look of its own", m.Name)
		}
		for i := range m.Lines {
			all = append(all, named{m.Name, lookOf(m.Name, i)})
		}
	}
	for i, a := range all {
		for _, b := range all[:i] {
			if slices.Equal(a.look.Dash, b.look.Dash) && !(math.Abs(lightness(a.look.Color)-lightness(b.look.Color)) >= 15) {
				t.Errorf("%s and %s look alike in grey", a.name, b.name)
			}
		}
	}
}
