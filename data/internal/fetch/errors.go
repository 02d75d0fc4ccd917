package fetch

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/cenkalti/backoff/v5"
)

// ErrLocked is wrapped by the error of a folder that another process downloads
// into.
var ErrLocked = errors.New("folder is locked")

// A MirrorError says why a mirror could not be used.
type MirrorError struct {
	URL string
	Err error
}

func (e *MirrorError) Error() string { return fmt.Sprintf("%s: %v", Host(e.URL), e.Err) }
func (e *MirrorError) Unwrap() error { return e.Err }

// A LocalError is one of this machine's file system: no mirror can help.
type LocalError struct{ Err error }

func (e *LocalError) Error() string { return fmt.Sprintf("can't be saved: %v", e.Err) }
func (e *LocalError) Unwrap() error { return e.Err }

// localError returns a *LocalError after which nothing is tried again.
func localError(err error) error { return backoff.Permanent(&LocalError{err}) }

// requestError returns the part of the error of a request without a response
// that the URL beside it does not say already. It is permanent if another attempt
// won't mend it.
func requestError(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		err = errors.New(dns.Err)
	}
	if dns != nil && dns.IsNotFound || errors.As(err, new(*tls.CertificateVerificationError)) {
		return backoff.Permanent(err)
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
	return backoff.Permanent(err)
}

// Host returns the host of a URL, for messages.
func Host(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Host
}
