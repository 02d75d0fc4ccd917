package data

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"weak"

	"polkrepro/data/rows"
)

// A view is a split of a user's file: some rows of a part, which are scaled when they are read.
type view struct {
	part    *part
	index   []int        // of the rows
	means   []float64    // in place of missing values; nil for those in the rows
	scaling rows.Scaling // of the features

	mu    sync.Mutex
	dense weak.Pointer[Split] // see Split.Dense
}

// row returns row i with the view's means. It is valid while the part is.
func (v *view) row(i int) rows.Row {
	at := v.index[i]
	row := v.part.rows[at]
	if filled := v.part.filled[at]; filled != nil && v.means != nil {
		row.Values = slices.Clone(row.Values)
		for _, q := range filled {
			row.Values[q] = v.means[q]
		}
	}
	return row
}

// of returns the view of the rows that index names in place of those of v.
func (v *view) of(index []int) *view {
	return &view{part: v.part, index: index, means: v.means, scaling: v.scaling}
}

// Dense returns the split with its features in memory, X. All who hold the result at the same time share it.
func (s *Split) Dense() *Split {
	if s.view == nil {
		return s
	}
	s.view.mu.Lock()
	defer s.view.mu.Unlock()
	if d := s.view.dense.Value(); d != nil {
		return d
	}
	d := newSplit(s.N, s.Dim)
	next := -1
	s.Gather(d.X, d.Y, func() int { next++; return next })
	s.view.dense = weak.Make(d)
	return d
}

// Gather copies the len(y) examples whose indices next returns to x and y.
func (s *Split) Gather(x []float32, y []float64, next func() int) {
	var dense []float64
	for k := range y {
		i := next()
		at := x[k*s.Dim : (k+1)*s.Dim]
		if y[k] = s.Y[i]; s.view == nil {
			copy(at, s.Row(i))
			continue
		}
		if dense == nil {
			dense = make([]float64, s.Dim)
		}
		row := s.view.row(i)
		row.Dense(dense)
		_ = s.view.scaling.Apply(at, dense) // encode has checked all rows
	}
}

// set returns the data set of a table. Without a test file, it holds out rows of the training file.
func (r *Ref) set(t *table) (*Set, error) {
	f := &r.Files
	set := &Set{Name: r.Name, Sums: make(map[string]string), Facts: make(map[string]float64)}
	for _, p := range f.parts() {
		set.Sums[p.key+" "+p.file.Name] = p.file.SHA256
	}
	learned, tested, err := f.views(t)
	if err != nil {
		return nil, err
	}
	all := make([]rows.Row, len(learned.index))
	for i := range all {
		all[i] = learned.row(i)
	}
	e, err := rows.Fit(all, t.train.dim, cmp.Or(f.Scale, rows.ScaleNone), t.labels)
	if err != nil {
		return nil, wrong("scale", "%s: %w; set scale to standard or unit", f.Train.path, err)
	}
	set.Labels, set.Classes, set.Scaling = e.Labels, len(e.Labels), e.Scaling
	columns := t.train.layout.Read
	columns.ZeroBased = f.ZeroBased // LIBSVM files have no layout
	if learned.means != nil {
		fitted := *columns.Fitted
		columns.Fitted, fitted.Means = &fitted, learned.means
	}
	if set.Columns = columns.Stored(); t.train.layout.Names != nil {
		set.Names = new(t.train.layout.Sum())
	}
	if f.Regression {
		if e.Deviation == 0 {
			return nil, wrong("train", "%s: every target is %s: there is nothing to learn", f.Train.path, all[0].Label)
		}
		set.Facts["target_mean"], set.Facts["target_deviation"] = e.Mean, e.Deviation
	}
	if set.Train, err = encode(&e, learned, f.Format); err != nil {
		return nil, wrong("train", "%s: %w", f.Train.path, err)
	}
	if set.Test, err = encode(&e, tested, f.Format); err != nil {
		return nil, wrong("test", "%s: %w", cmp.Or(f.Test.path, f.Train.path), err)
	}
	if f.Test != (File{}) {
		if set.Repeated = repeated(set.Test, set.Train); set.Repeated == set.Test.N {
			return nil, wrong("test", "%s: the test data are the training data: all %d test rows are also training rows", f.Test.path, set.Repeated)
		}
	}
	set.Facts["features"], set.Facts["classes"] = float64(t.train.dim), float64(max(1, set.Classes))
	t.sizes.Store(r.Content().Files, set.info())
	return set, nil
}

