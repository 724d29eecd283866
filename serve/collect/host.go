package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/source/esxtop/fetchstats"
	"example.org/homenode/source/vsphere"
)

// A host is polled by one goroutine, so never twice at a time.
type host struct {
	c    *Collector
	id   string
	stop context.CancelFunc
	back chan struct{} // signalled when it is back

	mu      sync.Mutex
	machine *numa.Host
	cluster string
	status  HostStatus
	away    string    // disconnected or notResponding, from an update; empty for neither
	until   time.Time // end of close monitoring

	// Used only by the host's goroutine.
	series  *fetchstats.Series
	service *vsphere.Service
	learned bool
	failed  int // consecutive failures
}

// learn stores the inventory data of the host.
func (h *host) learn(m *numa.Host, cluster string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.machine, h.cluster = m, cluster
	h.status.ID, h.status.Name, h.status.Cluster = m.ID, m.Name, cluster
	if h.maintains(m.Maintenance) {
		h.wake()
	}
}

// maintains records whether the host is in maintenance, and reports whether it has left it. h.mu is locked.
func (h *host) maintains(now numa.Fact[bool]) (left bool) {
	if now.Known() {
		left = h.status.Maintenance && !now.Value
		h.status.Maintenance = now.Value
	}
	return left
}

// wake makes the host's turn start immediately.
func (h *host) wake() {
	select {
	case h.back <- struct{}{}:
	default:
	}
}

// update processes a vCenter update of the host. An unreachable host is not polled; one that returns, or leaves
// maintenance, is polled immediately.
func (h *host) update(u *numa.Update) {
	h.mu.Lock()
	defer h.mu.Unlock()
	back := false
	if u.Connection.Known() {
		was := h.away
		h.away = u.Connection.Value
		if h.away == connected {
			h.away = ""
		}
		back = was != "" && h.away == ""
		if h.away != "" && was == "" {
			h.fail(h.isAway(), time.Now())
		}
	}
	if h.maintains(u.Maintenance) || back {
		h.wake()
	}
}

// connected is the connection state of a host that its vCenter reaches.
const connected = "connected"

// isAway returns an error if the host is unreachable, else nil. h.mu is locked.
func (h *host) isAway() error {
	switch h.away {
	case "":
		return nil
	case "notResponding":
		return fmt.Errorf("%w: it does not respond to vCenter; it is asked when it does", errAway)
	}
	return fmt.Errorf("%w: vCenter says that it is %s; it is asked when it is connected", errAway, h.away)
}

// pause waits for the next turn, or for the return of the host. It is false if ctx ended.
func (h *host) pause(ctx context.Context, next time.Time) bool {
	t := time.NewTimer(max(0, time.Until(next)))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-h.back:
		h.failed, h.service = 0, nil
		return true
	case <-ctx.Done():
		return false
	}
}

// phase spreads the turns of the hosts over the interval.
func (h *host) phase(every time.Duration) time.Duration {
	f := fnv.New64a()
	_, _ = f.Write([]byte(h.c.name + " " + h.id))
	return time.Duration(f.Sum64() % uint64(every))
}

func (h *host) run(ctx context.Context) {
	defer h.end()
	next := time.Now().Add(h.phase(min(h.c.opts.Every, 10*time.Second))) // the first answer comes soon
	for h.pause(ctx, next) {
		select {
		case h.c.turn <- struct{}{}:
		case <-ctx.Done():
			return
		}
		begun := time.Now()
		err := h.fetch(ctx)
		<-h.c.turn
		if ctx.Err() != nil {
			return
		}
		every := h.every(h.c.interval())
		rest := h.note(err, begun)
		if err == nil {
			h.c.heal()
		}
		earliest := time.Now().Add(rest)
		next = begun.Truncate(every).Add(h.phase(every))
		turns := 0
		for !next.After(earliest) || next.Sub(begun) < every/2 {
			next = next.Add(every)
			turns++
		}
		if err == nil && turns > 2 {
			h.mu.Lock()
			h.status.Skipped += turns - 2
			h.mu.Unlock()
		}
	}
}

// end informs the host that polling stops, if there is still a session.
func (h *host) end() {
	if h.service == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = h.c.gate.ifOpen(func(l *vsphere.Live) error {
		_, err := l.Execute(ctx, *h.service, "FreeStats", func([]byte) error { return nil })
		return err
	})
}

// note records the result of a turn, and returns how long to pause.
func (h *host) note(err error, begun time.Time) (rest time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status.Took, h.status.Asked = Seconds{time.Since(begun)}, begun
	if err == nil {
		h.failed, h.status.Failing, h.status.Reason, h.status.Since = 0, "", "", time.Time{}
		return 0
	}
	h.status.Failed++
	h.fail(err, begun)
	if h.status.Reason == "vcenter" || h.status.Reason == "away" { // it was not polled
		return 0
	}
	if h.failed++; h.failed < 3 {
		return 0
	}
	return min(h.c.opts.Backoff<<min(h.failed-3, 4), 15*h.c.opts.Backoff)
}

