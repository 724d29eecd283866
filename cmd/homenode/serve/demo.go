package serve

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"homenode/esxi/scheduler"
	"homenode/numa"
	"homenode/serve/board"
	"homenode/serve/collect"
	"homenode/source/demo"
	"homenode/source/esxtop/fetchstats"
	"homenode/source/open"
	"homenode/source/vsphere"
	"homenode/source/vsphere/lab"
)

// A demoLab is a simulated vCenter whose hosts live: the simulated scheduler plays the demo's
// story on them in the time of the clock, a day of which is over when it starts.
type demoLab struct {
	name   string // of the vCenter, for a Board
	vc     *lab.VCenter
	story  *numa.Story
	world  *scheduler.World
	start  time.Time   // of the day by the clock; in the story it is another one, so that what happens does not hang on the hour
	past   []numa.Tick // of the day before, those of a host in the order of time
	hostID map[string]string
	placed map[string]placed // as the vCenter says, by ID of a VM
	until  time.Duration     // up to which it says so

	mu      sync.Mutex
	keep    bool // ticks in past
	writers map[string]*fetchstats.Writer
	answers map[string]string // the last, by host ID; from the end of the day on
	faults  map[string]string // by host ID
	runs    map[string]string // host ID by name of a VM, of those that run
}

// A placed is where a VM is, and whether it runs.
type placed struct {
	host  string // ID
	power numa.PowerState
}

// The demo after its day: a host is patched again and again, so that somebody who looks sees
// locality fall and come back.
const (
	demoDay    = 24 * time.Hour
	demoRounds = 30 * 24 * time.Hour
	demoRound  = 40 * time.Minute
	demoTick   = 20 * time.Second // of the day
	demoPast   = 5 * time.Minute  // between the ticks of the day that are kept, but for its last hour
	demoLive   = 2 * time.Second  // after it: as fast as hosts count
)

// startDemo plays the day that ends now.
func startDemo(ctx context.Context, now time.Time) (*demoLab, error) {
	story, err := demo.Story()
	if err != nil {
		return nil, err
	}
	d := &demoLab{name: open.Demo, story: story, hostID: map[string]string{}, writers: map[string]*fetchstats.Writer{}, answers: map[string]string{}, keep: true,
		placed: map[string]placed{}, until: demoDay, runs: map[string]string{}}
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
	last := map[string]*numa.Tick{} // of each host
	for i := range d.past {
		last[d.past[i].Host] = &d.past[i]
	}
	for host, t := range last {
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

// patched are the VMs that leave the patched host for hosts of their own choice, as in the demo's story; the others go where the cluster
// puts them.
var patched = map[string]string{"sql05": "esx01.demo", "cache01": "esx02.demo", "app07": "esx02.demo", "app15": "esx02.demo", "web007": "esx02.demo", "web015": "esx02.demo"}

// addRounds adds what happens after the day: esx05 is patched, its VMs leave it and come back.
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
	add := func(at time.Duration, kind numa.EventKind, vm, host string) {
		d.story.Events = append(d.story.Events, numa.Event{At: at, Kind: kind, VM: vm, Host: host})
	}
	for at := demoDay + time.Minute; at < demoDay+demoRounds; at += demoRound {
		for _, g := range guests {
			if to := byName[patched[g.Name]]; to != "" {
				add(at, numa.VMotion, g.ID, to)
			}
		}
		add(at+20*time.Second, numa.Maintenance, "", host)
		add(at+demoRound/2, numa.LeaveMaintenance, "", host)
		for _, g := range guests {
			add(at+demoRound/2+time.Minute, numa.VMotion, g.ID, host)
		}
	}
	return nil
}

// fleet returns the inventory at the end of the day: what runs where, and as it was changed.
func (d *demoLab) fleet() *numa.Fleet {
	f := *d.story.Fleet
	f.VMs = slices.Clone(f.VMs)
	at := map[string]string{}
	last := map[string]*numa.Tick{} // of each host
	for i := range d.past {
		last[d.past[i].Host] = &d.past[i]
	}
	for host, t := range last {
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

// observe takes a tick of the simulated scheduler. Of the past it keeps the last hour, and a tick every five minutes before that.
func (d *demoLab) observe(t *numa.Tick) {
	at := t.Time.Sub(d.story.Start)
	if d.keep && at%demoPast != 0 && at < demoDay-time.Hour {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	id, c := d.hostID[t.Host], *t
	c.Time = d.start.Add(at)
	c.Nodes, c.VMs = slices.Clone(t.Nodes), slices.Clone(t.VMs)
	for i := range c.VMs {
		c.VMs[i].OnNode = slices.Clone(c.VMs[i].OnNode)
	}
	maps.DeleteFunc(d.runs, func(_, host string) bool { return host == id })
	for i := range t.VMs {
		d.runs[t.VMs[i].Name] = id
	}
	if d.keep {
		d.past = append(d.past, c)
		return
	}
	d.answers[id] = d.writers[id].Answer(&c) // its counters add up from tick to tick
}

// answer is the service Esxtop of the hosts.
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

// prime gives the day to a Board: the last hour is judged, the rest kept.
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

// run plays on in the time of the clock.
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

// runTo plays on, and lets the vCenter say what has happened: which VM is where, and which host is in maintenance.
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

// A demoSink takes what is collected from the demo, whose inventory comes with what logs and guests showed, as for homenode assess demo.
type demoSink struct {
	collect.Sink
	observed map[string][]numa.Observation // by name of the VM
}

// newDemoSink returns a sink in front of another one.
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

// Fleet takes the inventory.
func (s *demoSink) Fleet(vcenter string, f *numa.Fleet) {
	for i := range f.VMs {
		f.VMs[i].Observed = s.observed[f.VMs[i].Name]
	}
	s.Sink.Fleet(vcenter, f)
}
