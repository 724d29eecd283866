package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/symptom"
)

// Defaults of thresholds that two rules use, as on the page of the named rule.
const (
	LowLocality    = 0.8  // M001.locality
	LowRemote      = 0.25 // M001.remote
	LowMinutes     = 5    // M001.minutes
	MovesPerMinute = 3    // M003.perMinute
)

// of returns a threshold of another rule.
func (w *Watch) of(id, name string, otherwise float64) float64 {
	if value, ok := w.Thresholds[id+"."+name]; ok {
		return value
	}
	return otherwise
}

// Of returns a threshold of another rule.
func (p *Pass) Of(id, name string, otherwise float64) float64 {
	return (&Watch{Thresholds: p.Thresholds}).of(id, name, otherwise)
}

// LowForLong reports whether N%L of the VM was low for a long time. M001 reports it, and M005 then does not. One tick does not determine the time
// until the next one: with a tick every 5 minutes the cause could be a vMotion of seconds.
func (w *Watch) LowForLong() bool {
	low, minutes := &w.VM.Low, w.of("M001", "minutes", LowMinutes)
	return low.Count > 0 && low.Longest.Length().Minutes() >= minutes && (low.Longest.Ticks > 1 || minutes == 0)
}

// MoveStorm reports whether the VM was repeatedly moved between nodes, according to NMIG. M003 reports it, and M002 then does not.
func (w *Watch) MoveStorm() bool {
	window := w.Host.Options.Window.Minutes()
	if window <= 0 || !w.VM.HasMoves || float64(w.VM.Migrated.Most) < w.of("M003", "perMinute", MovesPerMinute)*window {
		return false
	}
	from, to := w.Window(&w.VM.Migrated)
	return from.Before(to)
}

// Window returns the time of the window with most events, within the recording.
func (w *Watch) Window(b *capture.Burst) (from, to time.Time) {
	from, to = b.At, b.At.Add(w.Host.Options.Window)
	if from.Before(w.Host.First) {
		from = w.Host.First
	}
	if to.After(w.Host.Last) {
		to = w.Host.Last
	}
	return from, to
}

// Release returns the release of the host; 0 if unknown.
func (w *Watch) Release() numa.Release {
	if w.Machine == nil {
		return 0
	}
	return w.Machine.Release.Value
}

// ReleaseEvidence returns the release of the host as evidence.
func (w *Watch) ReleaseEvidence() finding.Evidence {
	if w.Machine == nil {
		return finding.Evidence{Name: "ESXi release of " + w.Host.Host, Value: "unknown", Origin: "unknown"}
	}
	return finding.Of("ESXi release of "+w.Machine.Name, w.Machine.Release, w.Machine.At)
}

// On returns the prediction of the VM for the host of the recording; nil if there is none.
func (w *Watch) On() *On {
	if w.Predicted == nil || w.Machine == nil {
		return nil
	}
	for i := range w.Predicted.On {
		o := &w.Predicted.On[i]
		for _, h := range o.Kind.Hosts {
			if h.ID == w.Machine.ID {
				return o
			}
		}
	}
	return nil
}

// tied replaces phrases about vMotion in advice for a VM that a device ties to its host, so that vMotion is not possible (D-5).
var tied = strings.NewReplacer(
	", and so does vMotion to another host and back", " (its PCI device keeps it from vMotion)",
	"by a power cycle or vMotion to another host and back", "by a power cycle (its PCI device keeps it from vMotion)",
	"by vMotion to another host and back", "by a power cycle (its PCI device keeps it from vMotion)")

// stay removes vMotion from the advice for a VM that a device ties to its host.
func (v *VM) stay(f *finding.Finding) {
	if v == nil || v.VM == nil || v.TiedTo() == nil {
		return
	}
	f.Advice = tied.Replace(f.Advice)
	f.Causes = slices.Clone(f.Causes)
	for i := range f.Causes {
		f.Causes[i].Do = tied.Replace(f.Causes[i].Do)
	}
	f.Ways = slices.Clone(f.Ways)
	for i := range f.Ways {
		f.Ways[i].Do = tied.Replace(f.Ways[i].Do)
	}
}

// PlaceAgain describes how to get a new placement of a VM (rule book C-6, D-2).
const PlaceAgain = "a power cycle places the VM anew, and so does vMotion to another host and back; a reboot of the guest does not"

