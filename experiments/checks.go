package experiments

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"polkrepro/data"
	"polkrepro/data/rows"
	"polkrepro/experiments/internal/doc"
	"polkrepro/internal/strictyaml"
)

// checks report what is wrong with the keys of any file of this package.
type checks struct{ *strictyaml.Reporter }

// given reports a missing key and returns whether it is there.
func (c checks) given(n *strictyaml.Node, key string) bool {
	if n.Get(key) == nil {
		c.Errorf(n, "missing key %q", key)
		return false
	}
	return true
}

// between reports a number that is out of range.
func (c checks) between(n *strictyaml.Node, key string, x, least, most int) bool {
	if x < least || x > most {
		c.Errorf(n.At(key), "%s is %d, want %d to %d", key, x, least, most)
		return false
	}
	return true
}

// text reports a text that is missing.
func (c checks) text(n *strictyaml.Node, key, text string) {
	if strings.TrimSpace(text) == "" {
		c.Errorf(n.At(key), "%s is missing or empty", key)
	}
}

// oneOf reports a word that is none of some others.
func (c checks) oneOf(n *strictyaml.Node, key, word string, words []string) bool {
	if slices.Contains(words, word) {
		return true
	}
	c.Errorf(n.At(key), "%s is %q, want one of %s%s", key, word, list(words), strictyaml.Suggest(word, words))
	return false
}

// dataSet returns a data set, or reports that there is none of that name.
func (c checks) dataSet(n *strictyaml.Node, name string) *data.Info {
	sets := data.List()
	if set := find(sets, func(s *data.Info) bool { return s.Name == name }); set != nil {
		return set
	}
	names := namesOf(sets, func(s data.Info) string { return s.Name })
	c.Errorf(n, "unknown data set %q%s (known: %s)", name, strictyaml.Suggest(name, names), list(names))
	return nil
}

// reference returns a variant of a data set, by default the first; ok is false if
// there is none of that name.
func reference(set *data.Info, variant string) (ref data.Ref, ok bool) {
	if variant == "" && len(set.Variants) > 0 {
		variant = set.Variants[0]
	}
	return data.Ref{Name: set.Name, Variant: variant}, variant == "" || slices.Contains(set.Variants, variant)
}

// hasFiles reports whether a spec's data are files. Keys of these without the training
// file are an error.
func (c checks) hasFiles(n *strictyaml.Node) bool {
	if n.Get("train") != nil {
		return true
	}
	for _, f := range n.Fields {
		if f.Key != "name" && f.Key != "variant" {
			c.Errorf(f.At, "%s says how files are read, and train is missing: want the training file", f.Key)
		}
	}
	return false
}

// files opens the files that a spec's data names, of which info describes as much as is
// known: nothing if they are missing, which is no fault of the spec's. The labels are
// what the task learns. It reports what is wrong with them.
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
	s := data.Source{
		Name: d.Name, Format: d.Format,
		Train: path("train", d.Train), TrainLabels: path("train_labels", d.TrainLabels),
		Test: path("test", d.Test), TestLabels: path("test_labels", d.TestLabels),
		Regression: task == TaskRegression, Header: d.Header, Scale: rows.Scale(d.Scale), Ignore: columns(d.Ignore), Keep: columns(d.Keep),
	}
	if d.Label != nil {
		s.Label = rows.Column(*d.Label)
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
	ref, set, err := s.Open()
	if err == nil {
		return ref, &data.Info{Name: ref.Name, Kind: data.KindFile, Classes: set.Classes, Dim: set.Train.Dim, Train: set.Train.N, Test: set.Test.N}
	}
	if errors.Is(err, data.ErrNotAvailable) {
		return ref, &data.Info{Name: ref.Name, Kind: data.KindFile}
	}
	at := n
	if se, ok := errors.AsType[*data.SourceError](err); ok {
		at = n.At(se.Key)
	}
	c.Errorf(at, "%s", oneLine(err.Error()))
	return ref, nil
}

// classes reports a data set of classes of which the task is to learn numbers.
func (c checks) classes(n *strictyaml.Node, set *data.Info, task string) {
	if task == TaskRegression {
		c.Errorf(n, "task is %s, a regression, and data set %s has classes: want files whose labels are numbers", task, set.Name)
	}
}

// columns returns the columns that a spec names.
func columns(list []doc.Column) []rows.Column {
	var out []rows.Column
	for _, c := range list {
		out = append(out, rows.Column(c))
	}
	return out
}

// oneLine makes an error that may quote a file printable.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '·'
	}, text)
}

// calibratedDraws returns the seeds of the calibrated draws.
func calibratedDraws() []uint64 {
	var seeds []uint64
	for _, d := range data.CalibratedDraws() {
		seeds = append(seeds, d.Seed)
	}
	return seeds
}

// unknownCell reports a table cell that the paper doesn't have.
func (c checks) unknownCell(n *strictyaml.Node, id string, paper *PaperValues) {
	c.Errorf(n, "unknown table cell %q%s", id, strictyaml.Suggest(id, slices.Sorted(maps.Keys(paper.Cells))))
}

// newID reports an id that is not a name, or that is taken.
func (c checks) newID(n *strictyaml.Node, id string, taken bool) {
	if !nameText.MatchString(id) || taken {
		c.Errorf(n.At("id"), "id %q is empty, malformed or duplicated", id)
	}
}

// hint says which of some names a misspelt one may be: the nearest, or all.
func hint(word string, names []string) string {
	if s := strictyaml.Suggest(word, names); s != "" || names == nil {
		return s
	}
	return ", want one of " + list(names)
}
