package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// mostRedirects bounds how often a mirror may send us elsewhere.
const mostRedirects = 5

// userAgent is for the logs of those who run the mirrors.
const userAgent = "polkrepro-data-fetch"

// transfer asks a mirror once, for what the partial file lacks or for all of
// the file, and adds what comes. It returns nil when the response ended as one
// that is whole does; a *refusal if the mirror is not worth another attempt;
// or a *LocalError.
func (c Client) transfer(ctx context.Context, url string, f File, p *partial) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	dog := newWatchdog(c.Stall, func() { cancel(errStalled) })
	defer dog.stop()
	c.Report(Event{Kind: EventStart, File: f.Name, URL: url, Done: p.sizeFrom(url)})
	resp, err := c.ask(ctx, url, p)
	if err != nil {
		return stalledOr(ctx, requestError(err))
	}
	defer resp.Body.Close()
	if err := p.align(url, resp); err != nil {
		return err
	}
	dog.fed()
	return stalledOr(ctx, c.receive(url, resp, f, p, dog))
}

// ask sends the request: conditional, for the rest, if the partial file is of
// this mirror.
func (c Client) ask(ctx context.Context, url string, p *partial) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	p.condition(url, req.Header)
	return c.do(req, checkRedirect)
}

// do sends a request with what all requests have.
func (c Client) do(req *http.Request, redirect func(*http.Request, []*http.Request) error) (*http.Response, error) {
	req.Header.Set("User-Agent", userAgent)
	// The bytes as they are in the mirror's file: ranges are ranges of those.
	req.Header.Set("Accept-Encoding", "identity")
	client := http.Client{Transport: c.Transport, CheckRedirect: redirect}
	return client.Do(req)
}

// checkRedirect lets redirects lead to nothing but HTTP.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > mostRedirects {
		return &refusal{fmt.Errorf("more than %d redirects", mostRedirects)}
	}
	if s := req.URL.Scheme; s != "http" && s != "https" {
		return &refusal{fmt.Errorf("a redirect to %q, which is not HTTP", s)}
	}
	return nil
}

// receive adds the body of a response to the partial file.
func (c Client) receive(url string, resp *http.Response, f File, p *partial, dog *watchdog) error {
	event := Event{Kind: EventProgress, File: f.Name, URL: url}
	if resp.ContentLength > 0 && resp.ContentLength <= f.Max-p.size {
		event.Total = p.size + resp.ContentLength
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := resp.Body.Read(buf)
		if p.size+int64(n) > f.Max {
			return errors.Join(&refusal{fmt.Errorf("more than %d bytes, which this file can't have", f.Max)}, p.reset())
		}
		if n > 0 {
			if err := p.add(buf[:n]); err != nil {
				return err
			}
			dog.feed(n)
			event.Done = p.size
			c.Report(event)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// stalledOr returns errStalled if that is why a request was ended, else err.
func stalledOr(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return errStalled
	}
	return err
}

// statusError is the error of a response that brings no file. What the mirror
// itself calls the status could be anything.
func statusError(resp *http.Response) error {
	err := errors.New(strings.TrimSpace(fmt.Sprintf("it answers %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))))
	switch code := resp.StatusCode; {
	case code >= 500, code == http.StatusRequestTimeout, code == http.StatusTooManyRequests:
		return err
	}
	return &refusal{err}
}

// A watchdog barks if it is not fed for some time.
type watchdog struct {
	timer *time.Timer
	every time.Duration
	bytes int // since it was fed last
}

func newWatchdog(every time.Duration, bark func()) *watchdog {
	return &watchdog{timer: time.AfterFunc(every, bark), every: every}
}

// feed counts bytes towards the next meal, so that a byte now and then does
// not keep a connection alive for ever.
func (w *watchdog) feed(bytes int) {
	if w.bytes += bytes; w.bytes >= trickle {
		w.fed()
	}
}

func (w *watchdog) fed() {
	w.bytes = 0
	w.timer.Reset(w.every)
}

func (w *watchdog) stop() { w.timer.Stop() }
