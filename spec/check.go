package spec

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"polkrepro/data"
	"polkrepro/internal/charset"
	"polkrepro/internal/lists"
	"polkrepro/internal/strictyaml"
	"polkrepro/kernel"
	"polkrepro/spec/internal/doc"
)

// Bounds that keep a mistyped spec from planning an absurd amount of work.
const (
	maxIncludes = 8   // included files, each of at most strictyaml.MaxSource bytes
	maxSeries   = 200 // bytes of a series' name
	maxVariants = 1000
	maxRuns     = 10_000
)

// MaxSeeds bounds the seeds of a repeat, and of PlanOptions.
const MaxSeeds = 10_000

// MaxEvaluations bounds the evaluations of a run, which are all in memory when
// its record is read.
const MaxEvaluations = 50_000

// The defaults of an evaluation, and the number in an Evaluation that stands for one.
const (
	defaultEvaluations = 20 // in a run, and defaultTail more
	defaultTail        = 5
	mostTrain          = 10_000 // training examples for the risk
	byDefault          = -1
)

// defaultOrder is the expected model order if a spec does not give one.
const defaultOrder = 500

// A checker turns a decoded spec into a Spec and reports errors in it.
type checker struct {
	checks
	root *strictyaml.Node
	doc  *doc.Spec

	set    *data.Info // nil if it is not known
	out    *Spec
	kernel Kernel
	fed    map[string]string // table cell → grid point that feeds it
	series map[string]bool
	groups map[string]bool
	labels []string
}

// samplingEpochs is the name that specs have for the sampling of a run whose Sampling
// is empty.
const samplingEpochs = "epochs"

var nameText = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// spec checks everything. The spec that it returns is valid only if no error was
// reported.
func (c *checker) spec() *Spec {
	c.fed, c.series = make(map[string]string), make(map[string]bool)
	c.groups = make(map[string]bool)
	d := c.doc
	s := &Spec{
		Name: d.Name, Title: d.Title, Description: strings.TrimSpace(d.Description), Task: d.Task,
		Supplement: d.Supplement, work: make(map[string]work),
	}
	c.out = s
	s.apart = (c.own || c.overrides != "") && IsEmbedded(d.Name)
	if c.own && s.apart {
		s.Name += "-copy"
	}
	s.Name += c.overrides
	if c.given(c.root, "name") && !nameText.MatchString(d.Name) {
		c.Errorf(c.root.At("name"), "name is %q, want lower-case letters, digits and single hyphens", d.Name)
	}
	if c.given(c.root, "title") && (d.Title == "" || !charset.Showable(d.Title)) {
		c.Errorf(c.root.At("title"), "title is %q, want one line", d.Title)
	}
	if !charset.Printable(strings.NewReplacer("\n", "", "\t", "").Replace(d.Description)) {
		c.Errorf(c.root.At("description"), "description has unprintable characters")
	}
	c.given(c.root, "task")
	if d.Sampling != samplingEpochs {
		s.sampling = d.Sampling
	}
	c.data()
	c.standsInFor()
	c.theKernel()
	if defaults := c.root.Get("defaults"); defaults != nil {
		for _, f := range defaults.Fields {
			if Method(f.Key) == nil {
				c.Errorf(f.At, "%s", unknownMethod(f.Key))
			}
		}
	}
	if n := c.root.Get("compare"); n != nil {
		c.Errorf(n, "this spec compares pruning heuristics: use runall compare")
	} else if c.given(c.root, "methods") && len(d.Methods) == 0 {
		c.Errorf(c.root.At("methods"), "methods is empty")
	}
	for i := range d.Methods {
		c.method(i)
	}
	if n := c.root.Get("add_methods"); n != nil {
		c.Errorf(n, "add_methods adds to the methods of an included file or of the spec that a variant builds on, and there are none: use methods")
	}
	c.allWork()
	claims := func(v *variant) bool { return len(v.cells)+len(v.figures) > 0 }
	s.apart = s.apart || c.own && slices.ContainsFunc(s.variants, claims)
	return s
}

