package compare

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"polkrepro/data"
	"polkrepro/data/rows"
	"polkrepro/harness"
	"polkrepro/online"
	"polkrepro/record"
	"polkrepro/spec"
)

// Options configures a comparison on a user's files.
type Options struct {
	Sources         []data.Source // one for each file, with different names
	Task            string
	Budget          time.Duration                    // time for the searches and the runs of all files, by estimate
	Order           int                              // largest model order; 0: by the number of rows and the budget
	Spec            string                           // path of the spec; the paths of its data are relative to its folder
	Before          []byte                           // existing spec at that path, if any: the result if it is for the same data, options and code, otherwise an error
	Note            func(format string, args ...any) // takes a line on a result, or a warning
	harness.Options                                  // of the search, which uses neither Results nor RequireData
}

// A tuning is the search for the settings of a comparison on one file.
type tuning struct {
	opt    Options // with the file's share of the budget
	src    data.Source
	runs   []spec.Planned // those of starts
	key    string         // what the search's hash covers beyond the data, the code and what is tried
	ref    data.Ref       // the data that the search sees
	size   sizes
	median float64  // median distance between training rows
	notes  []string // lines on the results

	// price, unless nil, measures the heuristics' processes and changes size. The search's hash does
	// not cover that, because a measurement is never the same twice.
	price func(context.Context) error

	// finish takes the settings that the search found. When all files have theirs, body returns the
	// keys of the spec that follow its title.
	finish func(context.Context, []*search) error
	body   func() string
}

// medianRows is the largest number of rows between which the median distance is taken.
const medianRows = 256

// A kind is a kind of comparison on a user's files.
type kind struct {
	name    string // begins the names of its specs
	title   string
	command string // finds the settings
	again   string // repeats the comparison
	splits  uint64 // number of times that a file without test rows is split
	check   func(path string, text []byte) error
}

// Resplits is the largest number of times that a file without test rows is split.
const Resplits = 5

var (
	ofMethods = kind{"bench", "All methods", "bench", "reproduce", Resplits,
		func(path string, text []byte) error { _, err := spec.Parse(path, text); return err }}
	ofHeuristics = kind{"compare", "Pruning heuristics", "compare --data", "compare", 0,
		func(path string, text []byte) error { _, err := spec.ParseComparison(path, text); return err }}
)

// TuneMethods finds the settings of all methods that fit the task, file by file, on held-out
// training rows that are test rows in no resplit. It returns a spec that compares the methods, with
// comments on how the settings were found. Several files are the spec's variants. The result depends
// only on the rows, the options and constants, so the same data give the same spec. The errors are
// those of [data.Source.Open] and [harness.Settings], or wrap [harness.ErrUsage] if the data have too
// few rows or a file is given twice.
func TuneMethods(ctx context.Context, opt Options) ([]byte, error) {
	return ofMethods.tuned(ctx, opt, func(s *tuning, set *data.Set) {
		resplit := s.ref.Files.Holdout
		if s.src.Ordered { // there is one last part
			resplit = 0
		}
		s.size = newSizes(set, resplit, s.opt)
		text := s.header(s.size.samples, s.size.seeds)
		s.key = ofMethods.heading(s.ref.Name, s.ref.Name) + text
		s.finish = func(_ context.Context, searches []*search) error {
			for _, found := range searches {
				if found.best != nil {
					text += s.entry(found.method, found.best.at, s.size.small(), s.size.order)
				}
			}
			return nil
		}
		s.body = func() string { return text }
	})
}

// Name returns the names of the files, joined by hyphens and not longer than a file may be called.
func (opt *Options) Name() string {
	name := strings.ReplaceAll(opt.names(), ", ", "-")
	return strings.Trim(name[:min(len(name), 64)], "-")
}

func (opt *Options) names() string {
	return joined(opt.Sources, func(src data.Source) string { return src.Name })
}

