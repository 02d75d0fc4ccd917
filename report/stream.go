package report

import (
	"cmp"
	"slices"
	"strconv"

	"polkrepro/record"
)

// StreamFigure makes the figure of a long stream: model order, memory and error
// against the number of samples processed.
func StreamFigure(points []record.StreamPoint) *Figure {
	f := &Figure{Name: "stream", Title: "A long stream"}
	if len(points) == 0 {
		f.Missing = "the stream has no points"
		return f
	}
	s := stream(slices.Clone(points))
	slices.SortStableFunc(s, func(a, b record.StreamPoint) int { return cmp.Compare(a.Samples, b.Samples) })
	f.content = s
	return f
}

// stream is a long stream's points, by samples.
type stream []record.StreamPoint

// rows are the points. The error rate is in per cent.
func (s stream) rows() [][]string {
	rows := [][]string{{"samples", "model_order", "heap_bytes", "rss_bytes", "error_percent"}}
	for _, p := range s {
		rows = append(rows, []string{strconv.Itoa(p.Samples), strconv.Itoa(p.ModelOrder),
			strconv.FormatUint(p.Heap, 10), strconv.FormatUint(p.Resident, 10), exact(100 * p.Error)})
	}
	return rows
}

func (s stream) drawing() drawing {
	const mega = 1 << 20
	order, heap, rss := lookOf("polk", 0), lookOf("", 0), lookOf("", 1)
	panels := []panel{
		{tag: "(a)", ylabel: "model order M_t", traces: []trace{
			{look: order, curve: s.curve(func(p record.StreamPoint) float64 { return float64(p.ModelOrder) })}}},
		{tag: "(b)", ylabel: "memory (MiB)", traces: []trace{
			{look: rss, curve: s.curve(func(p record.StreamPoint) float64 { return float64(p.Resident) / mega })},
			{look: heap, curve: s.curve(func(p record.StreamPoint) float64 { return float64(p.Heap) / mega })}}},
		{tag: "(c)", ylabel: "prequential error rate (%)", log: true, traces: []trace{
			{look: order, curve: s.curve(func(p record.StreamPoint) float64 { return 100 * p.Error })}}},
	}
	for i := range panels {
		panels[i].xmax = max(1, float64(s[len(s)-1].Samples))
	}
	return &picture{panels, legend{lineEntry("POLK", order), lineEntry("resident set", rss), lineEntry("live heap", heap)}}
}

// curve makes a curve of one quantity.
func (s stream) curve(of func(record.StreamPoint) float64) []sample {
	var out []sample
	for _, p := range s {
		if p.Samples >= 0 {
			out = append(out, single(float64(p.Samples), of(p)))
		}
	}
	return out
}
