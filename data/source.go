package data

import (
	"cmp"
	"fmt"
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

	// Say, unless nil, takes lines on how the files are read, such as how many rows are left out. It takes
	// none if the command has read them before.
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
	ref, t, err := s.table(false)
	if err != nil {
		return ref, nil, err
	}
	set, err := ref.set(&t)
	return ref, set, err
}

// Describe is Open of a data set that is not used: it returns its sizes, and reads no files that a command has read.
func (s Source) Describe() (Ref, Info, error) {
	ref, t, err := s.table(true)
	if err != nil {
		return ref, Info{Name: ref.Name, Kind: KindFile}, err
	}
	if known, ok := t.sizes.Load(ref.Content().Files); ok {
		info := known.(Info)
		info.Name = ref.Name
		return ref, info, nil
	}
	ref, set, err := s.Open()
	if err != nil {
		return ref, Info{}, err
	}
	return ref, set.info(), nil
}

// Reference is Open without opening the files: the reference has what the source says of them alone.
func (s Source) Reference() (Ref, error) {
	s = s.WithDefaults()
	if err := s.check(); err != nil {
		return Ref{}, err
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
			return Ref{}, wrong(p.key, "%w", err)
		}
	}
	return ref, nil
}

// table returns the table of the source, as tableOf does, and the reference.
func (s Source) table(brief bool) (ref Ref, t table, err error) {
	if ref, err = s.Reference(); err != nil {
		return ref, t, err
	}
	s = s.WithDefaults()
	opts := rows.Options{Label: s.Label, Columns: s.Columns, Header: s.Header, Strict: true}
	if s.named() {
		opts.Header = rows.HeaderYes
	}
	t, err = tableOf(&ref.Files, opts, s.Header, s.Say, brief)
	return ref, t, err
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

// LoadWhole returns a user's data with all rows of the training file as its training part, and the same
// rows as its test part. Its errors are those of Source.Open.
func LoadWhole(ref Ref) (*Set, error) {
	f := &ref.Files
	t, err := tableOf(f, f.options(), f.TestHeader, nil, false)
	if err != nil {
		return nil, err
	}
	f.Test, f.TestLabels, f.TestHeader, f.Holdout = File{}, File{}, "", 0
	set, err := ref.set(&t)
	if err == nil {
		set.Test = set.Train
	}
	return set, err
}

// options returns the options for reading the training file with the columns and the header of f.
func (f *Files) options() rows.Options {
	ignore, _ := columnsOf(f.Ignore) // resolveFiles has checked them
	categories, _ := columnsOf(f.Categories)
	return rows.Options{Format: f.Format, Regression: f.Regression, Label: rows.Column{Number: f.Label}, Header: f.Header, Columns: rows.Columns{
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

// locate looks for the files. It returns an error about one that is missing or not regular, which
// wraps ErrNotAvailable if the file is missing.
func (f *Files) locate() (found []os.FileInfo, err error) {
	for _, p := range f.parts() {
		path, _ := rows.SplitArray(p.file.path)
		info, err := os.Stat(path)
		switch {
		case absent(err):
			return nil, wrong(p.key, "%w: missing file %s", ErrNotAvailable, p.file.path)
		case err != nil:
			return nil, wrong(p.key, "%w", err)
		case !info.Mode().IsRegular():
			return nil, wrong(p.key, "%s: not a regular file", p.file.path)
		}
		found = append(found, info)
	}
	return found, nil
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
