package vsphere

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/vmware/govmomi/fault"
	"github.com/vmware/govmomi/vim25/types"
	"github.com/vmware/govmomi/vim25/xml"
)

// A noAnswerError reports that a call took longer than Options.CallTimeout.
type noAnswerError struct{ limit time.Duration }

func (e noAnswerError) Error() string { return fmt.Sprintf("no answer within %v", e.limit) }

func (e noAnswerError) Unwrap() error { return context.DeadlineExceeded }

// An expiredError reports that the server no longer knows the session.
type expiredError struct{ err error }

func (e expiredError) Error() string { return "session expired" }

func (e expiredError) Unwrap() error { return e.err }

// A refusedError reports that the server rejected the account: there is no session.
type refusedError struct{ err error }

func (e refusedError) Error() string { return "the user name or the password is wrong" }

func (e refusedError) Unwrap() error { return e.err }

// A privilegeError reports that the account lacks a privilege.
type privilegeError struct {
	id  string
	err error
}

func (e privilegeError) Error() string { return "the account lacks the privilege " + e.id }

func (e privilegeError) Unwrap() error { return e.err }

// A panicError is a panic of the library that decodes answers: a server can cause it, even before the login.
type panicError struct{ value any }

func (e panicError) Error() string { return fmt.Sprintf("the answer cannot be decoded: %v", e.value) }

// guarded runs a decoder; a panic becomes an error.
func guarded(decode func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicError{v}
		}
	}()
	return decode()
}

// call runs one request within Options.CallTimeout and explains errors in vSphere terms.
func (r *reader) call(ctx context.Context, request func(context.Context) error) error {
	return r.callFor(ctx, maxAnswer, request)
}

// callFor is call for a request whose answers have at most this many bytes.
func (r *reader) callFor(ctx context.Context, most int64, request func(context.Context) error) error {
	limited, cancel := context.WithTimeout(context.WithValue(ctx, budgetKey{}, &budget{most, most}), r.opts.CallTimeout)
	defer cancel()
	err := guarded(func() error { return request(limited) })
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		return noAnswerError{r.opts.CallTimeout}
	}
	return explain(err)
}

// explain rewrites an error of the library: it removes the URL, since Read names the host once, and
// rewords faults.
func explain(err error) error {
	var transport *url.Error
	if errors.As(err, &transport) {
		err = transport.Err
	}
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		err = dial.Err // without the address
		if system, ok := errors.AsType[*os.SyscallError](err); ok {
			err = system.Err
		}
	}
	var untrusted *UntrustedError
	if errors.As(err, &untrusted) {
		return untrusted // without "tls: failed to verify certificate"
	}
	if hasFault[*types.NotAuthenticated](err) {
		return expiredError{err}
	}
	if hasFault[*types.InvalidLogin](err) {
		return refusedError{err}
	}
	var noPermission *types.NoPermission
	if _, ok := fault.As(err, &noPermission); ok {
		return privilegeError{noPermission.PrivilegeId, err}
	}
	if dropped(err) {
		return fmt.Errorf("connection dropped: %w", err)
	}
	return err
}

// dropped reports whether err comes from a connection that ended too early; in the middle of an
// answer the XML reader of govmomi is the first to notice.
func dropped(err error) bool {
	var syntax *xml.SyntaxError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.As(err, &syntax) && strings.Contains(syntax.Msg, "unexpected EOF")
}

// hasFault reports whether err carries a fault of type T.
func hasFault[T types.BaseMethodFault](err error) bool {
	var f T
	_, ok := fault.As(err, &f)
	return ok
}
