package spec

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"polkrepro/internal/strictyaml"
	"polkrepro/spec/internal/doc"
)

// An Override changes a spec from outside: it sets a key, as if the spec's file had the value.
//
// Its key is one of
//
//	PARAM           a hyper-parameter, of all methods of the spec that take it
//	METHOD.PARAM    a hyper-parameter, or another key, of the methods with the label or name
//	KEY.KEY         a path of keys of the spec, such as kernel.bandwidth or repeats.seeds; it
//	                leads to all elements of a list, and into the profiles that have the first key
//
// A hyper-parameter whose value is a list is varied in the grid.
type Override struct{ key, value string }

// Overrides are applied in order. Runs of a spec that they change feed no cell and no figure of the
// paper, and every repeat has all of its methods.
type Overrides []Override

// ParseOverride reads KEY=VALUE. The value is YAML.
func ParseOverride(text string) (Override, error) {
	key, value, ok := strings.Cut(text, "=")
	if !ok || slices.Contains(strings.Split(key, "."), "") || value == "" {
		return Override{}, fmt.Errorf("%q: must be KEY=VALUE, such as polk.parsimony=0.08, kernel.bandwidth=3 or repeats.seeds=5", text)
	}
	r := new(strictyaml.Reporter)
	o := Override{key, strings.ReplaceAll(value, ", ", ",")} // names of specs are joined by ", "
	o.node(r)
	return o, r.Err()
}

// String returns KEY=VALUE.
func (o Override) String() string { return o.key + "=" + o.value }

// String returns the overrides as flags, each after a space. They follow the name of a spec.
func (o Overrides) String() string {
	var b strings.Builder
	for _, set := range o {
		fmt.Fprintf(&b, " --set %s", set)
	}
	return b.String()
}

// node returns the value. Errors in it name the flag.
func (o Override) node(r *strictyaml.Reporter) *strictyaml.Node {
	at := &strictyaml.Node{}
	root := strictyaml.Parse("--set "+o.key, []byte("value: "+o.value), r)
	if root != nil {
		unplaced(root)
		at = root.At("value")
	}
	if root != nil && len(root.Fields) != 1 {
		r.Errorf(root, "%q is more than one value", o.value)
	}
	return at
}

// unplaced removes the positions of nodes that are in no file.
func unplaced(n *strictyaml.Node) {
	n.Line, n.Column = 0, 0
	for _, item := range n.Items {
		unplaced(item)
	}
	for _, f := range n.Fields {
		f.At.Line, f.At.Column = 0, 0
		unplaced(f.Value)
	}
}

// expand returns the specs of a file, or the one of the given name, with the overrides.
func (o Overrides) expand(root *strictyaml.Node, name string, r *strictyaml.Reporter) []expansion {
	var out []expansion
	for _, e := range (&expander{r, root}).specs() {
		if name != "" && name != textOf(e.root.Get("name")) {
			continue
		}
		if len(o) == 0 {
			out = append(out, e)
			continue
		}
		changed := feedless(e.root)
		for _, set := range o {
			changed = set.apply(changed, r)
		}
		for _, s := range (&expander{r, changed}).specs() { // data and task can be lists now
			s.own, s.words, s.listed = e.own, slices.Concat(e.words, s.words), e.listed || s.listed
			out = append(out, s)
		}
	}
	return out
}

// feedless returns a spec without the keys by which its runs feed something.
func feedless(root *strictyaml.Node) *strictyaml.Node {
	without := func(keys ...string) func(*strictyaml.Node) *strictyaml.Node {
		return func(n *strictyaml.Node) *strictyaml.Node { return n.Without(keys...) }
	}
	root = root.Without("supplement")
	for _, path := range [][]string{{"methods"}, {"methods", "points"}} {
		root = change(root, path, without("cells", "figures"))
	}
	for _, path := range [][]string{{"repeats"}, {"profiles", ProfileSmoke, "repeats"}, {"profiles", ProfileQuick, "repeats"}, {"profiles", ProfileFull, "repeats"}} {
		root = change(root, path, without("feeds"))
	}
	return root
}

