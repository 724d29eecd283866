// Package held has the judged fleets that a server holds and pages ask about: one for each vCenter, made anew of what is
// seen while somebody asks, or one that was read from a file.
package held

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"homenode/change/whatif"
	"homenode/numa"
	"homenode/rules"
)

// A Fleet is judged and never changed.
type Fleet struct {
	Name    string   // for people: of a vCenter or a file
	Sources []string // of a command line that reads the same
	Address string   // of the vCenter, where a plan can be carried out; "" for a file
	Result  *rules.Result
	Judged  time.Time
	Live    bool // of a vCenter that is collected from
	// Bare is the judgement without what was seen: a what-if stands beside it. It is made when it is asked for.
	Bare func() *rules.Result
}

// bare judges a fleet as Fleet.Bare says; judged is its judgement by these options.
func bare(judged *rules.Result, o rules.Options) *rules.Result {
	if !slices.ContainsFunc(judged.Fleet.VMs, func(v numa.VM) bool { return v.Observed != nil }) {
		return judged
	}
	return rules.Run(whatif.Unobserved(judged.Fleet), o)
}

// An Inventory returns the inventory of a vCenter with what is seen of its VMs now, and the names of all that have one.
type Inventory func(vcenter string) (*numa.Fleet, []string)

// Live holds the fleets of vCenters.
type Live struct {
	Inventory Inventory
	Options   func() rules.Options
	Sources   func(vcenter string) []string
	Address   func(vcenter string) string
	Collected bool // what is held comes from vCenters that are collected from; else it does not age
	// Fresh is how old a judgement may be that is shown; 0 for a minute. An older one is made anew; it is shown once more when that takes
	// longer than a reader notices. What takes long is made less often.
	Fresh time.Duration
	// Judged is told when a judgement was made anew; nil for nothing.
	Judged func()

	mu    sync.Mutex
	held  map[string]*Fleet
	doing map[string]*judging
	took  time.Duration // the last one
}

// Of judgements: how long readers wait for a new one, and how much time passes between two for the time that one takes.
const (
	waited = 50 * time.Millisecond
	apart  = 20
)

// A judging is a judgement under way.
type judging struct {
	done  chan struct{} // closed when it is
	fleet *Fleet        // then; nil when there is no inventory any more
}

// Fleets returns what is held, by name. Who comes first waits for the judgement of each, which is made once for all who wait.
func (l *Live) Fleets() (all []*Fleet) {
	_, names := l.Inventory("")
	slices.SortFunc(names, cmp.Compare[string])
	for _, name := range names {
		l.mu.Lock()
		f, j := l.held[name], l.doing[name]
		if j == nil && (f == nil || l.Collected && time.Since(f.Judged) > max(cmp.Or(l.Fresh, time.Minute), apart*l.took)) {
			j = &judging{done: make(chan struct{})}
			if l.doing == nil {
				l.doing = map[string]*judging{}
			}
			l.doing[name] = j
			again := f != nil
			go func() {
				l.judge(name, j)
				close(j.done)
				if again && l.Judged != nil {
					l.Judged()
				}
			}()
		}
		l.mu.Unlock()
		switch {
		case j == nil:
		case f == nil:
			<-j.done
			f = j.fleet
		default:
			select {
			case <-j.done:
				if j.fleet != nil {
					f = j.fleet
				}
			case <-time.After(waited):
			}
		}
		if f != nil {
			all = append(all, f)
		}
	}
	return all
}

// judge judges the inventory of a vCenter as it is now.
func (l *Live) judge(name string, j *judging) {
	begun := time.Now()
	fleet, _ := l.Inventory(name)
	if fleet != nil {
		o := l.Options()
		r := rules.Run(fleet, o)
		j.fleet = &Fleet{Name: name, Sources: l.Sources(name), Address: l.Address(name), Result: r, Judged: time.Now(), Live: l.Collected, Bare: sync.OnceValue(func() *rules.Result { return bare(r, o) })}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = time.Since(begun)
	delete(l.doing, name)
	if l.held == nil {
		l.held = map[string]*Fleet{}
	}
	l.held[name] = j.fleet
}
