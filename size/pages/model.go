package pages

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// A Model is the input of simulations of large pages and salting.
type Model struct {
	Story   *numa.Story // not modified
	Choices vnuma.Choices
	Length  time.Duration // how long to simulate each setup
	Workers int           // hosts simulated in parallel; 0 means one
	// Alike, Zero and Large are shares of memory for VMs whose load has none: equal pages of VMs
	// with the same guest OS, pages of zeros, and pages that guests request to be large.
	Alike, Zero, Large unit.Share
}

// A Setup is a set of host options; the zero value keeps those of the story.
type Setup struct {
	Set         bool    `json:"set"` // false keeps the story's options and ignores the other fields
	AlwaysLarge bool    `json:"alwaysLarge"`
	Salting     Salting `json:"salting"`
}

// Setups are the simulated setups: the present one, and the alternatives.
var Setups = []Setup{{}, {true, true, AllShare}, {true, false, ExplicitSalts}, {true, false, EqualSalt}, {true, false, AllShare}}

// A Simulated holds the results of the setups.
type Simulated struct {
	Seconds float64 `json:"seconds"` // of each run
	Hosts   int     `json:"hosts"`
	VMs     int     `json:"vms"`   // that ran
	Alike   int     `json:"alike"` // VMs with equal pages, stated or assumed
	// Salted VMs have sched.mem.pshare.salt; Salts is the number of groups of several VMs.
	Salted int   `json:"salted"`
	Salts  int   `json:"salts"`
	Runs   []Ran `json:"runs"`
	// OneCopy is the long run of the last setup with one copy per host instead of one per node
	// (VMkernel.Boot.sharePerNode off); HalfAlike and TwiceAlike have other shares of equal pages.
	OneCopy    Saving `json:"oneCopy"`
	HalfAlike  Saving `json:"halfAlike"`
	TwiceAlike Saving `json:"twiceAlike"`
	// Problems are the parts that could not be simulated.
	Problems []string `json:"problems,omitempty"`
}

// A Ran is the result of one setup, all hosts together.
type Ran struct {
	Setup
	At
	LongRun Saving    `json:"longRun"` // after scanning everything, with large pages unchanged
	Hosts   []RanHost `json:"hosts"`
}

// A RanHost is one host at the end of a run.
type RanHost struct {
	Host string `json:"host"`
	At
	LongRun Saving      `json:"longRun"`
	Free    *numa.Bytes `json:"free,omitempty"`
	State   string      `json:"state,omitempty"`
}

// At is memory of VMs at the end of a run.
type At struct {
	Consumed numa.Bytes `json:"consumed"`
	Large    numa.Bytes `json:"large"`
	Saved    numa.Bytes `json:"saved"`
	Local    numa.Bytes `json:"local"`
	Remote   numa.Bytes `json:"remote"`
	// Lost is memory that was ballooned or swapped.
	Lost numa.Bytes `json:"lost"`
}

func (a *At) add(o *At) {
	a.Consumed += o.Consumed
	a.Large += o.Large
	a.Saved += o.Saved
	a.Local += o.Local
	a.Remote += o.Remote
	a.Lost += o.Lost
}

func (s Saving) plus(o Saving) Saving { return Saving{s.Zero + o.Zero, s.Alike + o.Alike} }

// Shares reports whether any load of the story has pages that can be shared.
func Shares(s *numa.Story) bool {
	can := func(l *numa.Load) bool { return l.Zero > 0 || l.Common > 0 && l.Image != "" }
	for i := range s.Loads {
		if can(&s.Loads[i].Load) {
			return true
		}
	}
	return can(&s.Unstated.Value)
}

