package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// panel is the step's time against one variable.
type panel struct {
	name   string
	series []series // one a loss
}

type series struct {
	loss   string
	points []point // by rising x
}

// point is a size and the times it takes, in seconds.
type point struct{ x, step, floor float64 }

func step(p point) float64  { return p.step }
func floor(p point) float64 { return p.floor }

// variables are the panels in their order, with the label of the axis.
var variables = []struct{ name, label string }{
	{"n", "mini-batch size n (samples)"},
	{"M", "model order M (dictionary elements)"},
	{"p", "dimension p (features)"},
	{"C", "classes C"},
}

// scalingPanels collects the results of BenchmarkScaling. A series of fewer
// than two points, or with a value that has no logarithm, is left out.
func scalingPanels(res *results) []panel {
	var panels []panel
	for _, v := range variables {
		p := panel{name: v.name}
		for _, b := range res.of("polk", "Scaling") {
			if b.keys["vary"] == v.name {
				p.add(b)
			}
		}
		p.series = slices.DeleteFunc(p.series, func(s series) bool { return len(s.points) < 2 })
		if len(p.series) > 0 {
			panels = append(panels, p)
		}
	}
	return panels
}

// add adds a result to the series of its loss. The model order is the mean
// that was measured, other sizes are exact.
func (p *panel) add(b *bench) {
	x, err := strconv.ParseFloat(b.keys[p.name], 64)
	if m, ok := b.median("M"); ok && p.name == "M" {
		x = m
	}
	ns, _ := b.median("ns/op")
	floorNS, _ := b.median("floor-ns/op")
	if err != nil || !(x > 0 && ns > 0 && floorNS > 0) {
		return
	}
	i := slices.IndexFunc(p.series, func(s series) bool { return s.loss == b.keys["loss"] })
	if i < 0 {
		i = len(p.series)
		p.series = append(p.series, series{loss: b.keys["loss"]})
	}
	s := &p.series[i]
	s.points = append(s.points, point{x, ns * 1e-9, floorNS * 1e-9})
	slices.SortStableFunc(s.points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
}

// slope fits log y = a + slope·log x by least squares.
func (s series) slope(y func(point) float64) float64 {
	_, slope := s.fit(y)
	return slope
}

func (s series) fit(y func(point) float64) (intercept, slope float64) {
	lx, ly := make([]float64, len(s.points)), make([]float64, len(s.points))
	for i, p := range s.points {
		lx[i], ly[i] = math.Log(p.x), math.Log(y(p))
	}
	return stat.LinearRegression(lx, ly, nil, false)
}

// signed writes a slope with a proper minus sign.
func signed(v float64) string { return strings.Replace(fmt.Sprintf("%.2f", v), "-", "−", 1) }

// scalingCSV writes the points of all panels.
func scalingCSV(panels []panel) []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.Write([]string{"varied", "loss", "x", "step_seconds", "floor_seconds"})
	num := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	for _, p := range panels {
		for _, s := range p.series {
			for _, q := range s.points {
				w.Write([]string{p.name, s.loss, num(q.x), num(q.step), num(q.floor)})
			}
		}
	}
	w.Flush() // to memory: can't fail
	return out.Bytes()
}
