//go:build linux

package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"homenode/internal/bounded"
)

// A calm waits for moments in which nothing else runs, as long as its patience lasts. What runs beside changes figures by
// more than contenders differ by, and it hits a thread that has just begun more than one that waited.
type calm struct {
	patience   time.Duration // that is left
	turns, had int           // turns in all, and those that began in a calm moment
}

// await returns when nothing else has run for some milliseconds, or patience is over.
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

// String says how many turns began in a calm moment.
func (c *calm) String() string {
	return fmt.Sprintf("%d of %d turns began while nothing else ran in this guest.", c.had, c.turns)
}

// running is how many threads the kernel runs now, this one among them.
func running() int {
	b, err := bounded.File("/proc/loadavg", 256)
	if err != nil {
		return 1 // not known: no reason to wait
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
