// Package rule holds the shape of a rule, what a rule is given to judge, and the conditions that several rules share.
package rule

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"homenode/esxi/plan"
	"homenode/esxi/product"
	"homenode/esxi/vnuma"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/rules/confront"
	"homenode/rules/finding"
)

// A Rule judges VMs or hosts. New takes the words, ID to Sources, from the file beside the check.
type Rule struct {
	ID      string   // what users type and suppress; never reused
	Name    string   // folder and documentation page
	Title   string   // the fault in one line
	Why     string   // what it costs and how it comes about
	Fix     string   // what to do, and whether a power-off is needed
	Limits  string   // when the rule is wrong or does not matter
	Book    []string // ids of the rule book that the check applies
	Sources []string // where the statements come from

	Severity finding.Severity // the highest it reports
	// Thresholds are the numbers it decides by that a fleet may set otherwise.
	Thresholds []Threshold
	// Check judges the subject of the pass: a VM when VMs is true, else a host. With
	// Hosts as well both are judged, and VM of the pass tells which.
	VMs   bool
	Hosts bool
	Check func(*Pass)
	// Stated judges a VM of KVM, whose layout is stated. A rule has Check, Watch or Stated.
	Stated func(*StatedPass)
	// Refused: it judges why a host does not take a VM. All other rules judge such a VM as if its host took it.
	Refused bool
	// Placed: it judges the sizes of clients and virtual nodes. It is silent about a VM that its host refuses for its sizes.
	Placed bool
	// Watch judges what a subject did in a recording.
	Watch func(*Watch)
	// Glance: what Check finds was seen once, and Watch of another rule says more where ticks are judged.
	Glance bool
	// Needs are the counters, in the words of Recording.Lacks, without any one of which
	// Watch finds nothing.
	Needs []string
	// Beside: what Watch finds is no harm done by NUMA. The source or the prediction is
	// wrong, or the host is short of memory.
	Beside bool
}

// About returns what the rule judges, in words.
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
	Cure    *Cure // that a finding about the hosts advises; nil for none
}

// A Cure is a change of the hosts of a kind that gives VMs other nodes.
type Cure struct {
	Machine vnuma.Machine // as the hosts are then
	Do      string        // "one node for each package"
	By      string        // the ID of the rule that advises it
}

// Shape returns the nodes of the hosts in words.
func (k *Kind) Shape() string { return k.Machine.Shape() }

// Tier returns the memory of slower tiers that every host of the kind has.
func (k *Kind) Tier() numa.Bytes {
	least := k.Hosts[0].TierMemory.Value
	for _, h := range k.Hosts {
		least = min(least, h.TierMemory.Value)
	}
	return least
}

// A Cluster is the hosts and VMs that are judged together. A standalone host is a
// cluster of its own without a name.
type Cluster struct {
	Name  string
	Hosts []*numa.Host
	Kinds []*Kind // of the hosts that can be predicted, in order of their first
	VMs   []*VM
	// Templates are judged as if they ran: what is wrong with them their clones inherit.
	Templates []*VM

	// Weigh returns the findings of a VM of the cluster, configured as given; nil leaves plans and advice unweighed.
	Weigh func(v *VM, configured *numa.VM) []finding.Finding

	// Cured has the hosts as they are after their cures; nil where none has one.
	Cured *Cluster

	plans    map[planKey]*plan.Plan
	unvetted map[planKey]*plan.Plan    // while weighing
	present  map[*VM][]finding.Finding // see Pass.now
	running  map[*numa.Host][]*VM      // by host; see Running
	denied   map[*VM]vnuma.Refusal     // see Denied
}

// A VM is a virtual machine with its predictions.
type VM struct {
	*numa.VM
	Guest vnuma.Guest
	Home  *Kind      // of the host it is on; nil when it is on none that is predicted
	Host  *numa.Host // it is registered on; nil when unknown
	// On is every kind of its cluster where it powers on, Home first; Home alone first where
	// it does not, or any where none takes it. Small ones come behind the others, closed ones last. Never empty.
	On      []On
	Refused []On // the other kinds, where it does not power on
	// Seen are its observations beside the prediction for each, oldest first.
	Seen []confront.Result
}

