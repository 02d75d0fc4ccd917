// Package fetch downloads files over HTTP from mirrors, each of which may be
// away, stall, break off, ignore ranges or send wrong bytes, and npm packages
// with the npm client.
//
// A download over HTTP goes into NAME.partial and gets its name only when the
// caller, who knows its sum, has accepted its content. So any mirror can continue
// what another began: if the parts don't fit together, the file is downloaded
// again from its start. Nothing that a server says decides where a file goes, how
// much of it is taken, or whether it is whole.
//
// Attempts and the waits between them are those of cenkalti/backoff. What is left
// here no library does: an attempt goes on where the last one ended, bytes that
// come too slowly end it, and mirrors take turns.
package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"polkrepro/internal/files"
)

// A File is what to download.
type File struct {
	Dir  string   // the folder it goes to, which must exist
	Name string   // the partial file's name, less .partial
	URLs []string // its mirrors, in the order in which they are tried
	Max  int64    // most bytes that are taken from a mirror

	// Accept returns the name under which the downloaded file is kept, or why
	// it is not what it should be: an error that wraps io.ErrUnexpectedEOF if
	// it may be the beginning of it.
	Accept func(path string) (name string, err error)
}

// A Client downloads files. The zero value works.
type Client struct {
	// Transport carries the requests; default one that connects within ten
	// seconds and takes proxies from the environment.
	Transport http.RoundTripper

	// Tries is how often a mirror is asked for what is missing; default 4. The
	// next mirror, or the next call, goes on from there.
	Tries uint

	// Wait is the mean time before the second attempt, which then grows up to
	// 8 s; default 500 ms.
	Wait time.Duration

	// Stall is how long a mirror may take to answer, and after that for every
	// 16 KiB; default 15 s.
	Stall time.Duration

	// Report is told what happens; default nobody.
	Report func(Event)
}

// Kinds of events.
const (
	EventStart    = "start"    // a mirror is asked
	EventProgress = "progress" // bytes came
	EventRetry    = "retry"    // it failed, and will be asked again after Wait
	EventGiveUp   = "give up"  // it failed for good
	EventDone     = "done"     // the file is there
)

// An Event is something that happens to a download.
type Event struct {
	Kind  string
	File  string        // its name
	URL   string        // the mirror
	Done  int64         // bytes in the file
	Total int64         // bytes it will have, if the mirror is right; 0 if it does not say
	Wait  time.Duration // retry
	Err   error         // retry, give up
}

const (
	// trickle is how many bytes must come within the time Stall.
	trickle = 16 << 10

	longestWait   = 8 * time.Second
	mostRedirects = 5

	// userAgent is for the logs of those who run the mirrors.
	userAgent = "polkrepro-data-fetch"
)

// newTransport returns the default transport.
func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	t.MaxResponseHeaderBytes = 64 << 10
	return t
}

// withDefaults fills in the fields that are zero.
func (c Client) withDefaults() Client {
	if c.Transport == nil {
		c.Transport = newTransport()
	}
	c.Tries = cmp.Or(c.Tries, 4)
	c.Wait = cmp.Or(c.Wait, 500*time.Millisecond)
	c.Stall = cmp.Or(c.Stall, 15*time.Second)
	if c.Report == nil {
		c.Report = func(Event) {}
	}
	return c
}

// Get downloads a file, or continues a download that was broken off, and
// returns the name it is kept under and the mirror that sent it. It replaces a
// file of that name.
//
// The error joins a *MirrorError for each of the mirrors, all of which failed;
// or is a *LocalError; or the context's. What came is kept for the next call,
// unless it turned out to be wrong.
func (c Client) Get(ctx context.Context, f File) (name, url string, err error) {
	d := download{Client: c.withDefaults(), File: f}
	if err := d.open(); err != nil {
		return "", "", err
	}
	defer d.close()
	var failed []error
	for _, url := range f.URLs {
		name, err := d.from(ctx, url)
		if ctx.Err() != nil && err != nil {
			return "", "", context.Cause(ctx)
		}
		var local *LocalError
		switch {
		case err == nil:
			if err := d.finish(name); err != nil {
				return "", "", err
			}
			d.Report(Event{Kind: EventDone, File: name, URL: url, Done: d.size, Total: d.size})
			return name, url, nil
		case errors.As(err, &local):
			return "", "", local
		}
		d.Report(Event{Kind: EventGiveUp, File: f.Name, URL: url, Done: d.size, Err: err})
		failed = append(failed, &MirrorError{URL: url, Err: err})
	}
	return "", "", errors.Join(failed...)
}