// data looks up the data set, or opens the files, that the spec uses.
func (c *checker) data() {
	n, d := c.root.At("data"), c.doc.Data
	switch {
	case !c.given(c.root, "data"):
		return
	case n.Get("train") != nil:
		c.out.Data, c.set = c.files(n, d, c.doc.Task)
	case c.given(n, "name"):
		c.out.Data = data.Ref{Name: d.Name, Variant: d.Variant}
		c.set = lists.Find(data.List(), func(s *data.Info) bool {
			return s.Name == d.Name && (d.Variant == "" || slices.Contains(s.Variants, d.Variant))
		})
		if c.set != nil && d.Variant == "" && len(c.set.Variants) > 0 {
			c.out.Data.Variant = c.set.Variants[0]
		}
	}
	for _, f := range n.Fields {
		if f.Key != "name" && f.Key != "variant" && n.Get("train") == nil {
			c.Errorf(f.At, "%s applies only to files: train is missing, add the training file", f.Key)
		}
	}
	if c.set != nil {
		c.out.dim, c.out.train = c.set.Dim, c.set.Train
	}
}

// nodes holds the nodes of a spec that determine a run. The key "" is the entry of
// methods; other keys are "method" and the names of hyper-parameters.
type nodes map[string]*strictyaml.Node

// nodeOf returns the node of a setting of a run in a profile, given its path in [Problem]. It
// returns nil if the spec lacks the setting, which is reported elsewhere.
func (c *checker) nodeOf(path, profile string, at nodes) *strictyaml.Node {
	keys := strings.Split(path, ".")
	name := keys[len(keys)-1]
	switch {
	case keys[0] == "data" && c.set == nil && c.root.At("data").Get("train") != nil: // the files are invalid
		return nil
	case path == "method" || path == "samples" || keys[0] == "params" && at[name] != nil:
		return at[name]
	case keys[0] == "params" && keys[1] != "kernel":
		return at[""]
	case keys[0] == "params":
		keys = keys[1:]
	}
	for _, n := range []*strictyaml.Node{c.root.Get("profiles").Get(profile), c.root} {
		for _, key := range keys {
			n = n.Get(key)
		}
		if n != nil {
			return n
		}
	}
	return nil
}

// report reports the problems of a run in a profile at the nodes of their settings.
func (c *checker) report(r Run, profile string, at nodes) {
	for _, p := range r.Problems() {
		if n := c.nodeOf(p.Path, profile, at); n != nil {
			c.Errorf(n, "%s", p.Message)
		}
	}
}

// standsInFor checks the data set that the spec's data set stands in for.
func (c *checker) standsInFor() {
	name := c.doc.StandsInFor
	if name == "" {
		return
	}
	n := c.root.At("stands_in_for")
	if sets := data.List(); lists.Find(sets, func(s *data.Info) bool { return s.Name == name }) == nil {
		c.Errorf(n, "%s", unknownDataSet(name, sets))
	}
	if name == c.out.Data.Name {
		c.Errorf(n, "%s stands in for itself", name)
	}
	c.out.StandsInFor = name
}

// theKernel checks the spec's kernel.
func (c *checker) theKernel() {
	if !c.given(c.root, "kernel") {
		return
	}
	n, k := c.root.At("kernel"), c.doc.Kernel
	if !c.given(n, "type") {
		return
	}
	takes := kernel.Takes(k.Type)
	for _, f := range n.Fields {
		if f.Key != "type" && takes != nil && !slices.Contains(takes, f.Key) {
			c.Errorf(f.At, "a %s kernel takes no %s", k.Type, f.Key)
		}
	}
	c.kernel = Kernel{Type: k.Type, Offset: k.Offset, Degree: k.Degree}
	if k.Params != nil {
		var err error
		if c.kernel.Params, err = json.Marshal(k.Params); err != nil {
			c.Errorf(n.At("params"), "%v", err)
		}
	}
	for _, name := range takes {
		if name != "bandwidth" && !c.given(n, name) { // the bandwidth is a hyper-parameter of the methods
			c.kernel.Degree = max(1, k.Degree) // already reported as missing
		}
	}
}

func unknownMethod(name string) string {
	return fmt.Sprintf("unknown method %q, want one of %s", name, list(valuesOf(methods, func(m MethodInfo) string { return m.Name })))
}

