// Package rule contains the type of a rule, the input of a rule, and the conditions that several rules share.
package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/product"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/confront"
	"example.org/homenode/rules/finding"
)

// A Rule assesses VMs or hosts. New sets the texts, ID to Sources, from the file in the folder of the check.
type Rule struct {
	ID      string   // used in commands and suppressions; never reused
	Name    string   // folder and documentation page
	Title   string   // the fault in one line
	Why     string   // the cost and the cause
	Fix     string   // the remedy, and whether a power-off is needed
	Limits  string   // cases in which the rule is wrong or does not matter
	Book    []string // statement IDs of the rule book that the check applies
	Sources []string // sources of the statements

	Severity finding.Severity // maximum severity
	// Thresholds are the configurable numbers of the rule.
	Thresholds []Threshold
	// Check assesses the subject of the pass: a VM if VMs is set, otherwise a host. If Hosts is set too, it assesses both, and VM of the
	// pass distinguishes them.
	VMs   bool
	Hosts bool
	Check func(*Pass)
	// Brings reports, for a rule about hosts, the findings of these that a VM with a change would bring.
	Brings func(*Pass)
	// Stated assesses a VM of KVM, whose layout is stated. A rule has Check, Watch or Stated.
	Stated func(*StatedPass)
	// Refused: it assesses the reason why a host refuses a VM. All other rules assess such a VM as if its host accepted it.
	Refused bool
	// Placed: it assesses the sizes of clients and virtual nodes. It does not run for a VM that its host refuses because of its sizes.
	Placed bool
	// Watch assesses the behaviour of a subject in a recording.
	Watch func(*Watch)
	// Glance: the finding of Check is based on a single observation, and Watch of another rule is more precise if there are ticks.
	Glance bool
	// Needs are the counters that Watch requires, in the notation of Recording.Lacks. If any one is missing, Watch finds nothing.
	Needs []string
	// Beside: the finding is not harm caused by NUMA. The source or the prediction is wrong, the host is short of memory or cores, or the software
	// in the guest cannot use them.
	Beside bool
}

// About describes the subject of the rule.
func (r *Rule) About() string {
	switch {
	case r.VMs && r.Hosts:
		return "VM and host"
	case r.VMs:
		return "VM"
	}
	return "host"
}

// A Kind is a set of hosts of one cluster that give every VM the same layout.
type Kind struct {
	Machine vnuma.Machine
	Hosts   []*numa.Host
	Cure    *Cure // recommended by a finding about the hosts; nil for none
	// AllReady: all hosts accept VMs now. false means that each has to be asked.
	AllReady bool
}

// A Cure is a change of the hosts of a kind that changes the nodes of VMs.
type Cure struct {
	Machine vnuma.Machine // the hosts after the change
	Do      string        // "one node for each package"
	By      string        // ID of the rule that recommends it
}

// Shape describes the nodes of the hosts.
func (k *Kind) Shape() string { return k.Machine.Shape() }

// Tier returns the memory of slower tiers that every host of the kind has.
func (k *Kind) Tier() numa.Bytes {
	least := k.Hosts[0].TierMemory.Value
	for _, h := range k.Hosts {
		least = min(least, h.TierMemory.Value)
	}
	return least
}

// A Cluster is the hosts and VMs that are assessed together. A standalone host is a cluster of its own without a name.
type Cluster struct {
	Name  string
	Hosts []*numa.Host
	Kinds []*Kind // of the hosts with a prediction, in order of their first
	VMs   []*VM
	// Part: the hosts run more VMs than VMs has, so their load is unknown.
	Part bool
	// Templates are assessed as if they ran: their clones inherit their faults.
	Templates []*VM
	Choices   vnuma.Choices

	// Weigh returns the findings of a VM of the cluster with the given configuration, on its host there; nil skips the check of plans and advice.
	Weigh func(v *VM, configured *numa.VM) []finding.Finding

	// Judge returns the VM with the given configuration and its findings, with their advice; nil skips further cures.
	Judge func(v *VM, configured *numa.VM) (*VM, []finding.Finding)

	// Cured contains the hosts after their fixes; nil if there are none.
	Cured *Cluster

	plans   map[planKey]*plan.Plan    // see Pass.best
	vetted  map[*VM]vetted            // see Pass.vetted
	present map[*VM][]finding.Finding // see Pass.now
	weighed map[weighKey][]finding.Finding
	running map[*numa.Host][]*VM  // by host; see Running
	denied  map[*VM]vnuma.Refusal // see Denied
	trial   numa.VM               // see Pass.trial
}

