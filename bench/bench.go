// Package bench compares all methods that fit on a user's data, without a spec: it finds
// their settings on held-out training rows and writes the spec of the comparison.
package bench

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"polkrepro/data"
	"polkrepro/data/rows"
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
	opt    Options
	ref    data.Ref // what the search sees
	name   string   // of the data
	size   sizes
	median float64  // distance between rows
	notes  []string // on what was found
}

// medianRows is between how many rows the median distance is taken.
const medianRows = 256

// Resplits is how often a file without test rows is split at most.
const Resplits = 5

// Settle finds the settings of all methods that fit the task, on held-out training rows
// that are test rows in no resplit. It returns a spec that compares the methods, with its
// comments on how, and a table of the part that each row of the file has in each resplit,
// and as resplit 0 in the search. What it does is decided by the rows, the options and
// constants, so the same data give the same spec. The errors are those of
// [data.Source.Open] and [harness.Settings], or wrap [harness.ErrUsage] if the data have
// too few rows.
func Settle(ctx context.Context, opt Options) (spec []byte, split [][]string, err error) {
	b, set, err := open(opt, Resplits)
	if err != nil {
		return nil, nil, err
	}
	b.size = newSizes(set, b.ref.Files.Holdout, opt.Task, opt.Budget, opt.Order)
	starts, err := b.starts(b.size.methods)
	if err != nil {
		return nil, nil, err
	}
	split = b.split(set.Train.N + set.Test.N)
	key := b.key(starts)
	if strings.HasPrefix(string(opt.Before), key) {
		opt.Note("settings of %s, which an earlier search found", opt.Spec)
		return opt.Before, split, nil
	}
	for _, line := range b.size.lines() {
		opt.Note("%s", line)
	}
	searches, err := b.settle(ctx, b.size.methods, starts)
	if err != nil {
		return nil, nil, err
	}
	text := []byte(key + b.final(searches))
	_, err = b.planned(string(text), opt.Spec)
	return text, split, err
}

