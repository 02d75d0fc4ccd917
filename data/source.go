package data

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"polkrepro/data/rows"
	"polkrepro/internal/charset"
)

// A Source describes a user's own data: the files, and how they become a data set.
// [Source.Open] returns the reference that experiments are planned with.
//
// Text, IDX and NPY files may be compressed by gzip. The test part is read from Test, or
// held out from the training file as Holdout says.
type Source struct {
	// Name is the data set's name: lower-case letters, digits and single hyphens.
	// Default: the training file's name without its ending.
	Name string

	// Format is one of rows.Formats. Default: the format that the training file's name
	// implies, or else LIBSVM.
	Format string

	// The paths of the files. IDX, NPY and NPZ have labels in separate files. The name of
	// an array in an NPZ archive follows a colon: "digits.npz:x_train".
	Train, TrainLabels, Test, TestLabels string

	// Regression says that labels are numbers to be predicted, not classes. They are
	// scaled to mean 0 and standard deviation 1 on the training part; their original mean
	// and deviation are in the set's Facts. The Facts of every source also have the
	// numbers of features and classes.
	Regression bool

	Label rows.Column // column of the labels, in CSV and TSV files

	// Columns say how columns become features. Keep lists columns that are features although
	// they seem to number the rows: by their name, such as "id" or "Unnamed: 0", or because they
	// increase by one from row to row. Any other such column is an error unless it is ignored.
	// Means are those of the training part.
	rows.Columns

	// Header says whether CSV and TSV files have a header: rows.HeaderYes, HeaderNo, or
	// HeaderAuto, the default, which detects it. An ambiguous first row is an error.
	Header string

	Scale     rows.Scale // feature scaling, fitted on the training part; default ScaleNone
	Holdout   float64    // fraction of the training file's rows that become the test part
	SplitSeed uint64     // seed of the rows drawn for Holdout, as in [Holdout]; default 1
	Ordered   bool       // the rows are ordered by time: the last ones are held out, not drawn ones

	// Say, unless nil, takes lines on how the files are read, such as how many rows are left out.
	Say func(format string, args ...any)
}

// wrong returns an error about a field of a source, which key names as in a spec.
func wrong(key, format string, args ...any) error {
	return &rows.OptionError{Key: key, Err: fmt.Errorf(format, args...)}
}

// Files identify a user's data by their contents: the SHA-256 of each file, and everything else
// that determines the numbers. The names and folders of the files only say where to look for
// them, and are not part of the identity; see [Ref.Content].
type Files struct {
	Format      string `json:"format"`
	Train       File   `json:"train"`
	TrainLabels File   `json:"train_labels,omitzero"`
	Test        File   `json:"test,omitzero"`
	TestLabels  File   `json:"test_labels,omitzero"`

	Regression bool   `json:"regression,omitempty"`
	Label      int    `json:"label,omitempty"`  // column of the labels, from 1
	Ignore     string `json:"ignore,omitempty"` // columns left out, from 1: "1,7"
	Header     string `json:"header,omitempty"` // rows.HeaderYes or HeaderNo, for the training file
	TestHeader string `json:"test_header,omitempty"`

	Delimiter  string `json:"delimiter,omitempty"` // as in rows.Columns, but empty for the defaults
	Decimal    string `json:"decimal,omitempty"`
	Missing    string `json:"missing,omitempty"`
	Categories string `json:"categories,omitempty"` // columns, from 1
	ZeroBased  bool   `json:"zero_based,omitempty"`

	Scale     rows.Scale `json:"scale,omitempty"` // feature scaling; empty for ScaleNone
	Holdout   float64    `json:"holdout,omitempty"`
	SplitSeed uint64     `json:"split_seed,omitempty"`
	Ordered   bool       `json:"ordered,omitempty"` // the last rows are held out, here and where settings are sought

	// Splits, if positive, makes the test part of all rows that one of the seeds 1 … Splits
	// draws. Settings that are tuned on the other rows have then seen no test row of any of
	// these seeds.
	Splits uint64 `json:"splits,omitempty"`
}

// A File is a user's file, identified by its contents.
type File struct {
	Name   string `json:"name,omitempty"`   // name without the folder; the name of an array in an archive follows a colon
	SHA256 string `json:"sha256,omitempty"` // SHA-256 of the bytes read, without gzip; empty if the file is missing

	path string // path as given; empty if unknown
}