// tuned finds the settings of the methods on held-out rows, for each file as begin prepares it. It
// returns the spec made from them, with comments, or the existing spec if an earlier search wrote
// that with the same first line. The first line has the command and a hash of the data, the code and
// everything that is tried.
func (k *kind) tuned(ctx context.Context, opt Options, begin func(*tuning, *data.Set)) ([]byte, error) {
	all, err := k.open(opt, begin)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	for _, s := range all {
		if s.runs, err = s.starts(); err != nil {
			return nil, opt.of(s.src.Train, err)
		}
		for _, p := range s.runs {
			fmt.Fprintln(h, p.ID)
		}
		for _, m := range s.size.methods {
			fmt.Fprintln(h, m.axes)
		}
		fmt.Fprint(h, s.key, s.size.lines(), s.size.every)
	}
	head := fmt.Sprintf("# runall %s, search %x\n", k.command, h.Sum(nil)[:8])
	if strings.HasPrefix(string(opt.Before), head) {
		opt.Note("settings of %s, which an earlier search found", opt.Spec)
		return opt.Before, nil
	}
	if opt.Before != nil {
		return nil, harness.Usage(fmt.Errorf("%s is not of this search: its data, options or code were others, or it was edited; delete it, or name another folder with --results", opt.Spec))
	}
	comments, err := k.find(ctx, &opt, all)
	if err != nil {
		return nil, err
	}
	text := []byte(head + comments + k.spec(&opt, all))
	return text, k.check(opt.Spec, text)
}

// find finds the settings on all files, and returns the comments on them.
func (k *kind) find(ctx context.Context, opt *Options, all []*tuning) (string, error) {
	comments := []string{"yaml-language-server: $schema=" + spec.SchemaFile, "", fmt.Sprintf("To repeat it: runall %s THIS-FILE --results FOLDER", k.again)}
	for _, s := range all {
		lines, err := s.find(ctx)
		if err != nil {
			return "", opt.of(s.src.Train, err)
		}
		if len(all) > 1 {
			comments = append(comments, "", s.ref.Name+":")
		}
		comments = slices.Concat(comments, []string{""}, lines, []string{""}, s.notes)
	}
	text := ""
	for _, line := range comments {
		text += strings.TrimRight("# "+line, " ") + "\n"
	}
	return text, nil
}

// heading returns the first keys of a spec on the files with the given names.
func (k *kind) heading(name, names string) string {
	return fmt.Sprintf("name: %s-%s\ntitle: %s on %s\n", k.name, name, k.title, names)
}

// spec returns the spec of all files. Each of several files is a variant, below the keys that have
// the same value for all.
func (k *kind) spec(opt *Options, all []*tuning) string {
	text, variants := k.heading(opt.Name(), opt.names()), "variants:\n"
	if len(all) == 1 {
		return text + all[0].body()
	}
	given := make(map[string]int) // how many files have a key with this value
	for _, s := range all {
		for _, key := range topKeys(s.body()) {
			given[key]++
		}
	}
	for _, s := range all {
		variants += fmt.Sprintf("  %q:\n", s.ref.Name)
		for _, key := range topKeys(s.body()) {
			if given[key] < len(all) {
				variants += "    " + strings.TrimSuffix(strings.ReplaceAll(key, "\n", "\n    "), "    ")
			} else if s == all[0] {
				text += key
			}
		}
	}
	return text + variants
}

// topKeys splits a YAML mapping into its keys with their values.
func topKeys(text string) (keys []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, " ") {
			keys[len(keys)-1] += line
		} else {
			keys = append(keys, line)
		}
	}
	return keys
}

// open reads all files. Of several files, each has its share of the budget, and its name stands
// before its lines.
func (k *kind) open(opt Options, begin func(*tuning, *data.Set)) (all []*tuning, err error) {
	for _, src := range opt.Sources {
		of := opt
		of.Budget = opt.Budget / time.Duration(len(opt.Sources))
		if len(opt.Sources) > 1 {
			of.Note = func(format string, args ...any) { opt.Note(src.Name+": "+format, args...) }
		}
		src.Say = of.Note
		s, set, err := open(of, src, k.splits)
		if err != nil {
			return nil, opt.of(src.Train, err)
		}
		for _, other := range all {
			if other.ref.Content() == s.ref.Content() {
				return nil, harness.Usage(fmt.Errorf("%s and %s have the same rows: a data set counts once in the ranks, leave one out", other.src.Train, src.Train))
			}
		}
		begin(s, set)
		all = append(all, s)
	}
	return all, nil
}

