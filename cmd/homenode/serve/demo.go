package serve

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/numa"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/collect"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/esxtop/fetchstats"
	"example.org/homenode/source/open"
	"example.org/homenode/source/vsphere"
	"example.org/homenode/source/vsphere/lab"
)

// A demoLab is a simulated vCenter with running hosts. The simulated scheduler plays the demo's story on them in real time; the first
// day of the story has passed when it starts.
type demoLab struct {
	name   string // of the vCenter, as in the Board
	vc     *lab.VCenter
	story  *numa.Story
	world  *scheduler.World
	start  time.Time   // start of the day in wall-clock time; the story uses another date, so that events do not depend on the time of day
	past   []numa.Tick // ticks of the previous day; those of each host are in time order
	hostID map[string]string
	placed map[string]placed // as reported by the vCenter, by VM ID
	until  time.Duration     // end of the time that placed covers

	mu      sync.Mutex
	keep    bool // append ticks to past
	writers map[string]*fetchstats.Writer
	answers map[string]string     // latest Esxtop answer, by host ID; from the end of the day on
	faults  map[string]string     // by host ID
	runs    map[string]string     // host ID by VM name, for running VMs
	moves   map[string]numa.Moves // by VM name: migrations since the last tick that was stored
}

// A placed is the host and power state of a VM.
type placed struct {
	host  string // ID
	power numa.PowerState
}

// After its day the demo repeatedly patches a host, so that a viewer sees locality fall and recover.
const (
	demoDay    = 24 * time.Hour
	demoRounds = 30 * 24 * time.Hour
	demoRound  = 40 * time.Minute
	demoTick   = 20 * time.Second // during the day
	demoPast   = 5 * time.Minute  // interval of the stored ticks of the day, except for its last hour
	demoLive   = 2 * time.Second  // after the day; hosts also count this often
)

// startDemo simulates the day that ends at now.
func startDemo(ctx context.Context, now time.Time) (*demoLab, error) {
	story, err := demo.Story()
	if err != nil {
		return nil, err
	}
	d := &demoLab{name: open.Demo, story: story, hostID: map[string]string{}, writers: map[string]*fetchstats.Writer{}, answers: map[string]string{}, keep: true,
		placed: map[string]placed{}, until: demoDay, runs: map[string]string{}, moves: map[string]numa.Moves{}}
	d.start = now.UTC().Truncate(2 * time.Second).Add(-demoDay)
	story.Length, story.Every = demoDay+demoRounds, demoTick
	if err := d.addRounds(); err != nil {
		return nil, err
	}
	for i := range story.Fleet.Hosts {
		h := &story.Fleet.Hosts[i]
		d.hostID[h.Name] = h.ID
		d.writers[h.ID] = &fetchstats.Writer{Machine: h, Boot: d.start.Add(-240 * time.Hour)}
	}
	if d.world, err = scheduler.New(story, scheduler.Options{Workers: 1, Observe: func(_ int, t *numa.Tick, _ *scheduler.Look) { d.observe(t) }}); err != nil {
		return nil, err
	}
	if err := d.world.RunTo(ctx, demoDay); err != nil {
		return nil, err
	}
	d.keep = false
	for host, t := range numa.ByKey(d.past, func(t *numa.Tick) string { return t.Host }) {
		d.answers[d.hostID[host]] = d.writers[d.hostID[host]].Answer(t)
	}
	d.world.ObserveEvery(demoLive)
	f := d.fleet()
	for i := range f.VMs {
		d.placed[f.VMs[i].ID] = placed{f.VMs[i].Host, f.VMs[i].Power.Value}
	}
	if d.vc, err = lab.Start(f); err != nil {
		return nil, err
	}
	if err := d.vc.ServeEsxtop(d.answer); err != nil {
		d.vc.Close()
		return nil, err
	}
	return d, nil
}