// A VM is a virtual machine with its predictions.
type VM struct {
	*numa.VM
	Guest vnuma.Guest
	Home  *Kind      // of its host; nil if it has none with a prediction
	Host  *numa.Host // on which it is registered; nil if unknown
	// On contains every kind of its cluster that powers it on, Home first. If Home does not power it on, Home is first nevertheless; if no
	// kind does, any of them is. Small ones follow the others, closed ones are last. Never empty.
	On      []On
	Refused []On // the other kinds, which do not power it on
	// Seen are its observations and the prediction for each, oldest first.
	Seen []confront.Result

	refusal vnuma.Refusal // of its host, if it is Admitted
}

// Place returns a host of the cluster by its ID, and its kind; nil if it has no prediction.
func (c *Cluster) Place(id string) (*Kind, *numa.Host) {
	for _, k := range c.Kinds {
		for _, h := range k.Hosts {
			if h.ID == id {
				return k, h
			}
		}
	}
	return nil, nil
}

// Assumed returns the assumptions behind a layout of the VM: first contradictions of its source, then the assumptions. v may be nil.
func (v *VM) Assumed(l *vnuma.Layout) []string {
	texts := l.Assumes.Texts()
	if v != nil && v.Doubt != "" && l.Assumes&vnuma.AssumedCPS != 0 {
		texts = slices.Insert(texts, 0, "the cells of the source contradict each other: "+v.Doubt)
	}
	return texts
}

// ClusterID returns the ID of the cluster of the VM, or of its standalone host.
func (v *VM) ClusterID() string {
	if v.Host == nil {
		return v.Cluster
	}
	return cmp.Or(v.Host.Cluster, v.Host.ID)
}

// Off reports whether its host, or every host, refuses to power the VM on.
func (v *VM) Off() bool { return len(v.On) > 0 && v.On[0].Layout.Refused.Any() }

// Admitted returns the VM with its layouts after the reason of its refusal is fixed.
func (v *VM) Admitted(ch vnuma.Choices) *VM {
	out := *v
	out.Guest.Admitted, out.On, out.refusal = true, slices.Clone(v.On), v.On[0].Layout.Refused
	for i := range out.On {
		if on := &out.On[i]; on.Layout.Refused.Any() {
			on.Layout = vnuma.Predict(&out.Guest, &on.Kind.Machine, &vnuma.Case{Choices: ch})
		}
	}
	return &out
}

// Worsens reports whether a power cycle on such hosts gives the VM, which may move there, a worse layout than on its own.
func (v *VM) Worsens(o On) bool {
	return v.TiedTo() == nil && !o.Layout.Refused.Any() && o.Layout.Compare(&v.On[0].Layout) > 0
}

// OnHost returns the layout on the host with the ID; nil if it is not predicted there.
func (v *VM) OnHost(host string) *On {
	for _, on := range [][]On{v.On, v.Refused} {
		for i := range on {
			if slices.ContainsFunc(on[i].Kind.Hosts, func(h *numa.Host) bool { return h.ID == host }) {
				return &on[i]
			}
		}
	}
	return nil
}

// TiedTo returns the host to which a device ties the VM; nil for none.
func (v *VM) TiedTo() *numa.Host {
	if v.Tied() == nil {
		return nil
	}
	return v.Host
}

// UnknownProduct notes that the stated software in the guest has no known limits; "" if it has.
func (v *VM) UnknownProduct() string {
	s := v.Software()
	if !s.Known() || product.Of(s.Value) != nil {
		return ""
	}
	return fmt.Sprintf("the product %q is none of those whose limits are known (docs/reference/guests.md): nothing is judged by it", s.Value)
}

// Products returns the known software in the guest.
func (v *VM) Products() []product.Product {
	return product.Running(v.Software().Value, v.GuestOS.Value)
}

