package data

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// EnvDir is the environment variable that names a folder to search for data.
const EnvDir = "POLK_DATA_DIR"

// CacheDir is the folder, relative to the working directory, into which
// fetched data go, and, in its subfolder textons, the texton maps of brodatz
// and weaves.
const CacheDir = "data/cache"

// sharedDir is a folder next to the working directory which machines without
// a network may provide.
const sharedDir = "../shared/data"

// systemDir is where Debian's packages put data sets.
const systemDir = "/usr/share/datasets"

// A Finder says where to search for data files. The zero value searches
// $POLK_DATA_DIR, data/cache, ../shared/data and /usr/share/datasets.
type Finder struct {
	Dir string // the --data-dir flag; searched first; default none
}

// Paths returns the folders that are searched, in order: Dir, $POLK_DATA_DIR,
// data/cache and ../shared/data, both relative to the working directory, and
// /usr/share/datasets. A data set's files may be in such a folder itself or in its
// subfolder named after the data set. Folders that do not exist or lack the data set
// are skipped.
func (f Finder) Paths() []string {
	paths := []string{f.Dir, os.Getenv(EnvDir), filepath.FromSlash(CacheDir), filepath.FromSlash(sharedDir), filepath.FromSlash(systemDir)}
	return slices.DeleteFunc(paths, func(dir string) bool { return dir == "" })
}

// locate returns the paths of the files of a data set, in the manifest's order. The error
// wraps ErrNotAvailable if files are missing, or the file system's error if a file can't be
// inspected.
func (f Finder) locate(m *manifestSet) (paths []string, err error) {
	searched := f.Paths()
	for i, path := range f.Paths() {
		for _, dir := range m.folders(path) {
			found, missing, err := locateIn(dir, m)
			switch {
			case err != nil:
				return nil, err
			case missing == nil:
				return found, nil
			case found != nil:
				searched[i] = fmt.Sprintf("%s (missing %s)", dir, join(missing))
			}
		}
	}
	return nil, fmt.Errorf("%s: %w: searched %s; to get it, %s", m.Name, ErrNotAvailable, join(searched), m.How)
}

// read returns the decompressed contents of a data set's files, in the manifest's order,
// and their SHA-256 by name. It returns an error if a SHA-256 differs from the manifest's.
func (f Finder) read(m *manifestSet) (contents [][]byte, sums map[string]string, err error) {
	paths, err := f.locate(m)
	if err != nil {
		return nil, nil, err
	}
	sums = make(map[string]string)
	for i, file := range m.Files {
		var b bytes.Buffer
		b.Grow(int(file.Size))
		if err := hashVerified(paths[i], file, &b); err != nil {
			return nil, nil, err
		}
		contents, sums[file.Name] = append(contents, b.Bytes()), file.SHA256
	}
	return contents, sums, nil
}

// folders returns the folders that may hold the data set under path, one of Finder.Paths.
func (m *manifestSet) folders(path string) []string {
	own, base := filepath.Join(path, m.Name), filepath.Base(path)
	if base != m.Name && (m.OwnFolder || registered[base].load != nil) { // path is, or may be, another data set's folder
		return []string{own}
	}
	return []string{own, path}
}

// Files returns the paths of the files of all known data sets that it finds.
func (f Finder) Files() (paths []string) {
	for _, m := range manifest() {
		found, _ := f.locate(&m) // none if a file is missing or can't be inspected
		paths = append(paths, found...)
	}
	return paths
}

// locateIn looks for the files of a data set in one folder. missing names those not found.
func locateIn(dir string, m *manifestSet) (paths, missing []string, err error) {
	for _, file := range m.Files {
		n := len(paths)
		for _, name := range file.names() {
			path := filepath.Join(dir, name)
			info, err := os.Stat(path)
			if err != nil && !absent(err) {
				return nil, nil, fmt.Errorf("%s: %w", m.Name, err)
			}
			if err == nil && info.Mode().IsRegular() {
				paths = append(paths, path)
				break
			}
		}
		if len(paths) == n {
			missing = append(missing, file.Name)
		}
	}
	return paths, missing, nil
}

// absent reports whether an error of os.Stat says that the file is missing.
// ENOTDIR says so too: the folder is itself a file.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// join lists names for a message.
func join(names []string) string { return strings.Join(names, ", ") }
