package site

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"homenode/ask"
	"homenode/internal/words"
	"homenode/output/answer"
	"homenode/serve/held"
)

// The cache keeps this many answers for this long; those about the present, which many viewers see, for a moment: hosts are asked no more often than
// every 20 s.
const (
	recentMost = 32
	recentFor  = 2 * time.Minute
	presentFor = 2 * time.Second
)

// A recent keeps the last answers. Who asks what is being asked waits for that answer.
type recent struct {
	mu  sync.Mutex
	all []*recentAnswer
}

type recentAnswer struct {
	fleet *held.Fleet
	line  string
	until time.Time     // zero before it is there
	done  chan struct{} // closed when it is there
	a     *answer.Answer
	err   error
}

// answer answers a question, unless it was asked a moment ago about the same fleet.
func (c *recent) answer(x *request, t *ask.Entry, q ask.Question) (*answer.Answer, error) {
	return c.once(x, recentFor, words.Command(ask.Line(t.Name, q)...), func() (*answer.Answer, error) { return x.answerOf(t, q) })
}

// once asks, unless the same line was asked about the same fleet, and the answer is not older than keep. The answer is not to be changed.
func (c *recent) once(x *request, keep time.Duration, line string, asking func() (*answer.Answer, error)) (*answer.Answer, error) {
	for !x.quiet {
		if err := x.Context().Err(); err != nil {
			return nil, err
		}
		one, own := c.of(x.fleet, line)
		if own {
			return c.fill(one, keep, asking)
		}
		select {
		case <-one.done:
		case <-x.Context().Done():
			return nil, x.Context().Err()
		}
		if !errors.Is(one.err, context.Canceled) { // whoever asked has gone: ask again
			return one.a, one.err
		}
	}
	return asking()
}

// fill asks, and lets those know who wait.
func (c *recent) fill(one *recentAnswer, keep time.Duration, asking func() (*answer.Answer, error)) (*answer.Answer, error) {
	one.err = context.Canceled // should asking panic
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if one.until = time.Now().Add(keep); one.err != nil { // it is asked for anew
			c.all = slices.DeleteFunc(c.all, func(other *recentAnswer) bool { return other == one })
		}
		close(one.done)
	}()
	one.a, one.err = asking()
	return one.a, one.err
}

// of returns the answer to a line that is there or asked for; own says that the caller has to ask.
func (c *recent) of(fleet *held.Fleet, line string) (one *recentAnswer, own bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// An older judgement of the same fleet is asked about no more, and it is large.
	c.all = slices.DeleteFunc(c.all, func(one *recentAnswer) bool {
		return !one.until.IsZero() && !time.Now().Before(one.until) || one.fleet != nil && fleet != nil && one.fleet != fleet && one.fleet.Name == fleet.Name
	})
	for _, one := range c.all {
		if one.fleet == fleet && one.line == line {
			return one, false
		}
	}
	one = &recentAnswer{fleet: fleet, line: line, done: make(chan struct{})}
	c.all = append(c.all, one)
	if len(c.all) > recentMost {
		c.all = slices.Delete(c.all, 0, len(c.all)-recentMost)
	}
	return one, true
}