// allWork checks stopping, evaluation, repeats and what the profiles change.
func (c *checker) allWork() {
	d := c.doc
	var usual work
	if c.given(c.root, "stopping") {
		c.stopping(d.Stopping, c.root.At("stopping"), &usual)
	}
	usual.evaluation = Evaluation{Every: byDefault, Tail: byDefault, TrainLimit: byDefault}
	if d.Evaluation != nil {
		c.evaluation(d.Evaluation, c.root.At("evaluation"), &usual.evaluation)
	}
	usual.repeats = c.repeats(d.Repeats, c.root)
	for _, name := range Profiles() {
		w := usual
		if n := c.root.Get("profiles").Get(name); n != nil {
			p := map[string]*doc.Profile{
				ProfileSmoke: d.Profiles.Smoke, ProfileQuick: d.Profiles.Quick, ProfileFull: d.Profiles.Full,
			}[name]
			w.skip = p.Skip
			if p.Stopping != nil {
				c.stopping(p.Stopping, n.At("stopping"), &w)
			}
			if p.Evaluation != nil {
				c.evaluation(p.Evaluation, n.At("evaluation"), &w.evaluation)
			}
			if n.Get("repeats") != nil {
				w.repeats = c.repeats(p.Repeats, n)
			}
			if only := n.Get("only"); only != nil {
				w.only = c.only(p.Only, only)
			}
		}
		if runs := c.out.count(w); runs > maxRuns {
			c.Errorf(c.root, "profile %s has %d runs, more than %d", name, runs, maxRuns)
			continue
		}
		c.out.work[name] = w
		lengths := map[int]*strictyaml.Node{w.samples: w.at}
		for _, r := range w.repeats {
			if r.at != nil {
				lengths[r.samples] = r.at
			}
		}
		for samples, at := range lengths {
			c.report(c.out.run(&variant{params: Params{Kernel: c.kernel}}, w.evaluation, samples), name, nodes{"samples": at})
			for _, v := range c.out.variants {
				c.report(c.out.run(v, w.evaluation, samples), name, v.at)
			}
		}
	}
}

// count returns the largest possible number of runs.
func (s *Spec) count(w work) int {
	runs := 0
	for _, r := range w.repeats {
		runs += len(s.variants) * r.count()
	}
	return runs
}

// count returns the number of runs of a variant.
func (r *repeat) count() int {
	if r.paired {
		return len(r.draws)
	}
	return len(r.draws) * len(r.seeds)
}

func (c *checker) only(labels []string, n *strictyaml.Node) []string {
	if len(labels) == 0 {
		c.Errorf(n, "only is empty: to leave out everything, use skip: true")
	}
	for i, l := range labels {
		if !slices.Contains(c.labels, l) && !slices.Contains(c.labels, "") { // "" is an entry without a method, reported already
			c.Errorf(n.At(i), "unknown label %q, want one of %s", l, list(c.labels))
		}
	}
	return slices.Concat([]string{}, labels)
}

// stopping sets the number of samples of a run.
func (c *checker) stopping(s *doc.Stopping, n *strictyaml.Node, w *work) {
	w.samples, w.at = 0, nil
	switch {
	case s.Epochs == nil && s.Samples == nil:
		c.Errorf(n, "missing key %q or %q", "epochs", "samples")
	case s.Epochs != nil && s.Samples != nil:
		c.Errorf(n.At("samples"), "both epochs and samples are given: one that an included file gives is removed by null")
	case s.Samples != nil:
		w.samples, w.at = *s.Samples, n.At("samples")
	case c.set != nil && c.set.Train > 0: // unknown if its file is missing
		x := math.Round(*s.Epochs * float64(c.set.Train))
		if !(x >= 1 && x <= largest) {
			c.Errorf(n.At("epochs"), "epochs is %v: that is %v samples of %s, want 1 to %d", *s.Epochs, x, c.set.Name, largest)
			return
		}
		w.samples = int(x)
	}
}

// evaluation copies the settings given in d to e.
func (c *checker) evaluation(d *doc.Evaluation, n *strictyaml.Node, e *Evaluation) {
	for from, to := range map[*int]*int{d.Every: &e.Every, d.Tail: &e.Tail, d.TrainLimit: &e.TrainLimit} {
		if from != nil {
			*to = *from
		}
	}
	if c.set != nil && c.set.Train > 0 && d.TrainLimit != nil {
		c.between(n, "train_limit", *d.TrainLimit, 0, c.set.Train)
	}
	e.Minimizer = e.Minimizer || d.Minimizer
}

