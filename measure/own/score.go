// Package own scores the prediction on a user's own VMs. It compares predictions with topologies
// observed in a log, by the guest, by the scheduler, or in the size stored by ESXi.
package own

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/confront"
	"homenode/rules/rule"
)

// A Score counts the VMs with observed topologies that agree with the prediction.
type Score struct {
	VMs  int   `json:"vms"` // VMs of the fleet with a prediction
	All  Group `json:"all"`
	Sure int   `json:"withoutStoredSize"` // of All.Agree, those whose prediction used no size that ESXi stored before

	Releases  []Group `json:"releases"`
	Hardware  []Group `json:"hardware"`
	Rules     []Group `json:"rules"`     // statements of the rule book that decided; a VM counts for each
	Observers []Group `json:"observers"` // observers; a VM counts for each

	Differences []Difference `json:"differences"`
	Open        []Open       `json:"notCompared"`
}

// A Group counts the observed VMs of one kind, and those that agree.
type Group struct {
	Name        string `json:"name"`
	Seen        int    `json:"seen"`
	Agree       int    `json:"agree"`
	Explained   int    `json:"explained"` // of those that differ
	Unexplained int    `json:"unexplained"`
}

// A Difference is one quantity of a VM that differs from the prediction.
type Difference struct {
	VM   string `json:"vm"`
	Host string `json:"host"` // host of the prediction
	By   string `json:"by"`
	confront.Field
	Reasons []string `json:"reasons,omitempty"` // changes that would make it agree, likeliest first
}

// An Open is an observation that could not be compared.
type Open struct {
	VM  string `json:"vm"`
	By  string `json:"by"`
	Why string `json:"why"`
}

// StoredSize is the observer of sizes in the settings of a VM.
const StoredSize = "stored size"

// A sighting is one observation with the prediction.
type sighting struct {
	vm      *rule.VM
	host    string
	by      string
	release numa.Release
	fields  []confront.Field
	reasons []string
}

func (s *sighting) agrees() bool { return confront.Agree(s.fields) }

// Of scores an assessed fleet.
func Of(r *rules.Result, ch vnuma.Choices) *Score {
	s := &Score{VMs: r.VMs}
	releases, hardware, byRule, observers := groups{}, groups{}, groups{}, groups{}
	for v := range r.EachVM() {
		seen := s.sightings(v, r, ch)
		if len(seen) == 0 {
			continue
		}
		outcome := outcomeOf(seen)
		s.All.add(outcome)
		if outcome.Agree > 0 && v.Guest.Stored == 0 {
			s.Sure++
		}
		releases.add(outcome, seen[0].release.Base().String())
		hardware.add(outcome, hardwareOf(v))
		byRule.add(outcome, decided(v, ch)...)
		by := map[string][]sighting{}
		for _, one := range seen {
			by[one.by] = append(by[one.by], one)
		}
		for name, list := range by {
			observers.add(outcomeOf(list), name)
		}
		s.differ(seen)
	}
	s.All.Name = "all"
	s.Releases, s.Hardware, s.Rules, s.Observers = releases.list(), hardware.list(), byRule.list(), observers.list()
	return s
}

// hardwareOf returns the name of a VM's virtual hardware version.
func hardwareOf(v *rule.VM) string {
	if v.Guest.Hardware == 0 {
		return "unknown"
	}
	return fmt.Sprintf("vmx-%02d", v.Guest.Hardware)
}

// sightings returns the comparable observations of a VM.
func (s *Score) sightings(v *rule.VM, r *rules.Result, ch vnuma.Choices) (out []sighting) {
	for i := range v.Seen {
		r := &v.Seen[i]
		if !r.Comparable() {
			s.Open = append(s.Open, Open{v.Name, string(r.Observation.By), strings.Join(r.Open, "; ")})
			continue
		}
		on := v.On[0]
		for j := range v.On {
			if slices.ContainsFunc(v.On[j].Kind.Hosts, func(h *numa.Host) bool { return h.Name == r.Host }) {
				on = v.On[j]
			}
		}
		out = append(out, sighting{vm: v, host: r.Host, by: string(r.Observation.By), release: releaseOf(r, on.Kind), fields: r.Fields, reasons: r.Reasons})
	}
	if one, why := stored(v, r, ch); one != nil {
		out = append(out, *one)
	} else if why != "" {
		s.Open = append(s.Open, Open{v.Name, StoredSize, why})
	}
	return out
}

// releaseOf returns the release on which the VM was observed.
func releaseOf(r *confront.Result, k *rule.Kind) numa.Release {
	if o := r.Observation.Release; o.Known() {
		return o.Value
	}
	return k.Machine.Release
}

