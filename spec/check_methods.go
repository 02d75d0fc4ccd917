package spec

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"polkrepro/internal/charset"
	"polkrepro/internal/lists"
	"polkrepro/internal/strictyaml"
	"polkrepro/kernel"
	"polkrepro/paper"
	"polkrepro/spec/internal/doc"
)

// method checks an entry of methods and adds its variants.
func (c *checker) method(i int) {
	entry, m := c.root.At("methods", i), &c.doc.Methods[i]
	label, info := c.named(entry, m)
	if info == nil {
		return
	}
	before := c.Len()
	points := c.points(info, entry)
	if c.Len() > before {
		return
	}
	var variants []*variant
	used := make(map[string]bool)
	for _, at := range points {
		if p, ok := c.params(info, at, used); ok {
			v := &variant{method: info.Name, label: label, params: p, at: at}
			c.report(c.out.run(v, Evaluation{Every: 1, Tail: 1}, 1), "", at)
			variants = append(variants, v)
		}
	}
	if c.Len() == before {
		c.unused(info, entry, used)
	}
	if c.Len() > before {
		return
	}
	c.assign(info, i, variants)
	c.out.variants = append(c.out.variants, variants...)
}

// named returns the label of an entry and its method, nil if either is invalid.
func (c *checker) named(entry *strictyaml.Node, m *doc.Method) (label string, info *MethodInfo) {
	label = cmp.Or(m.Label, m.Method)
	if m.Label != "" && !nameText.MatchString(label) {
		c.Errorf(entry.At("label"), "label is %q, want lower-case letters, digits and single hyphens", label)
	}
	if slices.Contains(c.labels, label) {
		c.Errorf(cmp.Or(entry.Get("label"), entry.At("method")), "duplicate method %q: give one of them another label", label)
		return "", nil
	}
	c.labels = append(c.labels, label)
	if !c.given(entry, "method") {
		return "", nil
	}
	if info = Method(m.Method); info == nil {
		c.Errorf(entry.At("method"), "%s", unknownMethod(m.Method))
	}
	return label, info
}

// points returns the nodes of the hyper-parameters for each point of an entry's grid: from the
// grid, the entry, or else the spec. The last hyper-parameter of the grid varies fastest.
func (c *checker) points(info *MethodInfo, entry *strictyaml.Node) []nodes {
	fixed := nodes{"": entry, "method": entry.At("method")}
	whole := nodes{"regularizer": c.root.Get("regularizer"), "bandwidth": c.root.Get("kernel").Get("bandwidth")}
	for name, n := range whole {
		if n != nil && info.param(name) != nil {
			fixed[name] = n
		}
	}
	for _, f := range entry.Fields {
		if known(f.Key) != nil && c.takes(info, f) {
			fixed[f.Key] = f.Value
		}
	}
	points, grid := []nodes{fixed}, entry.Get("grid")
	if grid == nil {
		return points
	}
	if len(grid.Fields) == 0 {
		c.Errorf(grid, "the grid is empty")
	}
	for _, f := range grid.Fields {
		switch p := info.param(f.Key); {
		case !c.takes(info, f):
		case entry.Get(f.Key) != nil:
			c.Errorf(f.At, "%s is given both in the grid and outside it", f.Key)
		case len(f.Value.Items) == 0:
			c.Errorf(f.Value, "the grid of %s is empty", f.Key)
		case len(points)*len(f.Value.Items) > maxVariants:
			c.Errorf(grid, "the grid has more than %d points", maxVariants)
			return nil
		default:
			seen := make(map[setting]bool)
			for _, item := range f.Value.Items {
				v := p.read(item)
				if seen[v] {
					c.Errorf(item, "duplicate value %v in the grid of %s", v, f.Key)
				}
				seen[v] = true
			}
			var next []nodes
			for _, head := range points {
				for _, item := range f.Value.Items {
					at := maps.Clone(head)
					at[f.Key] = item
					next = append(next, at)
				}
			}
			points = next
		}
	}
	return points
}

