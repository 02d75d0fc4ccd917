package spec

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/internal/files"
	"polkrepro/internal/strictyaml"
)

//go:generate go test -run TestSchemaIsCurrent -update .

// ErrNoSpec is wrapped by the error for a name of no spec.
var ErrNoSpec = errors.New("no embedded spec and no file")

// Schema is the JSON Schema of specs, and SchemaFile the name by which a spec that this program writes
// refers to it.
//
//go:embed schema.json
var Schema []byte

const SchemaFile = "spec.schema.json"

// The profiles, from the quickest to the longest.
const (
	ProfileSmoke = "smoke"
	ProfileQuick = "quick"
	ProfileFull  = "full"
)

// Profiles returns the names of the profiles, from the quickest to the longest.
func Profiles() []string { return []string{ProfileSmoke, ProfileQuick, ProfileFull} }

// Errors are all errors found in a spec, ordered by position. Each has a file, line,
// column and message.
type Errors = strictyaml.Errors

// A Spec is a parsed and checked experiment: nothing in it but a user's data files can fail to be
// planned. These are first opened by [Spec.Plan]. A file holds one, or several with parts in common. A Spec is made by Parse, LoadFile, Find or
// Embedded, and not changed.
type Spec struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	File        string   `json:"file"` // file that it was read from
	Task        string   `json:"task"`
	Data        data.Ref `json:"data"` // data set; the runs set its Draw and what its files hold

	// StandsInFor is the data set that this spec's data set replaces; empty if none.
	StandsInFor string `json:"stands_in_for,omitempty"`

	// Supplement is the name of the supplementary table that shows the spec's runs, one of
	// Supplements. Such a spec is not part of the reproduction, and is run only when it is
	// named. Supplement is empty for all other specs.
	Supplement string `json:"supplement,omitempty"`

	// LeftOut says which methods were left out because they do not fit the task of a list; empty if none.
	LeftOut string `json:"left_out,omitempty"`

	apart    bool // see Apart
	dim      int
	train    int // examples in the training set
	variants []*variant
	sampling string          // as in a run
	work     map[string]work // by profile

	described func() (*Spec, error) // the spec with what its data files hold; nil if it names none
}

// Apart reports whether a user's spec, as a copy of an embedded one, has cells or figures of the
// paper, or the name of an embedded spec, or is an embedded spec with Overrides. Its runs feed none of these:
// with other settings, they would be averaged into the paper's row. To a name of an embedded spec,
// -copy or the overrides are added.
func (s *Spec) Apart() bool { return s.apart }

// A variant is one point of one method's grid.
type variant struct {
	method, label string
	params        Params
	series, group string
	cells         []string
	figures       []string
	order         float64 // expected
	at            nodes
}

// work says what a profile does with the variants.
type work struct {
	skip       bool
	only       []string // labels; nil for all
	samples    int
	evaluation Evaluation
	repeats    []repeat

	at *strictyaml.Node // node of samples, if the spec gives samples
}

// A repeat is a set of draws, each combined with each seed.
type repeat struct {
	only           []string // labels; nil for all
	samples        int      // 0 for the profile's
	draws          []uint64 // {0} for a data set that is not drawn
	seeds          []uint64
	paired         bool // the i-th draw has seed i alone
	resplit        bool // each seed has its own split of a file's rows
	cells, figures bool // whether the runs feed cells, and figures
	all            bool // variants that feed nothing are run too

	at *strictyaml.Node // node of samples
}

// A Supplement is a supplementary table: real runs beside the reproduction.
type Supplement struct {
	Name, Table, Title string
}

// OpenQuestions is the supplement of experiments that nobody has run and that would settle
// how the paper's numbers were obtained.
const OpenQuestions = "open-questions"

// Supplements returns the supplementary tables in order.
func Supplements() []Supplement {
	return []Supplement{
		{"public-data", "S2", "Results on public data that the paper does not have"},
		{"equal-memory", "S3", "Online learners at equal memory"},
		{OpenQuestions, "S4", "Experiments on what the paper leaves open"},
	}
}

// supplements maps the names of the embedded specs that have a Supplement to it.
var supplements = sync.OnceValue(func() map[string]string {
	out := make(map[string]string)
	for _, s := range EmbeddedAll() {
		if s.Supplement != "" {
			out[s.Name] = s.Supplement
		}
	}
	return out
})

// SupplementOf returns the supplement that shows a spec's runs, empty if there is none.
func SupplementOf(spec string) string { return supplements()[spec] }

// Embedded returns the embedded specs of the reproduction, sorted by name.
func Embedded() []*Spec {
	return slices.DeleteFunc(EmbeddedAll(), func(s *Spec) bool { return s.Supplement != "" })
}

// EmbeddedAll returns all embedded specs, sorted by name, including specs that are run only
// when they are named. It panics if [RegisterMethod] was not called for their methods.
func EmbeddedAll() []*Spec {
	var specs []*Spec
	for _, file := range embeddedFiles() {
		s, err := parseEmbedded(file, "")
		if err != nil {
			panic(err) // a test reads them all
		}
		specs = append(specs, s...)
	}
	slices.SortFunc(specs, func(a, b *Spec) int { return cmp.Compare(a.Name, b.Name) })
	return specs
}

// Parse reads the specs of a file from memory. The filename is for messages. Included files
// are looked up only among the embedded files; see LoadFile. Invalid specs are
// reported as Errors.
func Parse(filename string, src []byte) ([]*Spec, error) {
	return parseSpecs(source{label: filename, id: filename, text: src}, openEmbedded)
}