// ExplainRemote adds to a finding about remote memory the event at the beginning of its spell, if it is in the recording, the remaining causes, and
// the remedies.
func (w *Watch) ExplainRemote(f *finding.Finding, s *capture.Spell) {
	v := RemoteCauses.Judge(&Remote{VM: w.Predicted, On: w.On(), Host: w.Machine, Tell: w.addWhy(f, s)})
	v.Explain(f)
	if !w.VM.Left || !s.To.Equal(w.VM.Last) {
		return // later moves of the VM change nothing
	}
	f.Message += "; it ended when the VM left the host"
	if w.To != "" {
		f.Message += " by vMotion to " + w.To
	}
	f.Advice = "Nothing: it ended when the VM left this host. If it comes back: " + words.Lower(f.Advice)
}

// Arrival describes how a VM appeared on the host.
func (w *Watch) Arrival() string {
	if w.From == "" {
		return "powered on here or migrated from another host"
	}
	return "by vMotion from " + w.From
}

// addWhy adds the origin of remote memory to the message, and returns the causes that the recording proves or rules out. The time before the
// recording is unknown.
func (w *Watch) addWhy(f *finding.Finding, s *capture.Spell) map[string]symptom.Told {
	v := w.VM
	slack := 2 * w.Between()
	began := !s.From.Equal(w.Host.First)
	tell := map[string]symptom.Told{"moved": {Out: began && v.HasHomes}, "arrived": {Out: began}}
	for i := len(v.Changes) - 1; i >= 0; i-- {
		c := &v.Changes[i]
		if late := s.From.Sub(c.Time); late < 0 || late > slack {
			continue
		}
		f.Began(fmt.Sprintf("it began when its home moved from %s to %s and the memory stayed behind", Nodes(c.From), Nodes(c.To)))
		f.Evidence = append(f.Evidence, Saw("home nodes before, after", c.From.String()+", "+c.To.String(), FieldNHN, c.Time))
		tell["moved"] = symptom.Told{Proven: true}
		return tell
	}
	appeared, how := v.Appeared && s.From.Sub(v.First) <= slack, "it began when "
	if appeared {
		f.Began("it began when the VM appeared, " + w.Arrival())
		how = ""
		tell["arrived"] = symptom.Told{Proven: true}
	}
	// The free memory is known for the tick with the largest growth, which may belong to another spill.
	if p, spell := &v.Spilled, &v.Spill.Longest; v.Spill.Count > 0 && !spell.From.After(s.From.Add(slack)) && !spell.To.Before(s.From.Add(-slack)) &&
		!p.Time.Before(spell.From) && !p.Time.After(spell.To) {
		although, keeps := " although", ""
		if reserve := w.Reserve(); reserve.Known && p.Free < reserve.Bytes {
			although, keeps = ":", fmt.Sprintf(", less than the %s %s", reserve.Bytes, Keeps)
			f.Evidence, f.Assumes = append(f.Evidence, reserve.Evidence), append(f.Assumes, reserve.Assumes...)
		}
		f.Began(fmt.Sprintf("%snew memory went to other nodes%s node %d had %s free%s (M008)", how, although, p.Node, p.Free, keeps))
		f.Evidence = append(f.Evidence, Saw(fmt.Sprintf("free on node %d", p.Node), p.Free.String(), FieldFree, p.Time))
		tell["spill"], tell["full"] = symptom.Told{Proven: true}, symptom.Told{Out: true}
		return tell
	}
	if !appeared && !began {
		f.Began("the problem existed when the " + w.recording() + " began")
	}
	full, known := w.addFull(f, s, appeared)
	tell["full"] = symptom.Told{Proven: full, Out: known && began && !full}
	tell["spill"] = symptom.Told{Out: full || known && began && v.Spill.Count == 0}
	return tell
}

