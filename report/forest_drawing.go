package report

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/evidence/stats"
	"polkrepro/report/plot"
)

// Measures of a forest plot. It is as wide as a column of a two-column page, so that its letters
// keep their size there, and as wide as a telephone.
const (
	forestWidth  = 3.4 * vg.Inch
	forestEdge   = vg.Length(5)
	forestLetter = vg.Length(7)
	forestRowGap = vg.Length(7.9)
	forestHead   = vg.Length(11) // the title of a group
	forestTitle  = vg.Length(22) // above a panel
	forestAxis   = vg.Length(25) // below a panel
	forestLegend = vg.Length(13)
	forestNames  = vg.Length(32)  // for the names of methods
	forestLabels = vg.Length(124) // for the inequalities
	forestGap    = vg.Length(7)   // beside the axis of the inequalities
	forestSpace  = vg.Length(12)  // between the axes of the numbers
	forestArrow  = vg.Length(4.5)
	forestHalf   = vg.Length(8.5)  // from an axis to its verdicts at half the margin
	forestTwice  = vg.Length(15.5) // and to those at twice the margin
	forestExtra  = vg.Length(15)   // for both
)

// verdictMarks are the marks of the verdicts: each has a colour that no method has, and its own shape.
var verdictMarks = map[stats.Verdict]draw.GlyphStyle{
	stats.Reproduced:   {Color: plot.RGB(0x0a, 0x93, 0x96), Radius: 1.9, Shape: draw.CircleGlyph{}},
	stats.Deviates:     {Color: plot.RGB(0xd0, 0x00, 0x3a), Radius: 1.9, Shape: draw.BoxGlyph{}},
	stats.Inconclusive: {Color: plot.RGB(0xa8, 0x90, 0x00), Radius: 2.4, Shape: draw.PyramidGlyph{}},
	stats.NotRun:       {Color: plot.RGB(0x59, 0x59, 0x59), Radius: 1.8, Shape: draw.CrossGlyph{}},
}

// legendVerdicts are the verdicts in the order of the legend.
var legendVerdicts = []stats.Verdict{stats.Reproduced, stats.Deviates, stats.Inconclusive, stats.NotRun}

// A forestScale is the axis of a panel, with values from min to max between left and right.
type forestScale struct {
	left, right vg.Length
	min, max    float64
	shade       [2]float64 // claimed range
	ticks       []float64
}

// at returns the position of a value, which may be beyond the axis.
func (s forestScale) at(v float64) vg.Length {
	return s.left + (s.right-s.left)*vg.Length((v-s.min)/(s.max-s.min))
}

// clipped returns the position of a value, limited to the axis.
func (s forestScale) clipped(v float64) vg.Length { return s.at(min(max(v, s.min), s.max)) }

// numberScales are the axes of risk, error and model order.
func numberScales() []forestScale {
	left := forestEdge + forestNames + forestGap
	width := (forestWidth-forestEdge-forestGap-left-(quantityCount-1)*forestSpace)/quantityCount - forestExtra
	out := make([]forestScale, quantityCount)
	for i := range out {
		out[i] = forestScale{left, left + width, -2, 2, [2]float64{-1, 1}, []float64{-2, -1, 0, 1, 2}}
		left += width + forestExtra + forestSpace
	}
	return out
}

// panelRows is the height of a panel's rows.
func panelRows(groups []forestGroup) (h vg.Length) {
	for _, g := range groups {
		h += forestHead + forestRowGap*vg.Length(len(g.rows))
	}
	return h
}

// Size is the size in print.
func (d *forest) Size() (w, h vg.Length) {
	return forestWidth, 2*(forestTitle+forestAxis) + panelRows(d.numbers) + panelRows(d.sentences) + forestLegend + forestEdge
}

// Draw draws the numbers above the sentences.
func (d *forest) Draw(c draw.Canvas) {
	bound := forestScale{forestEdge + forestLabels + forestGap, forestWidth - forestEdge - forestGap - forestExtra, -100, 100, [2]float64{-100, 0}, []float64{-100, -50, 0, 50, 100}}
	top := drawForestPanel(c, c.Max.Y, "(a) numbers in Tables 2 and 3", d.numbers, numberScales(), []string{"risk", "error", "model order"}, "(ours - paper) / margin")
	top = drawForestPanel(c, top, "(b) signed sentences", d.sentences, []forestScale{bound}, []string{"holds | fails"}, "distance from the bound (% of it)")
	drawVerdictLegend(c, top-forestLegend/2)
}

