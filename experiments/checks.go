package experiments

import (
	"maps"
	"slices"
	"strings"

	"polkrepro/data"
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
