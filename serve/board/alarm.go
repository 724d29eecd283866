package board

import (
	"cmp"
	"slices"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/check/headroom"
	"example.org/homenode/rules/finding"
)

// An Alarm is a finding with its begin and end.
type Alarm struct {
	VCenter string           `json:"vcenter"`
	Finding finding.Finding  `json:"finding"`
	Begin   time.Time        `json:"begin"`            // of a live finding: when the condition began; of a setting: when it was first found
	End     time.Time        `json:"end,omitzero"`     // when it was no longer found; zero while it is open
	Before  bool             `json:"before,omitempty"` // it was already present at Begin; earlier data is not assessed
	Live    bool             `json:"live"`             // found in live data, not in the inventory
	Worst   finding.Severity `json:"-"`                // the highest severity reported so far
}

// A key identifies an alarm: findings of one rule about one subject are the same alarm.
type key struct {
	vcenter, rule, host, vm, topic string
	gid                            int64
}

// mostEnded is the number of ended alarms that are kept.
const mostEnded = 1000

type alarms struct {
	open  map[key]*Alarm
	ended []*Alarm // oldest first
}

// Judge assesses the last hour of every host. It returns alarms that began or reached a higher severity than before, and alarms that ended. Findings
// about a host that stops reporting stay open for recordKept.
func (b *Board) Judge(now time.Time) (begun, ended []Alarm) {
	defer b.Touch()
	all, silent := b.judgeAll(now)
	b.mu.Lock()
	defer b.mu.Unlock()
	holds := map[key]bool{}
	for _, j := range all {
		for _, f := range j.findings {
			k := key{j.vcenter, f.Rule, cmp.Or(f.HostID, f.Host), cmp.Or(f.VMID, f.VM), f.Topic, f.GID}
			holds[k] = true
			if a := b.alarms.open[k]; a != nil {
				a.Finding = f
				if f.Severity > a.Worst {
					a.Worst = f.Severity
					begun = append(begun, *a)
				}
				continue
			}
			a := &Alarm{VCenter: j.vcenter, Finding: f, Begin: now, Live: j.live, Worst: f.Severity}
			if !f.From.IsZero() && f.From.Before(now) {
				a.Begin, a.Before = f.From, f.From.Equal(j.since[f.Host])
			}
			b.alarms.open[k] = a
			begun = append(begun, *a)
		}
	}
	for k, a := range b.alarms.open {
		if a.Live && silent[[2]string{k.vcenter, k.host}] {
			holds[k] = true
		}
	}
	return begun, b.close(holds, now)
}

// judged are findings of a vCenter, from its settings or from live recordings.
type judged struct {
	vcenter  string
	findings []finding.Finding
	live     bool
	since    map[string]time.Time // begin of each host's recording, by host name
}

// judgeAll assesses the settings and recordings of every vCenter. silent has the hosts that stopped reporting, by vCenter and ID or name.
func (b *Board) judgeAll(now time.Time) (all []judged, silent map[[2]string]bool) {
	var peaks map[Node]headroom.Peak
	if b.Peaks != nil {
		peaks = b.Peaks(now)
	}
	silent = map[[2]string]bool{}
	for _, v := range b.judges() {
		o := b.options
		o.Today = now
		if v.result != nil {
			all = append(all, judged{v.name, v.result.Findings, false, nil})
		}
		var recordings []*capture.Recording
		clusters := map[string]string{} // by host name
		for _, h := range v.hosts {
			h.mu.Lock()
			clusters[h.Name] = h.Cluster
			age := now.Sub(h.seen)
			if age > b.stale && age <= b.stale+recordKept {
				silent[[2]string{v.name, h.ID}], silent[[2]string{v.name, h.Name}] = true, true
			}
			rec, err := h.record.recording()
			if err != nil { // the parts do not fit together: start over
				h.record = record{}
			} else if rec != nil && age <= b.stale {
				recordings = append(recordings, rec)
				if v.result != nil {
					all = append(all, judged{v.name, rules.Foresee(v.result, h.ID, coming(h, peaks), now, o), true, nil})
				}
			}
			h.mu.Unlock()
		}
		found := rules.Watch(recordings, v.result, o).Findings
		for i := range found {
			found[i].Cluster = cmp.Or(found[i].Cluster, clusters[found[i].Host])
		}
		since := map[string]time.Time{}
		for _, rec := range recordings {
			since[rec.Host] = rec.First
		}
		all = append(all, judged{v.name, found, true, since})
	}
	return all, silent
}

