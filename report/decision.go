package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"polkrepro/evidence"
	"polkrepro/experiments"
	"polkrepro/kernel"
	"polkrepro/report/plot"
)

// decisions are the contents of a figure of decision surfaces.
type decisions struct {
	tiles    []plot.Tile
	surfaces []*surface // those of the tiles that are not missing
}

// decisions fills a figure of decision surfaces: a panel for each task, with
// the model of the run that feeds it and has the lowest seed on the figures'
// draw.
func (b *builder) decisions(f *Figure, pf experiments.PaperFigure) {
	d := &decisions{}
	var whys, lost []string
	for i, pp := range pf.Panels {
		s, why := b.surface(pf.ID, pp)
		if s != nil {
			d.tiles, d.surfaces = append(d.tiles, plot.Tile{Title: s.title(), Draw: s.draw}), append(d.surfaces, s)
			continue
		}
		d.tiles = append(d.tiles, plot.Tile{Title: pp.Title, Draw: plot.Notice(why)})
		whys = append(whys, why)
		lost = append(lost, fmt.Sprintf("(%c) %s", 'a'+i, why))
	}
	switch whys = slices.Compact(whys); {
	case len(d.surfaces) > 0:
		f.Drawing, f.Data, f.Caption = d.sheet(), d.rows, d.caption(lost)
	case len(whys) == 1:
		f.Missing = whys[0]
	default:
		f.Missing = cmp.Or(sentence(lost...), (&evidence.Gap{Kind: evidence.NotPlanned}).Cell())
	}
}

// surface makes the surface of a panel, or says why there is none.
func (b *builder) surface(figure string, pp experiments.PaperPanel) (s *surface, why string) {
	planned := b.planned(func(p experiments.Planned) bool {
		run := p.Run
		return slices.Contains(p.Figures, figure) && run.Data.Name == pp.Data && run.Task == pp.Task && run.Data.Draw == b.figureDraw
	})
	runs := b.records(planned)
	if len(runs) == 0 {
		return nil, b.absent(planned, pp.Data).Cell()
	}
	s, err := newSurface(runs[0])
	if err != nil {
		return nil, fmt.Sprintf("run %s: %v", runs[0].Header.ID, err)
	}
	of := slices.IndexFunc(planned, func(p experiments.Planned) bool { return b.in.Records[p.ID] == runs[0] })
	s.panel, s.heading, s.series = pp.ID, pp.Title, planned[of].Series
	return s, ""
}

func (d *decisions) sheet() *plot.Sheet {
	sh := &plot.Sheet{Tiles: d.tiles, Axes: true, Aspect: surfaceAspect, Legend: classLegend(d.surfaces[0].set.Classes)}
	sh.Legend = append(sh.Legend,
		plot.IconEntry("dictionary element", drawElement),
		plot.StrokeEntry("class boundary", boundaryLine()))
	if slices.ContainsFunc(d.surfaces, (*surface).probabilistic) {
		for i, level := range confidenceLevels {
			sh.Legend = append(sh.Legend, plot.StrokeEntry(fmt.Sprintf("confidence %g", level), confidenceLine(i)))
		}
	}
	return sh
}

// caption says what the picture shows and what it lacks.
func (d *decisions) caption(lost []string) string {
	var b strings.Builder
	b.WriteString("Decisions of one model a panel: pale grounds are the classes decided for, small markers the first ")
	fmt.Fprintf(&b, "%d training points, black dots the M dictionary elements, solid lines the boundaries between classes", min(maxPoints, d.surfaces[0].set.Train.N))
	if slices.ContainsFunc(d.surfaces, (*surface).probabilistic) {
		b.WriteString(", dashed lines the contours of the confidence, the softmax probability of the class decided for")
	}
	var models []string
	for _, s := range d.surfaces {
		models = append(models, fmt.Sprintf("(%s) %s, %s, seed %d, draw %d", s.panel, s.run.Task, s.series, s.run.Seed, s.run.Data.Draw))
	}
	fmt.Fprintf(&b, ". Models: %s. The test error is a mean over the last 5 %% of the samples.", strings.Join(models, "; "))
	if len(lost) > 0 {
		b.WriteString(" Missing: " + strings.Join(lost, "; ") + ".")
	}
	return b.String()
}

// rows are the decisions on a grid and at the dictionary elements.
func (d *decisions) rows() [][]string {
	rows := [][]string{{"panel", "kind", "x1", "x2", "class", "confidence"}}
	for _, s := range d.surfaces {
		for j := 0; j < gridNodes; j += gridStep {
			for i := 0; i < gridNodes; i += gridStep {
				x, y := s.area.at(plot.Node{X: float64(i), Y: float64(j)}, gridNodes)
				rows = append(rows, s.row("grid", x, y, s.at(i, j)))
			}
		}
		x := make([]float64, 2)
		for j := range s.model.Order() {
			kernel.Widen(x, s.model.Dict.At(j))
			scores := make([]float64, s.model.Outputs)
			s.scoresAt(1, x, scores)
			rows = append(rows, s.row("dictionary", x[0], x[1], scores))
		}
	}
	return rows
}