// SocketOf returns the number of vCPUs of the VM that fit a package of such hosts: a core each, or a thread with preferHT and for VMs with
// more vCPUs than cores; 0 if the packages are unknown.
func (v *VM) SocketOf(k *Kind) int {
	m, packages := &k.Machine, k.Hosts[0].Packages.Or(0)
	if packages < 1 {
		return 0
	}
	if v.threads(m) {
		return int(m.AllThreads) / packages
	}
	return int(m.AllCores) / packages
}

// CoresOf returns the number of cores of such hosts that the vCPUs need, counted as in SocketOf.
func (v *VM) CoresOf(k *Kind) int {
	m, vcpus := &k.Machine, int(v.Guest.VCPUs)
	if v.threads(m) && m.AllThreads > 0 {
		return vcpus * int(m.AllCores) / int(m.AllThreads)
	}
	return vcpus
}

// RunsHANA reports whether SAP HANA runs in the guest.
func (v *VM) RunsHANA() bool {
	return slices.ContainsFunc(v.Products(), func(one product.Product) bool { return one.HANA() })
}

// MayRunHANA reports whether the name of a VM whose software is not stated suggests SAP HANA, and its size is none that is documented for it.
func (v *VM) MayRunHANA() bool {
	return !v.Software().Known() && strings.Contains(strings.ToLower(v.Name), "hana") && !product.HANASize(int(v.Guest.VCPUs), v.SocketOf(v.On[0].Kind))
}

// Whole reports whether the vCPUs of a VM of SAP HANA are whole sockets of such hosts, or fit one.
func (v *VM) Whole(o *On) bool {
	whole, _ := product.HANASockets(int(v.Guest.VCPUs), v.SocketOf(o.Kind))
	return whole
}

// Sized reports whether advice may name this number of vCPUs: if SAP HANA runs in the guest, it has to be a valid size on every host.
func (v *VM) Sized(vcpus int) bool {
	if !v.RunsHANA() {
		return true
	}
	sized := *v
	sized.Guest.VCPUs = int32(vcpus)
	return !slices.ContainsFunc(v.On, func(o On) bool {
		return !product.HANASize(vcpus, sized.SocketOf(o.Kind)) || sized.CoresOf(o.Kind) < product.HANALeastCores
	})
}

// Crowded reports whether the VM has more vCPUs than such hosts run without sharing, and this maximum.
func (v *VM) Crowded(k *Kind) (most int, crowded bool) {
	_, all := k.Machine.CPUs(&v.Guest)
	return int(all), v.Guest.VCPUs > all
}

func (v *VM) threads(m *vnuma.Machine) bool {
	return v.Guest.PreferHT || m.PreferHT || v.Guest.VCPUs > m.AllCores
}

// MayRunSQL reports whether SQL Server for Windows may run in the guest.
func (v *VM) MayRunSQL() bool { return vnuma.MayRunSQL(v.VM) }

// FewSockets and FewCores are the limits of the standard editions of SQL Server 2016 to 2022 (docs/reference/guests.md).
const FewSockets, FewCores = 4, 24

// EditionDecides reports whether SQL Server may run in the guest and its edition decides whether all sockets and vCPUs are used.
func (v *VM) EditionDecides() bool {
	return (v.On[0].Layout.VSockets.Len() > FewSockets || v.Guest.VCPUs > FewCores) && v.GuestOS.Known() && v.MayRunSQL()
}

// On is the layout of a VM on one kind of host after a power cycle.
type On struct {
	Kind   *Kind
	Layout vnuma.Layout
	Closed bool // no host of the kind accepts VMs now, and the VM is on none
	Small  bool // the VM has more vCPUs than such hosts have cores, or more memory than they have for VMs, and is on none
}

// Needed returns the minimum number of nodes of o for the vCPUs and the memory of g.
func (o *On) Needed(g *vnuma.Guest) int {
	return max(o.Layout.Least, o.Kind.Machine.NodesFor(g.Resident()))
}

