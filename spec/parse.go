package spec

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"polkrepro/internal/strictyaml"
	"polkrepro/spec/internal/doc"
)

// An opener opens the file name that the file with the id from includes.
type opener func(from, name string) (source, error)

// parseSpecs parses and checks the specs of a file, or the one that the source names, with overrides.
// They are the user's unless the file is embedded.
func parseSpecs(f source, open opener, set ...Override) ([]*Spec, error) {
	r := new(strictyaml.Reporter)
	c := checks{Reporter: r, own: !strings.HasPrefix(f.id, embeddedID), overrides: Overrides(set).String()}
	var specs []*Spec
	names := make(map[string]bool)
	found := expansions(f, open, set, r)
	for _, n := range fitNone(found) {
		r.Errorf(n, "%s fits no task of the list", n.At("method").Text)
	}
	unread := r.Len() > 0 // then only the layout of the rest is checked
	for _, e := range found {
		left, before := e.leaveOut(), r.Len()
		if unread {
			before = 0
		}
		if s := specOf(withDefaults(e.root), c, before); s != nil {
			if names[s.Name] {
				r.Errorf(e.root, "two specs of the file are called %s: give their data sets different names", s.Name)
			}
			names[s.Name] = true
			s.File, s.LeftOut = f.label+c.overrides, left
			if s.Data.Own() {
				s.described = sync.OnceValues(func() (*Spec, error) {
					d := c
					d.Reporter, d.describe = new(strictyaml.Reporter), true
					return specOf(withDefaults(e.root), d, 0), d.Err()
				})
			}
			specs = append(specs, s)
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return specs, nil
}

// expansions returns the specs of a file that are not checked yet, none if there are errors.
func expansions(f source, open opener, set Overrides, r *strictyaml.Reporter) []expansion {
	in := includer{open: open, r: r}
	root := in.load(f)
	if root == nil {
		return nil
	}
	return set.expand(root, f.spec, r)
}

// specOf returns the spec of a parsed tree, or nil if it reports errors. before is the
// number of errors reported earlier.
func specOf(root *strictyaml.Node, c checks, before int) *Spec {
	var d doc.Spec
	strictyaml.Decode(root, &d, c.Reporter)
	decodeSettings(&d, c.Reporter)
	if c.Len() > before {
		return nil
	}
	s := (&checker{checks: c, root: root, doc: &d}).spec()
	if c.Len() > before {
		return nil
	}
	return s
}

// decodeSettings checks the keys of a spec that name hyper-parameters, and the
// types of their values.
func decodeSettings(d *doc.Spec, r *strictyaml.Reporter) {
	for _, base := range d.Defaults {
		settingsOf(base.Rest, false, r)
	}
	for i := range d.Methods {
		m := &d.Methods[i]
		settingsOf(m.Rest, false, r)
		if m.Grid != nil {
			settingsOf(m.Grid.Rest, true, r)
		}
		for k := range m.Points {
			if at := m.Points[k].At; at != nil {
				settingsOf(at.Rest, false, r)
			}
		}
	}
}

// settingsOf reports keys that are not hyper-parameters, and values of the wrong type.
// In a grid, a value must be a list of values of the right type.
func settingsOf(s strictyaml.Rest, grid bool, r *strictyaml.Reporter) {
	for _, f := range s.Fields {
		p := known(f.Key)
		switch {
		case p == nil:
			r.UnknownKey(f, slices.Concat(s.Known, knownNames()))
		case !grid && f.Value.Kind == strictyaml.Sequence && p.Kind != KindPrunerParams:
			r.Errorf(f.Value, "a list of values to combine goes under grid: {%s: [...]}", f.Key)
		case !grid:
			strictyaml.Decode(f.Value, p.typed(), r)
		case f.Value.Want(strictyaml.Sequence, r):
			for _, item := range f.Value.Items {
				strictyaml.Decode(item, p.typed(), r)
			}
		}
	}
}

// An includer loads a file and merges it over the files that it includes.
type includer struct {
	open  opener
	r     *strictyaml.Reporter
	count int
	above []source // files being loaded, each included by the one before it
}

func (in *includer) load(f source) *strictyaml.Node {
	root := strictyaml.Parse(f.label, f.text, in.r)
	if root == nil {
		return nil
	}
	in.above = append(in.above, f)
	defer func() { in.above = in.above[:len(in.above)-1] }()
	list := root.Get("include")
	root = root.Without("include")
	if list != nil && list.Kind == strictyaml.String {
		list = &strictyaml.Node{Items: []*strictyaml.Node{list}, Kind: strictyaml.Sequence}
	}
	if list == nil || !list.Want(strictyaml.Sequence, in.r) {
		return root
	}
	var base *strictyaml.Node
	for _, item := range list.Items {
		if !item.Want(strictyaml.String, in.r) {
			continue
		}
		if in.count++; in.count > maxIncludes {
			in.r.Errorf(item, "more than %d included files", maxIncludes)
			break
		}
		g, err := in.open(f.id, item.Text)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			in.r.Errorf(item, "included file %q not found", item.Text)
		case err != nil:
			in.r.Errorf(item, "can't include %q: %v", item.Text, err)
		case in.cycle(g) != "":
			in.r.Errorf(item, "a file includes itself: %s", in.cycle(g))
		default:
			base = overlay(base, in.only(g))
		}
	}
	return overlay(base, root)
}

// only loads an included file, or the spec of it that is included.
func (in *includer) only(f source) *strictyaml.Node {
	root := in.load(f)
	if root == nil || f.spec == "" {
		return root
	}
	for _, e := range (&expander{in.r, root}).specs() {
		if textOf(e.root.Get("name")) == f.spec {
			return e.root
		}
	}
	return root
}

// cycle returns the path of files from one to itself that including it would close, or "".
func (in *includer) cycle(f source) string {
	i := slices.IndexFunc(in.above, func(g source) bool { return g.id == f.id })
	if i < 0 {
		return ""
	}
	path := valuesOf(in.above[i:], func(g source) string { return g.label })
	return strings.Join(append(path, f.label), " → ")
}

// withDefaults merges every entry of methods over its method's defaults, without
// the defaults of hyper-parameters that the entry's grid varies.
func withDefaults(root *strictyaml.Node) *strictyaml.Node {
	defaults, entries := root.Get("defaults"), root.Get("methods")
	if defaults == nil || entries == nil {
		return root
	}
	merged := *entries
	merged.Items = slices.Clone(entries.Items)
	for i, entry := range merged.Items {
		name := entry.Get("method")
		if name == nil {
			continue
		}
		base := defaults.Get(name.Text)
		if base == nil || base.Kind != strictyaml.Mapping {
			continue
		}
		if grid := entry.Get("grid"); grid != nil {
			base = base.Without(valuesOf(grid.Fields, func(f strictyaml.Field) string { return f.Key })...)
		}
		merged.Items[i] = strictyaml.Merge(base, entry)
	}
	out := *root
	out.Fields = slices.Clone(root.Fields)
	out.Field("methods").Value = &merged
	return &out
}