// drawForestPanel draws a panel whose upper edge is at top and returns its lower edge.
func drawForestPanel(c draw.Canvas, top vg.Length, title string, groups []forestGroup, scales []forestScale, headings []string, xlabel string) vg.Length {
	c.FillText(plot.Letters(plot.LabelSize, draw.XLeft, draw.YTop), vg.Point{X: forestEdge, Y: top - 3}, title)
	for i, s := range scales {
		sty := plot.Letters(forestLetter, draw.XCenter, draw.YBottom)
		c.FillText(sty, vg.Point{X: s.at((s.min + s.max) / 2), Y: top - forestTitle + 2}, headings[i])
		c.FillText(sty, vg.Point{X: s.right + forestHalf, Y: top - forestTitle + 2}, "½")
		c.FillText(sty, vg.Point{X: s.right + forestTwice, Y: top - forestTitle + 2}, "2")
	}
	y := top - forestTitle
	for _, g := range groups {
		sty := plot.Letters(forestLetter, draw.XLeft, draw.YBottom)
		sty.Color = plot.RGB(0x44, 0x44, 0x44)
		c.FillText(sty, vg.Point{X: forestEdge, Y: y - forestHead + 3}, plot.Plain(g.title))
		y -= forestHead
		h := forestRowGap * vg.Length(len(g.rows))
		for _, s := range scales {
			s.drawGround(c, y-h, y)
		}
		for _, row := range g.rows {
			y -= forestRowGap
			middle := y + forestRowGap/2
			plot.FillMiddle(c, plot.Letters(forestLetter, draw.XLeft, draw.YCenter), vg.Point{X: forestEdge + 4, Y: middle}, plot.Plain(row.label))
			for i, e := range row.entries {
				scales[i].drawEntry(c, middle, e)
				scales[i].drawMargins(c, middle, e)
			}
		}
	}
	for i, s := range scales {
		s.drawAxis(c, y, len(scales) == 1 || i == len(scales)/2, xlabel)
	}
	return y - forestAxis
}

// drawGround draws the background of a group's entries: the claimed range, the value claimed or
// the bound, and the ends of the axis.
func (s forestScale) drawGround(c draw.Canvas, low, high vg.Length) {
	a, b := s.at(s.shade[0]), s.at(s.shade[1])
	c.FillPolygon(plot.RGB(0xe4, 0xe7, 0xea), plot.Rectangle(a, low, b, high))
	c.StrokeLine2(draw.LineStyle{Color: plot.RGB(0x66, 0x66, 0x66), Width: 0.5}, s.at(0), low, s.at(0), high)
	for _, x := range []vg.Length{s.left, s.right} {
		c.StrokeLine2(draw.LineStyle{Color: plot.RGB(0xbb, 0xbb, 0xbb), Width: 0.4}, x, low, x, high)
	}
}

// drawAxis draws the axis below all groups. Of several axes, only the middle one is labelled.
func (s forestScale) drawAxis(c draw.Canvas, y vg.Length, labelled bool, label string) {
	line := draw.LineStyle{Color: plot.RGB(0, 0, 0), Width: 0.5}
	c.StrokeLine2(line, s.left, y, s.right, y)
	for _, v := range s.ticks {
		c.StrokeLine2(line, s.at(v), y, s.at(v), y-2.5)
		c.FillText(plot.Letters(forestLetter, draw.XCenter, draw.YTop), vg.Point{X: s.at(v), Y: y - 3.5}, strconv.FormatFloat(v, 'f', -1, 64))
	}
	if labelled {
		c.FillText(plot.Letters(forestLetter, draw.XCenter, draw.YTop), vg.Point{X: s.at((s.min + s.max) / 2), Y: y - 12}, label)
	}
}

