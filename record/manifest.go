package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"polkrepro/internal/files"
)

// ManifestName is the name of the file that seals a results folder. It lists the
// SHA-256 of every result in the folder, in the format of sha256sum.
const ManifestName = "MANIFEST"

// manifestParts are the parts of a results folder that a seal covers. Anything else
// in it may change: a README, benchmarks, the report of an ordinary folder. References
// from the time when Table 1's runs had a different kind of record contain table1.
var manifestParts = []string{"figures", "records", "table1", "tables", Comparison, "verdicts.json"}

// Comparison is the part of a reference that is not made from its records: the outcome of
// a comparison whose own records are not kept.
const Comparison = "comparison"

// Parts returns the names of the files and folders in a results folder that a seal covers
// and that are made from its records, in alphabetical order.
func Parts() []string {
	return slices.DeleteFunc(slices.Clone(manifestParts), func(part string) bool { return part == Comparison })
}

// maxManifest is the maximum size of a manifest in bytes, enough for 100,000 files.
const maxManifest = 16 << 20

// A Manifest maps the slash-separated path of each file in the folder to its SHA-256
// in hexadecimal.
type Manifest map[string]string

// ParseManifest reads a manifest. Each line is a sum, two spaces and a path; the paths
// are in ascending order. A path that a seal does not cover is an error, and so is an
// empty manifest.
func ParseManifest(text []byte) (Manifest, error) {
	m := make(Manifest)
	last := ""
	for number := 1; len(text) > 0; number++ {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		text = rest
		sum, path, err := parseSum(string(line))
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s:%d: %w", ManifestName, number, err)
		case !whole:
			return nil, fmt.Errorf("%s:%d: incomplete line", ManifestName, number)
		case path <= last:
			return nil, fmt.Errorf("%s:%d: %s is out of order", ManifestName, number, path)
		}
		m[path], last = sum, path
	}
	if len(m) == 0 {
		return nil, fmt.Errorf("%s is empty", ManifestName)
	}
	return m, nil
}

// parseSum reads a line of a manifest.
func parseSum(line string) (sum, path string, err error) {
	sum, path, ok := strings.Cut(line, "  ")
	raw, err := hex.DecodeString(sum)
	if !ok || err != nil || len(raw) != sha256.Size || sum != strings.ToLower(sum) {
		return "", "", errors.New("want a SHA-256, two spaces and a path")
	}
	if err := checkPath(path); err != nil {
		return "", "", err
	}
	return sum, path, nil
}

// checkPath returns an error for a path that a manifest can't contain, such as one that
// sha256sum would escape.
func checkPath(path string) error {
	part, _, _ := strings.Cut(path, "/")
	odd := func(r rune) bool { return r < ' ' || r == '\\' || r == 0x7f || r == '\ufffd' }
	if !fs.ValidPath(path) || !slices.Contains(manifestParts, part) || strings.ContainsFunc(path, odd) {
		return fmt.Errorf("%q is not the path of a result", path)
	}
	return nil
}

// text returns the manifest in the format that [ParseManifest] reads.
func (m Manifest) text() []byte {
	var b bytes.Buffer
	for _, path := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%s  %s\n", m[path], path)
	}
	return b.Bytes()
}

// Seal writes the manifest of a results folder and returns it. It returns an error
// if the folder has no results, or if a result is neither a folder nor a regular
// file.
func Seal(dir string) (Manifest, error) {
	paths, err := resultFiles(dir)
	if err != nil {
		return nil, err
	}
	m := make(Manifest)
	for _, path := range paths {
		if err := checkPath(path); err != nil {
			return nil, err
		}
		if m[path], err = sumFile(filepath.Join(dir, filepath.FromSlash(path))); err != nil {
			return nil, err
		}
	}
	if len(m) == 0 {
		return nil, fmt.Errorf("no results in %s", dir)
	}
	return m, files.WriteBytes(filepath.Join(dir, ManifestName), m.text())
}

// Sealed reports whether a results folder has a manifest.
func Sealed(dir string) bool {
	return exists(filepath.Join(dir, ManifestName))
}

