package data

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"polkrepro/internal/charset"
	"polkrepro/internal/portable"
)

// A Source is a user's own data: files, and how they become a data set.
// [Source.Open] returns the reference that experiments are planned with.
//
// Files are plain or gzip where that is usual: text, IDX and NPY. A test part is read
// from Test, or taken from the training file by Holdout.
type Source struct {
	// Name is what the set is called: lower-case letters, digits and single hyphens.
	// Default: the training file's name without its ending.
	Name string

	// Format is one of Formats. Default: what the training file's name stands for,
	// LIBSVM if nothing else.
	Format string

	// The files. The labels of IDX, NPY and NPZ are in files of their own. An array of
	// an NPZ archive is named after a colon: "digits.npz:x_train".
	Train, TrainLabels, Test, TestLabels string

	// Regression says that labels are numbers to be predicted, not classes. They become
	// targets with mean 0 and standard deviation 1 on the training part, whose own mean
	// and deviation are in the set's Facts, as are the numbers of features and classes of
	// every source.
	Regression bool

	Label  Column   // of the labels, in CSV and TSV files
	Ignore []Column // left out; not of LIBSVM files

	// Keep are features although they seem to number the rows: by their name, such as
	// "id" or "Unnamed: 0", or because they ascend by one from row to row. Other columns
	// like that, unless ignored, are an error.
	Keep []Column

	// Header says whether CSV and TSV files have one: HeaderYes, HeaderNo, or HeaderAuto,
	// the default, as in [HeaderRule]; a first row that only may be one is an error.
	Header string

	Scale     Scale   // of the features, fitted on the training part; default ScaleNone
	Holdout   float64 // fraction of the training file's rows that become the test part
	SplitSeed uint64  // of the rows that Holdout draws, as [Holdout] does; default 1
}

// A Column is one of a table: by its Name in the header or, if that is empty, by its
// Number, 1 for the first and −1 for the last.
type Column struct {
	Name   string
	Number int
}

// A SourceError says which field of a Source is wrong, by its key in a spec.
type SourceError struct {
	Key string
	Err error
}

// maxMessage bounds a message, in bytes: names of columns may be long.
const maxMessage = 2000