// apply returns a spec with the override.
func (o Override) apply(root *strictyaml.Node, r *strictyaml.Reporter) *strictyaml.Node {
	value, path := o.node(r), strings.Split(o.key, ".")
	methods := root.At("methods")
	var names []string // of methods that the spec has
	labelled := false  // an entry with the label is meant alone, not all of the method
	for _, m := range methods.Items {
		labelled = labelled || labelOf(m) == path[0]
		for _, key := range []string{"label", "method"} {
			if n := m.Get(key); n != nil {
				names = union(names, []string{n.Text})
			}
		}
	}
	if root.Get("compare") != nil { // the heuristics run POLK with the settings under defaults
		switch {
		case path[0] == MethodPOLK:
			path = append([]string{"defaults"}, path...)
		case len(path) == 1 && Method(MethodPOLK).param(path[0]) != nil:
			path = []string{"defaults", MethodPOLK, path[0]}
		}
	}
	if o.key == "kernel.bandwidth" && value.Kind == strictyaml.Sequence { // a grid of the methods
		path = []string{"bandwidth"}
	}
	isParam := known(path[0]) != nil && len(path) == 1
	switch {
	case isParam, slices.Contains(names, path[0]) && len(path) > 1:
		found := false
		root = change(root, []string{"methods"}, func(m *strictyaml.Node) *strictyaml.Node {
			info := Method(m.At("method").Text)
			switch {
			case isParam && info != nil && info.param(path[0]) != nil:
				found = true
				return withParam(m, path[0], value)
			case isParam || labelOf(m) != path[0] && (labelled || textOf(m.Get("method")) != path[0]):
				return m
			}
			if found = true; len(path) == 2 && known(path[1]) != nil {
				return withParam(m, path[1], value)
			}
			return put(m, path[1:], value)
		})
		if !found {
			r.Errorf(value, "no method of the spec takes %s; its methods are %s", path[0], list(names))
		}
	case slices.Contains(specKeys(), path[0]):
		root = put(root, path, value)
		for _, profile := range Profiles() {
			if root.Get("profiles").Get(profile).Get(path[0]) != nil {
				root = put(root, append([]string{"profiles", profile}, path...), value)
			}
		}
	default:
		r.Errorf(value, "unknown key %q, want a key of specs (%s), a hyper-parameter of the spec's methods, or a method and its key, such as polk.parsimony; the spec's methods are %s",
			path[0], list(specKeys()), cmp.Or(list(names), "none"))
	}
	return root
}

// specKeys returns the keys of a spec.
func specKeys() []string {
	return valuesOf(reflect.VisibleFields(reflect.TypeFor[doc.Spec]()), func(f reflect.StructField) string {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return name
	})
}

// withParam returns an entry of methods with a hyper-parameter, in the grid if it is a list. It
// removes what the entry says of points of the earlier grid, and the series' name, which may have the
// earlier value.
func withParam(m *strictyaml.Node, name string, value *strictyaml.Node) *strictyaml.Node {
	m = m.Without("points", "series")
	if value.Kind == strictyaml.Sequence {
		return put(m.Without(name), []string{"grid", name}, value)
	}
	if grid := m.Get("grid"); grid.Get(name) != nil {
		m = change(m, []string{"grid"}, func(n *strictyaml.Node) *strictyaml.Node { return n.Without(name) })
		if len(m.Get("grid").Fields) == 0 {
			m = m.Without("grid")
		}
	}
	return put(m, []string{name}, value)
}

// change returns a tree in which to has been applied to the mappings at the end of a path, if there are any.
func change(n *strictyaml.Node, path []string, to func(*strictyaml.Node) *strictyaml.Node) *strictyaml.Node {
	switch {
	case n.Kind == strictyaml.Sequence:
		out := *n
		out.Items = valuesOf(n.Items, func(item *strictyaml.Node) *strictyaml.Node { return change(item, path, to) })
		return &out
	case n.Kind != strictyaml.Mapping:
		return n
	case len(path) == 0:
		return to(n)
	case n.Get(path[0]) == nil:
		return n
	}
	return n.With(path[0], change(n.Get(path[0]), path[1:], to))
}

// put returns a tree with a value at the end of a path. It adds missing keys.
func put(n *strictyaml.Node, path []string, value *strictyaml.Node) *strictyaml.Node {
	switch {
	case len(path) == 0:
		return value
	case n != nil && n.Kind == strictyaml.Sequence:
		return change(n, nil, func(item *strictyaml.Node) *strictyaml.Node { return put(item, path, value) })
	case n == nil || n.Kind != strictyaml.Mapping:
		n = tree(value, keys{})
	}
	below := put(n.Get(path[0]), path[1:], value)
	if path[0] == "stopping" && len(path) == 2 { // epochs and samples exclude each other
		below = tree(below, keys{{path[1], value}})
	}
	return n.With(path[0], below)
}
