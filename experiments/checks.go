package experiments

import (
	"slices"
	"strings"

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
func (c checks) dataSet(n *strictyaml.Node, name string) *dataSet {
	set, names := lookupData(name)
	if set == nil {
		c.Errorf(n, "unknown data set %q%s (known: %s)", name, strictyaml.Suggest(name, names), list(names))
	}
	return set
}

// hint says which of some names a misspelt one may be: the nearest, or all.
func hint(word string, names []string) string {
	if s := strictyaml.Suggest(word, names); s != "" || names == nil {
		return s
	}
	return ", want one of " + list(names)
}
