package data

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"polkrepro/data/rows"
)

// A StatusRow says whether a data set is available and intact.
type StatusRow struct {
	Name      string   `json:"name"`              // name of the data set
	Kind      string   `json:"kind"`              // generated or file
	Available bool     `json:"available"`         // whether all files were found
	Dir       string   `json:"dir,omitempty"`     // folder of the files
	Files     []string `json:"files,omitempty"`   // names of the files in the folder
	Bytes     int64    `json:"bytes"`             // size of the files on disk, in bytes
	Verified  bool     `json:"verified"`          // whether every SHA-256 matches the manifest's
	Problem   string   `json:"problem,omitempty"` // reason why the data set is not available or not verified

	// Size is the size of the uncompressed files in bytes, which is more than is downloaded.
	Size int64 `json:"size,omitempty"`

	// Sources are the places to fetch the files from, in the order in which they are tried:
	// hosts of mirrors, then "npm package NAME VERSION".
	Sources []string `json:"sources,omitempty"`
}

// Status reports on every known data set, in the order of [List]. It hashes
// the files it finds, which takes less than a second; [Finder.Available] only
// checks that they exist.
func Status(finder Finder) []StatusRow {
	var rows []StatusRow
	for _, m := range manifest() {
		row := StatusRow{Name: m.Name, Kind: m.Kind, Available: true, Verified: true, Sources: m.sources()}
		for _, file := range m.Files {
			row.Size += file.Size
		}
		if m.Kind == KindFile {
			loc, err := finder.locate(&m)
			if row.Available = err == nil; row.Available {
				row.Dir, row.Files, row.Bytes = loc.dir, loc.files, loc.bytes
			}
		}
		for _, v := range verifySet(finder, &m) { // its rows also say why files are missing
			if v.State != StateOK && row.Verified {
				row.Verified, row.Problem = false, v.Problem
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// States of a verified file.
const (
	StateOK         = "ok"
	StateMismatch   = "mismatch"   // the SHA-256 differs from the manifest's
	StateMissing    = "missing"    // not on the search path
	StateUnreadable = "unreadable" // the file can't be read or decompressed
)

// A VerifyRow is the outcome of checking one file, or one generated draw.
type VerifyRow struct {
	Dataset string `json:"dataset"`           // name of the data set
	File    string `json:"file"`              // name of the file in the manifest; if generated, the draw or part of it
	Path    string `json:"path,omitempty"`    // path of the file; missing if it was not found
	State   string `json:"state"`             // ok, mismatch, missing or unreadable
	Want    string `json:"want"`              // SHA-256 in the manifest
	Got     string `json:"got,omitempty"`     // SHA-256 of the (decompressed) bytes; missing if they could not be read
	Problem string `json:"problem,omitempty"` // description of the problem; missing if the state is ok
}

// Verify hashes the files of the named data sets, or of all if names is empty,
// and regenerates the draws whose SHA-256 the manifest records. Missing files
// have rows too, in StateMissing. The error wraps ErrUnknown if a name is
// unknown; a failed check is not an error.
func Verify(finder Finder, names []string) ([]VerifyRow, error) {
	if len(names) == 0 {
		for _, m := range manifest() {
			names = append(names, m.Name)
		}
	}
	var rows []VerifyRow
	for _, name := range names {
		m, err := lookup(name)
		if err != nil {
			return nil, err
		}
		rows = append(rows, verifySet(finder, m)...)
	}
	return rows, nil
}

// verifySet checks every file, or every committed draw, of a data set.
func verifySet(finder Finder, m *manifestSet) []VerifyRow {
	if m.Kind == KindGenerated {
		return verifyDraws(m)
	}
	var rows []VerifyRow
	loc, err := finder.locate(m)
	for i, file := range m.Files {
		row := VerifyRow{Dataset: m.Name, File: file.Name, Want: file.SHA256, State: StateOK}
		problem := err
		if err == nil {
			row.Path = filepath.Join(loc.dir, loc.files[i])
			row.Got, problem = hashVerified(row.Path, file)
		}
		if problem != nil {
			row.Problem = problem.Error()
			switch row.State = StateUnreadable; {
			case errors.Is(problem, ErrNotAvailable):
				row.State = StateMissing
			case row.Got != "":
				row.State = StateMismatch
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// verifyDraws regenerates the committed draws.
func verifyDraws(m *manifestSet) []VerifyRow {
	var rows []VerifyRow
	for _, d := range m.Generated {
		row := VerifyRow{Dataset: m.Name, File: d.name(), Want: d.SHA256, State: StateOK}
		var set *Set
		var err error
		if m.sum != nil {
			row.Got = m.sum(d)
		} else if set, err = m.load(m, Ref{Name: m.Name, Variant: d.Variant, Draw: d.Draw}, Finder{}); err == nil {
			row.Got = set.Sums[m.Name]
		}
		switch {
		case err != nil:
			row.State, row.Problem = StateUnreadable, err.Error()
		case row.Got != row.Want:
			row.State = StateMismatch
			row.Problem = fmt.Sprintf("%s %s: generated bytes have SHA-256 %s, but the manifest has %s: this build's arithmetic is not the reference's; please report it with 'go version' and the CPU", m.Name, row.File, row.Got, row.Want)
		}
		rows = append(rows, row)
	}
	return rows
}

// replaceIt is the advice in errors about a corrupt file.
const replaceIt = "delete it, download or copy it again, then check it with 'runall data status'"

// hashVerified reads a data file to its end and returns its SHA-256, that of
// the decompressed bytes if the manifest allows compression. The error wraps
// ErrCorrupt if the SHA-256 differs from the manifest's, or if the file can't
// be decompressed; in the latter case the sum is empty. hashVerified also writes
// the first bytes to tee, if given, up to the manifest's size.
func hashVerified(path string, want manifestFile, tee ...io.Writer) (sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if sum, err = verify(f, want, tee...); err != nil {
		err = fmt.Errorf("%s: %w: %w; %s", path, ErrCorrupt, err, replaceIt)
	}
	return sum, err
}

// verify does the work of hashVerified on the contents of r.
func verify(r io.Reader, want manifestFile, tee ...io.Writer) (sum string, err error) {
	if want.Gzip {
		if r, err = rows.Decompressed(r); err != nil {
			return "", fmt.Errorf("after 0 bytes: %w", err)
		}
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(append(tee, h)...), io.LimitReader(r, want.Size))
	rest := int64(0)
	if err == nil { // past the expected size: usually nothing but gzip's own check sum
		rest, err = io.Copy(h, r)
	}
	n += rest
	switch sum = hex.EncodeToString(h.Sum(nil)); {
	case err != nil:
		return "", fmt.Errorf("after %d bytes: %w", n, rows.Truncated(err))
	case sum != want.SHA256:
		return sum, fmt.Errorf("%d bytes with SHA-256 %s, want %d bytes with SHA-256 %s", n, sum, want.Size, want.SHA256)
	}
	return sum, nil
}
