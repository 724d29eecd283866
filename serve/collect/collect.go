// Package collect reads esxtop's counters of every host of a vCenter continuously over one session. The data
// goes to a Sink; errors are reported in its Status.
//
//	session ──► inventory, every 10 minutes ──► Sink.Fleet
//	        ├─► changes in between          ──► Sink.Update
//	        └─► each host in its own turn   ──► Sink.Tick
package collect

import (
	"context"
	"fmt"
	"sync"
	"time"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/source/vsphere"
)

// A Sink receives the collected data. Calls for different hosts are concurrent.
type Sink interface {
	// Fleet receives the inventory of a vCenter.
	Fleet(vcenter string, f *numa.Fleet)
	// Update receives the current state of hosts and VMs of the last inventory, or of the next one.
	Update(vcenter string, updates []numa.Update)
	// Tick receives the ticks of a host, by its ID, in time order. t is valid during the call only.
	Tick(vcenter, host string, t *numa.Tick)
}

// Options control the polling of a vCenter. The zero value of each field selects the default.
type Options struct {
	Every     time.Duration // polling interval of a host: 60 s; the service itself updates every 2 s
	Timeout   time.Duration // for one answer: 15 s
	Inventory time.Duration // interval of inventory reads: 10 min
	Retry     time.Duration // time between login attempts: 60 s
	Backoff   time.Duration // pause after three failures of a host, doubled up to 15 times as long: 60 s
	AtOnce    int           // concurrent requests: 8
	Bytes     int64         // limit of answer bytes per second, beyond which all hosts are polled less often: 10 MB
	// Answers is called for every answer that fits its columns, and before that for the columns; nil for none.
	Answers func(*Answer)
	// Wanted reports whether a host is collected from; nil for all.
	Wanted func(h *numa.Host, cluster string) bool
}

// An Answer is a response of a host's service, valid during the call only.
type Answer struct {
	VCenter, Host, Name string    // Host is the ID
	Columns             bool      // CounterInfo, not FetchStats
	Time                time.Time // by the host's clock; zero for the columns
	Text                []byte
}

func (o Options) filled() Options {
	set := func(d *time.Duration, by time.Duration) {
		if *d <= 0 {
			*d = by
		}
	}
	set(&o.Every, time.Minute)
	set(&o.Timeout, 15*time.Second)
	set(&o.Inventory, 10*time.Minute)
	set(&o.Retry, time.Minute)
	set(&o.Backoff, time.Minute)
	if o.AtOnce <= 0 {
		o.AtOnce = 8
	}
	if o.Bytes <= 0 {
		o.Bytes = 10e6
	}
	return o
}

// A Collector collects from one vCenter.
type Collector struct {
	name string
	opts Options
	sink Sink
	gate *gate
	turn chan struct{} // a semaphore: one slot for each concurrent answer

	mu      sync.Mutex
	hosts   map[string]*host // by ID
	fleetAt time.Time
	fleet   string // error of the last inventory; empty if it was read
	updates string // error of the updates; empty while they arrive
	ill     bool   // more than a third of the hosts do not answer
	probe   time.Time
	healed  time.Time // end of the last such period
}

// New returns the Collector of the vCenter that dial logs in to. It sends no request before Run.
func New(name string, dial func(context.Context) (*vsphere.Live, error), sink Sink, o Options) *Collector {
	o = o.filled()
	return &Collector{name: name, opts: o, sink: sink, gate: &gate{dial: dial, retry: o.Retry}, turn: make(chan struct{}, o.AtOnce), hosts: map[string]*host{}}
}

// Run collects until ctx ends, then logs out.
func (c *Collector) Run(ctx context.Context) {
	var all sync.WaitGroup
	following := func() {} // stops following the updates
	defer func() {
		following()
		all.Wait()
		c.gate.close()
	}()
	rest := c.opts.Retry // pause after updates have ended, doubled each time
	for {
		if !c.readFleet(ctx, &all) {
			if !sleep(ctx, min(c.opts.Inventory, c.opts.Retry)) {
				return
			}
			continue
		}
		// Updates restart with each inventory: changes during its reading are reported again.
		following()
		limited, cancel := context.WithCancel(ctx)
		begun, ended := time.Now(), make(chan struct{})
		go func() {
			defer close(ended)
			c.follow(limited)
		}()
		following = func() { cancel(); <-ended }
		next := time.NewTimer(c.opts.Inventory)
		select {
		case <-next.C:
			rest = c.opts.Retry
		case <-ended:
			if time.Since(begun) > rest {
				rest = c.opts.Retry
			}
			if !sleep(ctx, min(rest, c.opts.Inventory-time.Since(begun))) {
				return
			}
			rest = min(2*rest, c.opts.Inventory)
		case <-ctx.Done():
			return
		}
		next.Stop()
	}
}

