package online

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"polkrepro/data/rows"
	"polkrepro/internal/gemm"
)

// headRows is the largest number of first rows that settings are derived from.
const headRows = 1000

// headSize returns the number of rows of dim features that settings are derived from.
func headSize(dim int) int {
	dim = max(1, dim)
	return min(headRows, (maxValues+dim-1)/dim)
}

// A survey holds what is known of a source before training.
type survey struct {
	source  *Source
	head    []rows.Row // the first rows, or drawn rows; one column per feature
	labels  rows.Labels
	dim     int // largest number of features in a row; for LIBSVM the highest index
	rows    int
	judged  []rows.Row      // further drawn rows, not in head; none if head holds the first rows
	draw    *rand.Rand      // draws head and judged from all rows, for tuning; nil if head holds the first rows
	last    string          // label of the last row
	changes int             // how often the label changes from one row to the next
	metric  *learnedMetric  // to multiply the scaling with; nil without
	numbers rows.RowNumbers // of the first rows of a CSV source

	byColumn bool               // the values of a row are those of its columns
	weights  map[string]float64 // sum of the rows' own weights, by label; of a regression by ""
	ordered  bool               // whether the last of the rows are held out
	late     int                // how many of the judged rows are these
}

// look reads the head of a stream, or all rows of a file. Of a file it keeps the head:
// randomly drawn rows if draw is set, else the first rows.
func (f *rowReader) look(ctx context.Context, regression, draw, ordered bool) (*survey, error) {
	s := &survey{source: f.source, weights: make(map[string]float64), ordered: ordered}
	if draw {
		s.draw = newDraw()
	}
	for {
		row, err := f.next(ctx)
		switch {
		case err == io.EOF:
			s.split()
			return s, nil
		case errors.Is(err, ErrStopped) && f.source.stream():
			return nil, fmt.Errorf("%w after %d rows: training on a stream starts after %d rows, or at its end", err, s.rows, headRows)
		case err != nil:
			return nil, err
		}
		s.byColumn = row.Indices == nil || f.layout != nil
		if err := s.add(row, regression); err != nil {
			return nil, f.source.at(row, err)
		}
		if f.source.stream() && s.full() {
			return s, nil
		}
	}
}

// split keeps a random sample of the drawn rows in head and moves the rest to judged.
func (s *survey) split() {
	size := max(20, min(sampleRows, int(math.Sqrt(sampleValues/float64(max(s.dim, 1))))))
	if s.draw == nil || len(s.head) <= size && !s.ordered {
		return
	}
	var late []rows.Row
	if s.ordered {
		slices.SortFunc(s.head, func(a, b rows.Row) int { return cmp.Compare(a.Line, b.Line) })
		n := len(s.head) - len(s.head)/lateShare
		s.head, late = s.head[:n:n], s.head[n:]
	}
	s.draw.Shuffle(len(s.head), func(i, j int) { s.head[i], s.head[j] = s.head[j], s.head[i] })
	size = min(size, len(s.head))
	s.head, s.judged, s.late = s.head[:size], append(late, s.head[size:]...), len(late)
}

// full reports whether the head is complete.
func (s *survey) full() bool { return len(s.head) >= headSize(s.dim) }

func (s *survey) add(row *rows.Row, regression bool) error {
	full := s.full()
	s.rows++
	s.dim = max(s.dim, row.Dim)
	if s.byColumn && s.rows <= headRows {
		s.numbers.Add(row.Values)
	}
	if s.draw != nil {
		s.sample(row)
	} else if !full {
		s.head = append(s.head, *row)
	}
	if regression {
		s.weights[""] += cmp.Or(row.Weight, 1)
		_, err := number(row.Label)
		return err
	}
	s.weights[row.Label] += cmp.Or(row.Weight, 1)
	if s.labels.Len() > 0 && row.Label != s.last {
		s.changes++
	}
	s.last = row.Label
	return s.labels.Add(row.Label)
}

// newDraw returns the random generator that draws the sample of a file.
func newDraw() *rand.Rand { return rand.New(rand.NewPCG(tuneSeed, 9)) }

// sample adds the latest row to the head or discards it, so that every row is kept with
// the same probability.
func (s *survey) sample(row *rows.Row) {
	size := max(20, min(sampleRows+judgedRows+orderRows, maxValues/max(s.dim, 1)))
	if len(s.head) > size { // the row has more features than those before
		s.head = s.head[:size]
	}
	if len(s.head) < size {
		s.head = append(s.head, *row)
	} else if j := s.draw.IntN(s.rows); j < size {
		s.head[j] = *row
	}
}