// drawEntry draws an entry: its interval and marker, an arrow with the value if that is beyond
// the axis, or words for a missing value.
func (s forestScale) drawEntry(c draw.Canvas, y vg.Length, e *forestEntry) {
	verdict, missing := stats.NotRun, "not printed"
	if e != nil {
		verdict, missing = e.result.Verdict, ""
		if verdict == stats.NotRun {
			missing = verdict.String()
		} else if math.IsNaN(e.x) {
			missing = "no value"
		}
	}
	ink := verdictMarks[verdict].Color
	if missing != "" {
		s.drawWords(c, y, missing, ink)
		return
	}
	if e.high > e.low && e.low <= s.max && e.high >= s.min {
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1}, s.clipped(e.low), y, s.clipped(e.high), y)
		if e.low < s.min {
			arrowhead(c, s.left, y, -1, ink)
		}
		if e.high > s.max {
			arrowhead(c, s.right, y, 1, ink)
		}
	}
	if e.x >= s.min && e.x <= s.max {
		c.DrawGlyphNoClip(verdictMarks[verdict], vg.Point{X: s.at(e.x), Y: y})
		return
	}
	s.drawBeyond(c, y, e.x, ink)
}

// drawMargins draws the verdicts at half and at twice the margin right of the axis.
func (s forestScale) drawMargins(c draw.Canvas, y vg.Length, e *forestEntry) {
	if e == nil || e.result.Test.Margin == 0 || e.result.Verdict == stats.NotRun {
		return
	}
	c.DrawGlyphNoClip(verdictMarks[e.result.At(0.5)], vg.Point{X: s.right + forestHalf, Y: y})
	c.DrawGlyphNoClip(verdictMarks[e.result.At(2)], vg.Point{X: s.right + forestTwice, Y: y})
}

// drawBeyond draws a value beyond the axis: an arrow at the nearer edge, with the value.
func (s forestScale) drawBeyond(c draw.Canvas, y vg.Length, x float64, ink color.Color) {
	edge, direction, align := s.right, vg.Length(1), draw.XRight
	if x < 0 {
		edge, direction, align = s.left, -1, draw.XLeft
	}
	arrowhead(c, edge, y, direction, ink)
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1}, edge-direction*3, y, edge, y)
	sty := plot.Letters(forestLetter, align, draw.YCenter)
	sty.Color = ink
	label := strconv.FormatFloat(x, 'f', 1, 64)
	switch {
	case math.IsInf(x, 0):
		label = "diverged"
	case math.Abs(x) >= 100:
		label = strconv.FormatFloat(x, 'f', 0, 64)
	}
	plot.FillMiddle(c, sty, vg.Point{X: edge - direction*5, Y: y}, label)
}

// arrowhead draws a triangle that begins at an edge and points beyond it.
func arrowhead(c draw.Canvas, edge, y, direction vg.Length, ink color.Color) {
	c.FillPolygon(ink, []vg.Point{{X: edge, Y: y + 2.3}, {X: edge + direction*forestArrow, Y: y}, {X: edge, Y: y - 2.3}})
}

// drawWords writes words in place of a value.
func (s forestScale) drawWords(c draw.Canvas, y vg.Length, words string, ink color.Color) {
	sty := plot.Letters(forestLetter, draw.XCenter, draw.YCenter)
	sty.Color = ink
	middle, half := s.at((s.min+s.max)/2), sty.Width(words)/2+2
	c.FillPolygon(plot.RGB(0xff, 0xff, 0xff), plot.Rectangle(middle-half, y-3.5, middle+half, y+3.5))
	plot.FillMiddle(c, sty, vg.Point{X: middle, Y: y}, words)
}

// drawVerdictLegend names the markers in one row.
func drawVerdictLegend(c draw.Canvas, y vg.Length) {
	sty := plot.Letters(forestLetter, draw.XLeft, draw.YCenter)
	const icon, gap = vg.Length(7), vg.Length(12)
	total := -gap
	for _, v := range legendVerdicts {
		total += icon + sty.Width(v.String()) + gap
	}
	x := (forestWidth - total) / 2
	for _, v := range legendVerdicts {
		c.DrawGlyphNoClip(verdictMarks[v], vg.Point{X: x, Y: y})
		plot.FillMiddle(c, sty, vg.Point{X: x + icon - 2, Y: y}, v.String())
		x += icon + sty.Width(v.String()) + gap
	}
}
