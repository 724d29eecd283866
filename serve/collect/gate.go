package collect

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"example.org/homenode/source/vsphere"
)

// mostRefused limits attempts with a wrong password, which may lock the account.
const mostRefused = 3

var errNoSession = errors.New("no session")

// A gate manages the single session with a vCenter.
type gate struct {
	dial  func(context.Context) (*vsphere.Live, error)
	retry time.Duration

	login sync.Mutex // locked during login
	mu    sync.Mutex
	live  *vsphere.Live
	since time.Time
	next  time.Time // no login before this time
	why   error     // error of the last failed attempt
	sums  struct{ logins, failed, refused int }
}

// with runs one request in the session, and retries it in a new session if the vCenter has
// dropped the old one.
func (g *gate) with(ctx context.Context, request func(*vsphere.Live) error) error {
	for again := false; ; again = true {
		l, err := g.session(ctx)
		if err != nil {
			return err
		}
		if err = request(l); !errors.Is(err, vsphere.ErrExpired) {
			return err
		}
		g.drop(l)
		if again {
			return err
		}
	}
}

// ifOpen runs a request if there is a session.
func (g *gate) ifOpen(request func(*vsphere.Live) error) error {
	g.mu.Lock()
	l := g.live
	g.mu.Unlock()
	if l == nil {
		return errNoSession
	}
	return request(l)
}

// session returns the session, and logs in if there is none. Logins are serialized; after a
// failure the next one waits for retry.
func (g *gate) session(ctx context.Context) (*vsphere.Live, error) {
	g.login.Lock()
	defer g.login.Unlock()
	g.mu.Lock()
	l, next, why := g.live, g.next, g.why
	refused := g.sums.refused
	g.mu.Unlock()
	switch {
	case l != nil:
		return l, nil
	case refused >= mostRefused:
		return nil, fmt.Errorf("%w: %w; refused %d times, not tried again: start it anew with the right password", errNoSession, why, refused)
	case time.Now().Before(next):
		return nil, fmt.Errorf("%w: %w", errNoSession, why)
	}
	l, err := g.dial(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		g.sums.failed++
		if errors.Is(err, vsphere.ErrRefused) {
			g.sums.refused++
		}
		g.next, g.why = time.Now().Add(g.retry), err
		return nil, fmt.Errorf("%w: %w", errNoSession, err)
	}
	g.sums.logins++
	g.live, g.since, g.why, g.sums.refused = l, time.Now(), nil, 0
	return l, nil
}

// drop discards a session that the vCenter has dropped.
func (g *gate) drop(l *vsphere.Live) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.live == l {
		g.live = nil
	}
}

// close logs out.
func (g *gate) close() {
	g.mu.Lock()
	l := g.live
	g.live = nil
	g.mu.Unlock()
	if l != nil {
		_ = l.Close(context.Background()) // otherwise it expires after an idle time
	}
}