// Needed returns the minimum number of nodes for the VM on all hosts together for which advice is given: with fewer, a node of it would have
// several clients on some of them after vMotion.
func (v *VM) Needed() int {
	most := v.On[0].Needed(&v.Guest)
	for i := range v.On {
		if o := &v.On[i]; !o.Small && !o.Closed {
			most = max(most, o.Needed(&v.Guest))
		}
	}
	return most
}

// Holds returns the memory of the home nodes that g gets on an empty host.
func (o *On) Holds(g *vnuma.Guest) numa.Bytes {
	_, all := o.Kind.Machine.Holds(o.Layout.HomeNodes, g.AllowedNodes, false)
	return all
}

// Lacks returns the memory of g that does not fit the nodes of numa.nodeAffinity, although the host has more nodes (C-12).
func (o *On) Lacks(g *vnuma.Guest) numa.Bytes {
	if o.bound(g) {
		return o.Layout.Memory.Nowhere
	}
	return 0
}

// Fills returns the amount of memory of g in the reserve that the nodes of numa.nodeAffinity keep free after memory in use has migrated home
// (C-16). Nodes that the VM may not use would have room for it. 0 if g lacks memory.
func (o *On) Fills(g *vnuma.Guest) numa.Bytes {
	m := &o.Kind.Machine
	if !o.bound(g) || !m.MemoryKnown() || o.Layout.Memory.Nowhere > 0 {
		return 0
	}
	n := m.Allowed(g.AllowedNodes)
	_, all := m.Holds(n, g.AllowedNodes, false)
	return max(0, numa.Bytes(g.Resident())-all+m.Reserve(false).Home*numa.Bytes(n))
}

// bound reports whether numa.nodeAffinity of g excludes nodes of the host.
func (o *On) bound(g *vnuma.Guest) bool {
	m := &o.Kind.Machine
	return o.Layout.Managed && m.Allowed(g.AllowedNodes) < int(m.Nodes)
}

// RemoteText describes the remote part of the VM's memory on an empty host: at first, and finally, when the guest uses all of it.
func (v *VM) RemoteText(l *vnuma.Layout) string {
	r := &l.Memory
	share := func(b numa.Bytes) string { return words.Percent(float64(b) / float64(max(1, v.Guest.Resident()))) }
	s := fmt.Sprintf("%s (%s) stay remote once the guest uses all of it", r.Remote, share(r.Remote))
	if r.First > 0 {
		s += fmt.Sprintf(", %s at first", r.Remote+r.First)
	}
	var parts []string
	if r.Remote+r.First > 0 || r.Missed() == 0 {
		parts = append(parts, s)
	}
	if r.Missed() > r.Away() {
		parts = append(parts, fmt.Sprintf("%s are far from the vCPUs that use them: %s", share(r.Crossed), l.CrossedText()))
	}
	if r.Nowhere > 0 {
		parts = append(parts, fmt.Sprintf("%s (%s) are ballooned or swapped", r.Nowhere, share(r.Nowhere)))
	}
	return strings.Join(parts, "; ")
}

// Fresh returns the layout on k when sized afresh: nothing stored.
func (v *VM) Fresh(k *Kind, ch vnuma.Choices) vnuma.Layout {
	return vnuma.Predict(&v.Guest, &k.Machine, &vnuma.Case{Event: vnuma.FirstPowerOn, Choices: ch})
}

// Moved returns the layout after vMotion from the VM's own host to one of kind k. The guest keeps the nodes of its last power-on: those that were
// seen, else those that its host gives.
func (v *VM) Moved(k *Kind, ch vnuma.Choices) vnuma.Layout {
	c := vnuma.Case{Event: vnuma.VMotionIn, Choices: ch}
	if v.Home != nil {
		c.From = &v.Home.Machine
	}
	g := v.Guest.AsSeen(v.VM)
	return vnuma.Predict(&g, &k.Machine, &c)
}