// fail records why the host delivers nothing. h.mu is locked.
func (h *host) fail(err error, since time.Time) {
	if h.status.Reason == "" {
		h.status.Since = since
	}
	h.status.Failing, h.status.Reason = plain(err), reason(err)
	if h.status.Reason == "timeout" {
		h.status.Failing = fmt.Sprintf("no answer within %v", h.c.opts.Timeout)
	}
}

// plain returns an error as shown to users.
func plain(err error) string { return strings.ReplaceAll(err.Error(), "ServerFaultCode: ", "") }

// reason returns an error as the label of a metric.
func reason(err error) string {
	for _, k := range []struct {
		err  error
		word string
	}{
		{vsphere.ErrPrivilege, "privilege"}, {vsphere.ErrRefused, "refused"}, {vsphere.ErrExpired, "expired"}, {vsphere.ErrGone, "gone"},
		{vsphere.ErrNoService, "no service"}, {context.DeadlineExceeded, "timeout"}, {errAnswer, "answer"}, {errIll, "vcenter"}, {errNoSession, "vcenter"}, {errAway, "away"},
	} {
		if errors.Is(err, k.err) {
			return k.word
		}
	}
	return "other"
}

var (
	errAnswer = errors.New("not an answer")
	errIll    = errors.New("vCenter ill")
	errAway   = errors.New("not asked")
)

// fetch reads one answer.
func (h *host) fetch(ctx context.Context) error {
	h.mu.Lock()
	machine, away := h.machine, h.isAway()
	h.mu.Unlock()
	if away != nil {
		return away
	}
	if !h.c.mayAsk() {
		return fmt.Errorf("%w: more than a third of its hosts do not answer: one is tried a minute", errIll)
	}
	ctx, cancel := context.WithTimeout(ctx, h.c.opts.Timeout)
	defer cancel()
	if h.series == nil || h.series.Host != machine.Name {
		h.series, h.learned = &fetchstats.Series{Host: machine.Name, Known: true}, false
	}
	h.series.Machine = machine
	err := h.c.gate.with(ctx, func(l *vsphere.Live) error { return h.ask(ctx, l, machine) })
	if errors.Is(err, vsphere.ErrGone) || errors.Is(err, vsphere.ErrNoService) {
		h.service = nil
	}
	return err
}

// ask finds the service, learns its columns, and reads one answer.
func (h *host) ask(ctx context.Context, l *vsphere.Live, machine *numa.Host) error {
	if h.service == nil {
		s, err := l.Esxtop(ctx, machine.Name)
		if err != nil {
			return err
		}
		h.service = &s
	}
	if !h.learned {
		_, err := l.Execute(ctx, *h.service, "CounterInfo", func(text []byte) error {
			if err := h.series.Learn("CounterInfo", bytes.NewReader(text)); err != nil {
				return fmt.Errorf("%w: %w", errAnswer, err)
			}
			h.tell(&Answer{Columns: true, Text: text})
			return nil
		})
		if err != nil {
			return err
		}
		h.learned = true
	}
	size, err := l.Execute(ctx, *h.service, "FetchStats", h.read)
	h.mu.Lock()
	h.status.Bytes += int64(size)
	if err == nil { // otherwise one host's oversized answer would slow down the polling of all hosts
		h.status.Size = size
	}
	h.mu.Unlock()
	return err
}

// tell passes an answer to Options.Answers.
func (h *host) tell(a *Answer) {
	if h.c.opts.Answers != nil {
		a.VCenter, a.Host, a.Name = h.c.name, h.id, h.series.Host
		h.c.opts.Answers(a)
	}
}

// mostSkew limits the error of a host's clock; beyond it a tick gets our time.
const mostSkew = time.Minute

// read converts an answer into a tick.
func (h *host) read(text []byte) error {
	ticks := 0
	warnings, err := h.series.Read("FetchStats", bytes.NewReader(text), func(t *numa.Tick) error {
		ticks++
		h.tell(&Answer{Time: t.Time, Text: text})
		now := time.Now()
		h.mu.Lock()
		if now.Sub(t.Time).Abs() > mostSkew { // otherwise the samples of other hosts would be too old for the store, or these
			t.Time = now.UTC().Truncate(time.Millisecond)
		}
		if least := h.status.Last.Add(time.Millisecond); t.Time.Before(least) {
			t.Time = least
		}
		h.status.Last, h.status.Skew = t.Time, Seconds{now.Sub(h.series.Clock)}
		h.status.Ticks++
		h.mu.Unlock()
		h.c.sink.Tick(h.c.name, h.id, t)
		return nil
	})
	h.mu.Lock()
	h.status.Warnings += len(warnings)
	h.mu.Unlock()
	switch {
	case err != nil:
		h.learned = false
		return fmt.Errorf("%w: %w", errAnswer, err)
	case ticks == 0 && len(warnings) > 0:
		h.learned = false // another build has other columns
		return fmt.Errorf("%w: %s", errAnswer, warnings[0].Text)
	}
	return nil
}
