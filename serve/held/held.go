// Package held has the judged fleets that a server holds and pages ask about: one for each vCenter, made anew of what is
// seen while somebody asks, or one that was read from a file.
package held

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"homenode/numa"
	"homenode/rules"
)

// A Fleet is judged and never changed.
type Fleet struct {
	Name    string   // for people: of a vCenter or a file
	Sources []string // of a command line that reads the same
	Result  *rules.Result
	Judged  time.Time
	Live    bool // of a vCenter that is collected from
}

// An Inventory returns the inventory of a vCenter with what is seen of its VMs now, and the names of all that have one.
type Inventory func(vcenter string) (*numa.Fleet, []string)

// Live holds the fleets of vCenters.
type Live struct {
	Inventory Inventory
	Options   func() rules.Options
	Sources   func(vcenter string) []string
	Collected bool // what is held comes from vCenters that are collected from
	// Fresh is how old a judgement may be that is shown; 0 for a minute. An older one is shown once more while the next is made.
	// What is not collected does not age.
	Fresh time.Duration
	// Judged is told when a judgement was made anew; nil for nobody.
	Judged func()

	mu    sync.Mutex
	held  map[string]*Fleet
	doing map[string]bool
}

// Fleets returns what is held, by name. The first call waits for the judgement of each.
func (l *Live) Fleets() (all []*Fleet) {
	_, names := l.Inventory("")
	slices.SortFunc(names, cmp.Compare[string])
	for _, name := range names {
		l.mu.Lock()
		f := l.held[name]
		old := f != nil && l.Collected && time.Since(f.Judged) > cmp.Or(l.Fresh, time.Minute)
		again := old && !l.doing[name]
		if again {
			if l.doing == nil {
				l.doing = map[string]bool{}
			}
			l.doing[name] = true
		}
		l.mu.Unlock()
		switch {
		case f == nil:
			f = l.judge(name)
		case again:
			go func() {
				l.judge(name)
				if l.Judged != nil {
					l.Judged()
				}
			}()
		}
		if f != nil {
			all = append(all, f)
		}
	}
	return all
}

// Again forgets what was judged: the options have changed.
func (l *Live) Again() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = nil
}

// judge judges the inventory of a vCenter as it is now; nil when there is none any more.
func (l *Live) judge(name string) *Fleet {
	fleet, _ := l.Inventory(name)
	var f *Fleet
	if fleet != nil {
		f = &Fleet{Name: name, Sources: l.Sources(name), Result: rules.Run(fleet, l.Options()), Judged: time.Now(), Live: l.Collected}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[string]*Fleet{}
	}
	l.held[name] = f
	delete(l.doing, name)
	return f
}