// file returns the File of a path, not read yet.
func file(path string) File {
	if path == "" {
		return File{}
	}
	name, array := rows.SplitArray(path)
	if name = filepath.Base(name); array != "" {
		name += ":" + array
	}
	return File{Name: name, path: path}
}

// parts returns the files that are given, with their keys in specs.
func (f *Files) parts() []filePart {
	all := []filePart{{"train", &f.Train}, {"train_labels", &f.TrainLabels}, {"test", &f.Test}, {"test_labels", &f.TestLabels}}
	return slices.DeleteFunc(all, func(p filePart) bool { return *p.file == File{} })
}

type filePart struct {
	key  string
	file *File
}

// Own reports whether the reference is to a user's files rather than a named data set.
func (r Ref) Own() bool { return r.Files != Files{} }

// Content returns the reference without the names and paths of a user's data and files,
// so that equal contents have equal references.
func (r Ref) Content() Ref {
	if !r.Own() {
		return r
	}
	r.Name = ""
	for _, p := range r.Files.parts() {
		p.file.Name, p.file.path = "", ""
	}
	return r
}

// Open reads the files and returns the data set, with a reference to it for [Load].
// The reference has the SHA-256 of the files: Load fails if a file has changed.
//
// Errors are of type *[rows.OptionError]. If a file is missing, the error wraps
// [ErrNotAvailable] and the reference can be used in messages.
func (s Source) Open() (Ref, *Set, error) {
	s = s.WithDefaults()
	if err := s.check(); err != nil {
		return Ref{}, nil, err
	}
	ref := Ref{Name: s.Name, Files: Files{
		Format: s.Format, Train: file(s.Train), TrainLabels: file(s.TrainLabels), Test: file(s.Test), TestLabels: file(s.TestLabels),
		Regression: s.Regression, Holdout: s.Holdout, SplitSeed: s.SplitSeed, Ordered: s.Ordered,
	}}
	if s.Scale != rows.ScaleNone {
		ref.Files.Scale = s.Scale
	}
	for _, p := range ref.Files.parts() {
		if err := checkFileName(p.file.Name); err != nil {
			return Ref{}, nil, wrong(p.key, "%w", err)
		}
	}
	opts := rows.Options{Label: s.Label, Columns: s.Columns, Header: s.Header, Strict: true}
	if s.named() {
		opts.Header = rows.HeaderYes
	}
	set, err := ref.read(opts, s.Header, s.Say, false)
	return ref, set, err
}

// WithDefaults returns the source with defaults for the fields that are not given.
func (s Source) WithDefaults() Source {
	s.Format = cmp.Or(s.Format, rows.FormatOf(s.Train))
	s.Name = cmp.Or(s.Name, SetName(s.Train))
	s.Scale = cmp.Or(s.Scale, rows.ScaleNone)
	s.Header = cmp.Or(s.Header, rows.HeaderAuto)
	if s.Holdout != 0 && !s.Ordered {
		s.SplitSeed = cmp.Or(s.SplitSeed, 1)
	}
	return s
}

// SetName derives a data set's default name from its file's path.
func SetName(path string) string {
	name, _ := rows.CutEnding(path)
	name = strings.Trim(notName.ReplaceAllString(name, "-"), "-")
	return cmp.Or(name[:min(len(name), maxSetName)], "data")
}

// maxSetName bounds the length of a data set's name.
const maxSetName = 64

