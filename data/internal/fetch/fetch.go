// Package fetch downloads files over HTTP from mirrors, each of which may be
// away, stall, break off, ignore what it is asked for, or send wrong bytes, and
// npm packages with the npm client.
//
// A download over HTTP goes into NAME.partial, with what is needed to continue it in
// NAME.partial.json, and gets its name only when the caller has accepted its
// content. Nothing that a server says decides where a file goes, how much of
// it is taken, or whether it is whole.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
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

	// Tries is how many attempts in a row a mirror has to send something new;
	// default 4.
	Tries int

	// Stall is how long a mirror may take to answer, and after that for every
	// 16 KiB; default 15 s.
	Stall time.Duration

	// Sleep waits between two attempts, no longer than the context lasts;
	// default on the system's clock.
	Sleep func(ctx context.Context, d time.Duration)

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

// trickle is how many bytes must come within the time Stall.
const trickle = 16 << 10

// progress is how many new bytes make an attempt count as none: a mirror that
// breaks off again and again is good enough as long as a resumed download gets
// farther.
const progress = 64 << 10

// mostWrong is how often a mirror may send a whole file of wrong bytes. Twice,
// because the first may have been damaged on its way or be of two versions.
const mostWrong = 2

// Bounds of the wait before another attempt.
const (
	firstWait = 500 * time.Millisecond
	mostWait  = 8 * time.Second
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
	if c.Tries == 0 {
		c.Tries = 4
	}
	if c.Stall == 0 {
		c.Stall = 15 * time.Second
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	if c.Report == nil {
		c.Report = func(Event) {}
	}
	return c
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Get downloads a file, or continues a download that was broken off, and
// returns the name it is kept under and the mirror that sent it. It replaces a
// file of that name.
//
// The error joins a *MirrorError for each of the mirrors, all of which failed;
// or is a *LocalError; or the context's. What came is kept for the next call,
// unless it turned out to be wrong.
func (c Client) Get(ctx context.Context, f File) (name, url string, err error) {
	c = c.withDefaults()
	p, err := openPartial(f.Dir, f.Name)
	if err != nil {
		return "", "", err
	}
	defer p.close()
	if p.size > 0 {
		// An earlier call may have ended between the last byte and the check.
		if name, err := f.Accept(p.path); err == nil {
			return name, p.from.URL, p.finish(name)
		}
	}
	var failed []error
	for _, url := range p.order(f.URLs) {
		name, err := c.fromMirror(ctx, url, f, p)
		if err == nil {
			err = p.finish(name)
			if err == nil {
				c.Report(Event{Kind: EventDone, File: name, URL: url, Done: p.size, Total: p.size})
			}
			return name, url, err
		}
		if ctx.Err() != nil {
			return "", "", context.Cause(ctx)
		}
		var local *LocalError
		if errors.As(err, &local) {
			return "", "", local
		}
		c.Report(Event{Kind: EventGiveUp, File: f.Name, URL: url, Done: p.size, Err: err})
		failed = append(failed, &MirrorError{URL: url, Err: err})
	}
	return "", "", errors.Join(failed...)
}

// fromMirror asks one mirror until the file is accepted, and returns its name.
func (c Client) fromMirror(ctx context.Context, url string, f File, p *partial) (name string, err error) {
	farthest, wrong := p.sizeFrom(url), 0
	for try := 0; ; {
		err := c.transfer(ctx, url, f, p)
		var refused *refusal
		var local *LocalError
		if err != nil && (ctx.Err() != nil || errors.As(err, &refused) || errors.As(err, &local)) {
			return "", err
		}
		// Even after an error: what is missing may be nothing but the error.
		name, verdict := f.Accept(p.path)
		if verdict == nil {
			return name, nil
		}
		if err == nil {
			err = verdict
			if !errors.Is(verdict, io.ErrUnexpectedEOF) {
				if wrong++; wrong == mostWrong {
					return "", errors.Join(err, p.reset())
				}
				if err := p.reset(); err != nil {
					return "", err
				}
			}
		}
		if try++; p.size >= farthest+progress {
			farthest, try = p.size, 0
		}
		if try == c.Tries {
			return "", fmt.Errorf("%w, after %d attempts", reason(err), c.Tries)
		}
		wait := backOff(try)
		c.Report(Event{Kind: EventRetry, File: f.Name, URL: url, Done: p.size, Wait: wait, Err: reason(err)})
		c.Sleep(ctx, wait)
	}
}

// backOff returns how long to wait before the attempt after so many in vain:
// twice as long each time, less up to a half at random, so that many machines
// that were cut off together don't come back together.
func backOff(try int) time.Duration {
	d := min(firstWait<<max(try-1, 0), mostWait)
	return d/2 + rand.N(d/2)
}