// complete fills in missing settings from the rows of the survey, and returns
// the scaling of the features. It reports its choices to note.
func (s *survey) complete(set *Settings, note func(string, ...any)) (sc rows.Scaling, err error) {
	set.Dim = cmp.Or(set.Dim, s.dim)
	labels := &s.labels
	if set.regression() {
		labels = nil
	} else if set.Labels == nil {
		set.Labels = labels.Sorted()
	}
	if err := set.validate(); err != nil {
		return sc, err
	}
	scale := set.Scale
	if s.metric != nil {
		scale = s.metric.base
	}
	e, err := rows.Fit(s.head, set.Dim, scale, labels)
	if err != nil {
		return sc, err
	}
	if s.metric != nil {
		gemm.Product(e.Scaling.Factor, e.Scaling.Factor, s.metric.factors)
	}
	if set.regression() && set.Scale != rows.ScaleNone {
		if err := s.scaleTarget(set, &e, note); err != nil {
			return sc, err
		}
	}
	x, err := s.scaled(&e.Scaling, set.Dim)
	if err != nil {
		return sc, err
	}
	note("%d features, scaling %s from %d of %d rows", set.Dim, set.Scale, len(s.head), s.rows)
	if e.Constant > 0 {
		note("%d features are constant in these rows and are left out", e.Constant)
	}
	if set.Bandwidth == 0 {
		if set.Bandwidth = MedianDistance(len(s.head), set.Dim, x); set.Bandwidth == 0 {
			return sc, errSameRows
		}
		note("bandwidth %.4g, the median distance between the first %d rows", set.Bandwidth, len(s.head))
	}
	set.setRates()
	return e.Scaling, nil
}

var errSameRows = errors.New("the first rows are all the same: set the bandwidth of the kernel")

// scaleTarget scales targets so that those of the head have mean 0 and standard deviation 1.
func (s *survey) scaleTarget(set *Settings, e *rows.Encoding, note func(string, ...any)) error {
	set.TargetShift = e.Mean
	if e.Deviation != 0 {
		set.TargetFactor = 1 / e.Deviation
	}
	if !(set.TargetFactor > 0) || math.IsInf(set.TargetFactor, 1) {
		return fmt.Errorf("the targets have mean %v and standard deviation %v: too wide or too narrow to scale", e.Mean, e.Deviation)
	}
	note("targets have mean %.4g and standard deviation %.4g in the first %d rows, and are learned scaled", e.Mean, e.Deviation, len(s.head))
	return nil
}

// scaled returns the head's scaled features, row-major.
func (s *survey) scaled(sc *rows.Scaling, dim int) ([]float32, error) {
	x, dense := make([]float32, len(s.head)*dim), make([]float64, dim)
	for i := range s.head {
		row := &s.head[i]
		if row.Dim > dim {
			return nil, s.source.at(row, fmt.Errorf("the row has feature %d, want at most %d features", row.Dim, dim))
		}
		row.Dense(dense)
		if err := sc.Apply(x[i*dim:(i+1)*dim], dense); err != nil {
			return nil, s.source.at(row, err)
		}
	}
	return x, nil
}

// medianPairs bounds the arithmetic of the median heuristic.
const medianPairs = 1 << 29

// MedianDistance returns the median distance between n rows of dim features (the
// median heuristic for a kernel's bandwidth). If this median is 0, it returns the
// median of the nonzero distances, or 0 if all rows are equal. If there are many
// features, it uses fewer rows.
func MedianDistance(n, dim int, x []float32) float64 {
	n = min(n, max(2, int(math.Sqrt(2*medianPairs/float64(dim)))))
	d2 := make([]float64, 0, n*(n-1)/2)
	for i := range n {
		a := x[i*dim : (i+1)*dim]
		for j := range i {
			b := x[j*dim : (j+1)*dim]
			var s float64
			for q, v := range a {
				d := float64(v) - float64(b[q])
				s += float64(d * d)
			}
			d2 = append(d2, s)
		}
	}
	slices.Sort(d2)
	first, _ := slices.BinarySearch(d2, math.SmallestNonzeroFloat64)
	switch {
	case first == len(d2):
		return 0
	case d2[len(d2)/2] == 0:
		d2 = d2[first:]
	}
	return math.Sqrt(d2[len(d2)/2])
}

// warnSorted warns of rows that are sorted by class and learned in that order. They count as
// sorted if the label changes less than a quarter as often as in random order, n·(1 − Σp²).
func (t *trainer) warnSorted(s *survey) {
	random := float64(s.rows) * (1 - s.labels.Same())
	if s.labels.Len() == 0 || s.rows < 20 || float64(s.changes) >= random/4 || t.at.Shuffled && s.rows <= blockRows(s.dim) {
		return
	}
	what := "are learned in their order"
	if t.at.Shuffled {
		what = "are too many to be shuffled as a whole"
	}
	t.opt.Note("warning: the rows are sorted by class and %s, which favours the last classes: shuffle the rows first (shuf)", what)
}

// mostNumbers is the largest number of classes that a column may have by default if all are numbers.
const mostNumbers = 50

