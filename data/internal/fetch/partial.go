package fetch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A partial is the file that a download goes into, and what it is a part of.
type partial struct {
	path string
	file *os.File
	size int64
	from origin
}

// An origin says which version of which mirror's file a partial file is the
// beginning of.
type origin struct {
	URL string `json:"url"`

	// Validator is what the mirror calls this version: its entity tag, or else
	// the time of its last modification; "" if it said neither.
	Validator string `json:"validator"`
}

// openPartial opens the partial file of a name, or makes it. One whose origin
// is not known is emptied.
func openPartial(dir, name string) (*partial, error) {
	p := &partial{path: filepath.Join(dir, name+".partial")}
	var err error
	if p.file, err = os.OpenFile(p.path, os.O_CREATE|os.O_RDWR, 0o666); err != nil {
		return nil, localError(err)
	}
	info, err := p.file.Stat()
	if err != nil {
		p.file.Close()
		return nil, localError(err)
	}
	p.size = info.Size()
	b, err := os.ReadFile(p.originPath())
	if err != nil || json.Unmarshal(b, &p.from) != nil || p.from.URL == "" {
		err = p.reset()
		if err != nil {
			p.file.Close()
		}
		return p, err
	}
	return p, nil
}

func (p *partial) originPath() string { return p.path + ".json" }

// sizeFrom returns how much there is of a mirror's file.
func (p *partial) sizeFrom(url string) int64 {
	if p.from.URL != url {
		return 0
	}
	return p.size
}

// order returns mirrors with the one that the partial file is of first.
func (p *partial) order(urls []string) []string {
	i := slices.Index(urls, p.from.URL)
	if i <= 0 || p.size == 0 {
		return urls
	}
	return slices.Concat(urls[i:i+1], urls[:i], urls[i+1:])
}

// condition asks for the rest of the mirror's file if there is a beginning of
// it, on condition that it is still the same version.
func (p *partial) condition(url string, h http.Header) {
	if p.sizeFrom(url) == 0 {
		return
	}
	h.Set("Range", fmt.Sprintf("bytes=%d-", p.size))
	if p.from.Validator != "" {
		h.Set("If-Range", p.from.Validator)
	}
}

// align makes the partial file end where the body of a response begins.
func (p *partial) align(url string, resp *http.Response) error {
	now := origin{URL: url, Validator: validator(resp.Header)}
	switch resp.StatusCode {
	case http.StatusOK: // all of it, be it that we asked for that or not
		return p.restart(now)
	case http.StatusPartialContent:
		if now == p.from && beginsAt(resp.Header, p.size) {
			return nil
		}
		return errors.Join(errors.New("server returned the wrong range or another version"), p.reset())
	case http.StatusRequestedRangeNotSatisfiable:
		return errors.Join(errors.New("server has no more of the file, which is incomplete"), p.reset())
	}
	return statusError(resp)
}

// beginsAt reports whether a partial response begins at an offset.
func beginsAt(h http.Header, offset int64) bool {
	return strings.HasPrefix(h.Get("Content-Range"), fmt.Sprintf("bytes %d-", offset))
}

// validator returns what If-Range can take: a strong entity tag, or else a
// time.
func validator(h http.Header) string {
	if tag := h.Get("ETag"); strings.HasPrefix(tag, `"`) {
		return tag
	}
	return h.Get("Last-Modified")
}

// restart empties the file and notes what its next bytes will be of. In this
// order: if only the first is done, the file is empty, which is right whatever
// its origin.
func (p *partial) restart(from origin) error {
	if err := p.file.Truncate(0); err != nil {
		return localError(err)
	}
	p.size, p.from = 0, from
	b, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return localError(os.WriteFile(p.originPath(), b, 0o666))
}

// reset empties the file.
func (p *partial) reset() error {
	p.size, p.from = 0, origin{}
	return localError(p.file.Truncate(0))
}

// add adds bytes to the file.
func (p *partial) add(b []byte) error {
	n, err := p.file.WriteAt(b, p.size)
	p.size += int64(n)
	return localError(err)
}

// finish gives the file its name once its bytes are on the disk, so that after
// a power cut it is whole or not there.
func (p *partial) finish(name string) error {
	if err := p.file.Sync(); err != nil {
		return localError(err)
	}
	if err := p.file.Close(); err != nil {
		return localError(err)
	}
	if err := Keep(p.path, filepath.Dir(p.path), name); err != nil {
		return localError(err)
	}
	return localError(os.Remove(p.originPath()))
}

// Keep moves a file, whose bytes are on the disk, to a folder and name.
func Keep(path, dir, name string) error {
	if err := os.Rename(path, filepath.Join(dir, name)); err != nil {
		return err
	}
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync() // not all systems can; it only makes the name last
		d.Close()
	}
	return nil
}

// Discard removes what a download of a name may have left unfinished.
func Discard(dir, name string) error {
	p := partial{path: filepath.Join(dir, name+".partial")}
	for _, path := range []string{p.path, p.originPath()} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// close closes the file if finish did not, and leaves nothing behind that is
// of no use.
func (p *partial) close() {
	if p.file.Close() == nil && p.size == 0 {
		os.Remove(p.path)
		os.Remove(p.originPath())
	}
}