// A download is a file on its way.
type download struct {
	Client
	File
	partial *os.File
	size    int64 // of the partial file
}

// from asks one mirror until the file is accepted, and returns its name.
func (d *download) from(ctx context.Context, url string) (name string, err error) {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval, wait.Multiplier = d.Wait, longestWait, 2
	tries := 0
	name, err = backoff.Retry(ctx, func() (string, error) {
		tries++
		return d.attempt(ctx, url)
	}, backoff.WithBackOff(wait), backoff.WithMaxTries(d.Tries), backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, wait time.Duration) {
		d.Report(Event{Kind: EventRetry, File: d.Name, URL: url, Done: d.size, Wait: wait, Err: err})
	}))
	if err != nil && tries > 1 {
		err = fmt.Errorf("%w, after %d attempts", err, tries)
	}
	return name, err
}

// The errors of a mirror that may do better the next time.
var (
	errStalled    = errors.New("the connection stalled")
	errWrongRange = errors.New("server returned the wrong range")
	errNoMore     = errors.New("server has no more of the file, which is incomplete")
)

// attempt asks a mirror once, for what the partial file lacks, and returns the
// file's name if it is whole then. The error is a *backoff.PermanentError if the
// mirror is not worth another attempt.
func (d *download) attempt(ctx context.Context, url string) (name string, err error) {
	d.Report(Event{Kind: EventStart, File: d.Name, URL: url, Done: d.size})
	resumed, err := d.transfer(ctx, url)
	if err != nil && (ctx.Err() != nil || errors.As(err, new(*backoff.PermanentError))) {
		return "", err
	}
	// Even after an error: what is missing may be nothing but the error.
	name, verdict := d.Accept(d.partial.Name())
	switch {
	case verdict == nil:
		return name, nil
	case errors.Is(err, errWrongRange) || errors.Is(err, errNoMore):
		return "", d.reset(err)
	case err != nil:
		return "", err
	case errors.Is(verdict, io.ErrUnexpectedEOF):
		return "", verdict
	case resumed: // what came before may be another version, or another mirror's
		return "", d.reset(verdict)
	}
	return "", backoff.Permanent(d.reset(verdict))
}

// transfer sends a request for what the partial file lacks and adds what comes.
// It reports whether the server continued the partial file; otherwise it sends
// all of the file.
func (d *download) transfer(ctx context.Context, url string) (resumed bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := time.AfterFunc(d.Stall, func() { cancel(errStalled) })
	defer stall.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false, backoff.Permanent(err)
	}
	if d.size > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.size))
	}
	resp, err := d.do(req, checkRedirect)
	if err == nil {
		defer resp.Body.Close()
		if resumed, err = d.align(resp); err == nil {
			err = d.receive(url, resp, stall)
		}
	}
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		err = errStalled
	}
	return resumed, err
}

// do sends a request with what all requests have.
func (c Client) do(req *http.Request, redirect func(*http.Request, []*http.Request) error) (*http.Response, error) {
	req.Header.Set("User-Agent", userAgent)
	// The bytes as they are in the mirror's file: ranges are ranges of those.
	req.Header.Set("Accept-Encoding", "identity")
	client := http.Client{Transport: c.Transport, CheckRedirect: redirect}
	resp, err := client.Do(req)
	return resp, requestError(err)
}

// checkRedirect lets redirects lead to nothing but HTTP.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > mostRedirects {
		return backoff.Permanent(fmt.Errorf("more than %d redirects", mostRedirects))
	}
	if s := req.URL.Scheme; s != "http" && s != "https" {
		return backoff.Permanent(fmt.Errorf("a redirect to %q, which is not HTTP", s))
	}
	return nil
}

// align makes the partial file end where the body of a response begins, and
// reports whether that is not the start of the file.
func (d *download) align(resp *http.Response) (resumed bool, err error) {
	switch resp.StatusCode {
	case http.StatusOK: // all of it, whether asked for or not
		return false, d.reset(nil)
	case http.StatusPartialContent:
		if !strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", d.size)) {
			return false, errWrongRange
		}
		return d.size > 0, nil
	case http.StatusRequestedRangeNotSatisfiable:
		return false, errNoMore
	}
	return false, statusError(resp)
}

