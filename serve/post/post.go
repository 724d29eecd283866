// Package post sends requests to configured addresses. A secret goes to no other address, and a rejected request can be
// retried.
package post

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	"example.org/homenode/internal/loopback"
)

// An Address is the target of requests.
type Address struct {
	URL           string `yaml:"url"`
	Authorization string `yaml:"authorization"` // header, such as "Bearer …"
}

// Check validates the address and returns host and port. Errors never contain a possible secret.
func (a *Address) Check() (host string, err error) {
	u, err := url.Parse(a.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return "", errors.New("want a url with https:// or http://")
	case strings.ContainsFunc(a.Authorization, unicode.IsControl): // no header has one, and each request would fail
		return "", errors.New("want an authorization of one line")
	case u.Scheme == "http" && (a.Authorization != "" || u.User != nil) && !loopback.Host(u.Hostname()):
		return "", errors.New("want https:// for an authorization: it would be readable on the way")
	}
	return u.Host, nil
}

// Reasons not to retry.
var (
	ErrRefused = errors.New("refused")                                   // a retry of this request would fail too
	ErrAddress = errors.New("the address or the authorization is wrong") // no request would be accepted
)

// A later is the response of a target that may accept the request later.
type later struct {
	status string
	wait   time.Duration // requested by the target
}

func (l *later) Error() string { return "it answers " + l.status }

// longestWait limits the wait that a target may request.
const longestWait = 10 * time.Minute

// Send posts a body with these headers. Errors contain neither the URL, which may include a secret, nor any text of the target.
func (a *Address) Send(ctx context.Context, headers map[string]string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("not a request that can be sent")
	}
	req.Header.Set("User-Agent", "homenode")
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	if a.Authorization != "" {
		req.Header.Set("Authorization", a.Authorization)
	}
	res, err := client.Do(req)
	if err != nil {
		return Plain(err)
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10)                                   // so that the connection is reused
	status := fmt.Sprintf("%d %s", res.StatusCode, http.StatusText(res.StatusCode)) // that of the response may be long
	switch code := res.StatusCode; {
	case code < 300:
		return nil
	case code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= 500:
		seconds, _ := strconv.ParseUint(res.Header.Get("Retry-After"), 10, 16) // a date is ignored
		return &later{status, min(time.Duration(seconds)*time.Second, longestWait)}
	case code < 400 || code == http.StatusUnauthorized || code == http.StatusForbidden || code == http.StatusNotFound || code == http.StatusMethodNotAllowed:
		return fmt.Errorf("it answers %s: %w", status, ErrAddress)
	}
	return fmt.Errorf("%w: it answers %s, and its log has the reason", ErrRefused, status)
}

// Plain returns an error of a request without the URL and without any text of the target, which may repeat a secret in whatever form.
func Plain(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	var connection *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		return untrusted(certificate.Err)
	case errors.As(err, &connection), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), os.IsTimeout(err),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, http.ErrSchemeMismatch):
		return err
	}
	return errors.New("its answer cannot be read")
}

// untrusted returns why a certificate is not accepted, without its names.
func untrusted(err error) error {
	var name x509.HostnameError
	var signer x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return errors.New("its certificate is for another name")
	case errors.As(err, &signer):
		return errors.New("its certificate is signed by an authority that this machine does not trust")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return errors.New("its certificate has expired, or is not valid yet")
	}
	return errors.New("its certificate is not valid")
}

// client follows no redirect.
var client = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport: func() http.RoundTripper {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.DialContext, t.MaxResponseHeaderBytes = loopback.Dial, 64<<10 // errors quote headers
		return t
	}(),
}

// A Rest is the time between two attempts: a second, then doubled each time.
type Rest struct {
	Most time.Duration
	last time.Duration
}

// Wait waits after a failed attempt, or until ctx ends.
func (r *Rest) Wait(ctx context.Context, why error) {
	r.last = min(max(2*r.last, time.Second), r.Most)
	wait := r.last
	if errors.Is(why, ErrAddress) {
		wait = r.Most
	} else if l, ok := errors.AsType[*later](why); ok {
		wait = max(wait, l.wait)
	}
	select {
	case <-time.After(wait):
	case <-ctx.Done():
	}
}