// addFull adds that a home node was short of memory before the spell: after it began, the VM itself may have used the memory. For a spell that
// began before the recording, the shortage keeps the memory from returning. known is false if the recording does not show it.
func (w *Watch) addFull(f *finding.Finding, s *capture.Spell, appeared bool) (full, known bool) {
	homes, ok := HomesAt(w.VM, s.From)
	reserve := w.Reserve()
	if !ok || !reserve.Known || homes.Len() == 0 {
		return false, false
	}
	since, came, brought, when := s.From, numa.Bytes(0), numa.Bytes(0), "before"
	if appeared {
		local, all := memoryAt(w.VM, s.From)
		since, came, brought = w.VM.First, local/numa.Bytes(homes.Len()), all/numa.Bytes(homes.Len())
	}
	before := s.From.After(w.Host.First)
	if !before {
		when = "then"
	}
	known = true
	for n := range homes.All() {
		free, ok := w.FreeAt(n, since, before)
		if after, seen := w.FreeAt(n, s.From, false); appeared && (!seen || free-after < came/2) {
			ok = false // its memory was there before it was seen: the tick before its arrival is not recorded
		}
		known = known && ok
		switch {
		case !ok || free >= reserve.Bytes+brought:
			continue
		case free >= reserve.Bytes:
			f.Began(fmt.Sprintf("home node %d had %s free before, too little for the %s that came to it and the %s %s", n, free, brought, reserve.Bytes, Keeps))
			f.Evidence = append(f.Evidence, Saw(fmt.Sprintf("memory that came to node %d", n), brought.String(), FieldBoth, s.From))
		default:
			f.Began(fmt.Sprintf("home node %d had %s free %s, less than the %s %s", n, free, when, reserve.Bytes, Keeps))
		}
		f.Evidence = append(f.Evidence, Saw(fmt.Sprintf("least free on node %d %s", n, when), free.String(), FieldFree, since), reserve.Evidence)
		f.Assumes = append(f.Assumes, reserve.Assumes...)
		return true, true
	}
	return false, known
}

// A Kept is the amount of free memory below which new memory is allocated elsewhere early.
type Kept struct {
	Known    bool
	Bytes    numa.Bytes
	Evidence finding.Evidence
	Assumes  []string
}

// Keeps describes the amount of a Kept.
const Keeps = "that ESXi keeps free on a node"

// Reserve returns the amount of free memory below which a node allocates new memory elsewhere: 4 × minFree from 6.0 on, minFree before (rule book C-23), and
// with more than two nodes the share of each (C-15). minFree is the value in the recording, otherwise calculated from the memory of the host.
func (w *Watch) Reserve() Kept {
	r := w.Release()
	k := Kept{Known: true, Assumes: []string{"below that amount a node allocates memory elsewhere: inferred from a few hosts with two nodes (C-15)"}}
	factor := numa.SoftFactor(cmp.Or(r, numa.ESXi60))
	if r == 0 {
		k.Assumes = append(k.Assumes, "the release of the host is unknown: 6.0 or later is assumed, which keeps 4 × minFree (C-23)")
	}
	k.Evidence = finding.Evidence{Name: "memory " + Keeps, Origin: "derived: memory of the host, release (C-15, C-23)"}
	switch {
	case w.Host.MinFree > 0:
		k.Bytes = factor * w.Host.MinFree
		k.Evidence = Saw(k.Evidence.Name, "", FieldMinFree, w.Host.Last)
		k.Evidence.Origin = fmt.Sprintf("derived: %d × %s (C-15, C-23)", factor, FieldMinFree)
	case w.Machine == nil || !w.Machine.Memory.Known() || r == 0:
		return Kept{}
	default:
		k.Bytes = numa.SoftReserve(w.Machine.Memory.Value, r)
		k.Bytes -= k.Bytes % numa.MiB
		k.Evidence.At = w.Machine.At
	}
	k.Bytes = numa.OfNode(k.Bytes, len(w.Host.Nodes))
	k.Evidence.Value = k.Bytes.String()
	return k
}

// Affinity reports whether action affinity is active on the host (rule book C-11).
type Affinity struct {
	Known    bool // whether the release is known
	On       bool
	Evidence finding.Evidence
	Assumes  string
}

// esxi91 is the first release with action affinity off by default (KB 439993).
var esxi91 = numa.NewRelease(9, 1, 0)

// ActionAffinity is the host option of action affinity.
const ActionAffinity = "Numa.LocalityWeightActionAffinity"

// Affinity returns whether action affinity is active on the host.
func (w *Watch) Affinity() Affinity {
	r := w.Release()
	if r == 0 {
		return Affinity{}
	}
	a := Affinity{Known: true, On: r >= numa.ESXi50 && r < esxi91, Evidence: OptionEvidence(w.Machine, ActionAffinity)}
	if value, ok := w.Machine.Options.Value.Lookup(ActionAffinity); ok {
		a.On = value != "0"
	} else if !w.Machine.Options.Known() {
		a.Assumes = "the advanced options of the host are unknown: defaults are taken (C-18)"
	}
	return a
}