// takes returns whether a method takes a hyper-parameter, and reports it if not.
func (c *checker) takes(info *MethodInfo, f strictyaml.Field) bool {
	if info.param(f.Key) != nil {
		return true
	}
	c.Errorf(f.At, "%s takes no %s (it takes %s)", info.Name, f.Key, list(info.paramNames()))
	return false
}

// params makes the hyper-parameters of one grid point and marks which of them
// it uses.
func (c *checker) params(info *MethodInfo, at nodes, used map[string]bool) (p Params, ok bool) {
	p.Kernel, ok = c.kernel, true
	for _, q := range info.Params {
		v := q.fallback()
		if n := at[q.Name]; n != nil {
			v = q.read(n)
		}
		q.store(&p, v)
	}
	var missing []string
	for _, q := range info.Params {
		if q.Used != nil && !q.Used(p) {
			q.store(&p, setting{})
			continue
		}
		used[q.Name] = true
		if at[q.Name] != nil || q.Default != "" {
			continue
		}
		ok = false
		switch {
		case q.Name == "bandwidth" && c.kernel.Type == "": // reported with the kernel
		case q.Name == "bandwidth":
			c.Errorf(c.root.At("kernel"), "missing key %q", q.Name)
		case q.Name == "regularizer":
			c.Errorf(c.root, "missing key %q", q.Name)
		default:
			missing = append(missing, q.Name)
		}
	}
	if len(missing) > 0 {
		c.Errorf(at[""], "%s needs %s ('runall list methods %s' describes them)", info.Name, list(missing), info.Name)
	}
	if info.param("pruner") != nil {
		p.completePruner() // Run.Problems reports a failure
	}
	return p, ok
}

// unused reports parameters that are given but not used by any variant.
func (c *checker) unused(info *MethodInfo, entry *strictyaml.Node, used map[string]bool) {
	for _, p := range info.Params {
		at := cmp.Or(entry.Get("grid").Field(p.Name), entry.Field(p.Name))
		if at != nil && !used[p.Name] {
			c.Errorf(at.At, "%s uses %s only %s", info.Name, p.Name, p.When)
		}
	}
}

// assign checks the keys of an entry and its points and assigns them to the variants:
// the cells and figures that they feed, their expected order, and the name of their
// series.
func (c *checker) assign(info *MethodInfo, i int, variants []*variant) {
	entry, m := c.root.At("methods", i), &c.doc.Methods[i]
	var axes []*ParamInfo // hyper-parameters that the grid varies
	if grid := entry.Get("grid"); grid != nil {
		axes = valuesOf(grid.Fields, func(f strictyaml.Field) *ParamInfo { return info.param(f.Key) })
	}
	for _, v := range variants {
		if v.group = c.group(info, v); c.groups[v.group] {
			c.Errorf(entry, "two grid points give the same run: %s", v.group)
		}
		c.groups[v.group] = true
	}
	c.feed(info, &m.Feeds, entry, variants, axes)
	for k := range m.Points {
		n := entry.At("points", k)
		c.feed(info, &m.Points[k].Feeds, n, c.match(n, variants, axes), axes)
	}
	for _, v := range variants {
		v.order = cmp.Or(v.order, float64(v.params.Budget), v.params.PrunerParams["order"], defaultOrder)
		at, before := entry, c.Len()
		if t := v.at["series"]; t != nil {
			at, v.series = t, c.expand(info, v, t)
		} else {
			v.series = automatic(info, v, m.Label, axes)
		}
		if c.series[v.series] && c.Len() == before {
			c.Errorf(at, "duplicate series name %q", v.series)
		}
		c.series[v.series] = true
	}
}

