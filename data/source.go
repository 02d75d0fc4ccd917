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

	Label  rows.Column   // column of the labels, in CSV and TSV files
	Ignore []rows.Column // columns left out; not for LIBSVM files

	// Keep lists columns that are features although they seem to number the rows: by
	// their name, such as "id" or "Unnamed: 0", or because they increase by one from row
	// to row. Any other such column is an error unless it is ignored.
	Keep []rows.Column

	// Header says whether CSV and TSV files have a header: rows.HeaderYes, HeaderNo, or
	// HeaderAuto, the default, which detects it. An ambiguous first row is an error.
	Header string

	Scale     rows.Scale // feature scaling, fitted on the training part; default ScaleNone
	Holdout   float64    // fraction of the training file's rows that become the test part
	SplitSeed uint64     // seed of the rows drawn for Holdout, as in [Holdout]; default 1

	Say rows.Say // how errors name these fields; nil for the keys of a spec
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

	Scale     rows.Scale `json:"scale,omitempty"` // feature scaling; empty for ScaleNone
	Holdout   float64    `json:"holdout,omitempty"`
	SplitSeed uint64     `json:"split_seed,omitempty"`

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
	f := Files{
		Format: s.Format, Train: file(s.Train), TrainLabels: file(s.TrainLabels), Test: file(s.Test), TestLabels: file(s.TestLabels),
		Regression: s.Regression, Holdout: s.Holdout, SplitSeed: s.SplitSeed,
	}
	if s.Scale != rows.ScaleNone {
		f.Scale = s.Scale
	}
	ref := Ref{Name: s.Name, Files: f}
	for _, p := range ref.Files.parts() {
		if err := checkFileName(p.file.Name); err != nil {
			return Ref{}, nil, wrong(p.key, "%w", err)
		}
	}
	testHeader := s.Header
	if s.named() {
		s.Header = rows.HeaderYes
	}
	set, err := ref.read(s, testHeader, false)
	return ref, set, err
}

// WithDefaults returns the source with defaults for the fields that are not given.
func (s Source) WithDefaults() Source {
	s.Format = cmp.Or(s.Format, rows.FormatOf(s.Train))
	s.Name = cmp.Or(s.Name, setName(s.Train))
	s.Scale = cmp.Or(s.Scale, rows.ScaleNone)
	s.Header = cmp.Or(s.Header, rows.HeaderAuto)
	if s.Holdout != 0 {
		s.SplitSeed = cmp.Or(s.SplitSeed, 1)
	}
	return s
}

