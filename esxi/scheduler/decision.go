package scheduler

import (
	"fmt"
	"strings"

	"example.org/homenode/numa"
)

// Rules returns the ids of the rule book that support a decision.
func (k DecisionKind) Rules() []string { return kinds[k].rules }

// own reports whether the scheduler makes this decision itself; false for events of the story.
func (k DecisionKind) own() bool { return k >= Spilled && k <= Shared }

// String returns the kind in one or two words.
func (k DecisionKind) String() string { return kinds[k].name }

var kinds = [...]struct {
	name  string
	rules []string
}{
	Placed:          {"placed", []string{"C-3", "C-4"}},
	Unmanaged:       {"not managed", []string{"A-9", "C-12", "C-14"}},
	Taken:           {"taken as seen", nil},
	Spilled:         {"memory spilled", []string{"C-15"}},
	Widened:         {"home nodes widened", []string{"D-2"}},
	BalanceMoved:    {"moved for load", []string{"C-9", "C-10"}},
	BalanceSwapped:  {"swapped for load", []string{"C-9", "C-10"}},
	LocalityMoved:   {"moved for locality", []string{"C-9", "C-10", "C-11"}},
	LocalitySwapped: {"swapped for locality", []string{"C-9", "C-10", "C-11"}},
	FairnessMoved:   {"moved for fairness", []string{"C-9"}},
	AllLocal:        {"memory came home", []string{"C-16"}},
	StateChanged:    {"memory state", []string{"C-23"}},
	Reclaimed:       {"memory taken", []string{"C-23"}},
	Shared:          {"pages shared", []string{"C-21", "C-22"}},
	PoweredOn:       {"powered on", []string{"D-1", "C-6"}},
	PoweredOff:      {"powered off", []string{"D-1"}},
	Rebooted:        {"guest rebooted", []string{"D-1"}},
	MovedIn:         {"vMotion", []string{"D-1", "C-6"}},
	Restart:         {"restarted by HA", []string{"D-1", "C-6"}},
	NoRoom:          {"no host", nil},
	Reshaped:        {"reshaped", []string{"D-1"}},
	OptionSet:       {"option set", []string{"C-18"}},
}

// Why returns the reason for a decision in one sentence, with its numbers; names come from the fleet.
func (d *Decision) Why(f *numa.Fleet) string {
	n := d.Numbers
	other := func(name func(int) string) string {
		if d.Other < 0 {
			return ""
		}
		return name(d.Other)
	}
	vm := func(i int) string { return f.VMs[i].Name }
	host := func(i int) string { return f.Hosts[i].Name }
	switch d.Kind {
	case Placed:
		return d.placedWhy(f.Hosts[d.Host].Release.Value)
	case Unmanaged:
		return "it has no home node: its vCPUs run on all nodes and its memory comes from anywhere"
	case Taken:
		return fmt.Sprintf("home node %d as observed", d.To)
	case Spilled:
		return d.spilledWhy()
	case Widened:
		return fmt.Sprintf("its %s never fit the %s of its home node and %s is on node %d: that is a home node until it is placed again", pages(n[0]), pages(n[1]), pages(n[2]), d.To)
	case BalanceMoved:
		return fmt.Sprintf("node %d → %d: load %s and %s, imbalance %s → %s", d.From, d.To, pct(n[0]), pct(n[1]), pct(n[2]), pct(n[3]))
	case BalanceSwapped:
		return fmt.Sprintf("node %d → %d, with %s: load %s and %s, imbalance %s → %s", d.From, d.To, other(vm), pct(n[0]), pct(n[1]), pct(n[2]), pct(n[3]))
	case LocalityMoved:
		why := fmt.Sprintf("which holds %d %% of its memory", n[1])
		switch {
		case n[3] <= 0: // only a partner gains
			why = "where a VM is that it talks to"
		case n[3] < n[0]:
			why += " and a VM that it talks to"
		}
		return fmt.Sprintf("node %d → %d, %s: gain %d, load there then %s", d.From, d.To, why, n[0], pct(n[2]))
	case LocalitySwapped:
		return fmt.Sprintf("node %d → %d, with %s: gain of both %d; the node holds %d %% of its memory", d.From, d.To, other(vm), n[0], n[1])
	case FairnessMoved:
		return fmt.Sprintf("node %d → %d: the nodes differ by %s in the CPU time they owe", d.From, d.To, pct(n[0]))
	case AllLocal:
		return fmt.Sprintf("%s of %s is still remote, %s", pages(n[0]), pages(n[1]), since(n[2]))
	case StateChanged:
		return fmt.Sprintf("%s → %s: %s free, minFree is %s", numa.MemoryState(n[2]), numa.MemoryState(n[3]), pages(n[0]), pages(n[1]))
	case Reclaimed:
		return fmt.Sprintf("the first %s in memory state %s", pages(n[0]), numa.MemoryState(n[1]))
	case Shared:
		return fmt.Sprintf("%s of %s in small pages can be shared", pages(n[0]), pages(n[1]))
	case PoweredOff:
		return "its home nodes and memory are gone"
	case Rebooted:
		return "home nodes and memory stay as they are"
	case MovedIn, Restart:
		return "from " + other(host)
	case NoRoom:
		return "no host of the cluster takes it"
	}
	return ""
}

