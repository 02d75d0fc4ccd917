package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"
)

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
