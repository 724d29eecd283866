package site

import (
	"context"
	"sync"
	"time"
)

// Lifetimes of the first page about live data.
const (
	frontFor  = time.Minute      // an older one is not shown
	renewIn   = 30 * time.Second // maximum time to make a newer one
	frontPath = "/"
)

// A front keeps the first page of each fleet. Readers who come while new data is judged and drawn see the kept page once more; then an event makes
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

// shown returns the kept first page, or makes one. A page with a question, such as for other rows, is not kept.
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

// make makes the first page and keeps it.
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

// renew makes the first page anew, for nobody, and tells browsers to load it.
func (f *front) renew(old *request) {
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
