// Package held has the assessed fleets of a server, about which pages ask. There is one for each vCenter, reassessed from live data on
// request, or one from a file.
package held

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"example.org/homenode/change/whatif"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
)

// A Fleet is assessed and immutable.
type Fleet struct {
	Name    string   // display name of a vCenter or a file
	Sources []string // arguments of a command line that reads the same data
	Address string   // of the vCenter on which a plan can be applied; "" for a file
	Result  *rules.Result
	Judged  time.Time
	Live    bool // from a vCenter that is collected from
	// Bare returns the assessment without observations, for comparison with a what-if. It is computed on first use.
	Bare func() *rules.Result
}

// bare assesses a fleet for Fleet.Bare; judged is its assessment by these options.
func bare(judged *rules.Result, o rules.Options) *rules.Result {
	if !slices.ContainsFunc(judged.Fleet.VMs, func(v numa.VM) bool { return v.Observed != nil }) {
		return judged
	}
	return rules.Run(whatif.Unobserved(judged.Fleet), o)
}

// An Inventory returns the inventory of a vCenter with current observations of its VMs, and the names of all vCenters that have one.
type Inventory func(vcenter string) (*numa.Fleet, []string)

// Live has the fleets of vCenters.
type Live struct {
	Inventory Inventory
	Options   func() rules.Options
	Sources   func(vcenter string) []string
	Address   func(vcenter string) string
	Collected bool // the data comes from live vCenters; otherwise it does not age
	// Fresh is the maximum age of a displayed assessment; 0 means a minute. An older one is recomputed. It is displayed once more if that
	// takes longer than a reader would notice. Slow assessments are recomputed less often.
	Fresh time.Duration
	// Judged is called after each new assessment; nil for none.
	Judged func()

	mu    sync.Mutex
	held  map[string]*Fleet
	doing map[string]*judging
	took  time.Duration // duration of the last assessment
}

// Timing of assessments: how long readers wait for a new one, and the minimum interval as a multiple of the duration.
const (
	waited = 50 * time.Millisecond
	apart  = 20
)

// A judging is a running assessment.
type judging struct {
	done  chan struct{} // closed at the end
	fleet *Fleet        // result; nil if the inventory is gone
}

// Fleets returns the fleets by name. The first caller waits for the assessment of each; concurrent callers share it.
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

// judge assesses the current inventory of a vCenter.
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
