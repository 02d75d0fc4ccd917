package report

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"polkrepro/report/plot"
)

// contactName is the stem of the contact sheet's files, and contactDPI makes
// it 1400 pixels wide.
const (
	contactName = "contact"
	contactDPI  = 104
)

// Measures of a contact sheet.
const (
	contactColumns = 2
	contactGap     = vg.Length(16) // between columns
	contactEdge    = vg.Length(8)
	contactHead    = vg.Length(20) // above a figure, for its title
	contactTitle   = vg.Length(10) // size of its letters
	contactMissing = vg.Length(60) // height of a figure that is missing
)

// A contact is all of the paper's figures, two in a row, under their titles.
type contact struct{ figures []*Figure }

// newContact makes the contact sheet of the paper's figures, or nil if none
// has a picture.
func newContact(figures []*Figure) *contact {
	figures = slices.DeleteFunc(slices.Clone(figures), func(f *Figure) bool { return f.number == 0 })
	if !slices.ContainsFunc(figures, func(f *Figure) bool { return f.Missing == "" }) {
		return nil
	}
	slices.SortStableFunc(figures, func(a, b *Figure) int { return cmp.Compare(a.number, b.number) })
	return &contact{figures}
}

// rows are the figures by row.
func (d *contact) rows() [][]*Figure {
	return slices.Collect(slices.Chunk(d.figures, contactColumns))
}

// height is the height of a row.
func height(row []*Figure) vg.Length {
	h := contactMissing
	for _, f := range row {
		if f.Missing == "" {
			_, own := f.Drawing.Size()
			h = max(h, own)
		}
	}
	return h + contactHead
}

// Size is the size in print.
func (d *contact) Size() (w, h vg.Length) {
	for _, row := range d.rows() {
		h += height(row)
	}
	return 2*contactEdge + contactColumns*plot.Width + (contactColumns-1)*contactGap, h + 2*contactEdge
}

// Draw draws the figures.
func (d *contact) Draw(all draw.Canvas) {
	top := all.Max.Y - contactEdge
	for _, row := range d.rows() {
		for i, f := range row {
			drawContact(all, f, contactEdge+vg.Length(i)*(plot.Width+contactGap), top-contactHead, height(row)-contactHead)
		}
		top -= height(row)
	}
}

// drawContact draws a figure, or why it is missing, under its title, into a
// space of the given left and upper edge and height.
func drawContact(all draw.Canvas, f *Figure, left, top, room vg.Length) {
	all.FillText(plot.Letters(contactTitle, draw.XLeft, draw.YBottom), vg.Point{X: left, Y: top + 4}, plot.Plain(f.Title))
	if f.Missing != "" {
		space := vg.Rectangle{Min: vg.Point{X: left, Y: top - room}, Max: vg.Point{X: left + plot.Width, Y: top}}
		plot.DrawNotice(draw.Canvas{Canvas: all.Canvas, Rectangle: space}, f.Missing)
		return
	}
	w, h := f.Drawing.Size()
	all.Push()
	all.Translate(vg.Point{X: left, Y: top - h})
	f.Drawing.Draw(draw.Canvas{Canvas: all.Canvas, Rectangle: vg.Rectangle{Max: vg.Point{X: w, Y: h}}})
	all.Pop()
}