// feed assigns the cells, figures, expected order and series of a node to variants.
func (c *checker) feed(info *MethodInfo, feeds *doc.Feeds, n *strictyaml.Node, variants []*variant, axes []*ParamInfo) {
	if len(variants) == 0 {
		return
	}
	if o := feeds.ExpectedOrder; o != nil && !(*o > 0 && *o <= largest) {
		c.Errorf(n.At("expected_order"), "expected_order is %v, want more than 0", *o)
	}
	for k, id := range feeds.Cells {
		at := n.At("cells", k)
		if !c.cell(id, info, at) {
			continue
		}
		for _, v := range variants {
			if other, ok := c.fed[id]; ok {
				c.Errorf(at, "two series feed cell %q: %s and %s", id, other, point(v, axes))
				break
			}
			c.fed[id] = point(v, axes)
			v.cells = append(v.cells, id)
		}
	}
	for k, id := range feeds.Figures {
		at := n.At("figures", k)
		if !c.figure(id, at) {
			continue
		}
		if slices.Contains(feeds.Figures[:k], id) {
			c.Errorf(at, "figure %q is listed twice", id)
		}
		for _, v := range variants {
			v.figures = union(v.figures, []string{id})
		}
	}
	for _, v := range variants {
		if feeds.ExpectedOrder != nil {
			v.order = *feeds.ExpectedOrder
		}
		if t := n.Get("series"); t != nil {
			v.at["series"] = t
		}
	}
}

// point names a grid point in messages.
func point(v *variant, axes []*ParamInfo) string {
	parts := []string{v.label}
	for _, a := range axes {
		parts = append(parts, a.Name+"="+a.load(&v.params).String())
	}
	return strings.Join(parts, " ")
}

// match returns the variants that an entry of points selects.
func (c *checker) match(n *strictyaml.Node, variants []*variant, axes []*ParamInfo) []*variant {
	at := n.Get("at")
	if at == nil || len(at.Fields) == 0 {
		c.Errorf(n, "missing key %q, which selects grid points", "at")
		return nil
	}
	which := slices.Clone(variants)
	for _, f := range at.Fields {
		k := slices.IndexFunc(axes, func(a *ParamInfo) bool { return a.Name == f.Key })
		if k < 0 {
			c.Errorf(f.At, "the grid does not vary %s", f.Key)
			return nil
		}
		want := axes[k].read(f.Value)
		which = slices.DeleteFunc(which, func(v *variant) bool { return axes[k].read(v.at[f.Key]) != want })
	}
	if len(which) == 0 {
		c.Errorf(at, "at matches no grid point")
	}
	return which
}

// cell reports a table cell that a method's runs can't feed.
func (c *checker) cell(id string, info *MethodInfo, at *strictyaml.Node) bool {
	cell, ok := paper.Printed().Cells[id]
	if !ok {
		c.Errorf(at, "unknown table cell %q, want one of those in experiments/paper.yaml", id)
		return false
	}
	row, _, _ := strings.Cut(cell.Row, "-")
	if c.set == nil || c.out.Task == "" {
		return true // reported already
	}
	if cell.Data != c.set.Name || cell.Task != c.out.Task || row != cmp.Or(info.Row, info.Name) {
		c.Errorf(at, "cell %q does not belong to method %s on data %s with task %s", id, info.Name, c.set.Name, c.out.Task)
		return false
	}
	return true
}

// figure reports a figure that the spec's runs can't feed.
func (c *checker) figure(id string, at *strictyaml.Node) bool {
	f := lists.Find(paper.Printed().Figures, func(f *paper.Figure) bool { return f.ID == id })
	switch {
	case f == nil:
		ids := valuesOf(paper.Printed().Figures, func(f paper.Figure) string { return f.ID })
		c.Errorf(at, "unknown figure %q, want one of %s", id, list(ids))
		return false
	case c.set == nil || c.out.Task == "": // reported already
	case !f.Shows(c.set.Name, c.out.Task):
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
	return c.out.Name + "/" + v.label + "/" + strings.Join(parts, ",")
}

// automatic returns the series name of a variant for which the spec gives none: the
// method and the hyper-parameters that its grid varies.
func automatic(info *MethodInfo, v *variant, label string, axes []*ParamInfo) string {
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
	if len(t.Text) > maxSeries || !charset.Showable(t.Text) {
		c.Errorf(t, "series must be one line of at most %d bytes that does not start with =, +, - or @", maxSeries)
		return ""
	}
	return placeholder.ReplaceAllStringFunc(t.Text, func(s string) string {
		name := s[1 : len(s)-1]
		p := info.param(name)
		if p == nil {
			c.Errorf(t, "series: %s has no hyper-parameter %q", info.Name, name)
			return s
		}
		return p.load(&v.params).String()
	})
}