// CheckOutput returns an error if output to path would change a sealed results folder
// or a folder of records: if path is such a folder or lies in one. It follows links.
// path need not exist.
func CheckOutput(path string) error {
	real, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	for dir, rest := real, ""; ; dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest) {
		if to, err := filepath.EvalSymlinks(dir); err == nil {
			real = filepath.Join(to, rest)
			break
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for dir := real; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		// In a parent folder, a file named MANIFEST may be unrelated to results.
		if Sealed(dir) && (dir == real || slices.ContainsFunc(manifestParts, func(part string) bool { return exists(filepath.Join(dir, part)) })) {
			return fmt.Errorf("%s is sealed by its %s: name another folder than %s", dir, ManifestName, path)
		}
		if filepath.Base(dir) == "records" && holdsRecords(dir) {
			return fmt.Errorf("%s holds records: name another folder than %s", dir, path)
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// holdsRecords reports whether a folder has a file named like a record.
func holdsRecords(dir string) bool {
	entries, _ := os.ReadDir(dir) // if it can't be read, neither can its records
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		id, rest, _ := strings.Cut(e.Name(), ".")
		return validID.MatchString(id) && (strings.HasPrefix(rest, "jsonl") || strings.HasPrefix(rest, "failed.jsonl"))
	})
}

// A SealError lists the differences between a sealed folder and its manifest.
type SealError struct {
	Dir   string
	Wrong []string // a file's path and its problem each, in order of the paths
}

// mostWrong is the maximum number of files that an error names.
const mostWrong = 5

// Error names the folder and the first few files.
func (e *SealError) Error() string {
	wrong := e.Wrong[:min(mostWrong, len(e.Wrong))]
	text := fmt.Sprintf("the seal of %s is broken: %s", e.Dir, strings.Join(wrong, ", "))
	if more := len(e.Wrong) - len(wrong); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// CheckSeal compares a results folder with its manifest. It returns nil if the folder
// has no manifest. It returns a *SealError if a result was changed, is missing or was
// added, or if the manifest is invalid, and the system's error if a file is [Unreadable].
func CheckSeal(dir string) error {
	m, err := readManifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var paths []string
	if err == nil {
		paths, err = resultFiles(dir)
	}
	switch {
	case Unreadable(err):
		return err
	case err != nil:
		return &SealError{dir, []string{err.Error()}}
	}
	var wrong []string
	for _, path := range slices.Sorted(maps.Keys(m)) {
		if _, ok := slices.BinarySearch(paths, path); !ok {
			wrong = append(wrong, path+" is missing")
		}
	}
	for _, path := range paths {
		problem, err := m.check(dir, path)
		if err != nil {
			return err
		}
		if problem != "" {
			wrong = append(wrong, path+" "+problem)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(wrong)
	return &SealError{dir, wrong}
}

// check describes the problem with a file; the result is empty if there is none. The error is
// that of reading the file.
func (m Manifest) check(dir, path string) (problem string, err error) {
	want, ok := m[path]
	if !ok {
		return "is not in the manifest", nil
	}
	got, err := sumFile(filepath.Join(dir, filepath.FromSlash(path)))
	if err == nil && got != want {
		problem = "was changed"
	}
	return problem, err
}

// readManifest reads a folder's manifest.
func readManifest(dir string) (Manifest, error) {
	text, err := files.Read(filepath.Join(dir, ManifestName), maxManifest)
	if errors.As(err, new(*fs.PathError)) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not a manifest: %w", ManifestName, err)
	}
	return ParseManifest(text)
}

// resultFiles returns the paths of the files that a seal covers, in ascending order.
// Anything but folders and regular files is an error: the folder does not hold the
// contents of a symbolic link.
func resultFiles(dir string) ([]string, error) {
	var paths []string
	for _, part := range manifestParts {
		err := filepath.WalkDir(filepath.Join(dir, part), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			if name = filepath.ToSlash(name); !e.Type().IsRegular() {
				return fmt.Errorf("%s is not a regular file", name)
			}
			paths = append(paths, name)
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// sumFile returns the SHA-256 of a file.
func sumFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