// Simulate runs the story once for each setup. The error concerns the story or the context.
func Simulate(ctx context.Context, m *Model) (*Simulated, error) {
	out := &Simulated{Seconds: m.Length.Seconds()}
	for _, setup := range Setups {
		story := m.story(setup)
		r := run{story: story, hosts: map[int]*ending{}}
		outcome, err := scheduler.Run(ctx, story, scheduler.Options{Choices: m.Choices, Workers: m.Workers, Observe: r.observe})
		if err != nil {
			return nil, err
		}
		ran := Ran{Setup: setup, Hosts: []RanHost{}}
		vms, alike := 0, 0
		salts := map[string]int{}
		for _, i := range r.order() {
			h := r.hosts[i]
			ran.At.add(&h.host.At)
			ran.LongRun = ran.LongRun.plus(h.host.LongRun)
			ran.Hosts = append(ran.Hosts, h.host)
			vms, alike = vms+h.vms, alike+h.alike
			for j := range h.members {
				salts[h.members[j].Salt]++
			}
		}
		out.Runs = append(out.Runs, ran)
		out.Hosts, out.VMs, out.Alike = len(ran.Hosts), vms, alike
		out.Salted, out.Salts = salted(salts)
		if setup == Setups[len(Setups)-1] {
			out.others(&r)
		}
		if setup == (Setup{}) {
			for _, p := range outcome.Problems {
				out.Problems = append(out.Problems, p.String())
			}
		}
	}
	return out, nil
}

// salted counts the VMs with a salt, and the salts used by several VMs.
func salted(vms map[string]int) (with, groups int) {
	for salt, n := range vms {
		if salt == "" {
			continue
		}
		with += n
		if n > 1 {
			groups++
		}
	}
	return with, groups
}

// others computes variants of the long run of the last setup.
func (s *Simulated) others(r *run) {
	for _, i := range r.order() {
		members := r.hosts[i].members
		s.OneCopy = s.OneCopy.plus(Share(members, AllShare, false))
		s.HalfAlike = s.HalfAlike.plus(Share(times(members, 0.5), AllShare, true))
		s.TwiceAlike = s.TwiceAlike.plus(Share(times(members, 2), AllShare, true))
	}
}

// times returns the members with another share of equal pages, at most the non-zero pages.
func times(members []Member, factor unit.Share) []Member {
	out := slices.Clone(members)
	for i := range out {
		out[i].Alike = min(out[i].Alike*factor, 1-out[i].Zero)
	}
	return out
}

// story returns the story with a setup and the assumed shares.
func (m *Model) story(setup Setup) *numa.Story {
	s := *m.Story
	s.Length = m.Length
	s.Every = min(max(s.Every, time.Minute), m.Length)
	s.Events = slices.DeleteFunc(slices.Clone(s.Events), func(e numa.Event) bool { return e.At > m.Length })
	guests := map[string]string{}
	for i := range s.Fleet.VMs {
		guests[s.Fleet.VMs[i].ID] = s.Fleet.VMs[i].GuestOS.Or("unknown")
	}
	loads := map[string]bool{}
	s.Loads = slices.Clone(s.Loads)
	for i := range s.Loads {
		l := &s.Loads[i]
		loads[l.VM] = true
		l.Load = m.load(l.Load, guests[l.VM])
	}
	for i := range s.Fleet.VMs {
		if id := s.Fleet.VMs[i].ID; !loads[id] {
			s.Loads = append(s.Loads, numa.VMLoad{VM: id, Load: m.load(s.Unstated.Value, guests[id])})
		}
	}
	for i := range s.Events {
		if e := &s.Events[i]; e.Load != nil {
			e.Load = to(m.load(*e.Load, guests[e.VM]))
		}
	}
	if setup.Set {
		s.Fleet = setup.fleet(s.Fleet)
	}
	return &s
}

// load returns a load with assumptions for missing facts.
func (m *Model) load(l numa.Load, guest string) numa.Load {
	if l.Common == 0 && l.Image == "" && m.Alike > 0 {
		l.Common, l.Image = float64(m.Alike), "guest "+guest
	}
	l.Zero = cmp.Or(l.Zero, float64(m.Zero))
	l.AsksLarge = cmp.Or(l.AsksLarge, float64(m.Large))
	l.Common = min(l.Common, 1-l.Zero)
	return l
}

