package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"regexp"

	"polkrepro/internal/charset"
	"polkrepro/internal/files"
)

// Suffixes of a run's file name, after the ID.
const (
	sealedSuffix  = ".jsonl"
	failedSuffix  = ".failed.jsonl"
	partialSuffix = ".jsonl.partial"
)

// errClosed is returned by a writer that was finished, failed or aborted.
var errClosed = errors.New("the record is closed")

// validID matches IDs that are valid file names on every system.
var validID = regexp.MustCompile(`^[0-9A-Za-z_-]{1,128}$`)

// A Writer writes one run's record. Every line reaches the file with one write
// call before the method that wrote it returns. After an error every method
// but Abort returns that error. A Writer is not safe for concurrent use.
type Writer struct {
	dir    string
	file   *os.File
	rec    Record
	hash   hash.Hash // of all bytes written
	err    error
	closed bool
}

// Create starts the record of run h.ID: it writes dir/ID.jsonl.partial with the
// header as its first line. Create replaces a file of that name, which a killed run
// has left; if that file is a link, its target is not changed. Create makes the
// folder if it doesn't exist. Only one process may write a run's record at a time.
func Create(dir string, h Header) (*Writer, error) {
	if !validID.MatchString(h.ID) {
		return nil, fmt.Errorf("record: %q is not a run's ID", h.ID)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("can't make the records' folder: %w", err)
	}
	if err := h.checkText(); err != nil {
		return nil, fmt.Errorf("record %s: %w", h.ID, err)
	}
	h.Type, h.Format = "run", Format
	w := &Writer{dir: dir, rec: Record{Header: h}, hash: sha256.New()}
	if err := w.open(); err != nil {
		return nil, fmt.Errorf("can't write a record: %w", err)
	}
	if err := w.write(h); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// open creates the partial file and replaces an earlier one.
func (w *Writer) open() error {
	path := w.path(partialSuffix)
	if info, err := os.Lstat(path); err == nil && !info.IsDir() {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	var err error
	w.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	return err
}

// Point appends an evaluation. Its Samples must be greater than the previous point's.
func (w *Writer) Point(p Point) error {
	if err := w.usable(); err != nil {
		return err
	}
	p.Type = "point"
	if err := errors.Join(p.checkText(), p.check(), w.rec.follow(p)); err != nil {
		return w.fail(err)
	}
	if err := w.write(p); err != nil {
		return err
	}
	w.rec.Points = append(w.rec.Points, p)
	return nil
}

// Finish appends the final line with its digest and sum, syncs the file to disk and
// renames it to dir/ID.jsonl. It then removes the run's files of an earlier failure
// and of an earlier packed record, which was damaged if the run had to be repeated.
// If Finish returns an error, there is no new sealed record, unless only the sync of
// the renaming or one of these removals failed.
func (w *Writer) Finish(f Final) error {
	if err := w.usable(); err != nil {
		return err
	}
	if err := errors.Join(f.checkText(), f.check(), w.rec.close(f.Samples)); err != nil {
		return w.fail(err)
	}
	f.Type, f.Digest, f.Sum = "final", "", ""
	w.rec.Final = f
	f.Digest = digest(&w.rec)
	if err := w.seal(f, sealedSuffix); err != nil {
		return err
	}
	for _, old := range []string{failedSuffix, sealedSuffix + packedSuffix} {
		if err := os.Remove(w.path(old)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("record %s: %w", w.rec.Header.ID, err)
		}
	}
	return nil
}

// Fail appends the failure, syncs the file to disk and renames it to
// dir/ID.failed.jsonl.
func (w *Writer) Fail(f Failure) error {
	if err := w.usable(); err != nil {
		return err
	}
	f.Type, f.Sum, f.Error = "failure", "", charset.Shown(f.Error)
	if err := w.rec.close(f.Samples); err != nil {
		return w.fail(err)
	}
	return w.seal(f, failedSuffix)
}

// Abort closes the file and leaves it as dir/ID.jsonl.partial. After Finish,
// Fail or Abort it does nothing, so it can be deferred.
func (w *Writer) Abort() error {
	if w.closed {
		return nil
	}
	w.closed = true
	return w.file.Close()
}

func (w *Writer) path(suffix string) string {
	return filepath.Join(w.dir, w.rec.Header.ID+suffix)
}

func (w *Writer) usable() error {
	if w.err != nil {
		return w.err
	}
	if w.closed {
		return fmt.Errorf("record %s: %w", w.rec.Header.ID, errClosed)
	}
	return nil
}

// fail keeps the first error.
func (w *Writer) fail(err error) error {
	if w.err == nil {
		w.err = fmt.Errorf("record %s: %w", w.rec.Header.ID, err)
	}
	return w.err
}

// write appends v as one line, with one write call.
func (w *Writer) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return w.fail(err)
	}
	line = append(line, '\n')
	if _, err := w.file.Write(line); err != nil {
		return w.fail(err)
	}
	w.hash.Write(line)
	return nil
}

// seal appends the last line, v with its sum filled in, and gives the file its final
// name. The sum of v must be empty.
func (w *Writer) seal(v any, suffix string) error {
	line, err := json.Marshal(v)
	if err != nil {
		return w.fail(err)
	}
	if _, err := w.file.Write(files.AppendSum(w.hash, append(line, '\n'), sumTail)); err != nil {
		return w.fail(err)
	}
	if err := w.file.Sync(); err != nil {
		return w.fail(err)
	}
	if err := w.file.Close(); err != nil {
		return w.fail(err)
	}
	w.closed = true
	if err := os.Rename(w.path(partialSuffix), w.path(suffix)); err != nil {
		return w.fail(err)
	}
	if err := files.SyncDir(w.dir); err != nil {
		return w.fail(err)
	}
	return nil
}

// digest is the hexadecimal SHA-256 of a record's canonical form.
func digest(r *Record) string {
	sum := sha256.Sum256(Canonical(r))
	return hex.EncodeToString(sum[:])
}

// follow returns an error if p can't come after the record's last point.
func (r *Record) follow(p Point) error {
	if len(r.Points) == MaxPoints {
		return fmt.Errorf("more than %d points", MaxPoints)
	}
	last := -1
	if n := len(r.Points); n > 0 {
		last = r.Points[n-1].Samples
	}
	if p.Samples <= last || p.Samples < 0 {
		return fmt.Errorf("point at %d samples after one at %d", p.Samples, last)
	}
	return nil
}

// close returns an error if a last line can't come after the record's last point.
func (r *Record) close(samples int) error {
	if n := len(r.Points); samples < 0 || n > 0 && samples < r.Points[n-1].Samples {
		return fmt.Errorf("last line at %d samples, before the last point", samples)
	}
	return nil
}