// labelNames are names that label columns have, in lower case.
var labelNames = []string{"class", "label", "target", "y", "outcome"}

// noteLabel names the column that holds the labels by default, the first one. It returns an error if
// that is probably another one.
func (t *trainer) noteLabel(l *rows.Layout, s *survey) error {
	if l == nil || l.Label < 0 {
		return nil
	}
	last := ""
	if l.Names != nil {
		last = l.Names[l.Columns-1]
	}
	isLabel := func(name string) bool { return slices.Contains(labelNames, strings.ToLower(name)) }
	switch {
	case isLabel(last) && !isLabel(l.Names[l.Label]):
		return fmt.Errorf("the last column is called %q, and the label is by default %s: name the label's column for training (--label last, or --label first)", last, l.Column(l.Label))
	case s.labels.Len() > mostNumbers && s.labels.Numbers():
		return fmt.Errorf("the label is by default %s, which has %d different numbers in %d rows: name the label's column for training (--label last, or --label first), or use the squared loss for regression", l.Column(l.Label), s.labels.Len(), s.rows)
	}
	t.opt.Note("label: %s", l.Column(l.Label))
	return nil
}

// warnOneClass warns of a stream whose first rows have one of the given classes.
func (t *trainer) warnOneClass(s *survey, set *Settings) {
	if t.opt.Source.stream() && len(set.Labels) > 1 && s.labels.Len() == 1 && s.rows > 1 {
		t.opt.Note("warning: all of the first %d rows have the label %q: settings are chosen without the other classes, and the error before learning says nothing of them: shuffle the rows first if you can (shuf)", s.rows, s.labels.Sorted()[0])
	}
}

// farAway is the distance, over that between the smallest and the largest of the other values of a
// feature, from which on a single value is said to be far from the others.
const farAway = 1000

// warnFar warns of single values that are so far from the others of their feature that the scaling,
// which follows them, leaves nothing of these.
func (t *trainer) warnFar(f *rowReader, s *survey) {
	for q := range s.dim {
		lines, v := s.column(q)
		if len(v) < fewestRows {
			continue
		}
		sorted := slices.Sorted(slices.Values(v))
		n := len(sorted)
		for _, of := range [][3]float64{{sorted[n-1], sorted[n-2], sorted[0]}, {sorted[0], sorted[1], sorted[n-1]}} {
			far, next, end := of[0], of[1], of[2]
			if others := math.Abs(next - end); others > 0 && math.Abs(far-next) > farAway*others {
				t.opt.Note("warning: line %d: %s is %v, and lies from %v to %v in all other rows: correct it, or the scaling leaves little of the others", lines[slices.Index(v, far)], f.columnName(q), far, min(next, end), max(next, end))
			}
		}
	}
}

// column returns the values of a column in the head, and their lines. There are none if the rows have
// no columns.
func (s *survey) column(q int) (lines []int, v []float64) {
	for i := range s.head {
		if row := &s.head[i]; s.byColumn && q < len(row.Values) {
			lines, v = append(lines, row.Line), append(v, row.Values[q])
		}
	}
	return lines, v
}

// A column of 3 to mostCodes whole values, each in codeRows rows on average, may be a category. At most
// notedMost such columns are named.
const mostCodes, codeRows = 10, 20

// noteCodes names columns of few whole values, unless categories are given.
func (t *trainer) noteCodes(f *rowReader, s *survey) {
	if f.layout == nil || f.layout.Line == 0 || f.layout.Read.Fitted != nil && f.layout.Read.Fitted.Levels != nil {
		return
	}
	var noted, names []string
	for q := range s.dim {
		_, v := s.column(q)
		n := len(v)
		slices.Sort(v)
		v = slices.Compact(v)
		if len(v) < 3 || len(v) > mostCodes || n < codeRows*len(v) || slices.ContainsFunc(v, func(x float64) bool { return x != math.Trunc(x) }) {
			continue
		}
		if len(names) == notedMost {
			noted, names = append(noted, "…"), append(names, "…")
			break
		}
		column := f.layout.Features[q]
		name := strconv.Itoa(column + 1)
		if f.layout.Names != nil {
			name = f.layout.Names[column]
		}
		noted, names = append(noted, fmt.Sprintf("%s: %d values", f.columnName(q), len(v))), append(names, name)
	}
	if names != nil {
		t.opt.Note("%s; a category? (--categories %s)", strings.Join(noted, ", "), strings.Join(names, ","))
	}
}

// warnNumbered warns of columns that number the rows: a model that learns from them does
// not generalize to other files.
func (t *trainer) warnNumbered(f *rowReader, s *survey) {
	if f.layout == nil {
		return
	}
	for _, column := range f.layout.Numbering(&s.numbers) {
		t.opt.Note("warning: %s seems to number the rows: leave it out (--ignore-columns), unless it is a feature (--keep-columns)", column)
	}
}
