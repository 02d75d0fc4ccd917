package report

import (
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"polkrepro/record"
)

// A Stream is the figure of a long stream: model order, memory and error
// against the number of samples processed.
type Stream struct {
	Name   string // stem of its files: stream
	Points []record.StreamPoint
}

// StreamFigure makes the figure of a long stream.
func StreamFigure(points []record.StreamPoint) *Stream {
	points = slices.Clone(points)
	slices.SortStableFunc(points, func(a, b record.StreamPoint) int { return cmp.Compare(a.Samples, b.Samples) })
	return &Stream{Name: "stream", Points: points}
}

// WriteAll writes figures/stream.{svg,png,pdf,csv} into a folder and returns
// their paths. It returns an error if there are no points.
func (s *Stream) WriteAll(dir string) ([]string, error) {
	if len(s.Points) == 0 {
		return nil, errors.New("the figure of the stream has no points")
	}
	w := writer{dir: dir}
	w.picture(s.Name, s.picture())
	w.file(filepath.Join("figures", s.Name+".csv"), s.CSV)
	return w.paths, w.err
}

// CSV writes the points. The error rate is in per cent.
func (s *Stream) CSV(w io.Writer) error {
	cw := csv.NewWriter(w)
	if err := cw.Write([]string{"samples", "model_order", "heap_bytes", "rss_bytes", "error_percent"}); err != nil {
		return err
	}
	for _, p := range s.Points {
		row := []string{strconv.Itoa(p.Samples), strconv.Itoa(p.ModelOrder),
			strconv.FormatUint(p.Heap, 10), strconv.FormatUint(p.Resident, 10), exact(100 * p.Error)}
		if err := cw.Write(row); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}

// picture lays the figure out for drawing.
func (s *Stream) picture() *picture {
	const mega = 1 << 20
	order, heap, rss := lookOf("polk", 0), lookOf("", 0), lookOf("", 1)
	memory := panel{tag: "(b)", ylabel: "memory (MiB)", traces: []trace{
		{look: rss, curve: s.curve(func(p record.StreamPoint) float64 { return float64(p.Resident) / mega })},
		{look: heap, curve: s.curve(func(p record.StreamPoint) float64 { return float64(p.Heap) / mega })},
	}}
	p := &picture{
		panels: []panel{
			{tag: "(a)", ylabel: "model order M_t", traces: []trace{
				{look: order, curve: s.curve(func(p record.StreamPoint) float64 { return float64(p.ModelOrder) })}}},
			memory,
			{tag: "(c)", ylabel: "prequential error rate (%)", log: true, traces: []trace{
				{look: order, curve: s.curve(func(p record.StreamPoint) float64 { return 100 * p.Error })}}},
		},
		legend: []legendEntry{lineEntry("POLK", order), lineEntry("resident set", rss), lineEntry("live heap", heap)},
	}
	for i := range p.panels {
		p.panels[i].xmax = max(1, float64(s.Points[len(s.Points)-1].Samples))
	}
	return p
}

// curve makes a curve of one quantity.
func (s *Stream) curve(of func(record.StreamPoint) float64) []sample {
	var out []sample
	for _, p := range s.Points {
		if p.Samples >= 0 {
			v := of(p)
			out = append(out, sample{x: float64(p.Samples), mean: v, low: v, high: v})
		}
	}
	return out
}
