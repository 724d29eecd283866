// Package flapping finds VMs that were moved between home nodes and back, again and again.
package flapping

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"homenode/capture"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is M002.
var Rule = &rule.Rule{
	ID:    "M002",
	Name:  "flapping",
	Title: "the home node changed back and forth",
	Why: `With each change of the home node all memory of the client becomes remote at once and follows page by
page. When the client comes back before that is done, the copying was for nothing. Two forces of
the balancer can pull against each other: load on one side, memory or communicating VMs on the other; or two nodes
are loaded so alike that each move makes the next one worth while.`,
	Fix: `Find out what moves it: sched-stats -t numa-migration tells moves for load from moves for locality. For load:
give the node room by moving a VM to another host. For locality: action affinity is the usual cause (M003).`,
	Limits: `Changes between two ticks are not seen: with a tick every 20 s a client that comes and goes in between
seems to stay. With ticks so far apart that fewer of them than returns fit into a window, a VM is told of that a third of
all ticks found back. Windows begin at whole multiples of their length, so a burst across two of them counts in halves.
A VM that NMIG shows to be moved again and again is left to M003. Low when N%L did not fall meanwhile: then the memory
is in the middle, or small.`,
	Book: []string{"C-9", "C-10", "C-11", "C-16"},
	Sources: []string{
		"VMware vSphere Resource Management, “Rebalancing and Page Migration” (GUID-4C855CF4)",
		"VMware, vSphere NUMA load balancing, 2012, https://blogs.vmware.com/vsphere/2012/02/vspherenuma-loadbalancing.html",
		"esx-doctor, https://github.com/haoyifan/esx-doctor (6 switches of the home node)",
	},
	Severity: finding.Medium,
	Thresholds: []rule.Threshold{{
		Name: "returns", Default: 6, Unit: rule.Count, Least: 1, Most: 10000,
		Text: "changes back to the nodes before the last change, in one window: 6, as esx-doctor has it",
	}, {
		Name: "window", Default: 10, Unit: rule.Minutes, Least: 1, Most: 1440,
		Text: "length of the window, for M003 too: in ten minutes ESXi moves at most 18 to 73 GB of memory, so that a large VM does not settle between 6 returns (C-16)",
	}},
	VMs:   true,
	Watch: watch,
	Needs: []string{"Numa Home Nodes"},
}

func watch(w *rule.Watch) {
	v := w.VM
	if w.MoveStorm() {
		return
	}
	f := finding.Finding{Severity: finding.Low}
	switch returns := int64(w.Threshold("returns")); {
	case v.Returns.Most >= returns:
		often(w, &f)
	case seldomLooked(w) && v.Returns.Total >= returns && 3*v.Returns.Total >= int64(v.Ticks):
		always(w, &f)
	default:
		return
	}
	f.Evidence = append(f.Evidence, w.Counted("changes of home nodes", strconv.FormatInt(v.Changed.Total, 10), rule.FieldNHN))
	f.Advice = "Look what moves it (sched-stats -t numa-migration): for load, move another VM off the host; for locality, set " +
		rule.ActionAffinity + " = 0 on the host (M003)"
	if least, ok := rule.LeastLocality(v, f.From, f.To); ok && least < w.Host.Options.Locality {
		f.Severity = finding.Medium
		f.Message += fmt.Sprintf("; N%%L fell to %s meanwhile", rule.NL(least))
		f.Evidence = append(f.Evidence, rule.Saw("least N%L of that time", rule.NL(least), rule.FieldBoth, f.From))
	}
	w.Report(f)
}

// often tells of the window with most returns.
func often(w *rule.Watch, f *finding.Finding) {
	v := w.VM
	f.From, f.To = w.Window(&v.Returns)
	f.Message = fmt.Sprintf("the home changed back to where it was before %d times in %s from %s, %s; %s in all",
		v.Returns.Most, rule.Duration(f.To.Sub(f.From)), rule.Moment(f.From), among(v), rule.Plural(int(v.Changed.Total), "change"))
	f.Evidence = []finding.Evidence{
		w.Limit("returns", strconv.Itoa(int(w.Threshold("returns")))),
		w.Limit("window", rule.Duration(w.Host.Options.Window)),
		rule.Saw("returns in the window", strconv.FormatInt(v.Returns.Most, 10), rule.FieldNHN, f.From),
	}
}

// seldomLooked reports whether too few ticks fit into a window for as many returns.
func seldomLooked(w *rule.Watch) bool {
	between := w.Between()
	return between > 0 && float64(w.Host.Options.Window/between) < w.Threshold("returns")
}

// always tells of a VM that every third tick or more found back on the nodes before.
func always(w *rule.Watch, f *finding.Finding) {
	v := w.VM
	f.From, f.To = v.First, v.Last
	f.Message = fmt.Sprintf("the home had changed back to where it was before at %d of %s, %s apart, %s; %s in all, and maybe more between them",
		v.Returns.Total, rule.Plural(v.Ticks, "tick"), rule.Duration(w.Between().Round(time.Second)), among(v), rule.Plural(int(v.Changed.Total), "change"))
	f.Evidence = []finding.Evidence{
		w.Limit("returns", strconv.Itoa(int(w.Threshold("returns")))),
		w.Counted("ticks that found it back", fmt.Sprintf("%d of %d", v.Returns.Total, v.Ticks), rule.FieldNHN),
	}
	f.Assumes = []string{"it moves between two ticks too: they are too far apart to see it"}
}

// among names the sets of home nodes that the VM had, the longest first.
func among(v *capture.VM) string {
	homes := slices.Clone(v.Homes)
	slices.SortStableFunc(homes, func(a, b capture.HomeTime) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Homes, b.Homes))
	})
	var names []string
	for _, h := range homes {
		if h.Homes != 0 {
			names = append(names, rule.Nodes(h.Homes))
		}
	}
	if len(names) == 2 {
		return "between " + rule.List(names)
	}
	return "among " + rule.List(names)
}
