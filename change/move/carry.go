package move

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/shape"
)

// The sizes of huge pages.
const (
	small = 2 * numa.MiB
	large = numa.GiB
)

// largePages is the setting of a VM that requests pages of 1 GB (B-31).
const largePages = "sched.mem.lpage.enable1GPage"

// Requirements before a VM starts.
const (
	reserved   = "huge pages of %s that are reserved on the nodes of the host"
	staticCPUs = "the CPU Manager of the kubelet with policy static on nodes labelled cpumanager=true, and the feature gates CPUManager and NUMA in releases that have them"
)

// pages sets the page size, and reports the changes from vSphere. placed: the VM gets a host.
func (m *Move) pages(s *Shape, cells int, placed bool) {
	v := m.VM
	if v.Guest.Needs.LargePages {
		const what = "pages of 1 GB"
		can := m.Platform.Can[Pages]
		switch {
		case !can.Can:
			m.add(Lost, what, largePages+" = TRUE", "", can.Limit, v.Settings.Origin.Where)
		case m.Platform.MostDigit > 0 && !placed:
			m.add(Lost, what, largePages+" = TRUE", "", "they need a node of the host, and none is given", v.Settings.Origin.Where)
		case s.Memory%large == 0:
			s.Page = large
			m.add(Carried, what, largePages+" = TRUE", "huge pages of 1 GB, to be reserved on each node of the host before", "", v.Settings.Origin.Where)
			m.need(reserved, s.Page)
		case s.Memory%small == 0:
			s.Page = small
			m.add(Changed, what, largePages+" = TRUE", "huge pages of 2 MB, to be reserved on each node of the host before", fmt.Sprintf("%s are no whole pages of 1 GB", s.Memory), v.Settings.Origin.Where)
			m.need(reserved, s.Page)
		default:
			m.add(Lost, what, largePages+" = TRUE", "", fmt.Sprintf("%s are no whole huge pages", s.Memory), v.Settings.Origin.Where)
		}
	}
	if m.Platform.Passthrough && cells > 1 {
		m.passthrough(s)
	}
}

// passthrough reports the requirements of guest nodes that follow from the assigned CPUs.
func (m *Move) passthrough(s *Shape) {
	if !m.Exclusive {
		m.Exclusive = true
		m.add(Changed, "CPUs", "shared with other VMs", "dedicated", "guestMappingPassthrough needs dedicated CPUs", "")
		m.need(staticCPUs)
	}
	switch {
	case s.Page > 0:
	case s.Memory%small == 0:
		s.Page = small
		m.add(Changed, "pages", "large pages of the host, by default", "huge pages of 2 MB", "guestMappingPassthrough needs huge pages", "")
		m.need(reserved, s.Page)
	default:
		m.Refused = append(m.Refused, fmt.Sprintf("%s are no whole pages of 2 MB, which guestMappingPassthrough needs", s.Memory))
	}
}

// cells sets the cells: vCPUs, and memory in whole pages.
func (m *Move) cells(s *Shape, g *guest, cell []int) {
	weights := make([]int, slices.Max(cell)+1)
	s.Cells = make([]Cell, len(weights))
	for v, c := range cell {
		s.Cells[c].CPUs = append(s.Cells[c].CPUs, v)
		weights[c]++
	}
	if slices.Equal(cell, g.node) && len(g.memory) == len(weights) { // in proportion to the memory on vSphere
		for i, b := range g.memory {
			weights[i] = int(b / numa.PageSize)
		}
	}
	for i, b := range divide(s.Memory, s.Unit(), weights) {
		s.Cells[i].Memory = b
	}
}

