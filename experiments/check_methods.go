package experiments

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"polkrepro/experiments/internal/doc"
	"polkrepro/internal/strictyaml"
	"polkrepro/kernel"
)

// A given value of a hyper-parameter.
type value struct {
	setting
	at *strictyaml.Node
}

// An axis is a hyper-parameter that a grid varies.
type axis struct {
	*ParamInfo
	values []value
}

// method checks an entry of methods and adds its variants.
func (c *checker) method(i int) {
	entry, m := c.root.At("methods", i), &c.doc.Methods[i]
	label, info := c.named(entry, m)
	if info == nil {
		return
	}
	before := c.Len()
	direct := c.settings(info, entry)
	axes := c.axes(info, entry, direct)
	if c.Len() > before {
		return
	}
	c.inherit(info, direct, axes)
	combinations := c.combine(axes, entry)
	used := make(map[string]bool)
	var variants []variant
	var at []places
	for _, combination := range combinations {
		p, places, ok := c.params(info, entry, direct, combination, used)
		if !ok {
			continue
		}
		v := variant{method: info.Name, label: label, params: p}
		c.report(c.out.run(&v, Evaluation{Every: 1, Tail: 1}, 1), "", places)
		variants, at = append(variants, v), append(at, places)
	}
	if c.Len() == before {
		c.unused(info, entry, used)
	}
	if c.Len() > before {
		return
	}
	c.assign(info, i, variants, combinations, axes)
	c.out.variants, c.places = append(c.out.variants, variants...), append(c.places, at...)
}

// named returns the label of an entry and its method, nil if either is wrong.
func (c *checker) named(entry *strictyaml.Node, m *doc.Method) (label string, info *MethodInfo) {
	label = m.Label
	if label == "" {
		label = m.Method
	} else if !nameText.MatchString(label) {
		c.Errorf(entry.At("label"), "label is %q, want lower-case letters, digits and single hyphens", label)
	}
	if c.labels[label] {
		at := entry.Get("label")
		if at == nil {
			at = entry.At("method")
		}
		c.Errorf(at, "duplicate method %q: give one of them another label", label)
		return "", nil
	}
	c.labels[label] = true
	c.ordered = append(c.ordered, label)
	if !c.given(entry, "method") {
		return "", nil
	}
	info = Method(m.Method)
	if info == nil {
		c.Errorf(entry.At("method"), "%s", unknownMethod(m.Method))
		return "", nil
	}
	return label, info
}

// inherit adds to a method's settings those of the whole spec that it takes and
// neither has nor varies.
func (c *checker) inherit(info *MethodInfo, direct map[string]value, axes []axis) {
	for name, spec := range map[string]*strictyaml.Node{
		"regularizer": c.root.Get("regularizer"),
		"bandwidth":   c.root.At("kernel").Get("bandwidth"),
	} {
		varied := slices.ContainsFunc(axes, func(a axis) bool { return a.Name == name })
		if _, ok := direct[name]; ok || info.param(name) == nil || varied || spec == nil || name == "bandwidth" && c.root.Get("kernel") == nil {
			continue
		}
		if v, ok := info.param(name).read(spec); ok {
			direct[name] = value{v, spec}
		}
	}
}

// unused reports parameters that are given and that no variant uses.
func (c *checker) unused(info *MethodInfo, entry *strictyaml.Node, used map[string]bool) {
	for _, p := range info.Params {
		at := entry.Field(p.Name)
		if g := entry.Get("grid").Field(p.Name); g != nil {
			at = g
		}
		if at != nil && !used[p.Name] {
			c.Errorf(at.At, "%s uses %s only %s", info.Name, p.Name, p.When)
		}
	}
}

// settings returns the hyper-parameters that an entry gives outside its grid.
func (c *checker) settings(info *MethodInfo, entry *strictyaml.Node) map[string]value {
	out := make(map[string]value)
	for _, f := range entry.Fields {
		if known(f.Key) == nil || !c.takes(info, f) {
			continue
		}
		if v, ok := info.param(f.Key).read(f.Value); ok {
			out[f.Key] = value{v, f.Value}
		}
	}
	return out
}

