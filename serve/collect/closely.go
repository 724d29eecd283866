package collect

import (
	"errors"
	"fmt"
	"time"
)

// Close monitoring: the interval, its duration, and the limit of hosts per vCenter at a time.
const (
	closelyEvery = 20 * time.Second
	closelyFor   = time.Hour
	mostClosely  = 8
	fastest      = 2 * time.Second // hosts update no faster
)

// ErrUnknownHost means that the host is not collected from.
var ErrUnknownHost = errors.New("nothing is collected from this host")

// Closely polls a host, by its ID, every 20 seconds for an hour. If all hosts are already polled that often, the host is polled three
// times as often. It returns the interval and the end time.
func (c *Collector) Closely(id string) (every time.Duration, until time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.hosts[id]
	if h == nil {
		return 0, until, ErrUnknownHost
	}
	now := time.Now()
	n := 0
	for _, other := range c.hosts {
		other.mu.Lock()
		if other != h && !other.closely(now).IsZero() {
			n++
		}
		other.mu.Unlock()
	}
	if n >= mostClosely {
		return 0, until, fmt.Errorf("%d hosts of %s are polled closely already: wait until one of them ends", n, c.name)
	}
	h.mu.Lock()
	h.until = now.Add(closelyFor)
	until = h.until
	h.mu.Unlock()
	h.wake()
	return h.every(c.opts.Every), until, nil
}

// closely returns the end of close monitoring; zero without it. h.mu is locked.
func (h *host) closely(now time.Time) time.Time {
	if now.Before(h.until) {
		return h.until
	}
	return time.Time{}
}

// every returns the polling interval of the host; all is the interval of all hosts.
func (h *host) every(all time.Duration) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closely(time.Now()).IsZero() {
		return all
	}
	often := closelyEvery
	if h.c.opts.Every <= closelyEvery {
		often = max(fastest, h.c.opts.Every/3)
	}
	return min(often, all)
}