// topology sets sockets, dies, cores and threads, and reserves room for hot-added vCPUs. kind is the kind of host that the VM is sized for, or nil.
func (m *Move) topology(s *Shape, g *guest, cell []int, kind *Host) {
	can := &m.Platform.Can
	perSocket, threads := g.perSocket, g.threads
	if kind != nil {
		perSocket = shape.Fitting(cell, len(cell))
	}
	lacks := ""                                                                            // why the guest sees no threads
	own := m.Exclusive && can[Exclusive].Can && (m.Binding() != nil || !can[HomeNode].Can) // otherwise the platform chooses the CPUs
	switch {
	case threads < 2:
	case !can[Threads].Can:
		threads, lacks = 1, can[Threads].Limit
	case own && can[HomeNode].Can && m.At.PerCore != threads: // B-21
		lacks = fmt.Sprintf("the plan has a core for each vCPU: its hosts do not state cores of %d threads, or another platform of the plan shows none", threads)
		threads = 1
	}
	why := arrange(s, cell, perSocket, threads, can[Dies].Can)
	on := topologyOf(g)
	switch {
	case can[Sockets].Limit != "":
		m.add(Changed, "sockets and cores", on, s.Topology()+", if the platform makes them so", can[Sockets].Limit, m.Basis)
	case on == s.Topology():
		m.add(Carried, "sockets and cores", on, s.Topology(), "", m.Basis)
	case kind != nil:
		m.add(Changed, "sockets and cores", on, s.Topology(), "sized for "+kind.Name, m.Basis)
	default:
		if why == "" && s.Dies > 1 {
			why = "each node is a die, so that the last-level cache does not cross the border of nodes"
		}
		if why == "" && g.threads > 1 && s.Threads == 1 {
			if why = lacks; why == "" {
				why = "a core of two threads would lie in two nodes"
			}
		}
		m.add(Changed, "sockets and cores", on, s.Topology(), why, m.Basis)
	}
	if s.Threads > 1 && !own {
		m.add(Changed, "threads of a core", "two vCPUs share a core of the host", "the guest sees threads", "without a CPU for each vCPU the host may run two threads of a core on two cores", vnuma.VirtualThreads(m.VM.VM).Origin.Where)
	}
	m.hotAdd(s, cell)
}

// topologyOf describes the guest's topology on vSphere.
func topologyOf(g *guest) string {
	return g.shape(0).Topology()
}

// shape returns the guest's shape on vSphere, with the given memory.
func (g *guest) shape(memory numa.Bytes) *Shape {
	s := &Shape{VCPUs: len(g.node), Memory: memory, Sockets: (len(g.node) + g.perSocket - 1) / g.perSocket, Dies: 1, Cores: g.perSocket, Threads: 1}
	if g.threads > 1 && g.perSocket%g.threads == 0 {
		s.Cores, s.Threads = g.perSocket/g.threads, g.threads
	}
	for i, b := range memoryOf(g, memory, sizesOf(g.node)) {
		s.Cells = append(s.Cells, Cell{Memory: b})
		for v, n := range g.node {
			if n == i {
				s.Cells[i].CPUs = append(s.Cells[i].CPUs, v)
			}
		}
	}
	return s
}

// hotAdd reserves room for hot-added vCPUs, if their number is known.
func (m *Move) hotAdd(s *Shape, cell []int) {
	v := m.VM
	if !v.Guest.HotAdd {
		return
	}
	const what = "CPU hot add"
	most, n := int(v.Guest.MaxVCPUs), len(cell)
	can := m.Platform.Can[AddVCPUs]
	on := "on"
	if most > n {
		on = fmt.Sprintf("on, up to %d vCPUs (cpuid.maxVCPUs)", most)
	}
	from := v.CPUHotAdd.Origin.Where
	switch {
	case !can.Can:
		m.add(Lost, what, on, "", can.Limit, from)
	case m.Platform.Passthrough && len(s.Cells) > 1:
		m.add(Lost, what, on, "power off to add vCPUs", "guestMappingPassthrough makes nodes of the vCPUs that are there at the start: those added later were not shown to get one", from)
	case most <= n:
		m.add(Lost, what, on, "power off to add vCPUs", "the VM states no largest number (cpuid.maxVCPUs), and guests reserve for it", from)
	case most%s.PerSocket() != 0 || most > n && !s.Even() || s.Dies > 1:
		m.add(Lost, what, on, "power off to add vCPUs", fmt.Sprintf("%d vCPUs are no whole sockets of %d in like nodes", most, s.PerSocket()), from)
	default:
		next := 0
		for first := n; first < most; first += s.PerSocket() { // whole sockets, round-robin
			for i := range s.PerSocket() {
				s.Cells[next].CPUs = append(s.Cells[next].CPUs, first+i)
			}
			next = (next + 1) % len(s.Cells)
		}
		s.Sockets = most / s.PerSocket()
		m.add(Carried, what, on, fmt.Sprintf("%d of %d vCPUs at the start", s.VCPUs, most), "", from)
	}
}

