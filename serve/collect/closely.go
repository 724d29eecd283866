package collect

import (
	"errors"
	"fmt"
	"time"
)

// Looking closely: how often a host is asked then, for how long, and how many hosts of a vCenter at a time.
const (
	closelyEvery = 20 * time.Second
	closelyFor   = time.Hour
	mostClosely  = 8
	fastest      = 2 * time.Second // hosts count no faster
)

// ErrUnknownHost says that nothing is collected from a host.
var ErrUnknownHost = errors.New("nothing is collected from this host")

// Closely asks a host, by its ID, every 20 seconds for an hour; a collector that asks all of them so often asks this one three times as
// often. It returns the interval and when that ends.
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
		return 0, until, fmt.Errorf("%d hosts of %s are looked at closely already: wait until one is over", n, c.name)
	}
	h.mu.Lock()
	h.until = now.Add(closelyFor)
	until = h.until
	h.mu.Unlock()
	h.wake()
	return h.every(c.opts.Every), until, nil
}

// closely returns until when it is looked at closely; zero when it is not. h.mu is held.
func (h *host) closely(now time.Time) time.Time {
	if now.Before(h.until) {
		return h.until
	}
	return time.Time{}
}

// every returns how often the host is asked; all are asked at this interval.
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
