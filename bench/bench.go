// Package bench compares all methods that fit on a user's data, without a spec: it finds
// their settings on held-out training rows and writes the spec of the comparison.
package bench

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/online"
)

// Options say what is compared.
type Options struct {
	Source          data.Source
	Task            string
	Budget          time.Duration                    // of the search and the runs, by estimate
	Order           int                              // largest model order; 0: by the number of rows and the budget
	Levels          []int                            // model orders to compare heuristics at, ascending; none: three up to Order
	Replicates      int                              // of a comparison of heuristics; 0: as many as the budget has time for
	Spec            string                           // path of the spec: its data are relative to its folder
	Before          []byte                           // the spec as it is there, if it is: returned if it is of the same data, options and code
	Note            func(format string, args ...any) // takes a line on what was found
	harness.Options                                  // of the search; Results only of heuristics, RequireData not
}

// A bench is one comparison whose settings are sought.
type bench struct {
	opt       Options
	name      string // of the data
	size      sizes
	median    float64 // distance between rows
	plan      []experiments.Planned
	bandwidth float64
	notes     []string // on what was found
}

// medianRows is between how many rows the median distance is taken.
const medianRows = 256

// Settle finds the settings of all methods that fit the task, on held-out training rows,
// and returns a spec that compares them with its comments on how. What it does is decided
// by the rows, the options and constants, so the same data give the same spec. The errors
// are those of [data.Source.Open] and [harness.Settings], or wrap [harness.ErrUsage] if the
// data have too few rows.
func Settle(ctx context.Context, opt Options) ([]byte, error) {
	b, set, err := open(opt)
	if err != nil {
		return nil, err
	}
	b.size = newSizes(set, opt.Task, opt.Budget, opt.Order)
	if b.plan, err = b.planned(b.draft(), opt.Spec); err != nil {
		return nil, err
	}
	key := b.key()
	if strings.HasPrefix(string(opt.Before), key) {
		opt.Note("settings of %s, which an earlier search found", opt.Spec)
		return opt.Before, nil
	}
	for _, line := range b.size.lines() {
		opt.Note("%s", line)
	}
	found, err := b.search(ctx)
	if err != nil {
		return nil, err
	}
	text := []byte(key + b.final(found))
	_, err = b.planned(string(text), opt.Spec)
	return text, err
}

// open reads the data.
func open(opt Options) (*bench, *data.Set, error) {
	ref, set, err := opt.Source.Open()
	if err != nil {
		return nil, nil, err
	}
	b := &bench{opt: opt, name: ref.Name}
	if least := 60; set.Train.N < least {
		return nil, nil, harness.Usage(fmt.Errorf("%s has %d training rows: want at least %d, of which a sixth is held out", ref.Name, set.Train.N, least))
	}
	if b.median = medianDistance(set.Train); b.median == 0 {
		return nil, nil, harness.Usage(fmt.Errorf("%s: the first of every %d training rows are all the same: no bandwidth can be chosen", ref.Name, max(1, set.Train.N/medianRows)))
	}
	if label, rows := unlearned(set); rows > 0 {
		opt.Note("warning: test rows with a label that no training row has: %d, such as %.40q; every method is wrong on them", rows, label)
	}
	return b, set, nil
}

// unlearned returns how many test rows have a class that no training row has, and one of
// its labels: a rare class may be drawn so.
func unlearned(set *data.Set) (label string, rows int) {
	if set.Labels == nil {
		return "", 0
	}
	learned := make([]bool, len(set.Labels))
	for _, y := range set.Train.Y {
		learned[int(y)] = true
	}
	for _, y := range set.Test.Y {
		if !learned[int(y)] {
			label = set.Labels[int(y)]
			rows++
		}
	}
	return label, rows
}

// medianDistance returns the median distance between rows from all of the training part,
// which may be sorted by class.
func medianDistance(train *data.Split) float64 {
	n := min(train.N, medianRows)
	var x []float32
	for i := range n {
		x = append(x, train.Row(i*train.N/n)...)
	}
	return online.MedianDistance(n, train.Dim, x)
}

// planned returns the runs of a spec.
func (b *bench) planned(text, path string) ([]experiments.Planned, error) {
	spec, err := experiments.Parse(path, []byte(text))
	if err != nil {
		return nil, err
	}
	return spec.Plan(experiments.ProfileQuick, experiments.PlanOptions{})
}

