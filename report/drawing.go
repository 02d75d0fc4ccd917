package report

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A drawing is all that is drawn of a figure, in every format alike.
type drawing interface {
	// size is its size in print.
	size() (w, h vg.Length)

	// draw draws it on a white canvas of that size whose lower left corner
	// is the origin.
	draw(c draw.Canvas)
}

var (
	_ drawing = (*picture)(nil)
	_ drawing = (*sheet)(nil)
	_ drawing = (*contact)(nil)
	_ drawing = (*forest)(nil)
)