// LoadFile reads the specs of a file. An included file is looked up in the folder
// of the file that includes it, then among the embedded files, so that a copy of
// an embedded spec works anywhere. Files outside the spec's own folder are not
// included.
func LoadFile(path string, set ...Override) ([]*Spec, error) {
	f, open, err := onDisk(path)
	if err != nil {
		return nil, err
	}
	defer open.root.Close()
	return parseSpecs(f, open.open, set...)
}

// onDisk reads a file, and opens the folder from which it can include others.
func onDisk(path string) (source, folder, error) {
	src, err := files.ReadNamed(path, strictyaml.MaxSource)
	if err != nil {
		return source{}, folder{}, fmt.Errorf("can't read the spec: %w", err)
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return source{}, folder{}, fmt.Errorf("can't read the spec: %w", err)
	}
	return source{label: path, id: filepath.Base(path), text: src}, folder{root}, nil
}

// Find returns the embedded spec with the given name, all specs of the embedded file with the
// given name, or else the specs in the file with the given path, with overrides.
func Find(nameOrPath string, set ...Override) ([]*Spec, error) {
	if file := embeddedSpecs()[nameOrPath]; file != "" {
		return parseEmbedded(file, nameOrPath, set...)
	}
	for _, file := range embeddedFiles() {
		if stem(file) == nameOrPath || strings.TrimSuffix(file, ".yaml") == nameOrPath {
			return parseEmbedded(file, "", set...)
		}
	}
	if _, err := os.Stat(nameOrPath); err == nil {
		return LoadFile(nameOrPath, set...)
	}
	return nil, fmt.Errorf("%w %q", ErrNoSpec, nameOrPath)
}

// IsEmbedded reports whether an embedded spec has the name.
func IsEmbedded(name string) bool { return embeddedSpecs()[name] != "" }

// embeddedFiles returns the embedded files that hold specs.
func embeddedFiles() (files []string) {
	for _, folder := range []string{"paper", "readings", "questions", "learners", "public"} {
		found, _ := fs.Glob(experiments.Files, folder+"/*.yaml") // a well-formed pattern gives no error
		files = append(files, found...)
	}
	return files
}

// embeddedSpecs maps the names of the embedded specs to their files.
var embeddedSpecs func() map[string]string

func init() { embeddedSpecs = sync.OnceValue(indexEmbedded) } // a spec can include another by name

func indexEmbedded() map[string]string {
	out := make(map[string]string)
	for _, file := range embeddedFiles() {
		src, _ := experiments.Files.ReadFile(file) // it is there
		r := new(strictyaml.Reporter)              // a test reads them all
		for _, e := range expansions(source{id: embeddedID + file, text: src}, openEmbedded, nil, r) {
			out[textOf(e.root.Get("name"))] = file
		}
	}
	return out
}

// stem returns the name of a file without folder and ending.
func stem(file string) string { return strings.TrimSuffix(path.Base(file), ".yaml") }

// parseEmbedded returns the specs of an embedded file, or the one of the given name.
func parseEmbedded(file, name string, set ...Override) ([]*Spec, error) {
	f, err := openEmbedded("", file)
	if err != nil {
		return nil, err
	}
	f.spec = name
	return parseSpecs(f, openEmbedded, set...)
}

// A source is a file: its contents, its label in messages, and the id that
// identifies it and from which the files that it includes are looked up.
type source struct {
	label, id string
	text      []byte
	spec      string // name of the only one of its specs that is read; empty for the whole file
}

// embeddedID is the prefix of the ids of embedded files. Their labels are their
// paths in the module.
const embeddedID = "embedded:"

// openEmbedded opens an embedded file that the file with the id from includes. The name is relative
// to the including file's folder or to the folder of all experiments, or that of an embedded spec.
func openEmbedded(from, name string) (source, error) {
	file := path.Clean(name)
	if above, ok := strings.CutPrefix(from, embeddedID); ok {
		if beside := path.Join(path.Dir(above), name); isFile(beside) {
			file = beside
		}
	}
	var of string
	if !isFile(file) && embeddedSpecs()[stem(file)] != "" {
		of, file = stem(file), embeddedSpecs()[stem(file)]
	}
	text, err := experiments.Files.ReadFile(file)
	return source{experiments.Folder + file, embeddedID + file, text, of}, err
}

func isFile(name string) bool {
	_, err := fs.Stat(experiments.Files, name)
	return err == nil
}

// A folder is the folder of a spec, with the files that the spec may include.
// Their ids are paths in it.
type folder struct{ root *os.Root }

// open opens an included file on disk or, failing that, an embedded one.
func (d folder) open(from, name string) (source, error) {
	if strings.HasPrefix(from, embeddedID) {
		return openEmbedded(from, name)
	}
	id := filepath.Join(filepath.Dir(from), filepath.FromSlash(name))
	if !filepath.IsLocal(id) {
		return source{}, errors.New("it is outside the spec's folder")
	}
	text, err := files.ReadIn(d.root, id, strictyaml.MaxSource)
	if errors.Is(err, fs.ErrNotExist) {
		if f, err := openEmbedded(from, name); err == nil {
			return f, nil
		}
	}
	return source{label: filepath.Join(d.root.Name(), id), id: id, text: text}, err
}
