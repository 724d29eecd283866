package scheduler

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// eventKinds are the events of random stories, the usual ones more often.
var eventKinds = []numa.EventKind{
	numa.PowerOn, numa.PowerOn, numa.PowerOff, numa.Cycle, numa.Reboot, numa.VMotion, numa.VMotion, numa.Resize,
	numa.HotAdd, numa.LoadChange, numa.LoadChange, numa.LoadChange, numa.OptionChange, numa.Maintenance,
	numa.LeaveMaintenance, numa.Fail, numa.Repair, numa.Repair,
}

// addEvents adds events, some of them at one time, some without sense where they happen.
func (s *storyteller) addEvents(steps int) {
	at := 0
	for range s.IntN(20) {
		if s.chance(70) {
			at = s.IntN(steps + 1)
		}
		e := numa.Event{At: time.Duration(at) * numa.Step, Kind: pick(s, eventKinds...)}
		if s.talky && s.chance(30) {
			e.Kind = numa.TalkChange
		}
		s.fill(&e)
		if e.Talk == nil || e.Talk.A != e.Talk.B {
			s.story.Events = append(s.story.Events, e)
		}
	}
	slices.SortStableFunc(s.story.Events, func(a, b numa.Event) int { return cmp.Compare(a.At, b.At) })
}

func (s *storyteller) fill(e *numa.Event) {
	vm, host := pick(s, s.story.Fleet.VMs...), pick(s, s.story.Fleet.Hosts...).ID
	switch e.Kind {
	case numa.OptionChange:
		e.Host, e.Options = host, s.options(1+s.IntN(3))
	case numa.Maintenance, numa.LeaveMaintenance, numa.Fail, numa.Repair:
		e.Host = host
	case numa.TalkChange:
		t := s.talk()
		e.Talk = &t
	default:
		e.VM = vm.ID
	}
	switch e.Kind {
	case numa.PowerOn:
		if s.chance(50) {
			e.Host = host
		}
	case numa.VMotion:
		e.Host = host
		if s.chance(50) {
			e.Link = pick(s, numa.Bytes(1), 125<<20, 1250<<20, 12500<<20)
			e.Dirty = pick(s, numa.Bytes(0), 50<<20, 800<<20, 20000<<20)
		}
	case numa.LoadChange:
		l := s.load()
		e.Load = &l
	case numa.Resize, numa.HotAdd:
		c := s.config()
		if e.Kind == numa.HotAdd {
			c = vm.Config
			c.VCPUs.Value += s.IntN(8)
		}
		e.Config = &c
	}
}

func (s *storyteller) talk() numa.Talk {
	return numa.Talk{A: pick(s, s.story.Fleet.VMs...).ID, B: pick(s, s.story.Fleet.VMs...).ID, Rate: pick(s, 0, 400, 500, 501.5, 2000, 1e6)}
}

// addSeen lets some VMs be observed at the start, in some stories.
func (s *storyteller) addSeen() {
	if !s.chance(25) {
		return
	}
	for i := range s.story.Fleet.VMs {
		if _, bound := s.story.Fleet.VMs[i].Settings.Value.Lookup("numa.nodeAffinity"); bound || s.chance(30) {
			continue // who is bound to nodes is not seen elsewhere
		}
		v := &s.story.Fleet.VMs[i]
		h := s.story.Fleet.Hosts[s.IntN(len(s.story.Fleet.Hosts))]
		seen := numa.SeenVM{VM: v.ID, Host: h.ID}
		for _, n := range h.Nodes.Value {
			if n.Cores > 0 && s.chance(40) {
				seen.Homes |= numa.SetOf(n.ID)
			}
			if s.chance(70) {
				seen.OnNode = append(seen.OnNode, numa.MemoryOnNode{Node: n.ID, Guest: v.Memory.Value / numa.Bytes(s.between(2, 9)), Overhead: -1})
			}
		}
		seen.Local, seen.Remote = v.Memory.Value/numa.Bytes(s.between(2, 5)), v.Memory.Value/numa.Bytes(s.between(3, 100))
		if s.chance(50) {
			seen.OnNode = nil
		}
		s.story.Seen = append(s.story.Seen, seen)
	}
}

// stories is how many stories the tests of this package run; the fuzz targets run more.
func stories() uint64 {
	if testing.Short() {
		return 100
	}
	return 200
}

// TestStories checks that random stories can be simulated and that every kind of decision
// happens in many of them: a comparison of runs in which nothing happens proves nothing.
func TestStories(t *testing.T) {
	in := map[string]int{}
	for seed := range stories() {
		s := randomStory(seed)
		if err := s.Check(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		p := newPlain(s, vnumaChoices(seed))
		p.onTick = func(host int, _ *numa.Tick) {
			if err := p.hosts[host].check(); err != nil {
				t.Fatalf("seed %d, step %d, host %d: %v", seed, p.k, host, err)
			}
		}
		p.runTo(s.Length)
		for kind, n := range p.decided {
			if n > 0 {
				in[kind]++
			}
		}
	}
	t.Log("stories with each kind of decision:", in)
	for _, kind := range decisions {
		if in[kind] < int(stories())/100 {
			t.Errorf("%q happens in %d of %d stories, want at least every hundredth", kind, in[kind], stories())
		}
		delete(in, kind)
	}
	if len(in) > 0 {
		t.Errorf("other decisions: %v", in)
	}
}

// decisions are the kinds of decisions.
var decisions = []string{
	"placed", "unmanaged", "taken", "spilled", "widened", "balance moved", "balance swapped", "locality moved", "locality swapped",
	"fairness moved", "all local", "state changed", "reclaimed", "shared", "powered on", "powered off", "rebooted", "copied", "moved in",
	"restarted", "no room", "reshaped", "option set",
}