var (
	notName    = regexp.MustCompile(`[^a-z0-9]+`)
	goodName   = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	goodSHA256 = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// check returns an error if fields are missing, invalid or contradictory.
func (s *Source) check() error {
	table, arrays := rows.IsTable(s.Format), rows.IsArray(s.Format)
	switch {
	case !slices.Contains(rows.Formats(), s.Format):
		return wrong("format", "format %.20q: want one of %s", s.Format, join(rows.Formats()))
	case s.Train == "":
		return wrong("train", "the training file is missing")
	case arrays != (s.TrainLabels != ""):
		return wrong("train_labels", "IDX, NPY and NPZ files, and only these, need the file of their labels")
	case (arrays && s.Test != "") != (s.TestLabels != ""):
		return wrong("test_labels", "test files in IDX, NPY and NPZ, and only these, need the file of their labels")
	case table == (s.Label == rows.Column{}):
		return wrong("label", "CSV and TSV files, and only these, need the label's column: its name in the header or its number (1 for the first, -1 for the last)")
	case s.Suits(s.Format) != nil:
		return s.Suits(s.Format)
	case !slices.Contains(rows.HeaderWords(), s.Header):
		return wrong("header", "header %.20q: want one of %s", s.Header, join(rows.HeaderWords()))
	case s.Header != rows.HeaderAuto && !table:
		return wrong("header", "header applies only to CSV and TSV files")
	case s.Header == rows.HeaderNo && s.named():
		return wrong("header", "columns are given by name, but header is no")
	case !slices.Contains(rows.Scales(), string(s.Scale)):
		return wrong("scale", "scale %.20q: want one of %s", s.Scale, join(rows.Scales()))
	case s.Test == "" && s.Holdout == 0:
		return wrong("train", "no test data: give a test file, or as holdout the fraction of rows that are held out for testing")
	case s.Test != "" && s.Holdout != 0:
		return wrong("holdout", "both a test file and holdout are given")
	case s.Holdout != 0 && !(s.Holdout > 0 && s.Holdout < 1):
		return wrong("holdout", "holdout is %v, want a fraction between 0 and 1", s.Holdout)
	case s.Ordered && s.SplitSeed != 0:
		return wrong("split_seed", "split_seed applies only to rows that are drawn, not to ordered ones")
	case s.Holdout == 0 && s.SplitSeed != 0:
		return wrong("split_seed", "split_seed applies only to holdout")
	case !goodName.MatchString(s.Name) || len(s.Name) > maxSetName:
		return wrong("name", "name %.80q: want lower-case letters, digits and single hyphens, at most %d", s.Name, maxSetName)
	}
	if _, err := lookup(s.Name); err == nil {
		return wrong("name", "%s is a data set of this program: rename the file, or give it another name in a spec, such as my-%s", s.Name, s.Name)
	}
	return nil
}

// A part is the training or the test part of a user's data, as read from its files.
type part struct {
	key    string
	x, y   *File
	layout rows.Layout
	rows   []rows.Row
	dim    int // features
	say    func(format string, args ...any)
}

// read reads the files from their paths. opts has the columns, and the training file's
// header. If check is set, read compares the files' SHA-256 with those of r; otherwise it
// fills them in. It also fills in the columns and headers.
func (r *Ref) read(opts rows.Options, testHeader string, say func(string, ...any), check bool) (*Set, error) {
	if err := r.locate(); err != nil {
		return nil, err
	}
	f := &r.Files
	opts.Format, opts.Regression, opts.Sum = f.Format, f.Regression, true
	train, test := &part{key: "train", x: &f.Train, y: &f.TrainLabels, say: say}, &part{key: "test", x: &f.Test, y: &f.TestLabels, say: say}
	if err := train.read(opts, check); err != nil {
		return nil, err
	}
	if opts.Missing == rows.MissingMean && f.Test == (File{}) { // again, with the means of the rows that are not held out
		held, _ := f.HeldOut(len(train.rows))
		opts.MeanOf = func(row int) bool { _, out := slices.BinarySearch(held, row); return !out }
		train.rows, train.say = nil, nil
		if err := train.read(opts, check); err != nil {
			return nil, err
		}
	}
	f.Ignore = numbersOf(train.layout.Ignore)
	f.keep(&train.layout, opts.Columns)
	if f.Format != rows.FormatLIBSVM {
		f.Label = train.layout.Label + 1
	}
	if rows.IsTable(f.Format) {
		f.Header = train.layout.Header()
	}
	if f.Test == (File{}) {
		return r.set(train, nil)
	}
	opts = f.options()
	opts.Columns = train.layout.Read
	opts.Ignore, opts.Keep, opts.Categories = nil, nil, nil
	opts.Header, opts.Dim, opts.Sum = testHeader, train.dim, true
	if train.layout.Names != nil {
		opts.Names = train.layout.Sum()
	}
	if err := test.read(opts, check); err != nil {
		return nil, err
	}
	if rows.IsTable(f.Format) {
		f.TestHeader = test.layout.Header()
	}
	return r.set(train, test)
}

// reread reads the files again. Their SHA-256 must match the reference.
func (r *Ref) reread() (*Set, error) {
	opts := r.Files.options()
	opts.Header = r.Files.Header
	return r.read(opts, r.Files.TestHeader, nil, true)
}

// LoadWhole returns a user's data with all rows of the training file as its training part, and the same
// rows as its test part. A file of test rows is not read. Its errors are those of Source.Open.
func LoadWhole(ref Ref) (*Set, error) {
	f := &ref.Files
	f.Test, f.TestLabels, f.TestHeader, f.Holdout = File{}, File{}, "", 0
	set, err := ref.reread()
	if err == nil {
		set.Test = set.Train
	}
	return set, err
}

// options returns the options for reading files with the columns of f.
func (f *Files) options() rows.Options {
	ignore, _ := columnsOf(f.Ignore) // resolveFiles has checked them
	categories, _ := columnsOf(f.Categories)
	return rows.Options{Format: f.Format, Regression: f.Regression, Label: rows.Column{Number: f.Label}, Columns: rows.Columns{
		Delimiter: f.Delimiter, Decimal: f.Decimal, Missing: f.Missing, ZeroBased: f.ZeroBased, Ignore: ignore, Categories: categories,
	}}
}

// keep fills in how the columns are read: as given, or of a table as found in the file.
func (f *Files) keep(l *rows.Layout, c rows.Columns) {
	if rows.IsTable(f.Format) {
		c = l.Read
	}
	f.Categories = numbersOf(l.Categories)
	if c := c.Stored(); c != nil {
		f.Delimiter, f.Decimal, f.Missing, f.ZeroBased = c.Delimiter, c.Decimal, c.Missing, c.ZeroBased
	}
}

// named reports whether a column is given by name.
func (s *Source) named() bool {
	return slices.ContainsFunc(slices.Concat([]rows.Column{s.Label}, s.Ignore, s.Keep, s.Categories), func(c rows.Column) bool { return c.Name != "" })
}

// read reads the part. It compares the files' SHA-256 if check is set, else fills them in.
func (p *part) read(opts rows.Options, check bool) error {
	sums, err := p.readRows(opts)
	if err != nil {
		key, path := p.key, p.x.path
		if oe, ok := errors.AsType[*rows.OptionError](err); ok {
			if key, err = oe.Key, oe.Err; key == "labels" {
				key, path = p.key+"_labels", p.y.path
			}
		}
		return wrong(key, "%s: %w", path, err)
	}
	for i, f := range []*File{p.x, p.y} {
		if check && f.SHA256 != sums[i] {
			key := []string{p.key, p.key + "_labels"}[i]
			return wrong(key, "%s: %w: SHA-256 %s, want %s: the file has changed; rerun the command or restore the file", f.path, ErrCorrupt, sums[i], f.SHA256)
		}
		f.SHA256 = sums[i]
	}
	return nil
}

// maxSourceValues bounds the values of a file, rows × features: 2 GiB while the file is
// read, 1 GiB afterwards. Each row counts as rowOverhead additional values.
const (
	maxSourceValues = 1 << 28
	rowOverhead     = 16
)

// room returns an error if n rows are too many.
func room(n, dim int) error {
	if int64(n) > maxSourceValues/int64(dim+rowOverhead) {
		return fmt.Errorf("more than %d rows of %d features", maxSourceValues/(dim+rowOverhead), dim)
	}
	return nil
}

// readRows reads all rows, and returns the SHA-256 of the files.
func (p *part) readRows(opts rows.Options) (sums [2]string, err error) {
	r, err := rows.Open(p.x.path, p.y.path, opts)
	if err != nil {
		return sums, err
	}
	defer r.Close()
	for {
		row, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return sums, err
		}
		p.dim = max(p.dim, row.Dim)
		if err := room(len(p.rows)+1, p.dim); err != nil {
			return sums, err
		}
		p.rows = append(p.rows, *row)
	}
	p.layout = *r.Layout()
	for _, line := range r.Said() {
		if p.say != nil {
			p.say("%s: %s", p.x.path, line)
		}
	}
	switch {
	case len(p.rows) == 0:
		return sums, errors.New("the file has no rows")
	case p.dim == 0:
		return sums, errors.New("no row has a feature")
	}
	sums[0], sums[1], err = r.Sums()
	return sums, err
}