// open reads the data. The training part of a file that is split so often has the rows
// that are in no test part.
func open(opt Options, splits uint64) (*bench, *data.Set, error) {
	ref, set, err := opt.Source.Open()
	if err == nil && ref.Files.Holdout > 0 && splits > 0 {
		ref.Files.Splits = splits
		set, err = data.Load(ref, opt.Finder)
	}
	if err != nil {
		return nil, nil, err
	}
	b := &bench{opt: opt, ref: ref, name: ref.Name}
	if least := 60; set.Train.N < least {
		rows := "training rows"
		if ref.Files.Splits > 0 {
			rows = "rows that are test rows in no split"
		}
		return nil, nil, harness.Usage(fmt.Errorf("%s has %d %s: want at least %d, of which a sixth is held out for the search", ref.Name, set.Train.N, rows, least))
	}
	if b.median = medianDistance(set.Train); b.median == 0 {
		return nil, nil, harness.Usage(fmt.Errorf("%s: the first of every %d training rows are all the same: no bandwidth can be chosen", ref.Name, max(1, set.Train.N/medianRows)))
	}
	if label, rows := unlearned(set); rows > 0 {
		opt.Note("warning: test rows with a label that no training row has: %d, such as %.40q; every method is wrong on them", rows, label)
	}
	if set.Repeated > 0 {
		opt.Note("warning: test rows that are also training rows: %d of %d", set.Repeated, set.Test.N)
	}
	if one, other, ok := rows.Alike(set.Labels); ok {
		opt.Note("warning: the labels %+q and %+q look the same and are two classes: write both in one Unicode form (NFC)", one, other)
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

// starts returns a run of each method with what it starts from, on what the search sees.
func (b *bench) starts(methods []method) ([]experiments.Planned, error) {
	var s strings.Builder
	s.WriteString(b.header(b.size.tried, "[{seeds: 1}]"))
	for i := range methods {
		m := &methods[i]
		s.WriteString(b.entry(m, m.settings(b, make([]int, len(m.axes))), []int{b.size.order}))
	}
	plan, err := b.planned(s.String(), b.opt.Spec)
	for i := range plan {
		plan[i].Run.Data = b.ref
		plan[i].ID = experiments.ID(plan[i].Run)
	}
	return plan, err
}

// split returns the part of each of n rows in the search and the resplits.
func (b *bench) split(n int) [][]string {
	table := [][]string{{"row", "resplit", "part"}}
	add := func(resplit int, parts []string) {
		for i, part := range parts {
			table = append(table, []string{strconv.Itoa(i + 1), strconv.Itoa(resplit), part})
		}
	}
	files := b.ref.Files
	if files.Holdout == 0 {
		n = b.size.rows // a test file is not split
	}
	parts := slices.Repeat([]string{"unused"}, n)
	_, seen := files.HeldOut(n)
	held, kept := harness.HeldOut(len(seen))
	for _, i := range held {
		parts[seen[i]] = "held-out"
	}
	for _, i := range kept {
		parts[seen[i]] = "train"
	}
	add(0, parts)
	for k := 1; k <= b.size.seeds && files.Holdout > 0; k++ {
		parts := slices.Repeat([]string{"train"}, n)
		files.Splits, files.SplitSeed = 0, uint64(k)
		held, _ := files.HeldOut(n)
		for _, i := range held {
			parts[i] = "test"
		}
		add(k, parts)
	}
	return table
}

// key is the line that a spec begins with. It stands for the data, the code and all that
// is tried.
func (b *bench) key(starts []experiments.Planned) string {
	h := sha256.New()
	for _, p := range starts {
		fmt.Fprintln(h, p.ID)
	}
	for _, m := range b.size.methods {
		fmt.Fprintln(h, m.axes)
	}
	fmt.Fprint(h, b.header(b.size.samples, b.repeats()), b.size.lines())
	return fmt.Sprintf("# runall bench, search %x\n", h.Sum(nil)[:8])
}

// lines say what the budget allows.
func (z *sizes) lines() []string {
	size := fmt.Sprintf("%d training rows, %d test rows, %d features", z.rows, z.test, z.dim)
	if z.classes > 1 { // a regression has one function
		size += fmt.Sprintf(", %d classes", z.classes)
	}
	repeated := fmt.Sprintf("resplits of the file: %d", z.seeds)
	if !z.resplit {
		repeated = fmt.Sprintf("seeds: %d", z.seeds)
	}
	out := []string{
		size,
		fmt.Sprintf("model orders %d and %d; %d samples a run (%.3g times the training rows); %s", z.small(), z.order, z.samples, float64(z.samples)/float64(z.rows), repeated),
		fmt.Sprintf("search on %d rows, %d samples a run, at most %d settings a method", z.known, z.tried, trials),
		fmt.Sprintf("about %v by estimate", seconds(z.spent)),
	}
	return append(out, z.left...)
}

// repeats are those of the spec: splits of the file, each with its own seed of the order,
// or seeds.
func (b *bench) repeats() string {
	if !b.size.resplit {
		return fmt.Sprintf("[{seeds: %d}]", b.size.seeds)
	}
	var words []string
	for k := 1; k <= b.size.seeds; k++ {
		words = append(words, fmt.Sprintf("{draws: [%d], seeds: [%d]}", k, k))
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

// entry writes a method of a spec with its settings and, if it has one to choose, its model
// order.
func (b *bench) entry(m *method, settings string, orders []int) string {
	words := []string{"method: " + m.name}
	add := func(text string) {
		if text != "" {
			words = append(words, text)
		}
	}
	if m.label != "" {
		add("label: " + m.label)
	}
	key, value := "budget", "%d"
	if m.pruner != "" {
		key, value = "pruner_params", "{order: %d}"
		add(fmt.Sprintf("batch_size: %d", batchSize))
		add("pruner: " + m.pruner)
	}
	add(strings.NewReplacer("%rows", strconv.Itoa(b.size.rows), "%small", strconv.Itoa(b.size.small())).Replace(m.fixed))
	add(settings)
	if m.pruner != "" || m.takesBudget() {
		var values []string
		for _, order := range orders {
			values = append(values, fmt.Sprintf(value, order))
		}
		if len(values) == 1 {
			add(key + ": " + values[0])
		} else {
			add("grid: {" + key + ": [" + strings.Join(values, ", ") + "]}")
		}
	}
	return "  - {" + strings.Join(words, ", ") + "}\n"
}

// note keeps a line for the spec, and says it.
func (b *bench) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	b.notes = append(b.notes, line)
	b.opt.Note("%s", line)
}

// try trains runs on five sixths of the training rows and evaluates them on the rest.
func (b *bench) try(ctx context.Context, plan []experiments.Planned) ([]harness.Setting, error) {
	settings, _, err := harness.Settings(ctx, plan, b.opt.Options)
	return settings, err
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
func (b *bench) header(samples int, repeats string) string {
	return fmt.Sprintf(`name: bench-%s
title: All methods on %s
task: %s
data: {%s}
kernel: {type: gaussian, bandwidth: %s}
regularizer: 1e-6
repeats: %s
stopping: {samples: %d}
evaluation: {every: %d, tail: %d, train_limit: %d}
methods:
`, b.name, b.name, b.opt.Task, b.dataWords(), number(b.median), repeats, samples, b.size.every, b.size.tail, min(trainLimit, b.size.rows))
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

func column(c rows.Column) string {
	switch {
	case c.Name != "":
		return strconv.Quote(c.Name)
	case c.Number != 0:
		return strconv.Itoa(c.Number)
	}
	return ""
}

func columns(all []rows.Column) string {
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
func (b *bench) final(searches []*search) string {
	var s strings.Builder
	s.WriteString("#\n# To repeat it: runall reproduce THIS-FILE --results FOLDER\n#\n")
	for _, line := range b.size.lines() {
		s.WriteString("# " + line + "\n")
	}
	seen := "rows; test rows were not looked at"
	if b.size.resplit {
		seen = "rows that are test rows in no resplit"
	}
	fmt.Fprintf(&s, "#\n# Found at the larger order, on a held-out sixth of the %d %s.\n", b.size.known, seen)
	for _, line := range b.notes {
		s.WriteString("# " + line + "\n")
	}
	s.WriteString(b.header(b.size.samples, b.repeats()))
	for _, found := range searches {
		if found.best != nil {
			s.WriteString(b.entry(found.method, found.settings(b), []int{b.size.small(), b.size.order}))
		}
	}
	return s.String()
}