// key is the line that a spec begins with. It stands for the data, the code and all that
// is tried.
func (b *bench) key() string {
	h := sha256.New()
	for _, p := range b.plan {
		fmt.Fprintln(h, p.ID)
	}
	fmt.Fprint(h, b.header(b.size.samples, b.size.seeds), b.size.lines())
	return fmt.Sprintf("# runall bench, search %x\n", h.Sum(nil)[:8])
}

// lines say what the budget allows.
func (z *sizes) lines() []string {
	size := fmt.Sprintf("%d training rows, %d test rows, %d features", z.rows, z.test, z.dim)
	if z.classes > 1 { // a regression has one function
		size += fmt.Sprintf(", %d classes", z.classes)
	}
	out := []string{
		size,
		fmt.Sprintf("model orders %d and %d; %d samples a run (%.3g times the training rows), %d in the search; seeds: %d", z.small(), z.order, z.samples, float64(z.samples)/float64(z.rows), z.tried, z.seeds),
		fmt.Sprintf("about %v by estimate", seconds(z.spent)),
	}
	return append(out, z.left...)
}

// draft is the spec of the search: all that is tried, at the median distance.
func (b *bench) draft() string {
	var s strings.Builder
	s.WriteString(b.header(b.size.tried, 1))
	s.WriteString(b.kernelGrid())
	for i := range b.size.methods {
		m := &b.size.methods[i]
		if !m.batch() {
			s.WriteString(b.entry(m, "", "budget: "+strconv.Itoa(b.size.order), "parsimony: 1, learning_rate: 1", m.grid))
		}
	}
	return s.String()
}

// kernelGrid is the entry of a spec whose runs findKernel takes.
func (b *bench) kernelGrid() string {
	return fmt.Sprintf("  - {method: polk, label: search, batch_size: %d, pruner: komp-order, pruner_params: {order: %d}, grid: {bandwidth: %s, learning_rate: %s}}\n",
		batchSize, b.size.order, b.list(bandwidths, b.median), b.list(rates, b.rateFactor()))
}

func (b *bench) rateFactor() float64 {
	if b.opt.Task == experiments.TaskRegression {
		return squaredRate
	}
	return 1
}

// list writes numbers times a factor.
func (b *bench) list(values []float64, factor float64) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = number(v * factor)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// number writes a setting with three digits, which it is then used with.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// rounded is the value that number writes.
func rounded(v float64) float64 {
	r, _ := strconv.ParseFloat(number(v), 64)
	return r
}

// entry writes a method of a spec with its order or, of POLK, with what it has in place of
// that.
func (b *bench) entry(m *method, settings, order, parsimony, grid string) string {
	words := []string{"method: " + m.name}
	add := func(text string) {
		if text != "" {
			words = append(words, text)
		}
	}
	if m.label != "" {
		add("label: " + m.label)
	}
	if m.name == experiments.MethodPOLK {
		add(fmt.Sprintf("batch_size: %d", batchSize))
		if order = parsimony; m.pruner != "" {
			add("pruner: " + m.pruner)
		}
	}
	if m.fixed != "" {
		add(strings.NewReplacer("%rows", strconv.Itoa(b.size.rows), "%small", strconv.Itoa(b.size.small())).Replace(m.fixed))
	}
	add(settings)
	if takes(m, "budget") || m.name == experiments.MethodPOLK {
		add(order)
	}
	if grid != "" {
		add("grid: {" + grid + "}")
	}
	return "  - {" + strings.Join(words, ", ") + "}\n"
}

// takes reports whether a method takes a hyper-parameter.
func takes(m *method, name string) bool {
	return slices.ContainsFunc(experiments.Method(m.name).Params, func(p experiments.ParamInfo) bool { return p.Name == name })
}

// found is what the search found.
type found struct {
	rate      float64              // of POLK
	parsimony map[string][]float64 // by label of POLK, for the smaller order first
	settings  map[string]string    // of the others, as in a spec
}