// set builds the data set from its parts. If test is nil, it holds out rows of train.
func (r *Ref) set(train, test *part) (*Set, error) {
	f := &r.Files
	set := &Set{Name: r.Name, Sums: make(map[string]string), Facts: make(map[string]float64)}
	for _, p := range f.parts() {
		set.Sums[p.key+" "+p.file.Name] = p.file.SHA256
	}
	var labels *rows.Labels // nil for a regression
	if !f.Regression {
		labels = &rows.Labels{}
		if err := train.countLabels(labels, f.Format); err != nil {
			return nil, wrong("train", "%s: %w", f.Train.path, err)
		}
	}
	dim, learned, tested := train.dim, train.rows, []rows.Row(nil)
	if test != nil {
		tested = test.rows
	} else if f.Holdout > 0 {
		n := len(train.rows)
		held, kept := f.HeldOut(n)
		if len(held) == 0 || len(kept) == 0 {
			return nil, wrong("holdout", "holdout %v of %d rows leaves a part empty", f.Holdout, n)
		}
		learned, tested = pickRows(train.rows, kept), pickRows(train.rows, held)
	}
	e, err := rows.Fit(learned, dim, cmp.Or(f.Scale, rows.ScaleNone), labels)
	if err != nil {
		return nil, wrong("scale", "%s: %w; set scale to standard or unit", f.Train.path, err)
	}
	set.Labels, set.Classes, set.Scaling = e.Labels, len(e.Labels), e.Scaling
	columns := train.layout.Read
	columns.ZeroBased = f.ZeroBased // LIBSVM files have no layout
	if set.Columns = columns.Stored(); train.layout.Names != nil {
		set.Names = new(train.layout.Sum())
	}
	if f.Regression {
		if e.Deviation == 0 {
			return nil, wrong("train", "%s: every target is %s: there is nothing to learn", f.Train.path, learned[0].Label)
		}
		set.Facts["target_mean"], set.Facts["target_deviation"] = e.Mean, e.Deviation
	}
	if set.Train, err = encode(&e, learned, dim, f.Format); err != nil {
		return nil, wrong("train", "%s: %w", f.Train.path, err)
	}
	if set.Test, err = encode(&e, tested, dim, f.Format); err != nil {
		return nil, wrong("test", "%s: %w", cmp.Or(f.Test.path, f.Train.path), err)
	}
	if test != nil {
		if set.Repeated = repeated(set.Test, set.Train); set.Repeated == set.Test.N {
			return nil, wrong("test", "%s: the test data are the training data: all %d test rows are also training rows", f.Test.path, set.Repeated)
		}
	}
	set.Facts["features"], set.Facts["classes"] = float64(dim), float64(max(1, set.Classes))
	return set, nil
}

