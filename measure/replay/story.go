package replay

import (
	"fmt"
	"slices"
	"time"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// A plan converts the recording of a host into a story.
type plan struct {
	rec       *Recorder
	options   *Options
	host      numa.Host
	inventory bool // the host is from the inventory
	fleet     *numa.Fleet
	guests    []guest
	guestOf   []int // by life; -1 for an omitted one
	story     *numa.Story
	notes     []numa.Note
}

func (p *plan) note(text string) {
	p.notes = append(p.notes, numa.Note{At: p.rec.host, Text: text})
}

func (p *plan) make() error {
	if err := p.findHost(); err != nil {
		return err
	}
	p.fleet = &numa.Fleet{Source: p.rec.host, Hosts: []numa.Host{p.host}}
	if p.host.Cluster != "" {
		p.fleet.Clusters = []numa.Cluster{{ID: p.host.Cluster, Name: p.options.Fleet.ClusterName(p.host.Cluster)}}
	}
	p.findGuests()
	p.story = &numa.Story{
		Name: p.rec.host, Fleet: p.fleet, Start: p.rec.start.UTC(), Length: p.rec.lastAt(), Every: p.every(),
		Unstated: p.options.Unstated,
	}
	p.settle()
	for g := range p.guests {
		p.live(g)
	}
	slices.SortStableFunc(p.story.Events, func(a, b numa.Event) int {
		if a.At != b.At {
			return int(min(1, max(-1, a.At-b.At)))
		}
		return rank(a.Kind) - rank(b.Kind)
	})
	p.say()
	return nil
}

// rank orders the events of one moment: VMs leave, remaining VMs change, others arrive.
func rank(k numa.EventKind) int {
	return slices.Index([]numa.EventKind{numa.PowerOff, numa.HotAdd, numa.LoadChange, numa.PowerOn}, k)
}

// every returns the longest tick interval that includes every moment.
func (p *plan) every() time.Duration {
	step := time.Duration(0)
	for i := range p.rec.moments {
		for a := p.rec.moments[i].at; a > 0; {
			step, a = a, step%a
		}
	}
	return step
}

// live adds the observed life of a guest to the story.
func (p *plan) live(g int) {
	id := p.fleet.VMs[g].ID
	for n, index := range p.guests[g].lives {
		l := &p.rec.lives[index]
		loads := p.loads(index)
		if l.first < 0 {
			p.story.Loads = append(p.story.Loads, numa.VMLoad{VM: id, Load: loads[0].load})
			loads = loads[1:]
		} else {
			came := p.at(l.first - 1)
			p.event(numa.Event{At: came, Kind: numa.PowerOn, VM: id, Host: p.host.ID, Note: "it appears"})
			if n > 0 {
				p.note(fmt.Sprintf("VM %s: it is gone and comes again at %s: taken as powered off and on", l.name, p.clock(came)))
			} else {
				p.note(fmt.Sprintf("VM %s: it comes at %s: taken as powered on; it may have come by vMotion", l.name, p.clock(came)))
			}
		}
		for i := range loads {
			p.event(numa.Event{At: loads[i].at, Kind: numa.LoadChange, VM: id, Load: &loads[i].load})
		}
		p.hotAdds(g, l)
		if l.end < len(p.rec.moments)-1 {
			gone := p.at(l.end)
			p.event(numa.Event{At: gone, Kind: numa.PowerOff, VM: id, Note: "it disappears"})
			if n == len(p.guests[g].lives)-1 {
				p.note(fmt.Sprintf("VM %s: it is gone after %s: taken as powered off; it may have left by vMotion", l.name, p.clock(gone)))
			}
		}
	}
}

// hotAdds adds the vCPUs and memory that a guest got while running.
func (p *plan) hotAdds(g int, l *life) {
	for _, s := range l.shapes[1:] {
		config := p.fleet.VMs[g].Config
		if s.vcpus > 0 {
			config.VCPUs = numa.ReadAt(s.vcpus, "capture")
		}
		if s.size > 0 {
			config.Memory = numa.ReadAt(s.size, "capture")
		}
		at := min(max(s.at, p.at(l.first-1)), p.at(l.end))
		p.event(numa.Event{At: at, Kind: numa.HotAdd, VM: p.fleet.VMs[g].ID, Config: &config})
		p.note(fmt.Sprintf("VM %s: it has %s and %s from %s on: taken as hot add", l.name, words.Plural(config.VCPUs.Value, "vCPU"), config.Memory.Value, p.clock(at)))
	}
}

func (p *plan) event(e numa.Event) { p.story.Events = append(p.story.Events, e) }

// at returns the time of a moment; -1 is the start.
func (p *plan) at(moment int) time.Duration {
	if moment < 0 {
		return 0
	}
	return p.rec.moments[moment].at
}

func (p *plan) clock(at time.Duration) string {
	return p.rec.start.UTC().Add(at).Format("2006-01-02 15:04:05")
}

// say adds the notes about the whole replay.
func (p *plan) say() {
	r := p.rec
	if r.skipped > 0 {
		p.note(fmt.Sprintf("%s before the first with the full state %s left out: %s not show %s", words.Plural(r.skipped, "tick"), number(r.skipped, "was", "were"), number(r.skipped, "it does", "they do"), r.missing))
	}
	if r.left > 0 {
		p.note(fmt.Sprintf("%s %s left out: %s not after the tick before; give files in the order of time", words.Plural(r.left, "tick"), number(r.left, "was", "were"), number(r.left, "it is", "they are")))
	}
	if r.gaps > 0 {
		p.note(fmt.Sprintf("%s in the capture, the longest of %s: VMs are taken to have run on as before", words.Plural(r.gaps, "gap"), r.longest.Round(time.Second)))
	}
	if !p.inventory {
		p.note("no inventory: the settings of all VMs are assumed to be the defaults")
	}
	for _, c := range []struct {
		has  numa.Counters
		text string
	}{
		{numa.HasUsed | numa.HasRun, "no CPU time (%% Used, %% Run) of %s: the load that stories assume is taken"},
		{numa.HasReady, "no %% Ready of %s: they are taken to ask for what they got"},
		{numa.HasActive, "no active memory (Touched MBytes) of %s: the share that stories assume is taken"},
	} {
		n := words.Count(p.guests, func(g guest) bool { return p.rec.lives[g.lives[0]].stated&c.has == 0 })
		if n > 0 {
			p.note(fmt.Sprintf(c.text, words.Plural(n, "VM")))
		}
	}
	p.sayUnowned()
	for i := range p.rec.lives {
		if l := &p.rec.lives[i]; p.guestOf[i] >= 0 && l.shrank > l.most/20+numa.GiB {
			p.note(fmt.Sprintf("VM %s: it gave back up to %s, which the model does not do", l.name, l.shrank))
		}
	}
}

// number returns the singular or the plural word.
func number(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// sayUnowned adds a note if memory that belongs to no VM varied, which a story cannot express.
func (p *plan) sayUnowned() {
	all, at, most := numa.Bytes(0), time.Duration(0), numa.Bytes(0)
	for i := range p.host.Nodes.Value {
		all += p.host.Nodes.Value[i].Memory.Value
	}
	start := all
	for i := range p.rec.first.Nodes {
		start -= p.rec.first.Nodes[i].Free
	}
	for i := range p.rec.first.VMs {
		if v := &p.rec.first.VMs[i]; settled(v) {
			start -= touched(v) - reclaimed(v)
		}
	}
	for i := range p.rec.moments {
		m := &p.rec.moments[i]
		rest, known := all, len(m.nodes) == len(p.rec.first.Nodes)
		for k := range m.nodes {
			rest -= m.nodes[k].free
			known = known && m.nodes[k].known
		}
		for k := range m.vms {
			rest -= m.vms[k].resident
		}
		if change := rest - start; known && max(change, -change) > max(most, -most) {
			at, most = m.at, change
		}
	}
	if max(most, -most) > all/50 {
		what := "more"
		if most < 0 {
			most, what = -most, "less"
		}
		p.note(fmt.Sprintf("memory that is of no VM was up to %s %s than at the start, at %s: the story keeps what it was at the start", most, what, p.clock(at)))
	}
}