// search finds POLK's bandwidth and rate at a fixed model order, then with these each
// pruner's K that leads to the orders, and the other methods' own settings.
func (b *bench) search(ctx context.Context) (*found, error) {
	var first, parsimony, others []experiments.Planned
	for _, p := range b.plan {
		switch {
		case p.Label == "search":
			first = append(first, p)
		case p.Run.Method == experiments.MethodPOLK:
			parsimony = append(parsimony, p)
		default:
			others = append(others, p)
		}
	}
	best, err := b.findKernel(ctx, first)
	if err != nil {
		return nil, err
	}
	f := &found{rate: best.Params.LearningRate, parsimony: make(map[string][]float64), settings: make(map[string]string)}
	if err := b.findParsimony(ctx, parsimony, f); err != nil {
		return nil, err
	}
	for _, p := range slices.Clone(others) {
		wide := p.Run.Params
		wide.Kernel.Bandwidth = rounded(2 * b.bandwidth)
		b.change(&p, wide)
		others = append(others, p)
	}
	for i := range others[:len(others)/2] {
		narrow := others[i].Run.Params
		narrow.Kernel.Bandwidth = b.bandwidth
		b.change(&others[i], narrow)
	}
	var tried []harness.Setting
	if len(others) > 0 { // of a regression there are none
		if tried, err = b.try(ctx, others); err != nil {
			return nil, err
		}
	}
	b.size.methods = slices.DeleteFunc(slices.Clone(b.size.methods), func(m method) bool {
		if m.batch() || m.name == experiments.MethodPOLK {
			return false
		}
		best, ok := bestOf(tried, m.called())
		if !ok {
			b.note("%s is left out: it failed with every setting that was tried", m.called())
			return true
		}
		words := []string{"bandwidth: " + number(best.Params.Kernel.Bandwidth)}
		for _, name := range m.found {
			v := valueOf(&best.Params, name)
			words = append(words, name+": "+number(v))
			own := slices.DeleteFunc(slices.Clone(tried), func(s harness.Setting) bool { return s.Label != m.called() })
			b.noteEdge(m.called()+"'s "+name, v, func(s harness.Setting) float64 { return valueOf(&s.Params, name) }, own)
		}
		f.settings[m.called()] = strings.Join(words, ", ")
		b.note("%s: error %.2f %% on held-out rows at order %d", strings.Join(append([]string{m.called()}, words...), ", "), 100*best.Error, b.size.order)
		return false
	})
	return f, nil
}

// findKernel finds POLK's bandwidth and rate at a fixed model order. Where the best of the
// grid is at an edge, the grid is extended.
func (b *bench) findKernel(ctx context.Context, grid []experiments.Planned) (best harness.Setting, err error) {
	tried, err := b.try(ctx, grid)
	for i := 0; i < mostExtended && err == nil; i++ {
		further := b.beyond(grid[0], tried)
		if len(further) == 0 {
			break
		}
		var more []harness.Setting
		more, err = b.try(ctx, further)
		tried = append(tried, more...)
	}
	if err != nil {
		return best, err
	}
	best, ok := bestOf(tried, grid[0].Label)
	if !ok {
		return best, errors.New("POLK failed with every setting that was tried; other features or another --scale may help")
	}
	b.bandwidth = best.Params.Kernel.Bandwidth
	rate := best.Params.LearningRate
	b.noteEdge("the bandwidth", b.bandwidth, func(s harness.Setting) float64 { return s.Params.Kernel.Bandwidth }, tried)
	b.noteEdge("POLK's learning rate", rate, func(s harness.Setting) float64 { return s.Params.LearningRate }, tried)
	b.note("POLK, komp-order: bandwidth %s (median distance %s), learning rate %s: error %.2f %% on held-out rows", number(b.bandwidth), number(b.median), number(rate), 100*best.Error)
	return best, nil
}

// valueOf returns a setting that methods have found.
func valueOf(p *experiments.Params, name string) float64 {
	switch name {
	case "learning_rate":
		return p.LearningRate
	case "regularizer":
		return p.Regularizer
	}
	return p.Own[name]
}

// note keeps a line for the spec, and says it.
func (b *bench) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	b.notes = append(b.notes, line)
	b.opt.Note("%s", line)
}

// noteEdge says that a value is the least or the largest that was tried.
func (b *bench) noteEdge(what string, value float64, of func(harness.Setting) float64, tried []harness.Setting) {
	low, high := value, value
	for _, s := range tried {
		low, high = min(low, of(s)), max(high, of(s))
	}
	if low < high && (value == low || value == high) {
		b.note("%s is at the edge of what was tried: %s, of %s to %s", what, number(value), number(low), number(high))
	}
}

// try trains runs on five sixths of the training rows and evaluates them on the rest.
func (b *bench) try(ctx context.Context, plan []experiments.Planned) ([]harness.Setting, error) {
	settings, _, err := harness.Settings(ctx, plan, b.opt.Options)
	return settings, err
}

