package fetch

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
)

// ErrLocked is wrapped by the error of a folder that another process downloads
// into.
var ErrLocked = errors.New("folder is locked")

// errStalled is the error of a mirror that sent too little for too long.
var errStalled = errors.New("the connection stalled")

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

// localError returns a *LocalError, or nil.
func localError(err error) error {
	if err == nil {
		return nil
	}
	return &LocalError{err}
}

// A refusal is an error that another attempt at the same mirror won't mend.
type refusal struct{ err error }

func (e *refusal) Error() string { return e.err.Error() }
func (e *refusal) Unwrap() error { return e.err }

// requestError classifies the error of a request that got no response.
func requestError(err error) error {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &dns) && dns.IsNotFound || errors.As(err, &certificate) {
		return &refusal{reason(err)}
	}
	return reason(err)
}

// reason returns the part of a request's error that the URL beside it does not
// say already.
func reason(err error) error {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return errors.New(dns.Err)
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		return outer.Err
	}
	return err
}

// Host returns the host of a URL, for messages.
func Host(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Host
}