// setName derives a data set's default name from its file's path.
func setName(path string) string {
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
	field := func(key, format string, args ...any) error {
		return wrong(key, "%s "+format, append([]any{s.Say.Setting(key, "")}, args...)...)
	}
	table, arrays := rows.IsTable(s.Format), rows.IsArray(s.Format)
	switch {
	case !slices.Contains(rows.Formats(), s.Format):
		return wrong("format", "format %.20q: want one of %s", s.Format, join(rows.Formats()))
	case s.Train == "":
		return wrong("train", "the training file is missing")
	case arrays && s.TrainLabels == "":
		return field("train_labels", "is missing: the labels of %s are in a file of their own", rows.Title(s.Format))
	case arrays && s.Test != "" && s.TestLabels == "":
		return field("test_labels", "is missing: the labels of %s are in a file of their own", rows.Title(s.Format))
	case !arrays && s.TrainLabels != "":
		return field("train_labels", "applies only to IDX, NPY and NPZ files")
	case !arrays && s.TestLabels != "":
		return field("test_labels", "applies only to IDX, NPY and NPZ files")
	case s.Test == "" && s.TestLabels != "":
		return field("test_labels", "is given, but no test file")
	case table && s.Label == rows.Column{}:
		return field("label", "is missing: want the label's column, by its name in the header or its number (1 for the first, -1 for the last)")
	case !table && s.Label != rows.Column{}:
		return field("label", "applies only to CSV and TSV files")
	case s.Format == rows.FormatLIBSVM && len(s.Ignore) > 0:
		return wrong("ignore", "LIBSVM files have no columns to ignore")
	case s.Format == rows.FormatLIBSVM && len(s.Keep) > 0:
		return wrong("keep", "LIBSVM files have no columns to keep")
	case !slices.Contains(rows.HeaderWords(), s.Header):
		return field("header", "%.20q: want one of %s", s.Header, join(rows.HeaderWords()))
	case s.Header != rows.HeaderAuto && !table:
		return field("header", "applies only to CSV and TSV files")
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
	case s.Holdout == 0 && s.SplitSeed != 0:
		return wrong("split_seed", "split_seed applies only to holdout")
	case !goodName.MatchString(s.Name) || len(s.Name) > maxSetName:
		return field("name", "%.80q: want lower-case letters, digits and single hyphens, at most %d", s.Name, maxSetName)
	}
	if _, err := lookup(s.Name); err == nil {
		return wrong("name", "%s is a data set of this program: give yours another name, such as my-%s", s.Name, s.Name)
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
}

// read reads the files from their paths, with the columns and header of s. If check is set,
// it compares the files' SHA-256 with those of r; otherwise it fills them in. It also fills
// in the columns.
func (r *Ref) read(s Source, testHeader string, check bool) (*Set, error) {
	if err := r.locate(); err != nil {
		return nil, err
	}
	f := &r.Files
	opts := rows.Options{
		Format: f.Format, Regression: f.Regression, Label: s.Label, Ignore: s.Ignore, Keep: s.Keep, Header: s.Header,
		Strict: !check, Sum: true, Say: s.Say,
	}
	train, test := &part{key: "train", x: &f.Train, y: &f.TrainLabels}, &part{key: "test", x: &f.Test, y: &f.TestLabels}
	if err := train.read(opts, check); err != nil {
		return nil, err
	}
	f.Ignore = numbersOf(train.layout.Ignore)
	if f.Format != rows.FormatLIBSVM {
		f.Label = train.layout.Label + 1
	}
	if rows.IsTable(f.Format) {
		f.Header = train.layout.Header()
	}
	if f.Test == (File{}) {
		return r.set(train, nil, opts.Say)
	}
	opts.Header, opts.Like, opts.Strict = testHeader, &train.layout, false
	if f.Format == rows.FormatLIBSVM {
		test.dim, opts.Dim = train.dim, train.dim
	}
	if err := test.read(opts, check); err != nil {
		return nil, err
	}
	if rows.IsTable(f.Format) {
		f.TestHeader = test.layout.Header()
	}
	return r.set(train, test, opts.Say)
}

// reread reads the files again. Their SHA-256 must match the reference.
func (r *Ref) reread() (*Set, error) {
	f := &r.Files
	ignore, err := columnsOf(f.Ignore)
	if err != nil {
		return nil, err
	}
	return r.read(Source{Label: rows.Column{Number: f.Label}, Ignore: ignore, Header: f.Header}, f.TestHeader, true)
}

// named reports whether a column is given by name.
func (s *Source) named() bool {
	return slices.ContainsFunc(slices.Concat([]rows.Column{s.Label}, s.Ignore, s.Keep), func(c rows.Column) bool { return c.Name != "" })
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
func (r *Ref) set(train, test *part, say rows.Say) (*Set, error) {
	f := &r.Files
	set := &Set{Name: r.Name, Sums: make(map[string]string), Facts: make(map[string]float64)}
	labels := &rows.Labels{}
	if f.Regression {
		labels = nil
	} else if err := train.countLabels(labels, f.Format, say); err != nil {
		return nil, wrong("train", "%s: %w", f.Train.path, err)
	}
	for _, p := range f.parts() {
		set.Sums[p.key+" "+p.file.Name] = p.file.SHA256
	}
	dim := train.dim
	learned, tested := train.rows, []rows.Row(nil)
	if test != nil {
		tested = test.rows
	} else {
		n := len(train.rows)
		held, kept := f.HeldOut(n)
		if len(held) == 0 || len(kept) == 0 {
			return nil, wrong("holdout", "holdout %v of %d rows leaves a part empty", f.Holdout, n)
		}
		learned, tested = pickRows(train.rows, kept), pickRows(train.rows, held)
	}
	e, err := rows.Fit(learned, dim, cmp.Or(f.Scale, rows.ScaleNone), labels)
	if err != nil {
		return nil, wrong("scale", "%s: %w; use %s or %s", f.Train.path, err, say.Setting("scale", string(rows.ScaleStandard)), say.Setting("scale", string(rows.ScaleUnit)))
	}
	if set.Labels = e.Labels; labels != nil {
		set.Classes = labels.Len()
	} else if e.Deviation == 0 {
		return nil, wrong("train", "%s: every target is %s: there is nothing to learn", f.Train.path, learned[0].Label)
	} else {
		set.Facts["target_mean"], set.Facts["target_deviation"] = e.Mean, e.Deviation
	}
	if set.Train, err = encode(&e, learned, dim, f.Format); err != nil {
		return nil, wrong("train", "%s: %w", f.Train.path, err)
	}
	where := cmp.Or(f.Test.path, f.Train.path)
	if test != nil {
		if set.Repeated = among(tested, learned); set.Repeated == len(tested) {
			return nil, wrong("test", "%s: the test data are the training data: all %d test rows are also training rows", where, set.Repeated)
		}
	}
	if set.Test, err = encode(&e, tested, dim, f.Format); err != nil {
		return nil, wrong("test", "%s: %w", where, err)
	}
	set.Facts["features"], set.Facts["classes"] = float64(dim), float64(max(1, set.Classes))
	return set, nil
}

// countLabels counts the labels of all rows. It returns an error if they can't be classes.
func (p *part) countLabels(labels *rows.Labels, format string, say rows.Say) error {
	for i := range p.rows {
		if err := labels.Add(p.rows[i].Label); err != nil {
			return &rows.ParseError{Line: p.rows[i].Line, Unit: rows.Unit(format), Err: err}
		}
	}
	switch {
	case labels.Len() < 2:
		return fmt.Errorf("every label is %.40q: classification needs at least two classes", p.rows[0].Label)
	case labels.Unrepeated():
		return fmt.Errorf("most labels occur only once: check the label column, or use %s for regression", say.Setting("task", "squared-error"))
	}
	return nil
}

// among returns how many rows of some are also in others. It compares parsed values.
func among(some, others []rows.Row) int {
	key := func(row *rows.Row) (sum [16]byte) {
		label := row.Label
		if v, err := rows.ParseNumber(label); err == nil {
			label = strconv.FormatFloat(v+0, 'g', -1, 64)
		}
		b := append([]byte(label), 0)
		for i, v := range row.Values {
			if v == 0 {
				continue
			}
			if row.Indices != nil {
				i = int(row.Indices[i])
			}
			b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(b, uint32(i)), math.Float64bits(v))
		}
		h := sha256.Sum256(b)
		copy(sum[:], h[:])
		return sum
	}
	seen := make(map[[16]byte]bool, len(others))
	for i := range others {
		seen[key(&others[i])] = true
	}
	n := 0
	for i := range some {
		if seen[key(&some[i])] {
			n++
		}
	}
	return n
}

// HeldOut returns the indices, from 0, of the training file's n rows that are held out as
// the test part, and of the rows that are kept.
func (f *Files) HeldOut(n int) (held, kept []int) {
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
	if text == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || len(columns) > 0 && n <= columns[len(columns)-1].Number {
			return nil, fmt.Errorf("%.40q are not columns in ascending order", text)
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

// StatusOf reads a user's files and reports whether they are available and intact.
func StatusOf(ref Ref) StatusRow {
	row := StatusRow{Name: ref.Name, Kind: KindFile, Dir: filepath.Dir(ref.Files.Train.path)}
	_, err := ref.reread()
	row.setError(err)
	return row
}

// resolveFiles returns an error for a reference to files that no [Source.Open] can return.
func (r Ref) resolveFiles() error {
	f := &r.Files
	unknown := func(what string) error { return fmt.Errorf("%.80s: %w: %s", r.Name, ErrUnknown, what) }
	switch _, taken := lookup(r.Name); {
	case !goodName.MatchString(r.Name) || len(r.Name) > maxSetName || taken == nil:
		return unknown("not the name of a user's data")
	case !slices.Contains(rows.Formats(), f.Format):
		return unknown("the files have no known format")
	case r.Variant != "" || r.Draw != 0:
		return unknown("files have no variants and no draws")
	case f.Scale != "" && !slices.Contains(rows.Scales(), string(f.Scale)) || f.Label < 0:
		return unknown("unknown scale or label")
	case !(f.Holdout >= 0 && f.Holdout < 1) || (f.Holdout == 0) != (f.Test != File{}):
		return unknown("want a test file or a fraction that is held out")
	}
	for _, p := range f.parts() {
		if err := checkFileName(p.file.Name); err != nil {
			return unknown(err.Error())
		}
		if p.file.SHA256 != "" && !goodSHA256.MatchString(p.file.SHA256) {
			return unknown("not a SHA-256")
		}
	}
	if _, err := columnsOf(f.Ignore); err != nil {
		return unknown(err.Error())
	}
	return nil
}