// axes returns what an entry's grid varies.
func (c *checker) axes(info *MethodInfo, entry *strictyaml.Node, direct map[string]value) []axis {
	grid := entry.Get("grid")
	if grid == nil {
		return nil
	}
	if len(grid.Fields) == 0 {
		c.Errorf(grid, "the grid is empty")
	}
	var out []axis
	for _, f := range grid.Fields {
		if !c.takes(info, f) {
			continue
		}
		if _, ok := direct[f.Key]; ok {
			c.Errorf(f.At, "%s is given both in the grid and outside it", f.Key)
			continue
		}
		if len(f.Value.Items) == 0 {
			c.Errorf(f.Value, "the grid of %s is empty", f.Key)
			continue
		}
		a := axis{ParamInfo: info.param(f.Key)}
		for _, item := range f.Value.Items {
			v, _ := a.read(item)
			if slices.ContainsFunc(a.values, func(w value) bool { return w.setting == v }) {
				c.Errorf(item, "duplicate value %v in the grid of %s", v, f.Key)
				continue
			}
			a.values = append(a.values, value{v, item})
		}
		out = append(out, a)
	}
	return out
}

// takes reports a hyper-parameter that a method doesn't take.
func (c *checker) takes(info *MethodInfo, f strictyaml.Field) bool {
	if info.param(f.Key) != nil {
		return true
	}
	c.Errorf(f.At, "%s takes no %s (it takes %s)", info.Name, f.Key, list(info.paramNames()))
	return false
}

// combine returns each combination of the axes' values, the last axis fastest.
func (c *checker) combine(axes []axis, entry *strictyaml.Node) [][]value {
	out := [][]value{nil}
	for _, a := range axes {
		if len(out)*len(a.values) > maxVariants {
			c.Errorf(entry.At("grid"), "the grid has more than %d points", maxVariants)
			return nil
		}
		var next [][]value
		for _, head := range out {
			for _, v := range a.values {
				next = append(next, append(slices.Clip(head), v))
			}
		}
		out = next
	}
	return out
}

// params makes the hyper-parameters of one grid point and marks which of them
// it uses.
func (c *checker) params(info *MethodInfo, entry *strictyaml.Node, direct map[string]value, combination []value, used map[string]bool) (p Params, at places, ok bool) {
	values := maps.Clone(direct)
	grid := entry.Get("grid")
	for i, v := range combination {
		values[grid.Fields[i].Key] = v
	}
	p.Kernel, at = c.kernel, places{"": entry, "method": entry.At("method")}
	for _, q := range info.Params {
		v, given := values[q.Name]
		if given {
			at[q.Name] = v.at
		} else {
			v.setting = q.fallback()
		}
		q.store(&p, v.setting)
	}
	ok = true
	for _, q := range info.Params {
		if q.Used != nil && !q.Used(p) {
			q.store(&p, setting{})
			continue
		}
		used[q.Name] = true
		if _, given := values[q.Name]; !given && q.Default == "" {
			ok = false
			switch {
			case q.Name == "bandwidth" && c.kernel.Type == "": // reported with the kernel
			case q.Name == "bandwidth":
				c.Errorf(c.root.At("kernel"), "missing key %q", q.Name)
			case q.Name == "regularizer":
				c.Errorf(c.root, "missing key %q", q.Name)
			default:
				c.Errorf(entry, "%s needs %s", info.Name, q.Name)
			}
		}
	}
	if info.param("pruner") != nil {
		p.completePruner() // if that fails, it is a problem of the run
	}
	return p, at, ok
}

// An assignment gives the variants of one entry of methods what they feed: cells and
// figures, with the order expected of them and the names of their series.
type assignment struct {
	*checker
	info      *MethodInfo
	entry     *strictyaml.Node
	variants  []variant
	axes      []axis
	orders    []*float64         // expected ones, by variant
	templates []*strictyaml.Node // of the series' names, by variant
}

