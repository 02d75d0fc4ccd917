package compare

import (
	"context"
	"crypto/sha256"
	"errors"
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
	"polkrepro/record"
)

// Options say what is compared on a user's file.
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

// A settling is one comparison whose settings are sought.
type settling struct {
	opt    Options
	ref    data.Ref // what the search sees
	size   sizes
	median float64  // distance between rows
	notes  []string // on what was found
}

// medianRows is between how many rows the median distance is taken.
const medianRows = 256

// Resplits is how often a file without test rows is split at most.
const Resplits = 5

// SettleMethods finds the settings of all methods that fit the task, on held-out training
// rows that are test rows in no resplit. It returns a spec that compares the methods, with
// its comments on how, and a table of the part that each row of the file has in each
// resplit, and as resplit 0 in the search. What it does is decided by the rows, the options
// and constants, so the same data give the same spec. The errors are those of
// [data.Source.Open] and [harness.Settings], or wrap [harness.ErrUsage] if the data have
// too few rows.
func SettleMethods(ctx context.Context, opt Options) (spec []byte, split [][]string, err error) {
	s, set, err := open(opt, Resplits)
	if err != nil {
		return nil, nil, err
	}
	s.size = newSizes(set, s.ref.Files.Holdout, opt)
	lines := s.size.lines()
	key := ""
	for _, m := range s.size.methods {
		key += fmt.Sprintln(m.axes)
	}
	key += fmt.Sprint(s.header(s.size.samples, s.repeats()), lines)
	seen := "rows; test rows were not looked at"
	if s.size.resplit {
		seen = "rows that are test rows in no resplit"
	}
	spec, err = s.settled(ctx, kind{
		name: "bench", again: "reproduce", methods: s.size.methods, key: key, lines: lines,
		how: fmt.Sprintf("Found at the larger order, on a held-out sixth of the %d %s.", s.size.known, seen),
	}, func(searches []*search) (string, error) {
		text := s.header(s.size.samples, s.repeats())
		for _, found := range searches {
			if found.best != nil {
				text += s.entry(found.method, found.best.at, s.size.small(), s.size.order)
			}
		}
		_, err := s.planned(text)
		return text, err
	})
	return spec, s.split(set.Train.N + set.Test.N), err
}

// A kind is what methods' and heuristics' comparisons differ in.
type kind struct {
	name    string   // of the command
	again   string   // the command that repeats the comparison
	methods []method // whose settings are sought
	key     string   // all that is tried but the methods' runs
	lines   []string // on what the budget allows
	how     string   // the settings were found
}

// settled finds the settings of methods on held-out rows and returns the spec that write
// makes of them, with comments, or the one that an earlier search wrote. Its first line
// stands for the data, the code and all that is tried.
func (s *settling) settled(ctx context.Context, k kind, write func([]*search) (string, error)) ([]byte, error) {
	starts, err := s.starts(k.methods)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	for _, p := range starts {
		fmt.Fprintln(h, p.ID)
	}
	fmt.Fprint(h, k.key)
	head := fmt.Sprintf("# runall %s, search %x\n", k.name, h.Sum(nil)[:8])
	if strings.HasPrefix(string(s.opt.Before), head) {
		s.opt.Note("settings of %s, which an earlier search found", s.opt.Spec)
		return s.opt.Before, nil
	}
	for _, line := range k.lines {
		s.opt.Note("%s", line)
	}
	searches, err := s.settle(ctx, k.methods, starts)
	if err != nil {
		return nil, err
	}
	text, err := write(searches)
	if err != nil {
		return nil, err
	}
	repeat := fmt.Sprintf("To repeat it: runall %s THIS-FILE --results FOLDER", k.again)
	for _, line := range slices.Concat([]string{"", repeat, ""}, k.lines, []string{"", k.how}, s.notes) {
		head += strings.TrimRight("# "+line, " ") + "\n"
	}
	return []byte(head + text), nil
}

