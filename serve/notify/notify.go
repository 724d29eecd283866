// Package notify sends findings that begin and end to webhooks, in Alertmanager's format. Failed deliveries are retried for an
// hour.
package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"example.org/homenode/rules/finding"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/post"
)

// A Config lists the webhooks and the findings to send.
type Config struct {
	Least    string    `yaml:"least"` // minimum severity; medium
	All      bool      `yaml:"all"`   // also findings about settings, not only live ones
	Webhooks []Webhook `yaml:"webhooks"`

	least finding.Severity
}

// Check validates and completes the configuration. Errors never contain a possible secret.
func (c *Config) Check() (err error) {
	if c.least, err = finding.ParseSeverity(cmp.Or(c.Least, finding.Medium.String())); err != nil {
		return fmt.Errorf("least: %w", err)
	}
	for i := range c.Webhooks {
		if c.Webhooks[i].host, err = c.Webhooks[i].Check(); err != nil {
			return fmt.Errorf("webhooks: number %d: %w", i+1, err)
		}
	}
	if len(c.Webhooks) == 0 {
		return errors.New("found no webhooks")
	}
	return nil
}

// A Notifier sends to all webhooks of a Config.
type Notifier struct {
	config *Config
	all    []*target
}

// A target is one webhook with its queue.
type target struct {
	*Webhook
	wake chan struct{}

	mu      sync.Mutex
	waiting []message
	state   State
}

type message struct {
	vcenter string
	alarms  []board.Alarm
	since   time.Time
}

// A State is the delivery status of one target.
type State struct {
	To      string `json:"to"`
	Sent    int    `json:"sent"`    // messages
	Waiting int    `json:"waiting"` // messages
	Lost    int    `json:"lost"`    // messages that could not be delivered for an hour
	Error   string `json:"error,omitempty"`
}

// New returns a Notifier; page is the address of homenode's own pages.
func New(c *Config, page string) *Notifier {
	n := &Notifier{config: c}
	for i := range c.Webhooks {
		c.Webhooks[i].page = page
		n.all = append(n.all, &target{Webhook: &c.Webhooks[i], wake: make(chan struct{}, 1)})
	}
	return n
}

// Take queues the findings that began or got worse, and those that ended. The end of a finding is sent to everyone who
// received it.
func (n *Notifier) Take(begun, ended []board.Alarm) {
	by := map[string][]board.Alarm{}
	for _, a := range slices.Concat(begun, ended) {
		if max(a.Worst, a.Finding.Severity) >= n.config.least && (a.Live || n.config.All) {
			by[a.VCenter] = append(by[a.VCenter], a)
		}
	}
	now := time.Now()
	for vcenter, alarms := range by {
		slices.SortStableFunc(alarms, func(a, b board.Alarm) int { return cmp.Compare(b.Finding.Severity, a.Finding.Severity) })
		for _, t := range n.all {
			t.mu.Lock()
			t.waiting = append(t.waiting, message{vcenter, alarms, now})
			t.mu.Unlock()
			select {
			case t.wake <- struct{}{}:
			default:
			}
		}
	}
}

// Run delivers until ctx ends.
func (n *Notifier) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, t := range n.all {
		all.Go(func() { t.run(ctx) })
	}
	all.Wait()
}

// Times of delivery.
const (
	sendTimeout = 20 * time.Second
	longestRest = 5 * time.Minute
	givenUp     = time.Hour
)

// run delivers one message after the other.
func (t *target) run(ctx context.Context) {
	rest := post.Rest{Most: longestRest}
	for {
		t.mu.Lock()
		var m *message
		if len(t.waiting) > 0 {
			m = &t.waiting[0]
		}
		t.mu.Unlock()
		if m == nil {
			select {
			case <-t.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		once, cancel := context.WithTimeout(ctx, sendTimeout)
		err := t.send(once, m.vcenter, m.alarms)
		cancel()
		t.mu.Lock()
		done := err == nil
		t.state.Error = ""
		if err != nil {
			t.state.Error = err.Error()
		}
		switch refused := errors.Is(err, post.ErrRefused) || errors.Is(err, post.ErrAddress); {
		case done:
			t.state.Sent++
			rest = post.Rest{Most: longestRest}
		case refused || time.Since(m.since) > givenUp:
			t.state.Lost++
			done = true
		}
		if done {
			t.waiting = t.waiting[1:]
		}
		t.mu.Unlock()
		if !done {
			rest.Wait(ctx, err)
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// State returns the delivery status of each target.
func (n *Notifier) State() (all []State) {
	for _, t := range n.all {
		t.mu.Lock()
		s := t.state
		s.To, s.Waiting = t.name(), len(t.waiting)
		t.mu.Unlock()
		all = append(all, s)
	}
	return all
}
