package report

import (
	"bytes"
	"image"
	"image/color"
	"regexp"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A PDF's images would come in another order each time.
func init() { fpdf.SetDefaultCatalogSort(true) }

// pngDPI is the resolution of the PNG files.
const pngDPI = 300

// Formats are the formats of a picture, by file extension.
var Formats = []string{"svg", "png", "pdf"}

// render draws in one of the Formats.
func render(d drawing, format string) ([]byte, error) {
	if format == "png" {
		return renderPNG(d, pngDPI)
	}
	w, h := d.size()
	var out bytes.Buffer
	if format == "svg" {
		c := vgsvg.New(w, h)
		drawOnWhite(d, c)
		_, err := c.WriteTo(&out)
		return portableSVG(out.Bytes()), err
	}
	c := pdfCanvas{vgpdf.New(w, h)}
	drawOnWhite(d, c)
	_, err := c.WriteTo(&out)
	return timelessPDF(out.Bytes()), err
}

// renderPNG draws in pixels.
func renderPNG(d drawing, dpi int) ([]byte, error) {
	w, h := d.size()
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))}
	drawOnWhite(d, c)
	var out bytes.Buffer
	_, err := c.WriteTo(&out)
	return out.Bytes(), err
}

// drawOnWhite draws on a canvas of the drawing's size.
func drawOnWhite(d drawing, c vg.CanvasSizer) {
	all := draw.New(c)
	all.SetColor(rgb(0xff, 0xff, 0xff))
	all.Fill(all.Rectangle.Path())
	d.draw(all)
}

var (
	liberationSans = []byte("font-family:Liberation Sans;")
	sansFallbacks  = []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
	jpegType       = []byte("data:image/jpg;base64,")
	pngType        = []byte("data:image/png;base64,")
	pdfDate        = regexp.MustCompile(`/(CreationDate|ModDate) \(D:\d{14}`)
)

// portableSVG names the fonts of equal width that stand in for Liberation
// Sans where it is not installed, and calls images what they are: vgsvg says
// JPEG and embeds PNG, which not every viewer forgives.
func portableSVG(svg []byte) []byte {
	svg = bytes.ReplaceAll(svg, jpegType, pngType)
	return bytes.ReplaceAll(svg, liberationSans, sansFallbacks)
}

// timelessPDF sets the dates in a PDF to a fixed day, in place, so that equal
// pictures are equal files.
func timelessPDF(pdf []byte) []byte {
	return pdfDate.ReplaceAllFunc(pdf, func(m []byte) []byte {
		copy(m[len(m)-14:], "20160101000000")
		return m
	})
}

// pdfCanvas hands colours and images to vgpdf as it reads them: it takes the
// components for straight ones although Go's are premultiplied by alpha.
type pdfCanvas struct{ *vgpdf.Canvas }

var _ vg.CanvasSizer = pdfCanvas{}

// SetColor sets the colour of what is drawn next.
func (c pdfCanvas) SetColor(clr color.Color) {
	c.Canvas.SetColor(straight(color.NRGBAModel.Convert(clr).(color.NRGBA)))
}

// DrawImage draws an image, which vgpdf, whose y axis points up, would draw
// upside down.
func (c pdfCanvas) DrawImage(rect vg.Rectangle, img image.Image) {
	c.Canvas.DrawImage(rect, upsideDown{img})
}

// upsideDown is an image with its last row first.
type upsideDown struct{ image.Image }

// At returns the colour of a pixel.
func (m upsideDown) At(x, y int) color.Color {
	b := m.Bounds()
	return m.Image.At(x, b.Min.Y+b.Max.Y-1-y)
}

// straight is a colour whose RGBA components are not premultiplied.
type straight color.NRGBA

// RGBA returns the components as they are.
func (s straight) RGBA() (r, g, b, a uint32) {
	const full = 0x101
	return uint32(s.R) * full, uint32(s.G) * full, uint32(s.B) * full, uint32(s.A) * full
}