// receive adds the body of a response to the partial file. It restarts the
// timer with every chunk.
func (d *download) receive(url string, resp *http.Response, stall *time.Timer) error {
	event := Event{Kind: EventProgress, File: d.Name, URL: url}
	room := d.Max - d.size
	if n := resp.ContentLength; n > 0 && n <= room {
		event.Total = d.size + n
	}
	body := io.LimitReader(resp.Body, room+1)
	for {
		stall.Reset(d.Stall)
		n, err := io.CopyN(d.partial, body, trickle)
		if d.size += n; d.size > d.Max {
			return backoff.Permanent(d.reset(fmt.Errorf("more than %d bytes, which this file can't have", d.Max)))
		}
		if n > 0 {
			event.Done = d.size
			d.Report(event)
		}
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, new(*fs.PathError)): // of the partial file
			return localError(err)
		case err != nil:
			return err
		}
	}
}

// Partial returns the path of the file that a download of a name goes into.
func Partial(dir, name string) string { return filepath.Join(dir, name+".partial") }

// open opens the partial file, or makes it.
func (d *download) open() error {
	var err error
	if d.partial, err = os.OpenFile(Partial(d.Dir, d.Name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666); err == nil {
		d.size, err = d.partial.Seek(0, io.SeekEnd)
	}
	if err != nil {
		d.partial.Close() // nil has nothing to close
		return &LocalError{err}
	}
	return nil
}

// reset empties the partial file and returns err, or a *LocalError if it can't.
func (d *download) reset(err error) error {
	d.size = 0
	if failed := d.partial.Truncate(0); failed != nil {
		return localError(failed)
	}
	return err
}

// finish gives the file its name once its bytes are on the disk, so that after
// a power cut it is whole or not there.
func (d *download) finish(name string) error {
	err := d.partial.Sync()
	if err == nil {
		err = d.partial.Close()
	}
	if err == nil {
		err = Keep(d.partial.Name(), d.Dir, name)
	}
	if err != nil {
		return &LocalError{err}
	}
	return nil
}

// Keep moves a file, whose bytes are on the disk, to a folder and name.
func Keep(path, dir, name string) error {
	if err := os.Rename(path, filepath.Join(dir, name)); err != nil {
		return err
	}
	_ = files.SyncDir(dir) // not all file systems can; it only makes the name last
	return nil
}

// close closes the partial file if finish did not, and removes an empty one.
func (d *download) close() {
	if d.partial.Close() == nil && d.size == 0 {
		os.Remove(d.partial.Name())
	}
}

// Lock makes a folder if there is none and takes it for this process alone,
// until the file returned is closed. The error wraps ErrLocked if another has
// it, else it is a *LocalError. The lock file stays: removing it would let two
// others lock two different files of the same name.
func Lock(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, &LocalError{err}
	}
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, &LocalError{err}
	}
	switch ok, err := files.TryLock(f); {
	case err != nil:
		f.Close()
		return nil, &LocalError{fmt.Errorf("lock %s: %w", f.Name(), err)}
	case !ok:
		f.Close()
		return nil, fmt.Errorf("%w: another process is fetching into %s; wait for it", ErrLocked, dir)
	}
	return f, nil
}

// Reachable asks the servers of all URLs, each of them once and all at the same
// time, whether they are there. It returns, for every URL, nil if its server
// answers within a time, whatever it answers, or else a *MirrorError.
func (c Client) Reachable(ctx context.Context, urls []string, within time.Duration) map[string]error {
	c = c.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	answers := make(map[string]*error)
	var all sync.WaitGroup
	for _, u := range urls {
		if answers[server(u)] == nil {
			answer := new(error)
			answers[server(u)] = answer
			all.Go(func() { *answer = c.knock(ctx, u) })
		}
	}
	all.Wait()
	reachable := make(map[string]error, len(urls))
	for _, u := range urls {
		reachable[u] = nil
		if err := *answers[server(u)]; err != nil {
			reachable[u] = &MirrorError{URL: u, Err: err}
		}
	}
	return reachable
}

// server returns the part of a URL that says whom to connect to.
func server(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Scheme + "://" + u.Host
}

// knock returns nil if a server answers.
func (c Client) knock(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, url, nil)
	if err != nil {
		return err
	}
	resp, err := c.do(req, func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse })
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return errors.New("no answer")
		}
		return err
	}
	return resp.Body.Close()
}