// follow forwards changes until ctx ends or the vCenter stops sending them.
func (c *Collector) follow(ctx context.Context) {
	err := c.gate.with(ctx, func(l *vsphere.Live) error { return l.Updates(ctx, c.update) })
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.updates = plain(err)
	for _, h := range c.hosts { // no update would report its return
		h.mu.Lock()
		h.away = ""
		h.mu.Unlock()
	}
}

// update processes changes.
func (c *Collector) update(updates []numa.Update) {
	c.mu.Lock()
	c.updates = ""
	for i := range updates {
		if h := c.hosts[updates[i].ID]; h != nil && !updates[i].VM {
			h.update(&updates[i])
		}
	}
	c.mu.Unlock()
	c.sink.Update(c.name, updates)
}

// sleep waits; false if ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(max(0, d))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// readFleet reads the inventory, and starts and stops the goroutines of hosts accordingly. It reports whether
// there is an inventory.
func (c *Collector) readFleet(ctx context.Context, all *sync.WaitGroup) bool {
	var f *numa.Fleet
	err := c.gate.with(ctx, func(l *vsphere.Live) (err error) {
		f, err = l.Fleet(ctx)
		return err
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.fleet = err.Error()
		return false
	}
	c.fleet, c.fleetAt = "", time.Now()
	c.sink.Fleet(c.name, f)
	clusters := map[string]string{}
	for _, k := range f.Clusters {
		clusters[k.ID] = k.Name
	}
	found := map[string]bool{}
	for i := range f.Hosts {
		m := &f.Hosts[i]
		cluster := clusters[m.Cluster]
		if c.opts.Wanted != nil && !c.opts.Wanted(m, cluster) {
			continue
		}
		found[m.ID] = true
		if h := c.hosts[m.ID]; h != nil {
			h.learn(m, cluster)
			continue
		}
		h := &host{c: c, id: m.ID, back: make(chan struct{}, 1)}
		h.learn(m, cluster)
		turns, stop := context.WithCancel(ctx)
		h.stop = stop
		c.hosts[m.ID] = h
		all.Go(func() { h.run(turns) })
	}
	if len(found) == 0 && len(f.Hosts) > 0 && c.fleet == "" {
		c.fleet = NoneSelected(f)
	}
	for id, h := range c.hosts {
		if !found[id] {
			h.stop()
			delete(c.hosts, id)
		}
	}
	return true
}

// NoneSelected says that the names and patterns of the user select no host of a fleet, and names some.
func NoneSelected(f *numa.Fleet) string {
	hosts := words.Texts(f.Hosts, func(h numa.Host) string { return h.Name })
	return fmt.Sprintf("--cluster and --host select none of its %s: %s", words.Plural(len(hosts), "host"), words.Few(hosts))
}

// interval returns the polling interval of hosts: longer than configured if their answers would exceed the
// byte limit.
func (c *Collector) interval() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	var sum int64
	for _, h := range c.hosts {
		h.mu.Lock()
		sum += int64(h.status.Size)
		h.mu.Unlock()
	}
	need := time.Duration(float64(sum) / float64(c.opts.Bytes) * float64(time.Second))
	return c.opts.Every * max(1, (need+c.opts.Every-1)/c.opts.Every)
}

// mayAsk reports whether a host may be polled. If more than a third of at least three hosts do not answer, the
// vCenter itself is considered ill: then one host per Backoff is tried until one answers.
func (c *Collector) mayAsk() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ill {
		failing := 0
		for _, h := range c.hosts {
			h.mu.Lock()
			if (h.status.Reason == "timeout" || h.status.Reason == "other") && h.status.Asked.After(c.healed) {
				failing++
			}
			h.mu.Unlock()
		}
		c.ill = failing >= 3 && failing*3 > len(c.hosts)
	}
	if !c.ill {
		return true
	}
	if time.Since(c.probe) < c.opts.Backoff {
		return false
	}
	c.probe = time.Now()
	return true
}

// heal records that a host answered: the vCenter is not ill, and earlier failures no longer count.
func (c *Collector) heal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ill {
		c.ill, c.healed = false, time.Now()
	}
}