// Off reports whether its host, or none, powers the VM on.
func (v *VM) Off() bool { return len(v.On) > 0 && v.On[0].Layout.Refused.Any() }

// Admitted returns the VM with the layouts that it has once what refuses it is cured.
func (v *VM) Admitted(ch vnuma.Choices) *VM {
	out := *v
	out.Guest.Admitted, out.On = true, slices.Clone(v.On)
	for i := range out.On {
		if on := &out.On[i]; on.Layout.Refused.Any() {
			on.Layout = vnuma.Predict(&out.Guest, &on.Kind.Machine, &vnuma.Case{Choices: ch})
		}
	}
	return &out
}

// OnHost returns what it gets on the host with the ID; nil where it is not predicted there.
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

// TiedTo returns the host that a device of it binds the VM to; nil for none.
func (v *VM) TiedTo() *numa.Host {
	if v.Tied() == nil {
		return nil
	}
	return v.Host
}

// Products returns what is known of the software in the guest.
func (v *VM) Products() []product.Product {
	return product.Running(v.Software().Value, v.GuestOS.Value)
}

// SocketOf returns how many vCPUs of the VM a package of such hosts holds: a core each, or a thread
// with preferHT and for VMs with more vCPUs than cores; 0 when the packages are unknown.
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

// CoresOf returns how many cores of such hosts the vCPUs take, counted as SocketOf does.
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

// Sized reports whether advice may name so many vCPUs: one that SAP HANA is sized for on every host, where it runs in the guest.
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

// Crowded reports whether the VM has more vCPUs than such hosts run without sharing, and how many these are.
func (v *VM) Crowded(k *Kind) (most int, crowded bool) {
	_, all := k.Machine.CPUs(&v.Guest)
	return int(all), v.Guest.VCPUs > all
}

func (v *VM) threads(m *vnuma.Machine) bool {
	return v.Guest.PreferHT || m.PreferHT || v.Guest.VCPUs > m.AllCores
}

// MayRunSQL reports whether SQL Server for Windows may run in the guest: no product is
// stated, and the guest system is Windows or unknown.
func (v *VM) MayRunSQL() bool {
	guest := product.Of(v.GuestOS.Value)
	return !v.Software().Known() && (!v.GuestOS.Known() || guest != nil && guest[0].Windows())
}

// On is the layout of a VM on one kind of host after a power cycle.
type On struct {
	Kind   *Kind
	Layout vnuma.Layout
	Closed bool // no host of the kind takes VMs now, and the VM is on none
	Small  bool // the VM has more vCPUs than such hosts have cores, or more memory than they have for VMs, and is on none
}

// Needed returns the fewest nodes of o that hold the vCPUs and the memory of g.
func (o *On) Needed(g *vnuma.Guest) int {
	return max(o.Layout.Least, o.Kind.Machine.NodesFor(g.Memory))
}

// Holds returns the memory of the home nodes that g gets on an empty host.
func (o *On) Holds(g *vnuma.Guest) numa.Bytes {
	_, all := o.Kind.Machine.Holds(o.Layout.HomeNodes, g.AllowedNodes, false)
	return all
}

// Lacks returns what the nodes of numa.nodeAffinity cannot hold of the memory of g, although the host has more nodes (C-12).
func (o *On) Lacks(g *vnuma.Guest) numa.Bytes {
	if o.bound(g) {
		return o.Layout.Memory.Nowhere
	}
	return 0
}

// Fills returns what memory of g takes of that which the nodes of numa.nodeAffinity keep free once memory in use has come home (C-16): nodes
// that the VM may not use would have it. 0 where g lacks memory.
func (o *On) Fills(g *vnuma.Guest) numa.Bytes {
	m := &o.Kind.Machine
	if !o.bound(g) || !m.MemoryKnown() || o.Layout.Memory.Nowhere > 0 {
		return 0
	}
	n := m.Allowed(g.AllowedNodes)
	_, all := m.Holds(n, g.AllowedNodes, false)
	return max(0, numa.Bytes(g.Memory)-all+m.Reserve(false).Home*numa.Bytes(n))
}