func pages(p int64) string { return (numa.Bytes(p) * numa.PageSize).String() }

func pct(parts int64) string { return fmt.Sprintf("%.1f %%", float64(parts)/100) }

// placedWhy returns the reason for a home node by the rules of a release (C-3, C-4).
func (d *Decision) placedWhy(r numa.Release) string {
	load, free, vcpus, choices := d.Numbers[0], d.Numbers[1], d.Numbers[2], d.Numbers[3]
	text := fmt.Sprintf("%d vCPUs on node %d, of %d it may use: ", vcpus, d.To, choices)
	memory := "memory unknown"
	if free < noLimit/2 {
		memory = pages(free) + " free"
	}
	switch {
	case load < 0:
		return text + "the next in turn, " + memory
	case r < numa.ESXi50:
		return text + "most free memory, " + memory
	case d.Client > 0 && choices > 1:
		text += "near its other clients, "
	}
	text += "known load there " + pct(load)
	if next := d.Numbers[4]; next > 0 {
		text += fmt.Sprintf(" (node %d: %s)", next-1, pct(d.Numbers[5]))
	}
	switch young := d.Numbers[6]; {
	case young > 0:
		text += fmt.Sprintf(", where %d vCPUs count as whole cores until they are measured", young)
	case young < 0:
		text += fmt.Sprintf(", without %d vCPUs that came in the same burst (C-7)", -young)
	}
	return text + ", " + memory
}

// Burst reports whether a VM was placed on a node only because the load of VMs that had just
// arrived there was not known yet (C-7).
func (d *Decision) Burst() bool { return d.Kind == Placed && d.Numbers[6] < 0 }

// Spill returns the destinations of a Spilled decision's new memory: on home nodes, on others, and
// swapped for lack of room.
func (d *Decision) Spill() (local, remote, swapped numa.Bytes) {
	n := d.Numbers
	return numa.Bytes(n[0]-n[1]-n[2]) * numa.PageSize, numa.Bytes(n[1]) * numa.PageSize, numa.Bytes(n[2]) * numa.PageSize
}

// spilledWhy reports where new memory went, and the free memory of its home node.
func (d *Decision) spilledWhy() string {
	local, remote, swapped := d.Spill()
	var parts []string
	for _, p := range []struct {
		n    numa.Bytes
		what string
	}{{local, "local"}, {remote, "remote"}, {swapped, "swapped"}} {
		if p.n > 0 {
			parts = append(parts, p.n.String()+" is "+p.what)
		}
	}
	if d.From < 0 {
		parts[0] = strings.Replace(parts[0], "is local", "is on the nodes", 1)
	}
	text := "of " + pages(d.Numbers[0]) + " that it asked for " + strings.Join(parts, ", ")
	switch {
	case d.From < 0:
		return text + ": the host has no more"
	case d.Numbers[3] > 0:
		return fmt.Sprintf("%s: node %d keeps %s free while another node has more", text, d.From, pages(d.Numbers[3]))
	case swapped > 0:
		return fmt.Sprintf("%s: node %d is full, and the nodes that it may use have no more", text, d.From)
	}
	return fmt.Sprintf("%s: node %d is full", text, d.From)
}

// since reports how many steps ago a client changed its home; for one that never did, the number
// exceeds every story.
func since(steps int64) string {
	if steps < 0 || steps >= 1<<31 {
		return "without a change of home"
	}
	text := timeOf(steps).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	return text + " after the last change of home"
}
