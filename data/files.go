package data

import "path/filepath"

// Files returns the paths of the files of all known data sets that are found.
func (f Finder) Files() []string {
	var paths []string
	for _, m := range manifest() {
		if m.Kind != KindFile {
			continue
		}
		loc, err := f.locate(&m)
		if err != nil {
			continue // it is not there, or can't be read
		}
		for _, name := range loc.files {
			paths = append(paths, filepath.Join(loc.dir, name))
		}
	}
	return paths
}