// open reads the data. The training part of a file that is split so often has the rows
// that are in no test part.
func open(opt Options, splits uint64) (*settling, *data.Set, error) {
	ref, set, err := opt.Source.Open()
	if err == nil && ref.Files.Holdout > 0 && splits > 0 {
		ref.Files.Splits = splits
		set, err = data.Load(ref, opt.Finder)
	}
	if err != nil {
		return nil, nil, err
	}
	if least := 60; set.Train.N < least {
		rows := "training rows"
		if ref.Files.Splits > 0 {
			rows = "rows that are test rows in no split"
		}
		return nil, nil, harness.Usage(fmt.Errorf("%s has %d %s: want at least %d, of which a sixth is held out for the search", ref.Name, set.Train.N, rows, least))
	}
	median := medianDistance(set.Train)
	if median == 0 {
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
	return &settling{opt: opt, ref: ref, median: median}, set, nil
}

// unlearned returns how many test rows have a class that no training row has, and one of
// its labels: a rare class may be drawn so.
func unlearned(set *data.Set) (label string, rows int) {
	for _, y := range set.Test.Y {
		if set.Labels != nil && !slices.Contains(set.Train.Y, y) {
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

// starts returns a run of each method with what it starts from, on what the search sees.
func (s *settling) starts(methods []method) ([]experiments.Planned, error) {
	text := s.header(s.size.tried, "[{seeds: 1}]")
	for i := range methods {
		m := &methods[i]
		text += s.entry(m, make([]int, len(m.axes)), s.size.order)
	}
	plan, err := s.planned(text)
	for i := range plan {
		plan[i].Run.Data = s.ref
		plan[i].ID = experiments.ID(plan[i].Run)
	}
	return plan, err
}

// planned returns the runs of a spec.
func (s *settling) planned(text string) ([]experiments.Planned, error) {
	spec, err := experiments.Parse(s.opt.Spec, []byte(text))
	if err != nil {
		return nil, err
	}
	return spec.Plan(experiments.ProfileQuick, experiments.PlanOptions{})
}

// split returns the part of each of n rows in the search and the resplits.
func (s *settling) split(n int) [][]string {
	files := s.ref.Files
	if files.Holdout == 0 {
		n = s.size.rows // a test file is not split
	}
	table := [][]string{{"row", "resplit", "part"}}
	add := func(resplit int, rest string, rows map[string][]int) {
		parts := slices.Repeat([]string{rest}, n)
		for part, of := range rows {
			for _, i := range of {
				parts[i] = part
			}
		}
		for i, part := range parts {
			table = append(table, []string{strconv.Itoa(i + 1), strconv.Itoa(resplit), part})
		}
	}
	_, seen := files.HeldOut(n)
	held, kept := harness.HeldOut(len(seen))
	at := func(rows []int) (out []int) {
		for _, i := range rows {
			out = append(out, seen[i])
		}
		return out
	}
	add(0, "unused", map[string][]int{"held-out": at(held), "train": at(kept)})
	for k := 1; k <= s.size.seeds && files.Holdout > 0; k++ {
		files.Splits, files.SplitSeed = 0, uint64(k)
		test, _ := files.HeldOut(n)
		add(k, "train", map[string][]int{"test": test})
	}
	return table
}

// note keeps a line for the spec, and says it.
func (s *settling) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	s.notes = append(s.notes, line)
	s.opt.Note("%s", line)
}

// flow writes a mapping of keys and values as specs have it on one line, without the keys
// whose value is empty.
func flow(pairs ...string) string {
	var words []string
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			words = append(words, pairs[i]+": "+pairs[i+1])
		}
	}
	return "{" + strings.Join(words, ", ") + "}"
}

// joined joins values as write writes them.
func joined[T any](values []T, write func(T) string) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = write(v)
	}
	return strings.Join(words, ", ")
}

// list writes values as specs have them on one line; nothing if there are none.
func list[T any](values []T, write func(T) string) string {
	if len(values) == 0 {
		return ""
	}
	return "[" + joined(values, write) + "]"
}

// number writes a setting with three digits, which it is then used with.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// rounded is the value that number writes.
func rounded(v float64) float64 { return record.Digits(v, 3) }

// dataWords is the source as specs have it.
func (s *settling) dataWords() string {
	src := &s.opt.Source
	holdout := ""
	if src.Holdout != 0 {
		holdout = strconv.FormatFloat(src.Holdout, 'g', -1, 64)
	}
	return flow("name", s.ref.Name, "train", s.path(src.Train), "train_labels", s.path(src.TrainLabels),
		"test", s.path(src.Test), "test_labels", s.path(src.TestLabels), "holdout", holdout, "format", src.Format,
		"label", column(src.Label), "ignore", list(src.Ignore, column), "keep", list(src.Keep, column), "header", src.Header, "scale", string(src.Scale))
}

// path writes a data file as the spec names it: from its folder.
func (s *settling) path(file string) string {
	if file == "" {
		return ""
	}
	from, err := filepath.Abs(filepath.Dir(s.opt.Spec))
	to, toErr := filepath.Abs(file)
	if errors.Join(err, toErr) == nil {
		if rel, err := filepath.Rel(from, to); err == nil {
			file = rel
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

// header is what specs of methods have before these, which learn so many samples.
func (s *settling) header(samples int, repeats string) string {
	z := &s.size
	return fmt.Sprintf(`name: bench-%s
title: All methods on %s
task: %s
data: %s
kernel: {type: gaussian, bandwidth: %s}
regularizer: 1e-6
repeats: %s
stopping: {samples: %d}
evaluation: {every: %d, tail: %d, train_limit: %d}
methods:
`, s.ref.Name, s.ref.Name, s.opt.Task, s.dataWords(), number(s.median), repeats, samples, z.every, z.tail, min(trainLimit, z.rows))
}

// repeats are those of the spec: splits of the file, each with its own seed of the order,
// or seeds.
func (s *settling) repeats() string {
	if !s.size.resplit {
		return fmt.Sprintf("[{seeds: %d}]", s.size.seeds)
	}
	var splits []string
	for k := 1; k <= s.size.seeds; k++ {
		splits = append(splits, fmt.Sprintf("{draws: [%d], seeds: [%d]}", k, k))
	}
	return "[" + strings.Join(splits, ", ") + "]"
}

// entry writes a method of a spec with the settings of a place on its axes and, if it has
// one to choose, its model order.
func (s *settling) entry(m *method, at []int, orders ...int) string {
	pairs := []string{"method", m.name, "label", m.label}
	key, value := "budget", "%d"
	if m.pruner != "" {
		key, value = "pruner_params", "{order: %d}"
		pairs = append(pairs, "batch_size", strconv.Itoa(batchSize), "pruner", m.pruner)
	}
	rows, small := strconv.Itoa(s.size.rows), strconv.Itoa(s.size.small())
	for _, v := range m.fixed {
		pairs = append(pairs, strings.NewReplacer("%rows", rows, "%small", small).Replace(v))
	}
	for i, a := range m.axes {
		pairs = append(pairs, a.name, number(s.value(a, at[i])))
	}
	if m.pruner != "" || m.takesBudget() {
		write := func(order int) string { return fmt.Sprintf(value, order) }
		if len(orders) == 1 {
			pairs = append(pairs, key, write(orders[0]))
		} else {
			pairs = append(pairs, "grid", flow(key, list(orders, write)))
		}
	}
	return "  - " + flow(pairs...) + "\n"
}