// of adds the file to an error, if there are several.
func (opt *Options) of(file string, err error) error {
	if len(opt.Sources) == 1 || err == nil {
		return err
	}
	return fmt.Errorf("file %s: %w", file, err)
}

// find finds the settings on a file, and returns lines on the size of the comparison.
func (s *tuning) find(ctx context.Context) (lines []string, err error) {
	if s.price != nil {
		if err := s.price(ctx); err != nil {
			return nil, err
		}
	}
	lines = s.size.lines()
	for _, line := range lines {
		s.opt.Note("%s", line)
	}
	searches, err := s.tune(ctx, s.runs)
	if err != nil {
		return nil, err
	}
	return lines, s.finish(ctx, searches)
}

// open reads the data. If the file is split several times, the training part has the rows that are
// test rows in no split.
func open(opt Options, src data.Source, splits uint64) (*tuning, *data.Set, error) {
	for _, file := range []string{src.Train, src.TrainLabels, src.Test, src.TestLabels} {
		if path := relative(opt.Spec, file); !utf8.ValidString(path) {
			return nil, nil, harness.Usage(fmt.Errorf("%q is not UTF-8, so no spec can name the file: rename it", path))
		}
	}
	ref, set, err := src.Open()
	if err == nil && ref.Files.Holdout > 0 && splits > 0 && !ref.Files.Ordered {
		ref.Files.Splits = splits
		set, err = data.Load(ref, opt.Finder)
	}
	if err != nil {
		return nil, nil, err
	}
	if least := 60; set.Train.N < least {
		return nil, nil, harness.Usage(fmt.Errorf("%s has %d rows that are never test rows: want at least %d, of which a sixth is held out for the search", ref.Name, set.Train.N, least))
	}
	n := min(set.Train.N, medianRows)
	var x []float32 // rows spread evenly over the training part, which may be sorted by class
	for i := range n {
		x = append(x, set.Train.Row(i*set.Train.N/n)...)
	}
	median := online.MedianDistance(n, set.Train.Dim, x)
	if median == 0 {
		return nil, nil, harness.Usage(fmt.Errorf("%s: one training row in %d was looked at, and all are the same: can't choose a bandwidth", ref.Name, max(1, set.Train.N/medianRows)))
	}
	var unlearned []float64 // classes of test rows that no training row has: a random split may leave a rare class without
	for _, y := range set.Test.Y {
		if set.Labels != nil && !slices.Contains(set.Train.Y, y) {
			unlearned = append(unlearned, y)
		}
	}
	if rows := len(unlearned); rows > 0 {
		label := set.Labels[int(unlearned[rows-1])]
		opt.Note("warning: test rows with a label that no training row has: %d, such as %.40q; every method is wrong on them", rows, label)
	}
	if set.Repeated > 0 {
		opt.Note("warning: test rows that are also training rows: %d of %d", set.Repeated, set.Test.N)
	}
	return &tuning{opt: opt, src: src, ref: ref, median: median}, set, nil
}

// starts returns a run of each method with its start values, on the data that the search sees.
func (s *tuning) starts() ([]spec.Planned, error) {
	text := ofMethods.heading(s.ref.Name, s.ref.Name) + s.header(s.size.tried, 1)
	for i := range s.size.methods {
		m := &s.size.methods[i]
		text += s.entry(m, make([]int, len(m.axes)), s.size.order)
	}
	plan, err := runsOf(s.opt.Spec, text)
	for i := range plan {
		plan[i].Run.Data = s.ref
		plan[i].ID = spec.ID(plan[i].Run)
	}
	return plan, err
}

// runsOf returns the runs of the specs of a file.
func runsOf(path, text string) ([]spec.Planned, error) {
	parsed, err := spec.Parse(path, []byte(text))
	if err != nil {
		return nil, err
	}
	return harness.PlanAll(parsed, spec.ProfileQuick, spec.PlanOptions{})
}

