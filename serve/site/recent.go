package site

import (
	"slices"
	"sync"
	"time"

	"homenode/internal/words"
	"homenode/output/answer"
	"homenode/serve/held"
)

// Of answers that take long: so many are kept, so long, for who turns the pages of a table.
const (
	recentMost = 8
	recentFor  = 2 * time.Minute
)

// A recent keeps the last answers to questions that take long.
type recent struct {
	mu  sync.Mutex
	all []recentAnswer
}

type recentAnswer struct {
	fleet *held.Fleet
	line  string
	a     *answer.Answer
	at    time.Time
}

// ask asks, unless it was asked a moment ago about the same fleet.
func (c *recent) ask(x *request, args ...string) (*answer.Answer, error) {
	line := words.Command(args...)
	c.mu.Lock()
	// What was judged anew meanwhile is asked about no more, and is large.
	c.all = slices.DeleteFunc(c.all, func(one recentAnswer) bool {
		return time.Since(one.at) >= recentFor || one.fleet != nil && x.fleet != nil && one.fleet != x.fleet && one.fleet.Name == x.fleet.Name
	})
	for i := range c.all {
		if one := &c.all[i]; one.fleet == x.fleet && one.line == line {
			c.mu.Unlock()
			return one.a, nil
		}
	}
	c.mu.Unlock()
	a, err := x.ask(args...)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, recentAnswer{x.fleet, line, a, time.Now()})
	if len(c.all) > recentMost {
		c.all = slices.Delete(c.all, 0, len(c.all)-recentMost)
	}
	return a, nil
}