// The options of a setup (rule book C-21, C-22).
const (
	alwaysTry    = "LPage.LPageAlwaysTryForNPT"
	forceSalting = "Mem.ShareForceSalting"
)

// fleet returns the fleet with its hosts' options set.
func (s Setup) fleet(f *numa.Fleet) *numa.Fleet {
	out := *f
	out.Hosts = slices.Clone(f.Hosts)
	always := "0"
	if s.AlwaysLarge {
		always = "1"
	}
	for i := range out.Hosts {
		o := &out.Hosts[i].Options
		set := slices.DeleteFunc(slices.Clone(o.Value), func(o numa.Setting) bool {
			return strings.EqualFold(o.Key, alwaysTry) || strings.EqualFold(o.Key, forceSalting)
		})
		set = append(set, numa.Setting{Key: alwaysTry, Value: always}, numa.Setting{Key: forceSalting, Value: strconv.Itoa(int(s.Salting))})
		*o = numa.AssumedFor(set, "what if")
	}
	return &out
}

// A run watches the ticks of one setup; the last tick of each host counts.
type run struct {
	story *numa.Story
	mu    sync.Mutex
	hosts map[int]*ending
}

type ending struct {
	host       RanHost
	members    []Member
	vms, alike int
}

func (r *run) order() []int {
	var all []int
	for i := range r.hosts {
		all = append(all, i)
	}
	slices.Sort(all)
	return all
}

func (r *run) observe(host int, t *numa.Tick, look *scheduler.Look) {
	e := r.ending(host, t, look)
	r.mu.Lock()
	r.hosts[host] = e
	r.mu.Unlock()
}

func (r *run) ending(host int, t *numa.Tick, look *scheduler.Look) *ending {
	e := &ending{host: RanHost{Host: t.Host}}
	if t.Has&numa.HasFree != 0 {
		e.host.Free = to(t.Free)
	}
	if t.Has&numa.HasState != 0 {
		e.host.State = t.State.String()
	}
	for i := range t.VMs {
		v := &t.VMs[i]
		e.host.At.add(&At{v.Consumed, v.Large, v.Shared, v.Local, v.Remote, v.Balloon + v.Swapped})
		index, load := look.VM(i)
		e.vms++
		if load.Common > 0 && load.Image != "" {
			e.alike++
		}
		e.members = append(e.members, r.member(v, &r.story.Fleet.VMs[index], load, look, i, len(t.Nodes)))
	}
	settings, _ := scheduler.SettingsOf(&r.story.Fleet.Hosts[host])
	e.host.LongRun = Share(e.members, Salting(settings.Salting), true)
	return e
}

// member converts a simulated VM: the touched memory of each client is shared on its home node.
func (r *run) member(v *numa.VMTick, vm *numa.VM, load *numa.Load, look *scheduler.Look, i, nodes int) Member {
	touched := v.Consumed + v.Shared + v.Balloon + v.Swapped
	m := Member{Image: load.Image, OnNode: make([]numa.Bytes, nodes), Zero: unit.Share(load.Zero), Alike: unit.Share(load.Common)}
	if touched > 0 {
		m.Large = unit.Share(float64(v.Large) / float64(touched))
	}
	if salt, ok := vm.Settings.Value.Lookup("sched.mem.pshare.salt"); ok {
		m.Salt = cmp.Or(salt, "\x00"+vm.ID) // present but empty: a salt of its own
	}
	look.Clients(i, func(c *scheduler.ClientState) {
		if c.Home < 0 { // not on its own node: it shares zeros only
			m.OnNode[0] += touched * numa.Bytes(c.VCPUs) / numa.Bytes(max(1, v.VCPUs))
			m.Image = ""
			return
		}
		m.OnNode[c.Home] += touched * numa.Bytes(c.VCPUs) / numa.Bytes(max(1, v.VCPUs))
	})
	return m
}
