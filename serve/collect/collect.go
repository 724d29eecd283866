// Package collect reads esxtop's counters of every host of a vCenter, over one session and
// without rest: what it reads goes to a Sink, what it cannot read is said in its Status.
//
//	session ──► inventory, every 10 minutes ──► Sink.Fleet
//	        ├─► what changes in between     ──► Sink.Update
//	        └─► each host in its own turn   ──► Sink.Tick
package collect

import (
	"context"
	"fmt"
	"sync"
	"time"

	"homenode/numa"
	"homenode/source/vsphere"
)

// A Sink takes what is read. Calls of different hosts come at the same time.
type Sink interface {
	// Fleet takes the inventory of a vCenter.
	Fleet(vcenter string, f *numa.Fleet)
	// Update takes what hosts and VMs of the last inventory, or of the next one, are now.
	Update(vcenter string, updates []numa.Update)
	// Tick takes the tick of a host by its ID, in the order of time. It is borrowed.
	Tick(vcenter, host string, t *numa.Tick)
}

// Options say how often and how hard a vCenter is asked. The zero value of each field is
// the default.
type Options struct {
	Every     time.Duration // between two answers of a host: 60 s; the service itself counts every 2 s
	Timeout   time.Duration // of one answer: 15 s
	Inventory time.Duration // between two readings of the inventory: 10 min
	Retry     time.Duration // between two attempts to log in: 60 s
	Backoff   time.Duration // rest of a host that failed three times, doubled up to 15 times as long: 60 s
	AtOnce    int           // answers at a time: 8
	Bytes     int64         // of answers a second, beyond which all hosts are asked less often: 10 MB
	// Answers is told of every answer that fits its columns, and of the columns before it; nil for nothing.
	Answers func(*Answer)
	// Wanted says which hosts are collected; nil for all.
	Wanted func(h *numa.Host, cluster string) bool
}

// An Answer is what the service of a host says; it is borrowed.
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
	turn chan struct{} // one for each answer at a time

	mu      sync.Mutex
	hosts   map[string]*host // by ID
	fleetAt time.Time
	fleet   string // why the last inventory could not be read; empty when it was
	updates string // why updates are not told; empty while they are
	ill     bool   // more than a third of the hosts do not answer
	probe   time.Time
	healed  time.Time // when it was ill last
}

// New returns the Collector of the vCenter that dial logs in to. Nothing is asked before Run.
func New(name string, dial func(context.Context) (*vsphere.Live, error), sink Sink, o Options) *Collector {
	o = o.filled()
	return &Collector{name: name, opts: o, sink: sink, gate: &gate{dial: dial, retry: o.Retry}, turn: make(chan struct{}, o.AtOnce), hosts: map[string]*host{}}
}

// Run collects until ctx ends, and then logs out.
func (c *Collector) Run(ctx context.Context) {
	var all sync.WaitGroup
	following := func() {} // ends what follows the updates
	defer func() {
		following()
		all.Wait()
		c.gate.close()
	}()
	rest := c.opts.Retry // after updates that ended, doubled each time
	for {
		if !c.readFleet(ctx, &all) {
			if !sleep(ctx, min(c.opts.Inventory, c.opts.Retry)) {
				return
			}
			continue
		}
		// They begin anew with each inventory: what changed while that was read is told again.
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

// follow tells what changes, until ctx ends or the vCenter ends it.
func (c *Collector) follow(ctx context.Context) {
	err := c.gate.with(ctx, func(l *vsphere.Live) error { return l.Updates(ctx, c.update) })
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.updates = plain(err)
	for _, h := range c.hosts { // no update would say that one is back
		h.mu.Lock()
		h.away = ""
		h.mu.Unlock()
	}
}

// update takes what changed.
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

// sleep waits; false when ctx ended.
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

// readFleet reads the inventory and begins and ends the turns of hosts by it. It reports whether there is one.
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
		c.fleet = fmt.Sprintf("none of its %d hosts is selected by --cluster and --host", len(f.Hosts))
	}
	for id, h := range c.hosts {
		if !found[id] {
			h.stop()
			delete(c.hosts, id)
		}
	}
	return true
}

// interval returns how often hosts are asked: more seldom than wanted when their answers
// would bring more bytes than allowed.
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

// mayAsk reports whether a host may be asked: when more than a third of at least three do not answer, the
// vCenter is taken for ill, and one is tried at a time of Backoff, until one answers.
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

// heal says that a host answered: the vCenter is not ill, and what failed before counts no more.
func (c *Collector) heal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ill {
		c.ill, c.healed = false, time.Now()
	}
}