// note keeps a line for the spec and passes it to Options.Note.
func (s *tuning) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	s.notes = append(s.notes, line)
	s.opt.Note("%s", line)
}

// flow writes alternating keys and values as a YAML mapping on one line, without the keys whose
// value is empty.
func flow(pairs ...string) string {
	var words []string
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			words = append(words, pairs[i]+": "+pairs[i+1])
		}
	}
	return "{" + strings.Join(words, ", ") + "}"
}

// joined formats values with write and joins them with commas.
func joined[T any](values []T, write func(T) string) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = write(v)
	}
	return strings.Join(words, ", ")
}

// list writes values as a YAML sequence on one line, or returns "" if there are none.
func list[T any](values []T, write func(T) string) string {
	if len(values) == 0 {
		return ""
	}
	return "[" + joined(values, write) + "]"
}

// number formats a setting with three significant digits, the precision with which it is used.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// rounded returns the value that number writes.
func rounded(v float64) float64 { return record.Digits(v, 3) }

// dataWords writes the data source as specs have it.
func (s *tuning) dataWords() string {
	src := &s.src
	holdout, split := "", ""
	if src.Holdout != 0 {
		holdout = strconv.FormatFloat(src.Holdout, 'g', -1, 64)
		if !src.Ordered && !s.size.resplit {
			split = "1" // for all seeds
		}
	}
	return flow("name", s.ref.Name, "train", s.path(src.Train), "train_labels", s.path(src.TrainLabels),
		"test", s.path(src.Test), "test_labels", s.path(src.TestLabels), "holdout", holdout, "split_seed", split, "ordered", yes(src.Ordered), "format", src.Format,
		"label", column(src.Label), "ignore", list(src.Ignore, column), "keep", list(src.Keep, column), "categories", list(src.Categories, column),
		"delimiter", quotedOr(src.Delimiter), "decimal", quotedOr(src.Decimal), "missing", src.Missing, "zero_based", yes(src.ZeroBased), "header", src.Header, "scale", string(src.Scale))
}

// yes writes a key that is true. A key that is false is left out.
func yes(set bool) string {
	if set {
		return "true"
	}
	return ""
}

// path writes the path of a data file relative to the spec's folder, in quotes.
func (s *tuning) path(file string) string {
	if file == "" {
		return ""
	}
	return strconv.Quote(filepath.ToSlash(relative(s.opt.Spec, file)))
}

// relative returns the path of a file relative to the spec's folder.
func relative(spec, file string) string {
	from, _ := filepath.Abs(filepath.Dir(spec)) // fails only without a working directory
	to, _ := filepath.Abs(file)
	if rel, err := filepath.Rel(from, to); err == nil {
		return rel
	}
	return file
}

// quotedOr writes a text in quotes, or "" if it is empty.
func quotedOr(text string) string {
	if text == "" {
		return ""
	}
	return strconv.Quote(text)
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

// header writes the keys of a spec from the task to the list of methods, for runs of the given number of samples.
func (s *tuning) header(samples, seeds int) string {
	z := &s.size
	return fmt.Sprintf(`task: %s
data: %s
kernel: {type: gaussian, bandwidth: %s}
regularizer: 1e-6
repeats: {seeds: %d}
stopping: {samples: %d}
evaluation: {every: %d, tail: %d, train_limit: %d}
methods:
`, s.opt.Task, s.dataWords(), number(s.median), seeds, samples, z.every, z.tail, min(trainLimit, z.rows))
}

// entry writes the spec entry of a method, with the settings at a position on its axes and, if the
// method has one to choose, its model orders.
func (s *tuning) entry(m *method, at []int, orders ...int) string {
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
	hasOrder := slices.ContainsFunc(spec.Method(m.name).Params, func(p spec.ParamInfo) bool { return p.Name == "budget" })
	if m.pruner != "" || hasOrder {
		write := func(order int) string { return fmt.Sprintf(value, order) }
		pairs = append(pairs, "grid", flow(key, list(orders, write)))
	}
	return "  - " + flow(pairs...) + "\n"
}