// countLabels counts the labels of all rows. It returns an error if they can't be classes.
func (p *part) countLabels(labels *rows.Labels, format string) error {
	for i := range p.rows {
		if err := labels.Add(p.rows[i].Label); err != nil {
			return &rows.ParseError{Line: p.rows[i].Line, Unit: rows.Unit(format), Err: err}
		}
	}
	switch {
	case labels.Len() < 2:
		return fmt.Errorf("every label is %.40q: classification needs at least two classes", p.rows[0].Label)
	case labels.Unrepeated():
		return errors.New("most labels occur only once: check the label column, or use squared-error as the task for a regression")
	}
	return nil
}

// repeated returns the number of examples of test that are also in train.
func repeated(test, train *Split) (n int) {
	key := func(s *Split, i int) [sha256.Size]byte {
		b, _ := binary.Append(nil, binary.LittleEndian, s.Row(i)) // floats have a size: no error
		return sha256.Sum256(binary.LittleEndian.AppendUint64(b, math.Float64bits(s.Y[i])))
	}
	seen := make(map[[sha256.Size]byte]bool, train.N)
	for i := range train.N {
		seen[key(train, i)] = true
	}
	for i := range test.N {
		if seen[key(test, i)] {
			n++
		}
	}
	return n
}

// HeldOut returns the indices, from 0, of the training file's n rows that are held out as
// the test part, and of the rows that are kept.
func (f *Files) HeldOut(n int) (held, kept []int) {
	if f.Ordered {
		return lastOf(n, f.Holdout)
	}
	if f.Splits == 0 {
		return heldOut(n, f.Holdout, f.SplitSeed)
	}
	drawn := make([]bool, n)
	for seed := range f.Splits {
		held, _ := heldOut(n, f.Holdout, seed+1)
		for _, i := range held {
			drawn[i] = true
		}
	}
	for i, d := range drawn {
		if d {
			held = append(held, i)
		} else {
			kept = append(kept, i)
		}
	}
	return held, kept
}

// pickRows returns the rows at the given indices.
func pickRows(all []rows.Row, indices []int) []rows.Row {
	out := make([]rows.Row, len(indices))
	for i, at := range indices {
		out[i] = all[at]
	}
	return out
}

