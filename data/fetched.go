package data

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"polkrepro/internal/files"
)

// sourcesFile is the file, in the folder of a data set in the cache, that says
// which source each fetched file came from: a JSON object of sources by the
// names of files. It informs the user; nothing depends on it.
const sourcesFile = "sources.json"

// recordedSources returns what a folder's sourcesFile says; an empty map if it
// says nothing.
func recordedSources(dir string) map[string]string {
	sources := make(map[string]string)
	b, err := files.Read(filepath.Join(dir, sourcesFile), 1<<16)
	if err != nil || json.Unmarshal(b, &sources) != nil || sources == nil {
		return make(map[string]string)
	}
	return sources
}

// recordSource notes the source of a file.
func recordSource(dir, name, source string) error {
	sources := recordedSources(dir)
	sources[name] = source
	b, err := json.MarshalIndent(sources, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, sourcesFile), append(b, '\n'), 0o666)
}

// fetchedFrom returns the recorded sources of the files of a data set, those
// that the manifest knows, each once.
func fetchedFrom(m *manifestSet, loc *location) []string {
	recorded := recordedSources(loc.dir)
	known := m.sources()
	var from []string
	for _, name := range loc.files {
		if s := recorded[name]; slices.Contains(known, s) && !slices.Contains(from, s) {
			from = append(from, s)
		}
	}
	return from
}
