package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/internal/keyed"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// The history of a simulation: the events of a story, and the scheduler's decisions between
// them.

// A Happening is one line of the history.
type Happening struct {
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	Host     string    `json:"host,omitempty"` // "" for an event
	Event    bool      `json:"event"`          // an event of the story
	Text     string    `json:"text"`
	Note     string    `json:"note,omitempty"`     // the author's comment on an event
	Followed string    `json:"followed,omitempty"` // the immediate effect of an event
	Rules    []string  `json:"rules,omitempty"`    // statement IDs of the rule book

	from, to time.Duration // since the start
	weight   int           // those of low weight are left out first
	size     int           // number of decisions; within a weight, smaller ones are left out first
}

// The weights of happenings.
const (
	detail = iota
	movement
	important
	told // in the story
)

// Happened returns the history in the order of time.
func (s *Judged) Happened() []Happening {
	out := s.beginning()
	decisions := s.Outcome.Decisions
	var bounds []time.Duration // times of events
	for from := 0; from < len(s.Story.Events); {
		e := &s.Story.Events[from]
		to := from + 1
		for to < len(s.Story.Events) && s.sameLine(e, &s.Story.Events[to]) {
			to++
		}
		if n := len(bounds); n == 0 || bounds[n-1] != e.At {
			bounds = append(bounds, e.At)
		}
		out = append(out, s.told(s.Story.Events[from:to]))
		from = to
	}
	groups := map[string]*group{}
	var order []*group
	for i := range decisions {
		d := &decisions[i]
		class := classOf(d.Kind)
		if class == direct {
			continue
		}
		part, _ := slices.BinarySearch(bounds, d.At+1)
		key := fmt.Sprint(part, " ", d.Host, " ", class)
		if class == widens {
			key += fmt.Sprint(" ", d.To)
		}
		g := groups[key]
		if g == nil || d.At-g.all[len(g.all)-1].At > quiet {
			g = &group{class: class}
			groups[key] = g
			order = append(order, g)
		}
		g.all = append(g.all, d)
	}
	for _, g := range order {
		out = append(out, s.sum(g)...)
	}
	slices.SortStableFunc(out, func(a, b Happening) int {
		first := func(h Happening) int {
			if h.Event {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(first(a), first(b)))
	})
	for i := range out {
		out[i].From, out[i].To = s.Story.Start.Add(out[i].from), s.Story.Start.Add(out[i].to)
	}
	return out
}

// quiet is the minimum time without decisions of a kind between two groups of that kind.
const quiet = 45 * time.Minute

// sameLine reports whether two events are of one line of the story.
func (s *Judged) sameLine(a, b *numa.Event) bool {
	return a.At == b.At && a.Line == b.Line && a.Text == b.Text && a.Text != ""
}

// A group is connected decisions of one kind.
type group struct {
	class class
	all   []*scheduler.Decision
}

type class uint8

const (
	direct class = iota // caused by an event, and reported with it
	moves
	spills
	widens
	home
	states
	reclaims
	shares
)

func classOf(k scheduler.DecisionKind) class {
	switch k {
	case scheduler.BalanceMoved, scheduler.BalanceSwapped, scheduler.LocalityMoved, scheduler.LocalitySwapped, scheduler.FairnessMoved:
		return moves
	case scheduler.Spilled:
		return spills
	case scheduler.Widened:
		return widens
	case scheduler.AllLocal:
		return home
	case scheduler.StateChanged:
		return states
	case scheduler.Reclaimed:
		return reclaims
	case scheduler.Shared:
		return shares
	}
	return direct
}

// beginning describes the placement of the VMs that run at the start.
func (s *Judged) beginning() []Happening {
	running, seen := map[int]bool{}, map[int]bool{}
	var loose []string
	var ids []string
	for i := range s.Outcome.Decisions {
		d := &s.Outcome.Decisions[i]
		if d.At > 0 || s.byEvent(d) {
			continue
		}
		switch d.Kind {
		case scheduler.Placed:
			running[d.VM] = true
		case scheduler.Taken:
			running[d.VM], seen[d.VM] = true, true
		case scheduler.Unmanaged:
			running[d.VM] = true
			loose = append(loose, s.vmName(d.VM))
		default:
			continue
		}
		for _, id := range d.Kind.Rules() {
			ids = words.Once(ids, id)
		}
	}
	if len(running) == 0 {
		return nil
	}
	text := words.Plural(len(running), "VM") + " placed"
	switch {
	case len(seen) == len(running):
		text = words.Plural(len(seen), "VM") + " taken as observed"
	case len(seen) > 0:
		text += fmt.Sprintf(", %d of them taken as observed", len(seen))
	}
	if len(loose) > 0 {
		text += fmt.Sprintf("; without home node: %s", words.Few(loose))
	}
	slices.Sort(ids)
	return []Happening{{Text: text, Rules: ids, weight: told, Event: true}}
}

// byEvent reports whether an event of the story at the start is about the VM.
func (s *Judged) byEvent(d *scheduler.Decision) bool {
	for i := range s.Story.Events {
		e := &s.Story.Events[i]
		if e.At > 0 {
			return false
		}
		if d.VM >= 0 && e.VM == s.Story.Fleet.VMs[d.VM].ID {
			return true
		}
	}
	return false
}

func (s *Judged) vmName(i int) string   { return s.Story.Fleet.VMs[i].Name }
func (s *Judged) hostName(i int) string { return s.Story.Fleet.Hosts[i].Name }

// told describes the events of one line of the story, and their immediate effects.
func (s *Judged) told(events []numa.Event) Happening {
	e := &events[0]
	h := Happening{from: e.At, to: e.At, Event: true, Text: e.Text, Note: e.Note, weight: told}
	vms := map[string]bool{}
	for i := range events {
		if events[i].VM != "" {
			vms[events[i].VM] = true
		}
	}
	if h.Text == "" {
		h.Text = e.Kind.String()
		if v := s.vmByID(e.VM); v != "" {
			h.Text += " " + v
		}
		if e.VM == "" || e.Host != "" {
			h.Text += " " + s.hostByID(e.Host)
		}
	}
	followed, ids := s.followed(e, vms)
	h.Followed, h.Rules = followed, ids
	return h
}

func (s *Judged) vmByID(id string) string {
	if i := slices.IndexFunc(s.Story.Fleet.VMs, func(v numa.VM) bool { return v.ID == id }); i >= 0 && id != "" {
		return s.vmName(i)
	}
	return ""
}

func (s *Judged) hostByID(id string) string {
	if i := slices.IndexFunc(s.Story.Fleet.Hosts, func(h numa.Host) bool { return h.ID == id }); i >= 0 {
		return s.hostName(i)
	}
	return id
}

// followed describes the placement of VMs after an event: "esx02: cache01 on node 1, app07 on
// node 0".
func (s *Judged) followed(e *numa.Event, vms map[string]bool) (text string, ids []string) {
	decisions := s.decidedAt(e.At)
	came := map[int]bool{} // VMs that this event is about
	for i := range decisions {
		d := &decisions[i]
		if d.VM < 0 {
			continue
		}
		leaves := (d.Kind == scheduler.MovedIn || d.Kind == scheduler.Restart || d.Kind == scheduler.NoRoom) && d.Other >= 0 && s.Story.Fleet.Hosts[d.Other].ID == e.Host
		if vms[s.Story.Fleet.VMs[d.VM].ID] || e.VM == "" && (leaves || d.Kind == scheduler.NoRoom) {
			came[d.VM] = true
		}
	}
	var places []arrival
	var nowhere []string
	burst := false
	for i := range decisions {
		d := &decisions[i]
		if d.VM < 0 || !came[d.VM] {
			continue
		}
		switch d.Kind {
		case scheduler.NoRoom:
			nowhere = append(nowhere, s.vmName(d.VM))
		case scheduler.Placed, scheduler.Unmanaged:
			places = arrive(places, d)
			burst = burst || d.Burst()
		default:
			continue
		}
		for _, id := range d.Kind.Rules() {
			ids = words.Once(ids, id)
		}
	}
	slices.Sort(ids)
	var parts []string
	if text := s.arrivals(places, e.VM == "" || len(vms) > 1); text != "" {
		parts = append(parts, text)
	}
	if burst {
		ids = append(ids, "C-7")
		slices.Sort(ids)
		parts = append(parts, "a burst: the load of those that have just come is not known yet (C-7)")
	}
	if len(nowhere) > 0 {
		parts = append(parts, "no host takes "+words.Few(nowhere))
	}
	for _, d := range s.Outcome.Denied {
		if d.Stays && d.At == e.At && vms[s.Story.Fleet.VMs[d.VM].ID] {
			parts = append(parts, fmt.Sprintf("%s stays: %s", s.vmName(d.VM), d.Why))
		}
	}
	return strings.Join(parts, "; "), ids
}

// decidedAt returns the decisions at one time.
func (s *Judged) decidedAt(at time.Duration) []scheduler.Decision {
	compare := func(d scheduler.Decision, at time.Duration) int { return cmp.Compare(d.At, at) }
	from, _ := slices.BinarySearchFunc(s.Outcome.Decisions, at, compare)
	to, _ := slices.BinarySearchFunc(s.Outcome.Decisions, at+1, compare)
	return s.Outcome.Decisions[from:to]
}

// An arrival is a VM that came to nodes of a host.
type arrival struct {
	host, vm int
	nodes    numa.NodeSet // IDs; empty for a VM that is not managed
}

func arrive(all []arrival, d *scheduler.Decision) []arrival {
	i := slices.IndexFunc(all, func(a arrival) bool { return a.vm == d.VM })
	if i < 0 {
		all = append(all, arrival{host: d.Host, vm: d.VM})
		i = len(all) - 1
	}
	if d.To >= 0 {
		all[i].nodes |= 1 << d.To
	}
	return all
}

// arrivals lists the VMs by destination, grouped by nodes; named: the event does not name the
// VMs itself.
func (s *Judged) arrivals(all []arrival, named bool) string {
	type place struct {
		host  int
		nodes numa.NodeSet
	}
	var names keyed.Lists[place, string]
	for _, a := range all {
		names.Add(place{a.host, a.nodes}, s.vmName(a.vm))
	}
	var parts []string
	for p, vms := range names.All() {
		text := s.hostName(p.host) + ", home node " + p.nodes.String()
		if p.nodes == 0 {
			text = s.hostName(p.host) + ", not managed"
		}
		if named {
			text = words.Few(vms) + ": " + text
		}
		parts = append(parts, text)
	}
	if len(parts) > 4 {
		parts = append(parts[:3], fmt.Sprintf("and %d more places", len(parts)-3))
	}
	return strings.Join(parts, "; ")
}

// Shorten leaves out the least important lines until at most most are left.
func Shorten(all []Happening, most int) (kept []Happening, left int) {
	if len(all) <= most {
		return all, 0
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(all[a].weight, all[b].weight), cmp.Compare(all[a].size, all[b].size), cmp.Compare(b, a))
	})
	drop := map[int]bool{}
	for _, i := range order[:len(all)-most] {
		drop[i] = true
	}
	for i := range all {
		if !drop[i] {
			kept = append(kept, all[i])
		}
	}
	return kept, len(all) - most
}