// compare reports the changes to the nodes and their memory. kind is the kind of host that the VM is sized for, or nil.
func (m *Move) compare(s *Shape, g *guest, shape string, kind *Host) {
	can := &m.Platform.Can
	before := sizesOf(g.node)
	now := make([]int, len(s.Cells))
	for i, c := range s.Of()[:s.VCPUs] {
		_ = i
		if c >= 0 {
			now[c]++
		}
	}
	on, then := nodesText(before), nodesText(now)
	memory := bytesText(memoryOf(g, s.Memory, before))
	var cells []numa.Bytes
	for _, c := range s.Cells {
		cells = append(cells, c.Memory)
	}
	switch {
	case !can[Nodes].Can && len(s.Cells) > 1:
		m.add(Lost, "NUMA nodes", on, "one node", can[Nodes].Limit, m.Basis)
		return
	case !slices.Equal(before, now):
		why := "asked for: --shape " + shape
		switch shape {
		case "", Clients:
			why = "vSphere carries it so and hides that, with CPU hot add for one: --shape same keeps it hidden"
		case Fit:
			why = fmt.Sprintf("sized for %s: %s", kind.Name, kind)
		}
		m.add(Changed, "NUMA nodes", on, then, why, m.Basis)
	case len(now) == 1:
		m.add(Carried, "NUMA nodes", on, then, "", m.Basis)
		return
	case can[Nodes].Limit != "" && m.Platform.Most == 0:
		m.add(Changed, "NUMA nodes", on, then+", if the platform makes them so", can[Nodes].Limit, m.Basis)
	default:
		m.add(Carried, "NUMA nodes", on, then, "", m.Basis)
	}
	switch {
	case len(cells) < 2:
	case !can[NodeMemory].Can && !s.Even():
		m.add(Changed, "memory of the nodes", memory, "equal parts", can[NodeMemory].Limit, "")
	case memory == bytesText(cells):
		m.add(Carried, "memory of the nodes", memory, bytesText(cells), can[NodeMemory].Limit, "")
	default:
		m.add(Changed, "memory of the nodes", memory, bytesText(cells), fmt.Sprintf("in whole pages of %s", s.Unit()), "")
	}
	if len(cells) > 1 && !can[Distances].Can {
		m.add(Changed, "distances", "those of the virtual firmware", "those of the platform", can[Distances].Limit, "")
	}
}

func sizesOf(node []int) []int {
	out := make([]int, slices.Max(node)+1)
	for _, n := range node {
		out[n]++
	}
	return out
}

func nodesText(sizes []int) string {
	if len(sizes) == 1 {
		return fmt.Sprintf("1 of %d vCPUs", sizes[0])
	}
	return vnuma.SizesText(sizes)
}

func bytesText(list []numa.Bytes) string {
	if slices.Min(list) == slices.Max(list) {
		return fmt.Sprintf("%d × %s", len(list), list[0])
	}
	return strings.Join(words.Texts(list, func(b numa.Bytes) string { return b.String() }), " + ")
}

// place reports the host and its nodes on which the VM runs.
func (m *Move) place(s *Shape, o Options) {
	l := &m.VM.On[0].Layout
	can := m.Platform.Can[HomeNode]
	on := "chosen by the NUMA scheduler, and changed by it"
	if !l.Managed {
		on = "none: the VM has an affinity" // C-12
	}
	switch {
	case !can.Can:
		m.add(Lost, homeItem, on, "", can.Limit, "")
		m.At = nil
	case m.Platform.Chooses:
		wide := !l.Managed || l.Wide() || l.Memory.Remote+l.Memory.First > 0
		m.Floats = len(s.Cells) == 1 && wide && m.At == nil && o.Shape != Fit && !(m.Exclusive && m.Platform.Can[Exclusive].Can) && s.Page == 0
		m.At = nil
		if m.Floats {
			m.add(Lost, homeItem, on, "", "no node is asked for, since the only node of the guest may not fit one of the host: --hosts says whether it does", "")
		} else {
			m.add(Changed, homeItem, on, "a node of the host for each node of the guest, which the platform chooses", "fixed when it starts: nothing moves it with the load", "")
		}
	case m.At == nil:
		m.add(Lost, homeItem, on, "none: the host's kernel chooses", "no host is given", "")
	case m.Binding() == nil:
		m.add(Lost, homeItem, on, fmt.Sprintf("none: the host's kernel chooses; the plan counts on %s", m.At), "the numbers of the host's CPUs are not known: virsh capabilities states them; "+
			"memory that is bound without its vCPUs is worse than none", "")
	default:
		m.add(Changed, homeItem, on, fmt.Sprintf("fixed: %s", m.At), words.Join("; ", "a plan that ages: nothing moves it with the load", can.Limit), "")
	}
	if m.VM.LatencyHigh() {
		m.exclusive(s, o)
	}
}

