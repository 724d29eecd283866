// Package diff compares two assessed fleets: the same fleet at two times, or today's with a what-if. It reports which VMs get another
// layout, whether that is better or worse, which findings are new or gone, and the other differences.
package diff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// A Drift contains the differences between two assessed fleets, A and B. Every list is empty if nothing differs.
type Drift struct {
	A   *rules.Result `json:"-"`
	B   *rules.Result `json:"-"`
	InA Side          `json:"a"`
	InB Side          `json:"b"`
	// Numbers of VMs that are in both fleets and assessed in at least one.
	Better    int `json:"better"`
	Worse     int `json:"worse"`
	Stopped   int `json:"cannotRun"` // of Worse: VMs that no longer run
	Other     int `json:"other"`
	Unchanged int `json:"unchanged"`
	Moved     int `json:"moved"` // VMs on another host without any other difference
	// OneSided is the number of facts that only one side has; they are not compared.
	OneSided int `json:"knownOnOneSide"`
	// VMs with another layout or other findings: first those that no longer run, then by verdict, beginning with worse; last those that
	// differ only in settings.
	VMs   []VM   `json:"vms,omitempty"`
	Hosts []Host `json:"hosts,omitempty"` // hosts with other settings
	// VMs, as cluster/name, and hosts that are in only one fleet.
	NewVMs    []string  `json:"newVMs,omitempty"`
	GoneVMs   []string  `json:"goneVMs,omitempty"`
	NewHosts  []string  `json:"newHosts,omitempty"`
	GoneHosts []string  `json:"goneHosts,omitempty"`
	Findings  []Finding `json:"findings,omitempty"`
	Told      []Finding `json:"findingsKnownOnOneSide,omitempty"` // not in Findings: they differ because of facts that only one side has

	moved    []VM                        // those that Moved counts
	verdicts map[string]Verdict          // of VMs, by ID in B
	worst    map[string]finding.Severity // of the harm by NUMA that findings about a VM state in B, by its ID
	restated map[string][]string         // findings as severe as before that NUMA does not cause and that read differently, by the ID of the VM in B
}

// A Side is one of the fleets, or the compared part of it.
type Side struct {
	Source    string `json:"source"`
	Collected string `json:"collected,omitempty"`
	Hosts     int    `json:"hosts"`
	VMs       int    `json:"vms"`
	Judged    int    `json:"judged"`
}

func sideOf(r *rules.Result) Side {
	return Side{r.Fleet.Source, r.Fleet.Collected, len(r.Fleet.Hosts), len(r.Fleet.VMs), r.VMs}
}

// A Verdict is the result of the comparison for a VM.
type Verdict uint8

// The verdicts, in the order of reports.
const (
	Worse Verdict = iota
	Other         // another layout, neither better nor worse
	Better
	Unchanged
)

// String returns the verdict as one word.
func (v Verdict) String() string {
	return [...]string{"worse", "other", "better", "unchanged"}[v]
}

// MarshalText writes the verdict as String does.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// A VM is one VM in both fleets.
type VM struct {
	A        *numa.VM  `json:"-"`
	B        *numa.VM  `json:"-"`
	Name     string    `json:"vm"` // in B
	ID       string    `json:"id"` // in B
	Cluster  string    `json:"cluster,omitempty"`
	Verdict  Verdict   `json:"verdict"`
	Layout   bool      `json:"-"`             // the layouts differ
	Why      []string  `json:"why,omitempty"` // the differences for the guest and its memory, in a few words each
	From     Place     `json:"from"`
	To       Place     `json:"to"`
	Settings []Setting `json:"settings,omitempty"`       // of the VM itself
	Barred   string    `json:"-"`                        // newly refusing hosts that also refuse the newer virtual hardware
	Apart    bool      `json:"knownOnOneSide,omitempty"` // layout and findings differ because of facts that only one side has: no drift

	oneSided []string         // names of its settings that only one side has
	level    finding.Severity // of what makes it worse: of its new or worse findings, and, if its layout or another host is why, of those that it has
}

// Subject returns cluster/name, as findings do.
func (v *VM) Subject() string {
	return subject(v.Cluster, v.Name)
}

func subject(cluster, name string) string {
	if cluster == "" {
		return name
	}
	return cluster + "/" + name
}

// A Host is one host in both fleets.
type Host struct {
	Name     string    `json:"host"`
	ID       string    `json:"id"` // in B
	Settings []Setting `json:"settings"`
}