// A Pass is the assessment of one subject by one rule.
type Pass struct {
	Rule    *Rule
	Cluster *Cluster
	VM      *VM        // the subject of a VM rule; nil for a host rule
	Host    *numa.Host // the subject of a host rule; otherwise the VM's host, or nil
	Kind    *Kind      // of Host; nil without a prediction
	Choices vnuma.Choices
	// Thresholds are those in the configuration, by rule and name: N005.seriousShare. Rules read Threshold.
	Thresholds map[string]float64
	// Today is used to mark facts about products that were checked long ago; zero marks none.
	Today time.Time

	Findings []finding.Finding

	// Weighing: the findings are only compared. No advice is made.
	Weighing bool

	planned bool // counsel returned the plan of the VM

	about []*numa.Host // of a finding of a host rule about several hosts

	bad  []*numa.Host // hosts with the fault found by Worst, if not all
	ill  []*On        // kinds with it
	good []*On        // kinds without it
	away bool         // the VM's own host is not among bad
}

// Report adds a finding about the subject of the pass. The rule, the names and, for VMs, the assumptions of layout are set.
func (p *Pass) Report(f finding.Finding, layout *vnuma.Layout) {
	f.Rule, f.Title = p.Rule.ID, p.Rule.Title
	f.Cluster = p.Cluster.Name
	if p.away { // no cost until the VM moves there
		f.Severity = min(f.Severity, finding.Medium)
	}
	if p.VM != nil && p.VM.Guest.Admitted && p.VM.Stopped() {
		f.Message = "once it powers on: " + f.Message
		if !p.Weighing && f.Severity == finding.High { // no cost until then
			f.Severity, f.Then = finding.Medium, finding.High
		}
	}
	if p.Host != nil {
		f.Host, f.HostID = p.Host.Name, p.Host.ID
	}
	if p.VM != nil && p.VM.Doubt != "" && f.Severity >= finding.Medium {
		f.Message += fmt.Sprintf("; only if %s are right: its source states %s", words.Plural(int(p.VM.Guest.VCPUs), "vCPU"), p.VM.Doubt)
	}
	if p.VM != nil {
		f.VM, f.VMID, f.VCPUs, f.Off = p.VM.Name, p.VM.ID, int(p.VM.Guest.VCPUs), p.VM.Stopped()
	}
	for _, h := range p.bad {
		f.On = append(f.On, h.Name)
	}
	p.advise(&f)
	p.restart(&f)
	p.VM.stay(&f)
	if p.VM == nil && p.about != nil {
		f.About = hostNames(p.about)
		for _, h := range p.about {
			f.AboutIDs = append(f.AboutIDs, h.ID)
		}
	}
	if layout != nil {
		f.Assumes = p.VM.Assumed(layout)
		f.Remote = numa.Bytes(layout.FarShare() * float64(p.VM.Resident()))
	}
	if p.planned && f.Planned() {
		if best := p.Plan(); best.After[0].Assumes&^best.Before[0].Assumes != 0 {
			f.Notice = words.Join("; ", f.Notice, "assumed of the layout then: "+strings.Join((best.After[0].Assumes&^best.Before[0].Assumes).Texts(), "; "))
		}
	}
	p.Findings = append(p.Findings, f)
}

// At begins a finding about the VM on these hosts, which are not its own; without hosts, one about its own, after one of Worst.
func (p *Pass) At(hosts ...*numa.Host) {
	p.bad, p.ill, p.good, p.away = hosts, nil, nil, len(hosts) > 0
}

// Worst returns the kind of host that a VM rule should report, of those that accept VMs: Home if bad applies there, otherwise the first kind
// for which it does; then findings are at most medium. ok is false if it applies nowhere. others is the number of hosts of the cluster for
// which bad does not apply.
func (p *Pass) Worst(bad func(*On) bool) (on *On, others int, ok bool) {
	p.bad, p.ill, p.good = nil, nil, nil
	for i, open := 0, p.VM.Open(); i < len(open); i++ {
		o := &open[i]
		hosts := p.VM.HostsOf(o.Kind)
		if !bad(o) {
			others += len(hosts)
			p.good = append(p.good, o)
			continue
		}
		if on == nil {
			on = o
		}
		p.ill = append(p.ill, o)
	}
	if others > 0 { // the list of all hosts is long, and not needed
		for _, o := range p.ill {
			p.bad = append(p.bad, p.VM.HostsOf(o.Kind)...)
		}
	}
	p.away = on != nil && p.VM.Home != nil && on.Kind != p.VM.Home
	return on, others, on != nil
}
