package report

import (
	"bytes"
	"image/color"
	"regexp"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// pngDPI is the resolution of the PNG files.
const pngDPI = 300

// Formats are the formats of a picture, by file extension.
var Formats = []string{"svg", "png", "pdf"}

// render draws a picture in one of the Formats.
func (p *picture) render(format string) ([]byte, error) {
	w, h := p.size()
	var out bytes.Buffer
	switch format {
	case "svg":
		c := vgsvg.New(w, h)
		p.draw(c)
		_, err := c.WriteTo(&out)
		return portableSVG(out.Bytes()), err
	case "png":
		c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(pngDPI))}
		p.draw(c)
		_, err := c.WriteTo(&out)
		return out.Bytes(), err
	default:
		c := pdfCanvas{vgpdf.New(w, h)}
		p.draw(c)
		_, err := c.WriteTo(&out)
		return timelessPDF(out.Bytes()), err
	}
}

var (
	liberationSans = []byte("font-family:Liberation Sans;")
	sansFallbacks  = []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
	pdfDate        = regexp.MustCompile(`/(CreationDate|ModDate) \(D:\d{14}`)
)

// portableSVG names the fonts of equal width that stand in for Liberation
// Sans where it is not installed.
func portableSVG(svg []byte) []byte {
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

// pdfCanvas hands colours to vgpdf as it reads them: it takes the components
// for straight ones although Go's are premultiplied by alpha.
type pdfCanvas struct{ *vgpdf.Canvas }

var _ vg.CanvasSizer = pdfCanvas{}

// SetColor sets the colour of what is drawn next.
func (c pdfCanvas) SetColor(clr color.Color) {
	c.Canvas.SetColor(straight(color.NRGBAModel.Convert(clr).(color.NRGBA)))
}

// straight is a colour whose RGBA components are not premultiplied.
type straight color.NRGBA

// RGBA returns the components as they are.
func (s straight) RGBA() (r, g, b, a uint32) {
	const full = 0x101
	return uint32(s.R) * full, uint32(s.G) * full, uint32(s.B) * full, uint32(s.A) * full
}