// exclusive reports the replacement for latency sensitivity High.
func (m *Move) exclusive(s *Shape, o Options) {
	level, name := m.VM.Latency()
	const what = "a CPU for each vCPU"
	on := name + " = " + level.Value
	can := m.Platform.Can[Exclusive]
	switch {
	case !can.Can:
		m.add(Lost, what, on, "", can.Limit, level.Origin.Where)
		m.Exclusive = false
	case !m.Platform.Places(): // the platform chooses the CPUs
		why := "no overcommitment of them; memory is to be in huge pages to be locked"
		if can.Limit != "" {
			why += "; " + can.Limit
		}
		m.add(Changed, what, on, "dedicated CPUs, that the platform chooses", why, level.Origin.Where)
		switch {
		case m.Platform.Passthrough:
			m.need(staticCPUs)
		case m.To == "nova" && s.Threads == 1 && o.SMT: // https://docs.openstack.org/nova/latest/admin/cpu-topologies.html, hw:cpu_thread_policy
			m.need("hosts without SMT, which isolate asks for: all of --hosts have it; turn it off, or take hw:cpu_thread_policy=prefer, with which two vCPUs may share a core")
		case m.To == "nova" && s.Threads == 1:
			m.need("hosts without SMT, which isolate asks for")
		}
	case m.At == nil:
		m.add(Lost, what, on, "", "no host is given that has them", level.Origin.Where)
		m.Exclusive = false
	case !m.At.Numbered():
		m.add(Lost, what, on, "cores are kept for it, no CPU is named", "the numbers of the CPUs of "+m.At.Host+" are not known: virsh capabilities states them", level.Origin.Where)
		m.Exclusive = false
	case !m.At.holds(s):
		m.Refused = append(m.Refused, fmt.Sprintf("%s has not a CPU for each of %d vCPUs on the nodes that carry it", m.At.Host, s.Most()))
	default:
		m.add(Changed, what, on, "each vCPU pinned to one CPU of "+m.At.Host, "no overcommitment of them; ESXi keeps them free only while the VM runs; its CPU is that of the host (host-passthrough), so that live migration wants one of the same model", level.Origin.Where)
		if m.At.Helpers == nil {
			m.add(Lost, "CPUs for its other threads", on, "QEMU's other threads may run on the CPUs of its vCPUs", "no core of "+m.At.Host+" is left for them: --host-reserve keeps some", level.Origin.Where)
		}
	}
}

// judge runs the checks that schemas do not cover, and those of the platform.
func (m *Move) judge(s *Shape) {
	p := m.Platform
	refuse := func(text string, args ...any) { m.Refused = append(m.Refused, fmt.Sprintf(text, args...)) }
	switch {
	case len(s.Cells) < 2:
	case p.Most > 0 && len(s.Cells) > p.Most:
		refuse("%d nodes: %s has at most %d. --shape fit with larger nodes, or --shape flat", len(s.Cells), p.Title, p.Most)
	case !s.Even() && !p.Can[Uneven].Can:
		refuse("uneven nodes %s: %s. --shape flat, %s", nodesText(s.Sizes()), p.Can[Uneven].Limit, evenText(s))
	case p.Counts && !s.Consecutive() && len(s.Cells) > 1:
		refuse("its nodes have vCPUs that do not follow each other, and %s gives each node the next ones", p.Title)
	}
	if p.MostDigit > 0 && s.Page > 0 && m.At != nil {
		if m.Binding() == nil {
			refuse("huge pages of %s are bound to nodes, and the numbers of the CPUs of %s, which would be bound with them, are not known: virsh capabilities states them", p.Title, m.At.Host)
		}
		for _, n := range m.At.Nodes {
			if n > p.MostDigit {
				refuse("huge pages on node %d of %s: %s takes nodes 0 to %d", n, m.At.Host, p.Title, p.MostDigit)
				break
			}
		}
	}
	if m.Faults = Check(s, m.At, p.MemoryOnly); m.Faults != nil {
		for _, f := range m.Faults {
			refuse("%s", f.Text)
		}
	}
	m.Strict = s.Page > 0 || m.Exclusive || m.To == "qemu" && m.VM.LatencyHigh()
	if m.Refused == nil {
		m.Shape = s
	}
}

// evenText lists the numbers of vCPUs that would give even nodes.
func evenText(s *Shape) string {
	n, k := s.VCPUs, len(s.Cells)
	if n%k == 0 {
		return "or divide it evenly on vSphere"
	}
	return fmt.Sprintf("or %d or %d vCPUs", n/k*k, (n/k+1)*k)
}