// bestOf returns the setting of a label with the least error, of those without failed runs.
func bestOf(tried []harness.Setting, label string) (best harness.Setting, ok bool) {
	for _, s := range tried {
		if s.Label == label && s.Failed == 0 && (!ok || s.Error < best.Error) {
			best, ok = s, true
		}
	}
	return best, ok
}

// mostExtended is how often the grid of bandwidths and rates is extended at most.
const mostExtended = 3

// beyond returns runs beyond the grid that was tried, where its best setting is at an edge.
func (b *bench) beyond(run experiments.Planned, tried []harness.Setting) []experiments.Planned {
	best, ok := bestOf(tried, run.Label)
	if !ok {
		return nil
	}
	var widths, rates []float64
	for _, s := range tried {
		widths, rates = append(widths, s.Params.Kernel.Bandwidth), append(rates, s.Params.LearningRate)
	}
	var out []experiments.Planned
	add := func(width, rate float64) {
		q := run
		params := q.Run.Params
		params.Kernel.Bandwidth, params.LearningRate = rounded(width), rounded(rate)
		b.change(&q, params)
		out = append(out, q)
	}
	width, rate := best.Params.Kernel.Bandwidth, best.Params.LearningRate
	if next, ok := outside(width, widths, 2); ok {
		for _, r := range slices.Compact(slices.Sorted(slices.Values(rates))) {
			add(next, r)
		}
	}
	if next, ok := outside(rate, rates, 4); ok {
		add(width, next)
	}
	return out
}

// outside returns the value beyond a grid by a factor, if v is at an edge of it.
func outside(v float64, grid []float64, factor float64) (float64, bool) {
	switch v {
	case slices.Min(grid):
		return v / factor, true
	case slices.Max(grid):
		return v * factor, true
	}
	return 0, false
}

// change gives a run other settings.
func (b *bench) change(p *experiments.Planned, params experiments.Params) {
	p.Run.Params = params
	p.ID = experiments.ID(p.Run)
	p.Group = fmt.Sprintf("%s, c = %v, η = %v, K = %v", p.Group, params.Kernel.Bandwidth, params.LearningRate, params.Parsimony)
}

// K is sought from largest down by halves, in rounds, until the order is reached; then twice
// between the two values that it lies between, on logarithmic scales.
const (
	largestParsimony = 1.28
	parsimonyRound   = 3
	mostParsimony    = 18
)

// A sought is a value of K with the order that it led to.
type sought struct{ k, order, err float64 }

// findParsimony finds the K of each of POLK's pruners that leads to the two orders.
func (b *bench) findParsimony(ctx context.Context, plan []experiments.Planned, f *found) error {
	seen := make(map[string][]sought)
	round := func(next func(label string) []float64) (int, error) {
		var runs []experiments.Planned
		for _, p := range plan {
			for _, k := range next(p.Label) {
				q := p
				params := p.Run.Params
				params.Kernel.Bandwidth, params.Parsimony, params.LearningRate = b.bandwidth, k, f.rate
				b.change(&q, params)
				runs = append(runs, q)
			}
		}
		if len(runs) == 0 {
			return 0, nil
		}
		tried, err := b.try(ctx, runs)
		for _, s := range tried {
			if s.Failed == 0 {
				seen[s.Label] = append(seen[s.Label], sought{s.Params.Parsimony, s.Order, s.Error})
			}
		}
		for _, all := range seen {
			slices.SortFunc(all, func(a, b sought) int { return cmp.Compare(b.k, a.k) })
		}
		return len(runs), err
	}
	k := largestParsimony
	for k > largestParsimony/math.Exp2(15) {
		n, err := round(func(label string) []float64 {
			if all := seen[label]; len(all) > 0 && all[len(all)-1].order >= float64(b.size.order) {
				return nil
			}
			return []float64{k, k / 2, k / 4}
		})
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		k /= 1 << parsimonyRound
	}
	orders := []int{b.size.small(), b.size.order}
	for range 2 {
		if _, err := round(func(label string) (ks []float64) {
			for _, order := range orders {
				if k, ok := between(seen[label], float64(order)); ok && !slices.Contains(ks, k) {
					ks = append(ks, k)
				}
			}
			return ks
		}); err != nil {
			return err
		}
	}
	for _, p := range plan {
		for _, order := range orders {
			i := nearest(seen[p.Label], float64(order))
			if i < 0 {
				return fmt.Errorf("%s failed with every K that was tried", p.Label)
			}
			s := seen[p.Label][i]
			b.note("%s: K = %s leads to order %.0f where %d is wanted: error %.2f %% on held-out rows", p.Label, number(s.k), s.order, order, 100*s.err)
			if !slices.Contains(f.parsimony[p.Label], s.k) {
				f.parsimony[p.Label] = append(f.parsimony[p.Label], s.k)
			}
		}
	}
	return nil
}

