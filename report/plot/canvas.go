package plot

import (
	"bytes"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// DPI is the resolution of the PNG files.
const DPI = 200

// Formats are the formats of a picture, by file extension.
var Formats = []string{"svg", "png"}

// PDF is the format of pictures for LaTeX.
const PDF = "pdf"

// A Drawing is the picture of a figure, the same in every format.
type Drawing interface {
	// Size returns the size in print.
	Size() (w, h vg.Length)

	// Draw draws on a white canvas of that size whose lower left corner
	// is the origin.
	Draw(c draw.Canvas)
}

// Render returns the drawing in one of the Formats, or as PDF.
func Render(d Drawing, format string) ([]byte, error) {
	var b bytes.Buffer
	switch format {
	case "png":
		return RenderPNG(d, DPI)
	case PDF:
		c := vgpdf.New(d.Size())
		drawOnWhite(d, c)
		_, err := c.WriteTo(&b)
		return b.Bytes(), err
	}
	c := vgsvg.New(d.Size())
	drawOnWhite(d, c)
	_, err := c.WriteTo(&b)
	return portableSVG(b.Bytes()), err
}

func init() { // the same bytes in every call
	fpdf.SetDefaultCatalogSort(true)
	fpdf.SetDefaultCreationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultModificationDate(time.Unix(0, 0).UTC())
}

// RenderPNG returns the drawing as a PNG file with the given resolution.
func RenderPNG(d Drawing, dpi int) ([]byte, error) {
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(d.Size()), vgimg.UseDPI(dpi))}
	drawOnWhite(d, c)
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	return b.Bytes(), err
}

// drawOnWhite draws on a canvas of the drawing's size.
func drawOnWhite(d Drawing, c vg.CanvasSizer) {
	all := draw.New(c)
	all.SetColor(RGB(0xff, 0xff, 0xff))
	all.Fill(all.Rectangle.Path())
	d.Draw(all)
}

// portableSVG corrects what vgsvg writes. It names fonts of equal width as fallbacks, for viewers
// without Liberation Sans, and the type of images, which are PNG: not every viewer accepts JPEG. It
// makes the runs of a line one text: with a wider font, texts of their own would overlap.
func portableSVG(svg []byte) []byte {
	svg = continued.ReplaceAll(svg, []byte(`<tspan dy="$2" style="$1">$3</tspan>`))
	svg = bytes.ReplaceAll(svg, []byte("data:image/jpg;base64,"), []byte("data:image/png;base64,"))
	return bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
}