// stored compares the size that ESXi stored with that of a first power-on, which ignores stored
// sizes. It returns nil if none is stored, or with why if the stored size is not meaningful.
func stored(v *rule.VM, r *rules.Result, ch vnuma.Choices) (one *sighting, why string) {
	if v.Guest.Stored == 0 {
		return nil, ""
	}
	g := v.Guest
	if g.CookieVCPUs != g.VCPUs {
		return nil, fmt.Sprintf("it was stored for %d vCPUs, and the VM has %d", g.CookieVCPUs, g.VCPUs)
	}
	g.Stored, g.CookieVCPUs, g.CookieCPS = 0, 0, 0
	predict := func(m *vnuma.Machine, g vnuma.Guest, ch vnuma.Choices) vnuma.Stored {
		l := vnuma.Predict(&g, m, &vnuma.Case{Event: vnuma.FirstPowerOn, Choices: ch})
		return l.Stored
	}
	kind := v.On[0].Kind
	here := predict(&kind.Machine, g, ch)
	if !here.Written {
		return nil, "a power-on with these settings stores nothing: what stands there is older"
	}
	one = &sighting{vm: v, host: kind.Hosts[0].Name, by: StoredSize, release: kind.Machine.Release}
	size := int(v.Guest.Stored)
	one.fields = []confront.Field{{Name: StoredSize, Predicted: strconv.Itoa(here.Size), Observed: strconv.Itoa(size), Agrees: here.Size == size, At: v.At}}
	if one.agrees() {
		return one, ""
	}
	for _, c := range r.Clusters {
		for _, k := range c.Kinds {
			if k == kind || len(one.reasons) > 0 || predict(&k.Machine, g, ch).Size != size {
				continue
			}
			one.reasons = append(one.reasons, fmt.Sprintf("stored on a host like %s (%s), by the VM or one that it was cloned from, and kept since (B-8, D-1)", k.Hosts[0].Name, k.Machine.Shape()))
		}
	}
	for _, b := range before {
		other := g
		if b.change(&other, &v.Guest); other == g {
			continue
		}
		if s := predict(&kind.Machine, other, ch); s.Written && s.Size == size {
			one.reasons = append(one.reasons, "stored while "+b.was)
		}
	}
	for choice, other := range ch.Others() {
		if predict(&kind.Machine, g, other).Size == size {
			one.reasons = append(one.reasons, choice.Explains())
		}
	}
	return one, ""
}

// before are the settings that may have differed when a size was stored, because that size remains
// (B-8).
var before = []struct {
	was    string
	change func(g, now *vnuma.Guest)
}{
	{"CPU hot add was the other way", func(g, _ *vnuma.Guest) { g.HotAdd = !g.HotAdd }},
	{"cores per socket were those that the cookie records", func(g, now *vnuma.Guest) { g.CoresPerSocket = cmp.Or(now.CookieCPS, g.CoresPerSocket) }},
	{"cores per socket were 1", func(g, _ *vnuma.Guest) { g.CoresPerSocket, g.AutoCPS = 1, false }},
	{"numa.vcpu.preferHT was the other way", func(g, _ *vnuma.Guest) { g.PreferHT = !g.PreferHT }},
	{"numa.consolidate was the other way", func(g, _ *vnuma.Guest) { g.Spread = !g.Spread }},
	{"numa.vcpu.followcorespersocket was the other way", func(g, _ *vnuma.Guest) { g.Follow = !g.Follow }},
	{"numa.vcpu.maxPerVirtualNode was not set", func(g, _ *vnuma.Guest) { g.MaxPerVirtualNode = 0 }},
	{"numa.vcpu.maxPerMachineNode was not set", func(g, _ *vnuma.Guest) { g.MaxPerMachineNode = 0 }},
	{"numa.vcpu.coresPerNode was not set", func(g, _ *vnuma.Guest) { g.CoresPerNode = 0 }},
	{"numa.vcpu.min was not set", func(g, _ *vnuma.Guest) { g.Min = 0 }},
}

// decided returns the statements of the rule book that decide the guest's topology at a first
// power-on: with a stored size they would only state that there is one.
func decided(v *rule.VM, ch vnuma.Choices) (ids []string) {
	fresh := *v.VM
	fresh.Settings.Value = slices.DeleteFunc(slices.Clone(fresh.Settings.Value), func(s numa.Setting) bool {
		return strings.EqualFold(s.Key, "numa.autosize.cookie") || strings.EqualFold(s.Key, "numa.autosize.vcpu.maxPerVirtualNode")
	})
	_, trace, _, err := vnuma.Explain(&fresh, v.On[0].Kind.Hosts[0], &vnuma.Case{Event: vnuma.FirstPowerOn, Choices: ch})
	if err != nil {
		return nil
	}
	for _, step := range trace {
		for id := range strings.SplitSeq(step.Rules, ",") {
			if id = strings.TrimSpace(id); step.Decides && id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// outcomeOf counts one VM by all of its observations: it agrees if all do, and a difference is
// explained if each has a reason.
func outcomeOf(seen []sighting) Group {
	g := Group{Seen: 1, Agree: 1}
	for i := range seen {
		switch one := &seen[i]; {
		case one.agrees():
		case len(one.reasons) == 0:
			return Group{Seen: 1, Unexplained: 1}
		default:
			g = Group{Seen: 1, Explained: 1}
		}
	}
	return g
}

func (s *Score) differ(seen []sighting) {
	for i := range seen {
		one := &seen[i]
		for _, f := range one.fields {
			if !f.Agrees {
				s.Differences = append(s.Differences, Difference{one.vm.Name, one.host, one.by, f, one.reasons})
			}
		}
	}
}

// groups has groups by name.
type groups map[string]*Group

func (g groups) add(one Group, names ...string) {
	for _, name := range names {
		if g[name] == nil {
			g[name] = &Group{Name: name}
		}
		g[name].add(one)
	}
}

func (g *Group) add(one Group) {
	g.Seen += one.Seen
	g.Agree += one.Agree
	g.Explained += one.Explained
	g.Unexplained += one.Unexplained
}

func (g groups) list() []Group {
	out := []Group{}
	for _, name := range slices.Sorted(maps.Keys(g)) {
		out = append(out, *g[name])
	}
	return out
}
