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
	Name      string   `json:"name"`              // of the data set
	Kind      string   `json:"kind"`              // KindGenerated or KindFile
	Available bool     `json:"available"`         // all files were found
	Dir       string   `json:"dir,omitempty"`     // the folder its files were found in
	Files     []string `json:"files,omitempty"`   // their names there
	Bytes     int64    `json:"bytes"`             // their size on disk
	Verified  bool     `json:"verified"`          // every sum is the manifest's
	Problem   string   `json:"problem,omitempty"` // why it is not available or not verified

	// Size is that of the uncompressed files in bytes, which are more than is
	// downloaded.
	Size int64 `json:"size,omitempty"`

	// Sources name where the files can be fetched from, in the order tried:
	// mirrors' hosts, then "npm package NAME VERSION".
	Sources []string `json:"sources,omitempty"`
}

// Status reports on every known data set, in the order of [List]. It hashes
// the files it finds, which takes less than a second; [Finder.Available] only
// looks whether they exist.
func Status(finder Finder) []StatusRow {
	var rows []StatusRow
	for _, m := range manifest() {
		row := StatusRow{Name: m.Name, Kind: m.Kind, Available: true, Verified: true, Sources: m.sources()}
		for _, file := range m.Files {
			row.Size += file.Size
		}
		if m.Kind == KindFile {
			loc, err := finder.locate(&m)
			if err != nil {
				row.Available, row.Verified, row.Problem = false, false, err.Error()
				rows = append(rows, row)
				continue
			}
			row.Dir, row.Files, row.Bytes = loc.dir, loc.files, loc.bytes
		}
		for _, v := range verifySet(finder, &m) {
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
	StateMismatch   = "mismatch"   // the sum is not the manifest's
	StateMissing    = "missing"    // found nowhere on the search path
	StateUnreadable = "unreadable" // the file can't be read or decompressed
)

// A VerifyRow is the outcome of checking one file, or one generated draw.
type VerifyRow struct {
	Dataset string `json:"dataset"`           // name of the data set
	File    string `json:"file"`              // the manifest's name; the draw, or part of it, if generated
	Path    string `json:"path,omitempty"`    // where it was found
	State   string `json:"state"`             // ok, mismatch, missing or unreadable
	Want    string `json:"want"`              // SHA-256 in the manifest
	Got     string `json:"got,omitempty"`     // SHA-256 of the (decompressed) bytes
	Problem string `json:"problem,omitempty"` // missing if the state is ok
}

// Verify hashes the files of the named data sets, all if none is named, and
// generates the draws whose sums are committed. Data sets that are not there
// have rows too, in StateMissing. The error wraps ErrUnknown if a name is not
// that of a data set; a failed check is no error.
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

// replaceIt is what to do about a corrupt file.
const replaceIt = "delete it, download or copy it again, then check it with 'runall data verify'"

// hashVerified reads a data file to its end and returns its SHA-256, that of
// the decompressed bytes where the manifest allows compression. The error
// wraps ErrCorrupt if it is not the manifest's, with the sum, or if the file
// can't be decompressed, without. It also writes to tee, if not nil, the first
// bytes, no more than the manifest's size.
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

// verify is hashVerified for what r reads to its end.
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