// between returns the K between two that were tried whose orders an order lies between.
func between(all []sought, order float64) (float64, bool) {
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		if a.order < order && order < b.order {
			t := 0.5
			if a.order > 0 {
				t = math.Log(order/a.order) / math.Log(b.order/a.order)
			}
			k := rounded(a.k * math.Pow(b.k/a.k, t))
			return k, k != a.k && k != b.k
		}
	}
	return 0, false
}

// nearest returns which K's order is nearest by its ratio, −1 if there is none.
func nearest(all []sought, order float64) int {
	best, least := -1, math.Inf(1)
	for i, s := range all {
		if d := math.Abs(math.Log(s.order / order)); d < least {
			best, least = i, d
		}
	}
	return best
}

// dataWords is the source as specs have it.
func (b *bench) dataWords() string {
	s := &b.opt.Source
	var words []string
	add := func(key, value string) {
		if value != "" {
			words = append(words, key+": "+value)
		}
	}
	add("name", b.name)
	add("train", b.path(s.Train))
	add("train_labels", b.path(s.TrainLabels))
	add("test", b.path(s.Test))
	add("test_labels", b.path(s.TestLabels))
	if s.Holdout != 0 {
		add("holdout", strconv.FormatFloat(s.Holdout, 'g', -1, 64))
	}
	add("format", s.Format)
	add("label", column(s.Label))
	add("ignore", columns(s.Ignore))
	add("keep", columns(s.Keep))
	add("header", s.Header)
	add("scale", string(s.Scale))
	return strings.Join(words, ", ")
}

// header is what specs have before their methods, which learn so many samples.
func (b *bench) header(samples, seeds int) string {
	bandwidth := cmp.Or(b.bandwidth, b.median)
	return fmt.Sprintf(`name: bench-%s
title: All methods on %s
task: %s
data: {%s}
kernel: {type: gaussian, bandwidth: %s}
regularizer: 1e-6
repeats: [{seeds: %d}]
stopping: {samples: %d}
evaluation: {every: %d, tail: %d, train_limit: %d}
methods:
`, b.name, b.name, b.opt.Task, b.dataWords(), number(bandwidth), seeds, samples, b.size.every, b.size.tail, min(trainLimit, b.size.rows))
}

// path writes a data file as the spec names it: from its folder.
func (b *bench) path(file string) string {
	if file == "" {
		return ""
	}
	if from, err := filepath.Abs(filepath.Dir(b.opt.Spec)); err == nil {
		if to, err := filepath.Abs(file); err == nil {
			if rel, err := filepath.Rel(from, to); err == nil {
				file = rel
			}
		}
	}
	return strconv.Quote(filepath.ToSlash(file))
}

func column(c data.Column) string {
	switch {
	case c.Name != "":
		return strconv.Quote(c.Name)
	case c.Number != 0:
		return strconv.Itoa(c.Number)
	}
	return ""
}

func columns(all []data.Column) string {
	if len(all) == 0 {
		return ""
	}
	words := make([]string, len(all))
	for i, c := range all {
		words[i] = column(c)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// final is the spec of the comparison.
func (b *bench) final(f *found) string {
	var s strings.Builder
	s.WriteString("#\n# To repeat it: runall reproduce THIS-FILE --results FOLDER\n#\n")
	for _, line := range b.size.lines() {
		s.WriteString("# " + line + "\n")
	}
	s.WriteString("#\n# Found on a sixth of the training rows, which was held out; test rows were not looked at.\n" +
		"# Rates were found at the larger order. The batch methods' settings are defaults.\n")
	for _, line := range b.notes {
		s.WriteString("# " + line + "\n")
	}
	s.WriteString(b.header(b.size.samples, b.size.seeds))
	orders := fmt.Sprintf("budget: [%d, %d]", b.size.small(), b.size.order)
	for i := range b.size.methods {
		m := &b.size.methods[i]
		settings, grid := f.settings[m.called()], orders
		if m.name == experiments.MethodPOLK {
			settings, grid = "learning_rate: "+number(f.rate), "parsimony: "+b.list(f.parsimony[m.called()], 1)
		} else if !takes(m, "budget") {
			grid = ""
		}
		s.WriteString(b.entry(m, settings, "", "", grid))
	}
	return s.String()
}
