package site

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
	"example.org/homenode/serve/held"
)

// Size and lifetimes of the cache. Answers about the present, which many viewers see, are cached briefly: hosts are polled at most every 20 s.
const (
	recentMost = 32
	recentFor  = 2 * time.Minute
	presentFor = 2 * time.Second
)

// A recent caches the last answers. Concurrent requests for one answer share it.
type recent struct {
	mu  sync.Mutex
	all []*recentAnswer
}

type recentAnswer struct {
	fleet *held.Fleet
	line  string
	until time.Time     // zero until it is ready
	done  chan struct{} // closed when it is ready
	a     *answer.Answer
	err   error

	address string // of the last page that showed it
	body    []byte // its HTML
}

// answer answers a question, unless its answer about the same fleet is cached.
func (c *recent) answer(x *request, t *ask.Entry, q ask.Question) (*answer.Answer, error) {
	return c.once(x, recentFor, words.Command(ask.Line(t.Name, q)...), func() (*answer.Answer, error) { return x.answerOf(t, q) })
}

// once calls asking, unless an answer for the line and the fleet is cached, for at most keep. The answer must not be modified.
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
		if !errors.Is(one.err, context.Canceled) { // the first caller has gone: ask again
			return one.a, one.err
		}
	}
	return asking()
}

// body returns the HTML of a cached answer on the page with this address, and calls rendering if the last page of the answer was another one.
func (c *recent) body(a *answer.Answer, address string, rendering func() ([]byte, error)) ([]byte, error) {
	c.mu.Lock()
	i := slices.IndexFunc(c.all, func(one *recentAnswer) bool { return !one.until.IsZero() && one.a == a })
	var one *recentAnswer
	if i >= 0 {
		one = c.all[i]
		if address != "" && one.address == address {
			defer c.mu.Unlock()
			return one.body, nil
		}
	}
	c.mu.Unlock()
	body, err := rendering()
	if err == nil && one != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		one.address, one.body = address, body
	}
	return body, err
}

// fill calls asking, and wakes those who wait.
func (c *recent) fill(one *recentAnswer, keep time.Duration, asking func() (*answer.Answer, error)) (*answer.Answer, error) {
	one.err = context.Canceled // in case asking panics
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if one.until = time.Now().Add(keep); one.err != nil { // an error is not cached
			c.all = slices.DeleteFunc(c.all, func(other *recentAnswer) bool { return other == one })
		}
		close(one.done)
	}()
	one.a, one.err = asking()
	return one.a, one.err
}

// of returns the cached or pending answer to a line; own means that the caller must compute it.
func (c *recent) of(fleet *held.Fleet, line string) (one *recentAnswer, own bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Drop an older assessment of the same fleet: it is not needed any more, and it is large.
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

// frontPath is the address of the first page.
const frontPath = "/"

// Lifetimes of the first page about live data.
const (
	frontFor = time.Minute      // an older one is not shown
	renewIn  = 30 * time.Second // timeout for a newer one
)

// A front caches the first page of each fleet. Readers who arrive while new data is assessed and drawn see the cached page; then an event makes
// their browsers load the new one.
type front struct {
	mu   sync.Mutex
	kept map[string]*frontPage // by fleet
}

type frontPage struct {
	view       *view
	made       time.Time
	generation uint64 // of the board when it was made
	renewing   bool
}

// shown returns the cached first page, or makes one. A page with a question, such as for other rows, is not cached.
func (f *front) shown(x *request) (*view, error) {
	asks := len(x.query)
	if x.query.Has("fleet") {
		asks--
	}
	if asks > 0 || x.posted || x.fleet == nil {
		return x.shown()
	}
	generation, _ := x.site.Live.Board.Generation()
	f.mu.Lock()
	kept := f.kept[x.fleet.Name]
	if kept == nil || time.Since(kept.made) > frontFor {
		f.mu.Unlock()
		return f.make(x)
	}
	defer f.mu.Unlock()
	if kept.generation != generation && time.Since(kept.made) > presentFor && !kept.renewing {
		kept.renewing = true
		go f.renew(x)
	}
	return kept.view, nil
}

// make makes the first page and caches it.
func (f *front) make(x *request) (*view, error) {
	made := time.Now()
	generation, _ := x.site.Live.Board.Generation()
	v, err := x.shown()
	if err != nil {
		return v, err
	}
	own := *v
	if own.body, err = x.bodyOf(v); err != nil {
		return v, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept == nil {
		f.kept = map[string]*frontPage{}
	}
	f.kept[x.fleet.Name] = &frontPage{view: &own, made: made, generation: generation}
	return &own, nil
}

// renew makes the first page anew in the background, and tells browsers to load it. A panic is left to the next reader, whose request reports it.
func (f *front) renew(old *request) {
	defer func() {
		if recover() != nil {
			f.mu.Lock()
			defer f.mu.Unlock()
			delete(f.kept, old.fleet.Name)
		}
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(old.Context()), renewIn)
	defer cancel()
	x, err := old.site.request(old.page, old.WithContext(ctx))
	if err == nil && x.fleet != nil {
		_, err = f.make(x)
	}
	b := old.site.Live.Board
	b.Touch()
	generation, _ := b.Generation()
	f.mu.Lock()
	defer f.mu.Unlock()
	kept := f.kept[old.fleet.Name]
	kept.renewing = false
	if err == nil && kept.generation+1 == generation { // nothing else has changed
		kept.generation = generation
	}
}