// repeats checks the repeats in the node above, and returns them.
func (c *checker) repeats(list []doc.Repeat, above *strictyaml.Node) []repeat {
	if above.Get("repeats") == nil {
		list = []doc.Repeat{{}}
	} else if len(list) == 0 {
		c.Errorf(above.At("repeats"), "repeats is empty")
	}
	var out []repeat
	for i := range list {
		d, n := &list[i], above.At("repeats", i)
		r := repeat{draws: c.draws(d, n), seeds: []uint64{1}}
		if d.Seeds != nil {
			r.seeds = c.seeds(d.Seeds, n.At("seeds"))
		}
		if r.paired = d.Paired; r.paired && (d.Seeds != nil || d.Draws == nil) {
			c.Errorf(n.At("paired"), "paired draws have the seeds 1, 2, 3 and so on: give draws, and no seeds")
		}
		f := c.out.Data.Files
		r.resplit = f.Holdout > 0 && !f.Ordered && d.Draws == nil && c.root.At("data").Get("split_seed") == nil
		if only := n.Get("only"); only != nil {
			r.only = c.only(d.Only, only)
		}
		if d.Samples != nil {
			r.samples, r.at = *d.Samples, n.At("samples")
		}
		r.all = d.Feeds == "both" || n.Get("feeds") == nil
		r.cells, r.figures = r.all || d.Feeds == "cells", r.all || d.Feeds == "figures"
		if !r.all && !r.cells && !r.figures {
			c.Errorf(n.At("feeds"), "feeds is %q, want one of cells, figures, both", d.Feeds)
		}
		out = append(out, r)
	}
	return out
}

// drawnData is the data set that has calibrated draws. For other data sets that have draws,
// specs can list the draws; for a user's file with a holdout, they can list its split seeds.
const drawnData = "multidist"

// draws returns the draws of a repeat.
func (c *checker) draws(d *doc.Repeat, n *strictyaml.Node) []uint64 {
	if c.set == nil {
		return nil
	}
	at := n.At("draws")
	drawn := c.out.Data
	drawn.Draw = 1
	_, fixed := drawn.Resolve()
	switch named := d.Draws == nil || d.Draws.Named != ""; {
	case !named && (c.out.Data.Files.Holdout > 0 && !c.out.Data.Files.Ordered || fixed == nil):
		if c.distinct(d.Draws.Seeds, at, "draws"); d.Count != nil {
			c.Errorf(n.Field("count").At, "count applies only to draws: calibrated")
		}
		if i := slices.Index(d.Draws.Seeds, 0); i >= 0 {
			c.Errorf(at.At(i), "draws start at 1")
		}
		return d.Draws.Seeds
	case c.set.Name != drawnData:
		for _, key := range []string{"draws", "count"} {
			if f := n.Field(key); f != nil {
				c.Errorf(f.At, "data set %s is fixed: %s applies only to generated data", c.set.Name, key)
			}
		}
		return []uint64{0}
	case d.Count != nil && (d.Draws == nil || d.Draws.Named != doc.DrawsCalibrated):
		c.Errorf(n.Field("count").At, "count applies only to draws: calibrated")
	case d.Draws != nil && c.out.Data.Variant != data.Calibrated:
		c.Errorf(at, "only variant %s has named draws, not %s: list the seeds of the draws", data.Calibrated, c.out.Data.Variant)
	}
	draws := calibratedDraws()
	switch {
	case d.Draws == nil || d.Draws.Named == doc.DrawsFigure:
		return []uint64{data.FigureDraw().Seed}
	case d.Count == nil:
		return draws
	case !c.between(n, "count", *d.Count, 1, len(draws)):
		return nil
	}
	return draws[:*d.Count]
}

// seeds returns the seeds of a repeat.
func (c *checker) seeds(s *doc.Seeds, n *strictyaml.Node) []uint64 {
	if n.Kind != strictyaml.Sequence {
		if !c.between(n, "seeds", s.N, 1, MaxSeeds) {
			return nil
		}
		return upTo(s.N)
	}
	c.distinct(s.List, n, "seeds")
	return s.List
}

// distinct reports an empty list, and duplicates in a list.
func (c *checker) distinct(list []uint64, n *strictyaml.Node, what string) {
	if len(list) == 0 {
		c.Errorf(n, "%s is empty", what)
	}
	seen := make(map[uint64]bool)
	for i, x := range list {
		if seen[x] {
			c.Errorf(n.At(i), "duplicate %d in %s", x, what)
		}
		seen[x] = true
	}
}

// upTo returns 1 … n.
func upTo(n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(i + 1)
	}
	return out
}