// patched maps VMs to the hosts that they move to when their host is patched, as in the demo's story. The cluster places the others.
// cache01 moves last, when the load of the earlier VMs is known: it lands on the node of esx02 that is short of memory.
var patched = map[string]string{"sql05": "esx01.demo", "app07": "esx02.demo", "app15": "esx02.demo", "web007": "esx02.demo", "web015": "esx02.demo"}

// addRounds adds the events after the day: esx05 is patched, and its VMs leave and return.
func (d *demoLab) addRounds() error {
	byName := map[string]string{}
	for i := range d.story.Fleet.Hosts {
		byName[d.story.Fleet.Hosts[i].Name] = d.story.Fleet.Hosts[i].ID
	}
	host := byName["esx05.demo"]
	var guests []*numa.VM
	for i := range d.story.Fleet.VMs {
		if v := &d.story.Fleet.VMs[i]; v.Host == host && v.Power.Value == numa.PoweredOn {
			guests = append(guests, v)
		}
	}
	if host == "" || len(guests) == 0 {
		return fmt.Errorf("the demo's story has no host esx05.demo with VMs")
	}
	cache := d.story.Fleet.FindVMs("cache01")
	if len(cache) != 1 {
		return fmt.Errorf("the demo's story has no VM cache01")
	}
	add := func(at time.Duration, kind numa.EventKind, vm, host string) {
		d.story.Events = append(d.story.Events, numa.Event{At: at, Kind: kind, VM: vm, Host: host})
	}
	for at := demoDay + time.Minute; at < demoDay+demoRounds; at += demoRound {
		for _, g := range guests {
			if to := byName[patched[g.Name]]; to != "" {
				add(at, numa.VMotion, g.ID, to)
			}
		}
		add(at+10*time.Second, numa.VMotion, cache[0].ID, byName["esx02.demo"])
		add(at+20*time.Second, numa.Maintenance, "", host)
		add(at+demoRound/2, numa.LeaveMaintenance, "", host)
		for _, g := range guests {
			add(at+demoRound/2+time.Minute, numa.VMotion, g.ID, host)
		}
	}
	return nil
}

// fleet returns the inventory at the end of the day, with current placement and settings.
func (d *demoLab) fleet() *numa.Fleet {
	f := *d.story.Fleet
	f.VMs = slices.Clone(f.VMs)
	at := map[string]string{}
	for host, t := range numa.ByKey(d.past, func(t *numa.Tick) string { return t.Host }) {
		for i := range t.VMs {
			at[t.VMs[i].Name] = d.hostID[host]
		}
	}
	for i := range f.VMs {
		v := &f.VMs[i]
		for j := range d.story.Events {
			if e := &d.story.Events[j]; e.VM == v.ID && e.Config != nil && e.At <= demoDay {
				v.Config = *e.Config
			}
		}
		host, runs := at[v.Name]
		v.Power = numa.ReadAt(numa.PoweredOff, "the simulation")
		if runs {
			v.Host, v.Power = host, numa.ReadAt(numa.PoweredOn, "the simulation")
		}
	}
	return &f
}

// observe handles a tick of the simulated scheduler. Of the past day it stores the last hour, and a tick every five minutes before that.
func (d *demoLab) observe(t *numa.Tick) {
	at := t.Time.Sub(d.story.Start)
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range t.VMs {
		sum := d.moves[t.VMs[i].Name]
		sum.Add(t.VMs[i].Moves)
		d.moves[t.VMs[i].Name] = sum
	}
	if d.keep && at%demoPast != 0 && at < demoDay-time.Hour {
		return // the next tick that is stored has its migrations
	}
	id, c := d.hostID[t.Host], *t
	c.Time = d.start.Add(at)
	c.Nodes, c.VMs = slices.Clone(t.Nodes), slices.Clone(t.VMs)
	for i := range c.VMs {
		c.VMs[i].OnNode, c.VMs[i].Moves = slices.Clone(c.VMs[i].OnNode), d.moves[c.VMs[i].Name]
		c.VMs[i].Has &^= numa.HasFar // no host states it
		delete(d.moves, c.VMs[i].Name)
	}
	maps.DeleteFunc(d.runs, func(_, host string) bool { return host == id })
	for i := range t.VMs {
		d.runs[t.VMs[i].Name] = id
	}
	if d.keep {
		d.past = append(d.past, c)
		return
	}
	d.answers[id] = d.writers[id].Answer(&c) // its counters are cumulative
}