// Error returns what is wrong.
func (e *SourceError) Error() string {
	text := e.Err.Error()
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

// Unwrap returns what is wrong.
func (e *SourceError) Unwrap() error { return e.Err }

// Files identify a user's data by their contents: the SHA-256 of each file, and
// everything else that determines the numbers. Names and folders of the files are
// where they are looked for, and not part of the identity; see [Ref.Content].
type Files struct {
	Format      string `json:"format"`
	Train       File   `json:"train"`
	TrainLabels File   `json:"train_labels,omitzero"`
	Test        File   `json:"test,omitzero"`
	TestLabels  File   `json:"test_labels,omitzero"`

	Regression bool   `json:"regression,omitempty"`
	Label      int    `json:"label,omitempty"`  // its column, from 1
	Ignore     string `json:"ignore,omitempty"` // columns left out, from 1: "1,7"
	Header     string `json:"header,omitempty"` // HeaderYes or HeaderNo, of the training file
	TestHeader string `json:"test_header,omitempty"`

	Scale     Scale   `json:"scale,omitempty"` // empty for ScaleNone
	Holdout   float64 `json:"holdout,omitempty"`
	SplitSeed uint64  `json:"split_seed,omitempty"`

	// Splits, if more than 0, makes the test part of all rows that one of the seeds 1 …
	// Splits draws: settings that are found on the others have seen no test row of any.
	Splits uint64 `json:"splits,omitempty"`
}

// A File is one of a user's, by its contents.
type File struct {
	Name   string `json:"name,omitempty"`   // without its folder; an array's of an archive after a colon
	SHA256 string `json:"sha256,omitempty"` // of what was read, without gzip; empty if it is missing

	path string // as it was given; empty if that is not known
}

// file returns the File of a path, not read yet.
func file(path string) File {
	if path == "" {
		return File{}
	}
	name, array := splitArray(path)
	if name = filepath.Base(name); array != "" {
		name += ":" + array
	}
	return File{Name: name, path: path}
}

// parts are the files with their keys in specs.
func (f *Files) parts() []filePart {
	return []filePart{{"train", &f.Train}, {"train_labels", &f.TrainLabels}, {"test", &f.Test}, {"test_labels", &f.TestLabels}}
}

type filePart struct {
	key  string
	file *File
}

// Own reports whether the reference is to a user's files, not to a set by its name.
func (r Ref) Own() bool { return r.Files != Files{} }

// Content returns the reference without what a user's data and their files are called
// and where they are: equal for equal contents.
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

// Unplaced returns the reference without the folders of a user's files: they are
// looked for by their names where a [Finder] searches. So it is where a reference was
// written to a file and read again.
func (r Ref) Unplaced() Ref {
	for _, p := range r.Files.parts() {
		p.file.path = ""
	}
	return r
}

// Open reads the files and returns the data set with the reference to it, which [Load]
// and a [Store] take from then on. The reference has the SHA-256 of the files: when one
// has changed, Load fails.
//
// Errors are of type *[SourceError]. If a file is missing the error wraps
// [ErrNotAvailable], and the reference is good for messages.
func (s Source) Open() (Ref, *Set, error) {
	s = s.WithDefaults()
	if err := s.check(); err != nil {
		return Ref{}, nil, err
	}
	f := Files{
		Format: s.Format, Train: file(s.Train), TrainLabels: file(s.TrainLabels), Test: file(s.Test), TestLabels: file(s.TestLabels),
		Regression: s.Regression, Holdout: s.Holdout, SplitSeed: s.SplitSeed,
	}
	if s.Scale != ScaleNone {
		f.Scale = s.Scale
	}
	ref := Ref{Name: s.Name, Files: f}
	for _, p := range ref.Files.parts() {
		if *p.file != (File{}) {
			if err := checkFileName(p.file.Name); err != nil {
				return Ref{}, nil, &SourceError{p.key, err}
			}
		}
	}
	if err := ref.resolveFiles(); err != nil {
		return Ref{}, nil, &SourceError{"train", err}
	}
	set, err := ref.read(&s)
	return ref, set, err
}

// WithDefaults returns the source with the defaults of the fields that are not given.
func (s Source) WithDefaults() Source {
	s.Format = cmp.Or(s.Format, sourceFormat(s.Train))
	s.Name = cmp.Or(s.Name, setName(s.Train))
	s.Scale = cmp.Or(s.Scale, ScaleNone)
	s.Header = cmp.Or(s.Header, HeaderAuto)
	if s.Holdout != 0 {
		s.SplitSeed = cmp.Or(s.SplitSeed, 1)
	}
	return s
}

// setName returns the name that a data set has by its file's.
func setName(path string) string {
	path, array := splitArray(path)
	name := strings.ToLower(filepath.Base(path))
	name = strings.TrimSuffix(name, ".gz")
	if array == "" {
		for ending := range endings {
			name = strings.TrimSuffix(name, ending)
		}
	} else {
		name = strings.TrimSuffix(name, ".npz")
	}
	name = strings.Trim(notName.ReplaceAllString(name, "-"), "-")
	return cmp.Or(name[:min(len(name), maxSetName)], "data")
}

// maxSetName bounds the name of a data set.
const maxSetName = 64

var (
	notName    = regexp.MustCompile(`[^a-z0-9]+`)
	goodName   = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	goodSHA256 = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// check reports fields that contradict each other.
func (s *Source) check() error {
	wrong := func(key, format string, args ...any) error { return &SourceError{key, fmt.Errorf(format, args...)} }
	table := s.Format == FormatCSV || s.Format == FormatTSV
	arrays := s.Format == FormatIDX || s.Format == FormatNPY || s.Format == FormatNPZ
	switch {
	case !slices.Contains(Formats(), s.Format):
		return wrong("format", "format %.20q: want one of %s", s.Format, join(Formats()))
	case s.Train == "":
		return wrong("train", "the training file is missing")
	case arrays && s.TrainLabels == "":
		return wrong("train_labels", "train_labels is missing: the labels of %s are in a file of their own", title(s.Format))
	case arrays && s.Test != "" && s.TestLabels == "":
		return wrong("test_labels", "test_labels is missing: the labels of %s are in a file of their own", title(s.Format))
	case !arrays && s.TrainLabels != "":
		return wrong("train_labels", "train_labels applies only to IDX, NPY and NPZ files")
	case !arrays && s.TestLabels != "":
		return wrong("test_labels", "test_labels applies only to IDX, NPY and NPZ files")
	case s.Test == "" && s.TestLabels != "":
		return wrong("test_labels", "test_labels is given, but no test file")
	case table && s.Label == Column{}:
		return wrong("label", "label is missing: want the label's column, by its name in the header or its number (1 for the first, -1 for the last)")
	case !table && s.Label != Column{}:
		return wrong("label", "label applies only to CSV and TSV files")
	case s.Format == FormatLIBSVM && len(s.Ignore) > 0:
		return wrong("ignore", "LIBSVM files have no columns to ignore")
	case s.Format == FormatLIBSVM && len(s.Keep) > 0:
		return wrong("keep", "LIBSVM files have no columns to keep")
	case !slices.Contains(HeaderWords(), s.Header):
		return wrong("header", "header %.20q: want one of %s", s.Header, join(HeaderWords()))
	case s.Header != HeaderAuto && s.Format != FormatCSV && s.Format != FormatTSV:
		return wrong("header", "header applies only to CSV and TSV files")
	case !slices.Contains(Scales(), string(s.Scale)):
		return wrong("scale", "scale %.20q: want one of %s", s.Scale, join(Scales()))
	case s.Test == "" && s.Holdout == 0:
		return wrong("train", "no test data: give a test file, or as holdout the fraction of rows that are held out for testing")
	case s.Test != "" && s.Holdout != 0:
		return wrong("holdout", "both a test file and holdout are given")
	case s.Holdout != 0 && !(s.Holdout > 0 && s.Holdout < 1):
		return wrong("holdout", "holdout is %v, want a fraction between 0 and 1", s.Holdout)
	case s.Holdout == 0 && s.SplitSeed != 0:
		return wrong("split_seed", "split_seed applies only to holdout")
	case !goodName.MatchString(s.Name) || len(s.Name) > maxSetName:
		return wrong("name", "name %.80q: want lower-case letters, digits and single hyphens, at most %d", s.Name, maxSetName)
	}
	if _, err := lookup(s.Name); err == nil {
		return wrong("name", "%s is a data set of this program: give yours another name, such as my-%s", s.Name, s.Name)
	}
	return nil
}

// read reads the files where they were given. Without a source it is a reference that
// was made before, whose sums must be met; with one, they are filled in, and so are the
// columns.
func (r *Ref) read(s *Source) (*Set, error) {
	f := &r.Files
	train := &table{source: s, regression: f.Regression}
	if s == nil {
		ignore, err := columnsOf(f.Ignore)
		if err != nil {
			return nil, err
		}
		train.known, train.header = &layout{label: f.Label - 1, ignore: ignore}, f.Header
	} else if train.header = s.Header; s.Label.Name != "" || named(s.Ignore) || named(s.Keep) {
		if train.header == HeaderNo {
			return nil, &SourceError{"header", errors.New("columns are given by name, but header is no")}
		}
		train.header = HeaderYes
	}
	if err := r.readPart(train, s == nil, &f.Train, &f.TrainLabels, "train", "train_labels"); err != nil {
		return nil, err
	}
	var test *table
	if f.Test != (File{}) {
		test = &table{train: train, regression: f.Regression, header: f.TestHeader}
		if s != nil {
			test.header = s.Header
		}
		if err := r.readPart(test, s == nil, &f.Test, &f.TestLabels, "test", "test_labels"); err != nil {
			return nil, err
		}
	}
	if s != nil {
		f.Ignore = numbersOf(train.layout.ignore)
		if f.Format != FormatLIBSVM {
			f.Label = train.layout.label + 1
		}
		if f.Format == FormatCSV || f.Format == FormatTSV {
			f.Header = train.header
			if test != nil {
				f.TestHeader = test.header
			}
		}
	}
	return r.set(train, test)
}

// named reports whether a column is given by name.
func named(columns []Column) bool {
	return slices.ContainsFunc(columns, func(c Column) bool { return c.Name != "" })
}

// readPart reads the training or the test part.
func (r *Ref) readPart(t *table, check bool, x, y *File, keyX, keyY string) error {
	sumX, sumY, err := t.read(r.Files.Format, x.path, y.path, keyX, keyY)
	if err != nil {
		return err
	}
	for _, p := range []struct {
		key  string
		file *File
		sum  string
	}{{keyX, x, sumX}, {keyY, y, sumY}} {
		if check && p.file.SHA256 != p.sum {
			return &SourceError{p.key, fmt.Errorf("%s: %w: its SHA-256 is %s, want %s: it was changed; run the command again, or put the file back", p.file.path, ErrCorrupt, p.sum, p.file.SHA256)}
		}
		p.file.SHA256 = p.sum
	}
	return nil
}

// set makes the data set of its parts.
func (r *Ref) set(train, test *table) (*Set, error) {
	f := &r.Files
	set := &Set{Name: r.Name, Sums: make(map[string]string)}
	if !f.Regression {
		var classes LabelSet
		for _, label := range slices.Sorted(maps.Keys(train.labels)) {
			if err := classes.Add(label); err != nil {
				return nil, &SourceError{"train", fmt.Errorf("%s: %w", f.Train.path, err)}
			}
		}
		if classes.Len() < 2 {
			return nil, &SourceError{"train", fmt.Errorf("%s: every label is %.40q: classification needs at least two classes", f.Train.path, train.rows[0].Label)}
		}
		counts := make(map[string]int)
		for i := range train.rows {
			counts[train.rows[i].Label]++
		}
		if Unrepeated(counts) {
			return nil, &SourceError{"train", fmt.Errorf("%s: most rows have a label that no other row has: is it the right column, or is this a regression (task squared-error)?", f.Train.path)}
		}
		set.Classes, set.Labels = classes.Len(), classes.Sorted()
	}
	for _, p := range f.parts() {
		if p.file.SHA256 != "" {
			set.Sums[p.key+" "+p.file.Name] = p.file.SHA256
		}
	}
	if test == nil {
		n := len(train.rows)
		held, kept := f.HeldOut(n)
		if len(held) == 0 || len(kept) == 0 {
			return nil, &SourceError{"holdout", fmt.Errorf("holdout is %v: of %d rows a part would be empty", f.Holdout, n)}
		}
		test = &table{rows: pickRows(train.rows, held), unit: train.unit}
		train = &table{rows: pickRows(train.rows, kept), dim: train.dim, unit: train.unit}
	}
	scaling, _, err := NewScaling(cmp.Or(f.Scale, ScaleNone), train.rows, train.dim)
	if err != nil {
		return nil, &SourceError{"scale", fmt.Errorf("%s: %w; set scale to %s or %s", f.Train.path, err, ScaleStandard, ScaleUnit)}
	}
	target := classTarget(set.Labels)
	if f.Regression {
		if target, set.Facts = numberTarget(train.rows); target == nil {
			return nil, &SourceError{"train", fmt.Errorf("%s: every target is %s: there is nothing to learn", f.Train.path, train.rows[0].Label)}
		}
	}
	if set.Train, err = train.split(&scaling, train.dim, target); err != nil {
		return nil, &SourceError{"train", fmt.Errorf("%s: %w", f.Train.path, err)}
	}
	where := cmp.Or(f.Test.path, f.Train.path)
	if f.Test != (File{}) {
		if set.Repeated = test.among(train); set.Repeated == len(test.rows) {
			return nil, &SourceError{"test", fmt.Errorf("%s: the test data are the training data: all %d test rows are training rows", where, set.Repeated)}
		}
	}
	if set.Test, err = test.split(&scaling, train.dim, target); err != nil {
		return nil, &SourceError{"test", fmt.Errorf("%s: %w", where, err)}
	}
	if set.Facts == nil {
		set.Facts = make(map[string]float64)
	}
	set.Facts["features"], set.Facts["classes"] = float64(train.dim), float64(max(1, set.Classes))
	return set, nil
}

// among returns how many of the rows are rows of another table, as they were parsed.
func (t *table) among(other *table) int {
	key := func(row *Row) (sum [16]byte) {
		label := row.Label
		if v, err := ParseNumber(label); err == nil {
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
	seen := make(map[[16]byte]bool, len(other.rows))
	for i := range other.rows {
		seen[key(&other.rows[i])] = true
	}
	n := 0
	for i := range t.rows {
		if seen[key(&t.rows[i])] {
			n++
		}
	}
	return n
}

// HeldOut returns which of the n rows of the training file are the test part by Holdout,
// and the others, counted from 0.
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
func pickRows(rows []Row, indices []int) []Row {
	out := make([]Row, len(indices))
	for i, at := range indices {
		out[i] = rows[at]
	}
	return out
}

// classTarget returns what turns a label into the index of its class.
func classTarget(labels []string) func(string) (float64, error) {
	index := make(map[string]int)
	for i, label := range labels {
		index[label] = i
	}
	return func(label string) (float64, error) {
		class, ok := index[label]
		if !ok {
			return 0, fmt.Errorf("label %.40q is not one of the %d classes of the training data", label, len(labels))
		}
		return float64(class), nil
	}
}

// numberTarget returns what turns a label that is a number into a target with mean 0
// and standard deviation 1 on some rows, and these two as facts; nil if all are equal.
func numberTarget(rows []Row) (func(string) (float64, error), map[string]float64) {
	y := make([]float64, len(rows))
	for i := range rows {
		y[i], _ = ParseNumber(rows[i].Label) // as it was read
	}
	mean, deviation := portable.MeanDeviation(y)
	if deviation == 0 {
		return nil, nil
	}
	return func(label string) (float64, error) {
		v, err := ParseNumber(label)
		return (v - mean) / deviation, err
	}, map[string]float64{"target_mean": mean, "target_deviation": deviation}
}

// split returns the rows scaled, with the target of each label.
func (t *table) split(s *Scaling, dim int, target func(label string) (float64, error)) (*Split, error) {
	if err := t.room(int64(len(t.rows)), dim); err != nil { // LIBSVM's were sparse
		return nil, err
	}
	out := newSplit(len(t.rows), dim)
	dense := make([]float64, dim)
	for i := range t.rows {
		row := &t.rows[i]
		row.Dense(dense)
		if err := s.Apply(out.Row(i), dense); err != nil {
			return nil, fmt.Errorf("%s: %w", t.at(row), err)
		}
		var err error
		if out.Y[i], err = target(row.Label); err != nil {
			return nil, fmt.Errorf("%s: %w", t.at(row), err)
		}
	}
	return out, nil
}

// loadFiles is Load of a user's files.
func loadFiles(ref Ref, finder Finder) (*Set, error) {
	if err := ref.locate(finder); err != nil {
		return nil, err
	}
	set, err := ref.read(nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref.Name, err)
	}
	return set, nil
}

// checkFileName reports the name of a file, without a folder, that can't stand in records
// and tables.
func checkFileName(name string) error {
	base, _ := splitArray(name)
	switch {
	case base == "" || base == "." || base == ".." || strings.ContainsAny(base, `/\`) || len(name) > 512 || !charset.Printable(name):
		return fmt.Errorf("%.80q is not the name of a file without a folder, or has control characters", name)
	case strings.ContainsRune("=+-@", rune(base[0])):
		return fmt.Errorf("the file's name, %.80q, starts with =, +, - or @, as a formula does in a table: rename the file", name)
	}
	return nil
}

// locate finds a user's files: where they were given, or else by their names where the
// finder searches. The error wraps ErrNotAvailable.
func (r *Ref) locate(finder Finder) error {
	for _, p := range r.Files.parts() {
		if *p.file == (File{}) {
			continue
		}
		searched := []string{p.file.path}
		if p.file.path == "" {
			searched = nil
			for _, dir := range finder.Paths() {
				searched = append(searched, filepath.Join(dir, r.Name, p.file.Name), filepath.Join(dir, p.file.Name))
			}
		}
		at := slices.IndexFunc(searched, func(path string) bool {
			path, _ = splitArray(path)
			return isRegular(path)
		})
		switch {
		case at < 0 && p.file.path != "":
			return fmt.Errorf("%s: %w: missing file %s (%s)", r.Name, ErrNotAvailable, p.file.path, p.key)
		case at < 0:
			return fmt.Errorf("%s: %w: %s is in none of %s: name its folder with --data-dir", r.Name, ErrNotAvailable, p.file.Name, join(finder.Paths()))
		case p.file.SHA256 == "":
			return fmt.Errorf("%s: %w: %s was missing when the spec was read: run the command again", r.Name, ErrNotAvailable, p.file.path)
		}
		p.file.path = searched[at]
	}
	return nil
}

// StatusOf reports on a user's files, which it reads.
func StatusOf(ref Ref, finder Finder) StatusRow {
	row := StatusRow{Name: ref.Name, Kind: KindFile}
	err := ref.locate(finder)
	row.Available = err == nil
	if err == nil {
		_, err = ref.read(nil)
		row.Verified = err == nil
	}
	if err != nil {
		row.Problem = err.Error()
		return row
	}
	for _, p := range ref.Files.parts() {
		path, _ := splitArray(p.file.path)
		if info, err := os.Stat(path); err == nil {
			row.Dir, row.Files, row.Bytes = filepath.Dir(path), append(row.Files, p.file.Name), row.Bytes+info.Size()
		}
	}
	return row
}

// resolveFiles reports a reference to files that no Source has opened.
func (r Ref) resolveFiles() error {
	f := &r.Files
	wrong := func(what string) error { return fmt.Errorf("%.80s: %w: %s", r.Name, ErrUnknown, what) }
	switch _, taken := lookup(r.Name); {
	case !goodName.MatchString(r.Name) || len(r.Name) > maxSetName || taken == nil:
		return wrong("not the name of a user's data")
	case !slices.Contains(Formats(), f.Format):
		return wrong("the files have no known format")
	case r.Variant != "" || r.Draw != 0:
		return wrong("files have no variants and no draws")
	case f.Scale != "" && !slices.Contains(Scales(), string(f.Scale)) || f.Label < 0:
		return wrong("unknown scale or label")
	case !(f.Holdout >= 0 && f.Holdout < 1) || (f.Holdout == 0) != (f.Test != File{}):
		return wrong("want a test file or a fraction that is held out")
	}
	for _, p := range f.parts() {
		name := p.file.Name
		if *p.file == (File{}) {
			continue
		}
		if err := checkFileName(name); err != nil {
			return wrong(err.Error())
		}
		if p.file.SHA256 != "" && !goodSHA256.MatchString(p.file.SHA256) {
			return wrong("not a SHA-256")
		}
	}
	if _, err := columnsOf(f.Ignore); err != nil {
		return wrong(err.Error())
	}
	return nil
}