// assign checks what an entry and its points say of the variants: the cells and
// figures that they feed, their expected order, and how their series is called.
func (c *checker) assign(info *MethodInfo, i int, variants []variant, combinations [][]value, axes []axis) {
	a := assignment{
		checker: c, info: info, entry: c.root.At("methods", i), variants: variants, axes: axes,
		orders: make([]*float64, len(variants)), templates: make([]*strictyaml.Node, len(variants)),
	}
	all := make([]int, len(variants))
	for j := range variants {
		all[j] = j
		v := &variants[j]
		v.group = c.group(info, v)
		if c.groups[v.group] {
			c.Errorf(a.entry, "two grid points give the same run: %s", v.group)
		}
		c.groups[v.group] = true
	}
	m := &c.doc.Methods[i]
	a.apply(&m.Feeds, a.entry, all)
	for k := range m.Points {
		n := a.entry.At("points", k)
		if which := c.match(n, combinations, axes); len(which) > 0 {
			a.apply(&m.Points[k].Feeds, n, which)
		}
	}
	for j := range variants {
		a.complete(j, m.Label)
	}
}

// apply gives the variants of the indexes what a node says.
func (a *assignment) apply(feeds *doc.Feeds, n *strictyaml.Node, which []int) {
	if o := feeds.ExpectedOrder; o != nil && !(*o > 0 && *o <= largest) {
		a.Errorf(n.At("expected_order"), "expected_order is %v, want more than 0", *o)
	}
	for k, id := range feeds.Cells {
		a.assignCell(id, n.At("cells", k), which)
	}
	for k, id := range feeds.Figures {
		at := n.At("figures", k)
		if !a.figure(id, at) {
			continue
		}
		if slices.Contains(feeds.Figures[:k], id) {
			a.Errorf(at, "figure %q is listed twice", id)
		}
		for _, j := range which {
			a.variants[j].figures = union(a.variants[j].figures, []string{id})
		}
	}
	for _, j := range which {
		if feeds.ExpectedOrder != nil {
			a.orders[j] = feeds.ExpectedOrder
		}
		if t := n.Get("series"); t != nil {
			a.templates[j] = t
		}
	}
}

// assignCell gives the variants of the indexes a cell, which one alone may feed.
func (a *assignment) assignCell(id string, at *strictyaml.Node, which []int) {
	if !a.cell(id, a.info, at) {
		return
	}
	for _, j := range which {
		v := &a.variants[j]
		if other, ok := a.fed[id]; ok {
			a.Errorf(at, "two series feed cell %q: %s and %s", id, other, point(v, a.axes))
			return
		}
		a.fed[id] = point(v, a.axes)
		v.cells = append(v.cells, id)
	}
}

// complete gives a variant its expected order and the name of its series.
func (a *assignment) complete(j int, label string) {
	v := &a.variants[j]
	switch {
	case a.orders[j] != nil:
		v.order = *a.orders[j]
	case v.params.Budget > 0:
		v.order = float64(v.params.Budget)
	case v.params.PrunerParams["order"] > 0:
		v.order = v.params.PrunerParams["order"]
	default:
		v.order = defaultOrder
	}
	at, before := a.entry, a.Len()
	if t := a.templates[j]; t != nil {
		at = t
		v.series = a.expand(a.info, v, t)
	} else {
		v.series = automatic(a.info, v, label, a.axes)
	}
	if a.series[v.series] && a.Len() == before {
		a.Errorf(at, "duplicate series name %q", v.series)
	}
	a.series[v.series] = true
}

// point names a grid point in messages.
func point(v *variant, axes []axis) string {
	parts := []string{v.label}
	for _, a := range axes {
		parts = append(parts, a.Name+"="+a.load(&v.params).String())
	}
	return strings.Join(parts, " ")
}

// match returns the indices of the grid points that an entry of points is
// about.
func (c *checker) match(n *strictyaml.Node, combinations [][]value, axes []axis) []int {
	at := n.Get("at")
	if at == nil || len(at.Fields) == 0 {
		c.Errorf(n, "missing key %q, which selects grid points", "at")
		return nil
	}
	var which []int
	for j := range combinations {
		which = append(which, j)
	}
	for _, f := range at.Fields {
		k := slices.IndexFunc(axes, func(a axis) bool { return a.Name == f.Key })
		if k < 0 {
			c.Errorf(f.At, "the grid does not vary %s", f.Key)
			return nil
		}
		want, _ := axes[k].read(f.Value)
		which = slices.DeleteFunc(which, func(j int) bool { return combinations[j][k].setting != want })
	}
	if len(which) == 0 {
		c.Errorf(at, "at matches no grid point")
	}
	return which
}