// answer simulates the Esxtop service of a host.
func (d *demoLab) answer(host, command string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch command {
	case "CounterInfo":
		return d.writers[host].Info(), nil
	case "FetchStats":
		text := d.answers[host]
		if spoil := faults[d.faults[host]]; spoil != nil {
			d.mu.Unlock()
			defer d.mu.Lock()
			return spoil(text)
		}
		return text, nil
	case "FreeStats":
		return "", nil
	}
	return "", fmt.Errorf("found the command %q", command)
}

// prime adds the day to a Board. The last hour is assessed, the rest stored.
func (d *demoLab) prime(to *board.Board) {
	to.Fleet(d.name, d.fleet())
	slices.SortStableFunc(d.past, func(a, b numa.Tick) int { return a.Time.Compare(b.Time) })
	end := d.start.Add(demoDay)
	for i := range d.past {
		switch t := &d.past[i]; {
		case end.Sub(t.Time) <= time.Hour:
			to.Tick(d.name, d.hostID[t.Host], t)
		default:
			to.Past(d.name, d.hostID[t.Host], t)
		}
	}
	d.past = nil
}

// run continues the simulation in real time.
func (d *demoLab) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := d.runTo(ctx, time.Since(d.start)); err != nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// runTo continues the simulation and updates the vCenter: placement of VMs, and hosts in maintenance.
func (d *demoLab) runTo(ctx context.Context, at time.Duration) error {
	if err := d.world.RunTo(ctx, at); err != nil {
		return err
	}
	for i := range d.story.Events {
		if e := &d.story.Events[i]; e.At > d.until && e.At <= at && (e.Kind == numa.Maintenance || e.Kind == numa.LeaveMaintenance) {
			d.vc.Connect(e.Host, "connected", e.Kind == numa.Maintenance)
		}
	}
	d.until = at
	d.mu.Lock()
	runs := maps.Clone(d.runs)
	d.mu.Unlock()
	for i := range d.story.Fleet.VMs {
		v := &d.story.Fleet.VMs[i]
		now := placed{d.placed[v.ID].host, numa.PoweredOff}
		if host, ok := runs[v.Name]; ok {
			now = placed{host, numa.PoweredOn}
		}
		if now == d.placed[v.ID] {
			continue
		}
		if err := d.vc.Place(v.ID, now.host, now.power); err != nil {
			return err
		}
		d.placed[v.ID] = now
	}
	return nil
}

func (d *demoLab) dial(ctx context.Context) (*vsphere.Live, error) {
	return vsphere.Open(ctx, d.vc.URL, vsphere.Options{Insecure: true})
}

func (d *demoLab) close() { d.vc.Close() }

// A demoSink adds observations from logs and guests to the inventory of the demo, as homenode assess demo does.
type demoSink struct {
	collect.Sink
	observed map[string][]numa.Observation // by VM name
}

// newDemoSink returns a demoSink in front of another sink.
func newDemoSink(to collect.Sink) (*demoSink, error) {
	f, err := demo.Fleet()
	if err != nil {
		return nil, err
	}
	s := &demoSink{to, map[string][]numa.Observation{}}
	for i := range f.VMs {
		s.observed[f.VMs[i].Name] = f.VMs[i].Observed
	}
	return s, nil
}

// Fleet passes on the inventory with observations.
func (s *demoSink) Fleet(vcenter string, f *numa.Fleet) {
	for i := range f.VMs {
		f.VMs[i].Observed = s.observed[f.VMs[i].Name]
	}
	s.Sink.Fleet(vcenter, f)
}