// encode converts rows to learn from: it scales the features, and turns labels into class
// indices or into targets scaled by the encoding's mean and deviation.
func encode(e *rows.Encoding, all []rows.Row, dim int, format string) (*Split, error) {
	if err := room(len(all), dim); err != nil { // rows of LIBSVM files were sparse until here
		return nil, err
	}
	class := make(map[string]float64)
	for i, label := range e.Labels {
		class[label] = float64(i)
	}
	out := newSplit(len(all), dim)
	dense := make([]float64, dim)
	for i := range all {
		row := &all[i]
		row.Dense(dense)
		err := e.Scaling.Apply(out.Row(i), dense)
		if err == nil && e.Labels == nil {
			v, parseErr := rows.ParseNumber(row.Label)
			out.Y[i], err = (v-e.Mean)/e.Deviation, parseErr
		} else if err == nil {
			known := false
			if out.Y[i], known = class[row.Label]; !known {
				err = fmt.Errorf("label %.40q is not one of the %d classes of the training data", row.Label, len(e.Labels))
			}
		}
		if err != nil {
			return nil, &rows.ParseError{Line: row.Line, Unit: rows.Unit(format), Err: err}
		}
	}
	return out, nil
}

// numbersOf lists columns, counted from 1, as Files.Ignore does.
func numbersOf(columns []int) string {
	words := make([]string, len(columns))
	for i, at := range columns {
		words[i] = strconv.Itoa(at + 1)
	}
	return strings.Join(words, ",")
}

// columnsOf is the inverse of numbersOf.
func columnsOf(text string) (columns []rows.Column, err error) {
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ',' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%.40q are not columns", text)
		}
		columns = append(columns, rows.Column{Number: n})
	}
	return columns, nil
}

// checkFileName returns an error if name is not a plain file name without a folder, or
// can't be used in records and tables.
func checkFileName(name string) error {
	base, _ := rows.SplitArray(name)
	switch {
	case base == "" || base == "." || base == ".." || strings.ContainsAny(base, `/\`) || len(name) > 512 || !charset.Printable(name):
		return fmt.Errorf("file name %.80q: must have no folder and no control characters", name)
	case strings.ContainsRune("=+-@", rune(base[0])):
		return fmt.Errorf("file name %.80q: must not start with =, +, - or @, which start a formula in a table; rename the file", name)
	}
	return nil
}

// locate returns an error about a user's file that is missing or not regular. It wraps
// ErrNotAvailable if the file is missing.
func (r *Ref) locate() error {
	for _, p := range r.Files.parts() {
		path, _ := rows.SplitArray(p.file.path)
		info, err := os.Stat(path)
		switch {
		case absent(err):
			return wrong(p.key, "%w: missing file %s", ErrNotAvailable, p.file.path)
		case err != nil:
			return wrong(p.key, "%w", err)
		case !info.Mode().IsRegular():
			return wrong(p.key, "%s: not a regular file", p.file.path)
		}
	}
	return nil
}

// resolveFiles returns an error for a reference to files that no [Source.Open] can return.
func (r Ref) resolveFiles() error {
	f := &r.Files
	unknown := func(what string) error { return fmt.Errorf("%.80s: %w: %s", r.Name, ErrUnknown, what) }
	_, taken := lookup(r.Name)
	_, ignore := columnsOf(f.Ignore)
	_, categories := columnsOf(f.Categories)
	opts := f.options()
	switch {
	case !goodName.MatchString(r.Name) || len(r.Name) > maxSetName || taken == nil:
		return unknown("not the name of a user's data")
	case !slices.Contains(rows.Formats(), f.Format), f.Scale != "" && !slices.Contains(rows.Scales(), string(f.Scale)), f.Label < 0, ignore != nil, categories != nil, opts.Suits(f.Format) != nil:
		return unknown("unknown format, scale, label or columns")
	case r.Variant != "" || r.Draw != 0:
		return unknown("files have no variants and no draws")
	case !(f.Holdout >= 0 && f.Holdout < 1) || (f.Holdout == 0) != (f.Test != File{}):
		return unknown("want a test file or a fraction that is held out")
	}
	for _, p := range f.parts() {
		if err := checkFileName(p.file.Name); err != nil || p.file.SHA256 != "" && !goodSHA256.MatchString(p.file.SHA256) {
			return unknown(fmt.Sprintf("file %.80q with SHA-256 %.80q", p.file.Name, p.file.SHA256))
		}
	}
	return nil
}
