package spec

import (
	"errors"
	"path/filepath"

	"polkrepro/data"
	"polkrepro/data/rows"
	"polkrepro/internal/charset"
	"polkrepro/internal/strictyaml"
	"polkrepro/internal/words"
	"polkrepro/spec/internal/doc"
)

// checks reports errors in the keys of the YAML files of this package.
type checks struct {
	*strictyaml.Reporter
	own       bool   // the file is a user's spec
	describe  bool   // data files are described; they are not opened otherwise
	overrides string // flags that changed the spec; they end its name
}

// given reports a missing key, and returns whether the key is present.
func (c checks) given(n *strictyaml.Node, key string) bool {
	if n.Get(key) == nil {
		c.Errorf(n, "missing key %q", key)
		return false
	}
	return true
}

// between reports a number that is out of range, and returns whether it is in range.
func (c checks) between(n *strictyaml.Node, key string, x, least, most int) bool {
	if x < least || x > most {
		c.Errorf(n.At(key), "%s is %d, want %d to %d", key, x, least, most)
		return false
	}
	return true
}

// files reports errors in what a spec says of its data files and, if they are described, in the files.
// info describes them. If they are missing, which is not an error in the spec, or not described, info has
// only name and kind; if they are invalid, it is nil. The task decides whether labels are numbers.
func (c checks) files(n *strictyaml.Node, d *doc.Data, task string) (ref data.Ref, info *data.Info) {
	if d.Variant != "" {
		c.Errorf(n.At("variant"), "files have no variants")
		return ref, nil
	}
	path := func(key, path string) string {
		if path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(filepath.Dir(n.At(key).File()), filepath.FromSlash(path))
	}
	column := func(c doc.Column) rows.Column { return rows.Column(c) }
	s := data.Source{
		Name: d.Name, Format: d.Format,
		Train: path("train", d.Train), TrainLabels: path("train_labels", d.TrainLabels),
		Test: path("test", d.Test), TestLabels: path("test_labels", d.TestLabels),
		Regression: task == TaskRegression, Ordered: d.Ordered, Header: d.Header, Scale: rows.Scale(d.Scale),
		Columns: rows.Columns{
			Delimiter: d.Delimiter, Decimal: d.Decimal, Missing: d.Missing, ZeroBased: d.ZeroBased,
			Ignore: valuesOf(d.Ignore, column), Keep: valuesOf(d.Keep, column), Categories: valuesOf(d.Categories, column),
		},
	}
	if d.Label != nil {
		s.Label = column(*d.Label)
	}
	if d.Holdout != nil {
		if !(*d.Holdout > 0) {
			c.Errorf(n.At("holdout"), "holdout is %v, want a fraction between 0 and 1", *d.Holdout)
			return ref, nil
		}
		s.Holdout = *d.Holdout
	}
	if d.SplitSeed != nil {
		if *d.SplitSeed == 0 {
			c.Errorf(n.At("split_seed"), "split_seed is 0, want at least 1")
			return ref, nil
		}
		s.SplitSeed = *d.SplitSeed
	}
	ref, err := s.Reference()
	described := data.Info{Name: ref.Name, Kind: data.KindFile}
	if err == nil && c.describe {
		ref, described, err = s.Describe()
	}
	if err == nil || errors.Is(err, data.ErrNotAvailable) {
		return ref, &described
	}
	at := n
	if oe, ok := errors.AsType[*rows.OptionError](err); ok {
		at = n.At(oe.Key)
	}
	c.Errorf(at, "%s", charset.Shown(words.OneLine(err.Error())))
	return ref, nil
}

// calibratedDraws returns the seeds of the calibrated draws.
func calibratedDraws() []uint64 {
	return valuesOf(data.CalibratedDraws(), func(d data.Draw) uint64 { return d.Seed })
}