// coming returns the memory that the nodes of a host used in the coming hours a day ago, with their current free memory.
func coming(h *host, peaks map[Node]headroom.Peak) (all []headroom.Peak) {
	for _, n := range h.Tick.Nodes {
		if p, ok := peaks[Node{h.VCenter, h.Name, n.ID}]; ok && n.Has&numa.HasFree != 0 {
			p.Free = n.Free
			all = append(all, p)
		}
	}
	return all
}

// Adopt takes over the open findings of another collector. They begin at the first adoption.
func (b *Board) Adopt(all []Alarm, now time.Time) {
	defer b.Touch()
	b.mu.Lock()
	defer b.mu.Unlock()
	holds := map[key]bool{}
	for _, a := range all {
		f := &a.Finding
		k := key{a.VCenter, f.Rule, f.Host, cmp.Or(f.VMID, f.VM), f.Topic, f.GID}
		holds[k] = true
		if o := b.alarms.open[k]; o != nil {
			o.Finding = *f
			continue
		}
		a.Begin = now
		b.alarms.open[k] = &a
	}
	b.close(holds, now)
}

// close ends the alarms that are not in holds, and returns them. b.mu is locked.
func (b *Board) close(holds map[key]bool, now time.Time) (ended []Alarm) {
	for k, a := range b.alarms.open {
		if holds[k] {
			continue
		}
		a.End = now
		delete(b.alarms.open, k)
		b.alarms.ended = append(b.alarms.ended, a)
		ended = append(ended, *a)
	}
	if more := len(b.alarms.ended) - mostEnded; more > 0 {
		b.alarms.ended = slices.Clone(b.alarms.ended[more:])
	}
	return ended
}

// judges returns a copy of the data to assess, because the assessment takes time.
func (b *Board) judges() (all []vcenter) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, v := range b.vcenters {
		c := vcenter{name: v.name, result: v.result, hosts: map[string]*host{}}
		for id, h := range v.hosts {
			c.hosts[id] = h
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(x, y vcenter) int { return cmp.Compare(x.name, y.name) })
	return all
}

// Alarms returns the open alarms, worst first, and the ended ones, newest first.
func (b *Board) Alarms() (open, ended []Alarm) {
	return b.AlarmsOf(func(*Alarm) bool { return true })
}

// AlarmsOf is Alarms, restricted to the alarms for which keep is true.
func (b *Board) AlarmsOf(keep func(*Alarm) bool) (open, ended []Alarm) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, a := range b.alarms.open {
		if keep(a) {
			open = append(open, *a)
		}
	}
	slices.SortFunc(open, func(x, y Alarm) int {
		return cmp.Or(cmp.Compare(y.Finding.Severity, x.Finding.Severity), y.Begin.Compare(x.Begin), cmp.Compare(x.Finding.Rule, y.Finding.Rule),
			cmp.Compare(x.VCenter, y.VCenter), cmp.Compare(x.Finding.Cluster, y.Finding.Cluster), cmp.Compare(x.Finding.Host, y.Finding.Host), cmp.Compare(x.Finding.VM, y.Finding.VM),
			cmp.Compare(x.Finding.VMID, y.Finding.VMID), cmp.Compare(x.Finding.GID, y.Finding.GID), cmp.Compare(x.Finding.Topic, y.Finding.Topic))
	})
	for _, a := range slices.Backward(b.alarms.ended) {
		if keep(a) {
			ended = append(ended, *a)
		}
	}
	return open, ended
}

// Over assesses earlier data of some VMs of a vCenter, as Judge does for the last hour. It returns only findings about VMs, because the Recordings
// may lack other VMs of their hosts.
func (b *Board) Over(vcenter string, recordings []*capture.Recording, now time.Time) []finding.Finding {
	o := b.options
	o.Today = now
	var result *rules.Result
	b.mu.RLock()
	if v := b.vcenters[vcenter]; v != nil {
		result = v.result
	}
	b.mu.RUnlock()
	return slices.DeleteFunc(rules.Watch(recordings, result, o).Findings, func(f finding.Finding) bool { return f.VM == "" })
}