// bound reports whether numa.nodeAffinity of g leaves out nodes of the host.
func (o *On) bound(g *vnuma.Guest) bool {
	m := &o.Kind.Machine
	return o.Layout.Managed && m.Allowed(g.AllowedNodes) < int(m.Nodes)
}

// RemoteText says what of the VM's memory is remote on an empty host: at first, and in the
// end, when the guest uses all of it.
func (v *VM) RemoteText(l *vnuma.Layout) string {
	r := &l.Memory
	share := func(b numa.Bytes) string { return words.Percent(float64(b) / float64(max(1, v.Guest.Memory))) }
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

// Moved returns the layout after vMotion from the VM's own host to one of kind k.
func (v *VM) Moved(k *Kind, ch vnuma.Choices) vnuma.Layout {
	c := vnuma.Case{Event: vnuma.VMotionIn, Choices: ch}
	if v.Home != nil {
		c.From = &v.Home.Machine
	}
	return vnuma.Predict(&v.Guest, &k.Machine, &c)
}

// A Pass is one rule's look at one subject.
type Pass struct {
	Rule    *Rule
	Cluster *Cluster
	VM      *VM        // the subject of a VM rule; nil for a host rule
	Host    *numa.Host // the subject of a host rule; else the VM's host, or nil
	Kind    *Kind      // of Host; nil when it is not predicted
	Choices vnuma.Choices
	// Thresholds are those that the configuration sets, by rule and name:
	// N005.seriousShare. Rules read Threshold.
	Thresholds map[string]float64
	// Today marks facts about products that were checked long ago; zero marks none.
	Today time.Time

	Findings []finding.Finding

	// Weighing: the findings are only weighed. No advice is made.
	Weighing bool

	planned bool // counsel gave the plan of the VM

	about []*numa.Host // that a finding of a host rule speaks of, when they are several

	bad  []*numa.Host // hosts where the fault that Worst found holds, when not everywhere
	good []*On        // where it does not
	away bool         // the VM's own is not among them
}

// Report adds a finding about the subject of the pass. The rule, the names and,
// for VMs, the assumptions of layout are filled in.
func (p *Pass) Report(f finding.Finding, layout *vnuma.Layout) {
	f.Rule, f.Title = p.Rule.ID, p.Rule.Title
	f.Cluster = p.Cluster.Name
	if p.VM != nil && p.VM.Guest.Admitted && p.VM.Stopped() {
		f.Message = "once it powers on: " + f.Message
	}
	if p.away { // it costs nothing until the VM moves there
		f.Severity = min(f.Severity, finding.Medium)
	}
	p.advise(&f)
	p.VM.stay(&f)
	if p.Host != nil {
		f.Host, f.HostID = p.Host.Name, p.Host.ID
	}
	if p.VM != nil {
		f.VM, f.VMID = p.VM.Name, p.VM.ID
	}
	if p.VM == nil && p.about != nil {
		f.About = hostNames(p.about)
		for _, h := range p.about {
			f.AboutIDs = append(f.AboutIDs, h.ID)
		}
	}
	for _, h := range p.bad {
		f.On = append(f.On, h.Name)
	}
	if layout != nil {
		f.Assumes = layout.Assumes.Texts()
	}
	if p.planned && f.Planned() {
		if best := p.Plan(); best.After[0].Assumes&^best.Before[0].Assumes != 0 {
			f.Notice = words.Join("; ", f.Notice, "assumed of the layout then: "+strings.Join((best.After[0].Assumes&^best.Before[0].Assumes).Texts(), "; "))
		}
	}
	p.Findings = append(p.Findings, f)
}

// Worst returns the kind, of the hosts that take VMs, that a VM rule should speak about: Home when bad holds
// there, else the first kind where it does; then findings are at most medium. ok is false when it holds nowhere.
// others counts the hosts of the cluster where bad does not hold.
func (p *Pass) Worst(bad func(*On) bool) (on *On, others int, ok bool) {
	p.bad, p.good = nil, nil
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
		p.bad = append(p.bad, hosts...)
	}
	if others == 0 {
		p.bad = nil
	}
	p.away = on != nil && p.VM.Home != nil && on.Kind != p.VM.Home
	return on, others, on != nil
}