// cell reports a table cell that a method's runs can't feed.
func (c *checker) cell(id string, info *MethodInfo, at *strictyaml.Node) bool {
	cell, ok := c.paper.Cells[id]
	if !ok {
		c.unknownCell(at, id, c.paper)
		return false
	}
	row, _, _ := strings.Cut(cell.Row, "-")
	if c.set == nil || c.out.Task == "" {
		return true // reported already
	}
	if cell.Data != c.set.Name || cell.Task != c.out.Task || row != info.row() {
		c.Errorf(at, "cell %q is not of %s on %s for %s", id, info.Name, c.set.Name, c.out.Task)
		return false
	}
	return true
}

// figure reports a figure that the spec's runs can't feed.
func (c *checker) figure(id string, at *strictyaml.Node) bool {
	f := find(c.paper.Figures, func(f *PaperFigure) bool { return f.ID == id })
	switch {
	case f == nil:
		ids := namesOf(c.paper.Figures, func(f PaperFigure) string { return f.ID })
		c.Errorf(at, "unknown figure %q, want one of %s", id, list(ids))
		return false
	case c.set == nil || c.out.Task == "": // reported already
	case !f.shows(c.set.Name, c.out.Task):
		c.Errorf(at, "figure %s does not show %s on %s", id, c.out.Task, c.set.Name)
		return false
	}
	return true
}

// group returns a variant's key: the spec, the label and every
// hyper-parameter.
func (c *checker) group(info *MethodInfo, v *variant) string {
	parts := []string{"kernel=" + v.params.Kernel.Type}
	for _, name := range kernel.Takes(v.params.Kernel.Type) {
		switch k := v.params.Kernel; name {
		case "offset":
			parts = append(parts, fmt.Sprintf("offset=%v", k.Offset))
		case "degree":
			parts = append(parts, fmt.Sprintf("degree=%d", k.Degree))
		case "params":
			parts = append(parts, "params="+string(k.Params))
		}
	}
	for _, p := range info.Params {
		s := p.load(&v.params)
		paper := p.implied != "" && s.word == p.implied || p.Kind == KindPrunerParams && v.params.Pruner == ""
		if !paper && (p.Used == nil || p.Used(v.params)) {
			parts = append(parts, p.Name+"="+s.String())
		}
	}
	return c.doc.Name + "/" + v.label + "/" + strings.Join(parts, ",")
}

// automatic returns the series name of a variant for which the spec gives none:
// the method and what its grid varies.
func automatic(info *MethodInfo, v *variant, label string, axes []axis) string {
	parts := []string{info.Title}
	if label != "" {
		parts[0] += " (" + label + ")"
	}
	for _, a := range axes {
		s := a.load(&v.params)
		switch {
		case s == setting{}: // not used at this point
		case a.Symbol == "":
			parts = append(parts, s.String())
		default:
			parts = append(parts, a.Symbol+" = "+s.String())
		}
	}
	return strings.Join(parts, ", ")
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// expand replaces the placeholders in a series name.
func (c *checker) expand(info *MethodInfo, v *variant, t *strictyaml.Node) string {
	if strings.TrimSpace(t.Text) == "" {
		c.Errorf(t, "series is empty")
	}
	if len(t.Text) > maxSeries || !showable(t.Text) {
		c.Errorf(t, "series must be one line of at most %d bytes that does not start with =, +, - or @", maxSeries)
		return ""
	}
	return placeholder.ReplaceAllStringFunc(t.Text, func(s string) string {
		name := s[1 : len(s)-1]
		p := info.param(name)
		if p == nil {
			c.Errorf(t, "%s takes no %q: the series can't name it", info.Name, name)
			return s
		}
		return p.load(&v.params).String()
	})
}
