//go:build linux

package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/internal/bounded"
)

// A calm waits for moments without other activity, up to a total timeout. Other activity affects the figures more than
// the contenders differ, and it affects a newly started thread more than one that waited.
type calm struct {
	patience   time.Duration // remaining
	turns, had int           // total number of turns, and of those that began in a calm moment
}

// await returns after some milliseconds without other activity, or at the timeout.
func (c *calm) await() {
	c.turns++
	const pause, enough = time.Millisecond, 3
	for idle, begin := 0, time.Now(); ; time.Sleep(pause) {
		if running() > 1 {
			idle = 0
		} else if idle++; idle == enough {
			c.had++
			c.patience -= time.Since(begin)
			return
		}
		if time.Since(begin) >= min(c.patience, 2*time.Second) {
			c.patience -= time.Since(begin)
			return
		}
	}
}

// String reports how many turns began in a calm moment.
func (c *calm) String() string {
	return fmt.Sprintf("%d of %d turns began while nothing else ran in this guest.", c.had, c.turns)
}

// running returns the number of running threads in the kernel, including this one.
func running() int {
	b, err := bounded.File("/proc/loadavg", 256)
	if err != nil {
		return 1 // unknown: do not wait
	}
	fields := strings.Fields(string(b))
	if len(fields) < 4 {
		return 1
	}
	text, _, _ := strings.Cut(fields[3], "/")
	n, err := strconv.Atoi(text)
	if err != nil {
		return 1
	}
	return n
}