// A Setting is a fact with its two values, in the notation of scenarios.
type Setting struct {
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

// A Finding is new (A nil), gone (B nil), has another severity, or is about a host that lacks another amount of memory.
type Finding struct {
	A, B    *finding.Finding
	Stopped bool // gone because the VMs that it is about no longer run: no host powers them on
	Hid     bool // new only because the rules did not check for it before

	entered bool // new for a VM only, which is now on hosts with it
}

// Of returns the finding in B, or in A if it is gone.
func (f *Finding) Of() *finding.Finding { return cmp.Or(f.B, f.A) }

// Change describes the difference: "new", "gone", "cannot run" if it ended because its VMs no longer run, or the previous severity: "was
// high"; for the same severity whether the host lacks more memory or less.
func (f *Finding) Change() string {
	switch {
	case f.A == nil:
		return "new"
	case f.Stopped:
		return "cannot run"
	case f.B == nil:
		return "gone"
	case f.A.Severity != f.B.Severity:
	case lacksMore(f.A, f.B):
		return "lacks more"
	default:
		return "lacks less"
	}
	return "was " + f.A.Severity.String()
}

// MarshalJSON writes the finding and its change.
func (f Finding) MarshalJSON() ([]byte, error) {
	out := struct {
		Change  string           `json:"change"` // new, gone, cannot run, severity, lacks more or lacks less
		Was     string           `json:"was,omitempty"`
		Finding *finding.Finding `json:"finding"`
	}{Change: f.Change(), Finding: f.Of()}
	if f.A != nil && f.B != nil && f.A.Severity != f.B.Severity {
		out.Change, out.Was = "severity", f.A.Severity.String()
	}
	return json.Marshal(out)
}

// Worsens reports whether the finding is new or more severe than before, or the host lacks more memory, and is at least of severity s.
func (f *Finding) Worsens(s finding.Severity) bool {
	return f.B != nil && f.B.Severity >= s && (f.A == nil || f.A.Full() < f.B.Severity || f.A.Severity == f.B.Severity && lacksMore(f.A, f.B))
}

// Worsens counts the regressions: the findings that are new or more severe, and at least of severity s, without those of VMs that are
// better off overall; the VMs that no longer run; and the other VMs that are worse, although none of these findings tells it.
func (d *Drift) Worsens(s finding.Severity) (findings, stopped, worse int) {
	findings, harmed := d.harmed(s)
	for i := range d.VMs {
		switch v := &d.VMs[i]; {
		case v.Stops():
			stopped++
		case v.worse(s) && !harmed[v.ID]:
			worse++
		}
	}
	return findings, stopped, worse
}

// harmed counts the findings of Worsens, and returns the IDs of the VMs that they affect.
func (d *Drift) harmed(s finding.Severity) (findings int, ids map[string]bool) {
	ids = map[string]bool{}
	for i := range d.Findings {
		if f := &d.Findings[i]; f.Worsens(s) && !d.Outweighed(f) {
			findings++
			for _, id := range concerned(f.B) {
				ids[id] = true
			}
		}
	}
	return findings, ids
}

// Harmed returns the IDs of the VMs that Worsens counts, and of those that its findings affect.
func (d *Drift) Harmed(s finding.Severity) map[string]bool {
	_, ids := d.harmed(s)
	for i := range d.VMs {
		if v := &d.VMs[i]; v.Stops() || v.worse(s) {
			ids[v.ID] = true
		}
	}
	return ids
}

// worse reports whether the VM is worse by at least that much.
func (v *VM) worse(s finding.Severity) bool { return v.Verdict == Worse && v.level >= s }

// Outweighed reports whether a finding of B was hidden before, or all VMs that it affects gain more than they lose: their verdict is Better. For a
// finding about hosts these are its Costs; without any it counts as harm.
func (d *Drift) Outweighed(f *Finding) bool {
	if f.Hid {
		return true
	}
	of := f.B.Costs
	if f.B.VMID != "" {
		of = []string{f.B.VMID}
	}
	for _, id := range of {
		if v, is := d.verdicts[id]; !is || v != Better {
			return false
		}
	}
	return of != nil
}

// Stops reports whether the VM ran and no longer runs, or has no host left.
func (v *VM) Stops() bool { return v.Verdict == Worse && v.stranded() }

// stranded reports whether the VM's host, or any host, powered it on and none does now, or whether it was assessed and has no host left
// for an assessment.
func (v *VM) stranded() bool {
	return v.From.Runs() && !v.To.Runs() || v.From.startable() && !v.To.startable() || v.From.On != nil && v.To.On == nil
}

// rank is the place of the VM in reports: those that no longer run come first.
func (v *VM) rank() int {
	if v.Stops() {
		return -1
	}
	return int(v.Verdict)
}

// Differs reports whether layouts, settings, hosts or VMs differ. Moves between hosts alone do not count: vSphere DRS moves VMs all day.
// Neither do differences that are reported separately.
func (d *Drift) Differs() bool {
	vms := slices.ContainsFunc(d.VMs, func(v VM) bool { return !v.Apart || len(v.Settings) > 0 })
	return vms || len(d.Hosts)+len(d.NewVMs)+len(d.GoneVMs)+len(d.NewHosts)+len(d.GoneHosts) > 0
}

// compareAll compares two assessed fleets by the facts of each; compared selects the hosts that are compared.
func compareAll(a, b *rules.Result, compared func(h *numa.Host, inB bool) bool) *Drift {
	d := &Drift{A: a, B: b, InA: sideOf(a), InB: sideOf(b), verdicts: map[string]Verdict{}, worst: map[string]finding.Severity{}, restated: map[string][]string{}}
	for i := range b.Findings {
		if f := &b.Findings[i]; !b.Rule(f.Rule).Beside {
			d.worst[f.VMID] = max(d.worst[f.VMID], f.Severity)
		}
	}
	vms := matchVMs(a.Fleet, b.Fleet)
	hosts := matchHosts(a.Fleet, b.Fleet)
	vmName := func(f *numa.Fleet) func(*numa.VM) string {
		return func(v *numa.VM) string { return subject(f.ClusterName(v.Cluster), v.Name) }
	}
	hostName := func(inB bool) func(*numa.Host) string {
		return func(h *numa.Host) string {
			if compared(h, inB) {
				return h.Name
			}
			return ""
		}
	}
	d.NewVMs, d.GoneVMs = alone(vms.hasB, b.Fleet.VMs, vmName(b.Fleet)), alone(vms.hasA, a.Fleet.VMs, vmName(a.Fleet))
	d.NewHosts, d.GoneHosts = alone(hosts.hasB, b.Fleet.Hosts, hostName(true)), alone(hosts.hasA, a.Fleet.Hosts, hostName(false))
	inA, inB := judged(a), judged(b)
	of := d.findings(vms, hosts, inA, inB)
	for _, p := range vms.pairs {
		va, vb := &a.Fleet.VMs[p[0]], &b.Fleet.VMs[p[1]]
		d.vm(va, vb, inA[va.ID], inB[vb.ID], of[vb.ID], hosts)
	}
	for _, p := range hosts.pairs {
		ha, hb := &a.Fleet.Hosts[p[0]], &b.Fleet.Hosts[p[1]]
		if s := d.hostSettings(ha, hb); len(s) > 0 && compared(hb, true) {
			d.Hosts = append(d.Hosts, Host{hb.Name, hb.ID, s})
		}
	}
	d.sort()
	return d
}

func (d *Drift) sort() {
	slices.SortStableFunc(d.VMs, func(x, y VM) int {
		return cmp.Or(cmp.Compare(x.rank(), y.rank()), cmp.Compare(x.Cluster, y.Cluster), cmp.Compare(x.B.Name, y.B.Name), cmp.Compare(x.B.ID, y.B.ID))
	})
}

// vm compares one VM and adds it if anything differs.
func (d *Drift) vm(va, vb *numa.VM, ja, jb *rule.VM, of []Finding, hosts *pairs) {
	v := VM{A: va, B: vb, Name: vb.Name, ID: vb.ID, Cluster: d.B.Fleet.ClusterName(vb.Cluster), From: PlaceOf(ja), To: PlaceOf(jb)}
	v.Settings, v.oneSided = d.vmSettings(va, vb)
	v.Layout, v.level = v.From.differs(&v.To), d.level(&v, of)
	v.Verdict = Unchanged
	switch c := v.From.compare(&v.To, of); {
	case c < 0:
		v.Verdict = Better
	case c > 0:
		v.Verdict = Worse
	case v.Layout:
		v.Verdict = Other
	}
	if va.Template.Or(false) != vb.Template.Or(false) { // templates do not run: not a fault
		v.Verdict = Other
	}
	v.Why = append(why(d, &v, of, !hosts.same(va.Host, vb.Host)), d.restated[vb.ID]...)
	if v.Layout && ja != nil && jb != nil && len(v.Settings) == 0 && v.oneSided != nil { // perhaps only the known facts differ
		v.Why = append([]string{onOneSide + strings.Join(words.Texts(v.oneSided, numa.Title), ", ")}, v.Why...)
	}
	if v.Verdict == Unchanged && len(v.Settings) > 0 && d.restated[vb.ID] != nil {
		v.Verdict = Other
	}
	if now, besides := barredFrom(&v, hosts); v.Verdict != Worse {
		if besides != nil {
			v.Verdict = Other
			v.Barred = fmt.Sprintf("virtual hardware %d is not supported by %s either, and the upgrade cannot be undone", jb.Guest.Hardware, rule.HostNames(besides))
			v.Why = append([]string{v.Barred}, v.Why...)
		}
		if now != nil {
			v.Verdict = Other // the VM gains only because it has fewer hosts
			v.Why = append([]string{"no more on " + rule.HostNames(now)}, v.Why...)
		}
	}
	if va.Cluster != vb.Cluster || len(v.Settings) > 0 {
		v.elsewhere()
	}
	if v.Verdict == Better && closed(jb) && !closed(ja) {
		v.Verdict = Other
		v.Why = append([]string{"no host of its cluster runs VMs then"}, v.Why...)
	}
	if ja != nil || jb != nil {
		*d.count(v.Verdict)++
		if v.Stops() {
			d.Stopped++
		}
	}
	if va.Cluster != vb.Cluster && (va.Host == "") == (vb.Host == "") && d.A.Fleet.ClusterName(va.Cluster) != v.Cluster {
		v.Settings = append(v.Settings, Setting{"cluster", d.A.Fleet.ClusterName(va.Cluster), v.Cluster})
	}
	switch {
	case v.Verdict != Unchanged || len(v.Settings) > 0:
		d.VMs = append(d.VMs, v)
		d.verdicts[v.ID] = v.Verdict
	case !hosts.same(va.Host, vb.Host):
		d.Moved++
		d.moved = append(d.moved, v)
	}
}

// level returns how severe it is if a VM is worse, by its findings that differ: see VM.
func (d *Drift) level(v *VM, of []Finding) finding.Severity {
	most, told := finding.Info, false
	for i := range of {
		if of[i].Worsens(finding.Info) {
			most, told = max(most, of[i].B.Severity), true
		}
	}
	if a, b := v.From.Layout(), v.To.Layout(); !told || a != nil && b != nil && b.Compare(a) > 0 {
		most = max(most, d.worst[v.ID])
	}
	return most
}

// closed reports whether every host of the VM's cluster that could power it on is in maintenance or not connected.
func closed(v *rule.VM) bool {
	return v != nil && !slices.ContainsFunc(v.On, func(o rule.On) bool { return slices.ContainsFunc(o.Kind.Hosts, (*numa.Host).Ready) })
}

// count returns the number of VMs with a verdict.
func (d *Drift) count(v Verdict) *int {
	return [...]*int{&d.Worse, &d.Other, &d.Better, &d.Unchanged}[v]
}

// Worsen gives VMs that run a reason why they are worse; "" for none.
func (d *Drift) Worsen(reason func(*VM) string) {
	reasons := func(v *VM) bool {
		text := reason(v)
		if text == "" || !v.To.Runs() {
			return false
		}
		*d.count(v.Verdict)--
		*d.count(Worse)++
		v.Verdict, v.Why, d.verdicts[v.ID] = Worse, append(v.Why, text), Worse
		return true
	}
	for i := range d.VMs {
		reasons(&d.VMs[i])
	}
	for i := range d.moved {
		if v := &d.moved[i]; reasons(v) {
			d.Moved, d.VMs = d.Moved-1, append(d.VMs, *v)
		}
	}
	d.sort()
}

// judged returns the VMs with predictions by ID.
func judged(r *rules.Result) map[string]*rule.VM {
	out := make(map[string]*rule.VM, r.VMs)
	for v := range r.EachVM() {
		out[v.ID] = v
	}
	return out
}

// Notes returns the notes of B and of its assessment that A does not have. The reason for VMs that stop is in Why.
func (d *Drift) Notes() []numa.Note {
	had, stops := map[numa.Note]bool{}, []string(nil)
	for _, n := range slices.Concat(d.A.Fleet.Notes, d.A.Unjudged) {
		had[n] = true
	}
	for i := range d.VMs {
		if v := &d.VMs[i]; v.Stops() {
			stops = append(stops, "VM "+v.B.Name+": ")
		}
	}
	return slices.DeleteFunc(slices.Concat(d.B.Fleet.Notes, d.B.Unjudged), func(n numa.Note) bool {
		return had[n] || slices.ContainsFunc(stops, func(vm string) bool { return strings.HasPrefix(n.Text, vm) })
	})
}
