package plot

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

// Without sorting, the order of a PDF's images changes each time.
func init() { fpdf.SetDefaultCatalogSort(true) }

// DPI is the resolution of the PNG files.
const DPI = 200

// Formats are the formats of a picture, by file extension.
var Formats = []string{"svg", "png", "pdf"}

// A Drawing is the picture of a figure, the same in every format.
type Drawing interface {
	// Size returns the size in print.
	Size() (w, h vg.Length)

	// Draw draws on a white canvas of that size whose lower left corner
	// is the origin.
	Draw(c draw.Canvas)
}

// Render returns the drawing in one of the Formats.
func Render(d Drawing, format string) ([]byte, error) {
	if format == "png" {
		return RenderPNG(d, DPI)
	}
	w, h := d.Size()
	var b bytes.Buffer
	if format == "svg" {
		c := vgsvg.New(w, h)
		drawOnWhite(d, c)
		_, err := c.WriteTo(&b)
		return portableSVG(b.Bytes()), err
	}
	c := pdfCanvas{vgpdf.New(w, h)}
	drawOnWhite(d, c)
	_, err := c.WriteTo(&b)
	return timelessPDF(b.Bytes()), err
}

// RenderPNG returns the drawing as a PNG file with the given resolution.
func RenderPNG(d Drawing, dpi int) ([]byte, error) {
	w, h := d.Size()
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))}
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

var (
	liberationSans = []byte("font-family:Liberation Sans;")
	sansFallbacks  = []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
	jpegType       = []byte("data:image/jpg;base64,")
	pngType        = []byte("data:image/png;base64,")
	pdfDate        = regexp.MustCompile(`/(CreationDate|ModDate) \(D:\d{14}`)
)

// portableSVG names fonts of equal width as fallbacks, for viewers without Liberation Sans. It
// also corrects the type of images: vgsvg embeds PNG but declares JPEG, which not every viewer
// accepts.
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

// pdfCanvas converts colours and images for vgpdf, which takes colour components as straight
// although Go's are premultiplied by alpha.
type pdfCanvas struct{ *vgpdf.Canvas }

var _ vg.CanvasSizer = pdfCanvas{}

// SetColor sets the colour of what is drawn next.
func (c pdfCanvas) SetColor(clr color.Color) {
	c.Canvas.SetColor(straight(color.NRGBAModel.Convert(clr).(color.NRGBA)))
}

// DrawImage draws an image. It turns the image over first, because vgpdf, whose y axis points up,
// draws images upside down.
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