// info returns the sizes of the data set of a user's files.
func (s *Set) info() Info {
	return Info{Name: s.Name, Kind: KindFile, Classes: s.Classes, Dim: s.Train.Dim, Train: s.Train.N, Test: s.Test.N}
}

// views returns the training and the test rows, not scaled yet. Without a test file and rows that are held
// out, both are all rows.
func (f *Files) views(t *table) (learned, tested *view, err error) {
	all := func(p *part) *view {
		index, _ := lastOf(len(p.rows), 1)
		return &view{part: p, index: index}
	}
	switch {
	case f.Test != (File{}):
		return all(&t.train), all(&t.test), nil
	case f.Holdout == 0:
		return all(&t.train), all(&t.train), nil
	}
	n := len(t.train.rows)
	held, kept := f.HeldOut(n)
	if len(held) == 0 || len(kept) == 0 {
		return nil, nil, wrong("holdout", "holdout %v of %d rows leaves a part empty", f.Holdout, n)
	}
	var means []float64
	if len(t.train.filled) > 0 { // the means of the rows that are not held out
		if means, err = t.train.layout.Means(t.train.rows, t.train.filled, kept); err != nil {
			return nil, nil, t.train.wrong(err)
		}
	}
	return &view{part: &t.train, index: kept, means: means}, &view{part: &t.train, index: held, means: means}, nil
}

// repeated returns the number of examples of test that are also in train.
func repeated(test, train *Split) (n int) {
	key := func(s *Split, i int) [sha256.Size]byte {
		b, _ := binary.Append(nil, binary.LittleEndian, s.Row(i)) // floats have a size: no error
		return sha256.Sum256(binary.LittleEndian.AppendUint64(b, math.Float64bits(s.Y[i])))
	}
	seen := make(map[[sha256.Size]byte]bool, train.N)
	for i := range train.N {
		seen[key(train, i)] = true
	}
	for i := range test.N {
		if seen[key(test, i)] {
			n++
		}
	}
	return n
}

// encode returns the split of a view, whose scaling it sets. It turns labels into class indices or into
// targets scaled by the encoding's mean and deviation.
func encode(e *rows.Encoding, v *view, format string) (*Split, error) {
	n, dim := len(v.index), v.part.dim
	if err := room(n, dim); err != nil { // rows of LIBSVM files are sparse until they are gathered
		return nil, err
	}
	v.scaling = e.Scaling
	class := make(map[string]float64)
	for i, label := range e.Labels {
		class[label] = float64(i)
	}
	y, x, dense := make([]float64, n), make([]float32, dim), make([]float64, dim)
	for i := range y {
		row := v.row(i)
		row.Dense(dense)
		err := v.scaling.Apply(x, dense)
		if err == nil && e.Labels == nil {
			t, parseErr := rows.ParseNumber(row.Label)
			y[i], err = (t-e.Mean)/e.Deviation, parseErr
		} else if err == nil {
			known := false
			if y[i], known = class[row.Label]; !known {
				err = fmt.Errorf("label %.40q is not one of the %d classes of the training data", row.Label, len(e.Labels))
			}
		}
		if err != nil {
			return nil, &rows.ParseError{Line: row.Line, Unit: rows.Unit(format), Err: err}
		}
	}
	return &Split{N: n, Dim: dim, Y: y, view: v}, nil
}
