package fleet

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/table"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	judged "example.org/homenode/rules/verdict/fleet"
)

// A hostRow is a host of the fleet.
type hostRow struct {
	*numa.Host
	in       *rule.Cluster // nil on KVM
	vms      int           // number of assessed VMs
	vcpus    int           // on KVM: their vCPUs, of which pinned are limited to one node
	pinned   int
	split    int // on KVM: number of VMs whose guest sees several nodes
	findings []*finding.Finding
	notes    []string
}

// hostFields are the columns of the table of hosts.
var hostFields = slices.Concat([]answer.Field[*hostRow]{
	shownAs("Host", answer.Field[*hostRow]{Name: "Host", Width: 24, Cell: func(r *hostRow) table.Cell { return table.Text(r.Name) }}),
	{Name: "Cluster", Width: 16, Only: predicted, Cell: func(r *hostRow) table.Cell { return table.Text(r.in.Title()) }},
	hostFact("release", "ESX version", 12, predicted),
	hostFact("build", "Build", 10, predicted),
	hostFact("vendor", "Vendor", 14, predicted),
	hostFact("model", "Model", 24, predicted),
	hostFact("cpu", "CPU model", 36, ""),
	hostFact("packages", "CPUs", 6, ""),
	numbered("Cores", hostFact("cores", "Cores", 7, "")),
	hostFact("threads", "Threads", 8, ""),
	hostFact("ht", "HT active", 9, ""),
	{Name: "Memory MB", Width: 12, Cell: func(r *hostRow) table.Cell { return table.Fact(r.Memory, table.MB) }, Head: "Memory", Right: true, Shown: func(r *hostRow) answer.Cell { return memoryCell(r.Memory) }},
	numbered("Nodes", hostFact("nodes", "NUMA nodes", 11, "")),
	nodeField("Cores per node", 14, func(n numa.Node) table.Cell { return table.Number(n.Cores) }),
	nodeField("Memory MB per node", 18, func(n numa.Node) table.Cell { return table.Fact(n.Memory, table.MB) }),
	{Name: "Nodes are", Width: 10, Cell: func(r *hostRow) table.Cell {
		return table.Known(r.Nodes.Known(), table.Text(r.Nodes.Origin.Kind.String()))
	}},
	hostFact("power", "Power policy", 18, predicted),
	hostFact("connection", "Connection", 13, predicted),
	hostFact("maintenance", "Maintenance", 12, predicted),
	{Name: "Judged", Width: 8, Cell: func(r *hostRow) table.Cell {
		return table.YesNo(r.in == nil && r.Nodes.Known() || r.in != nil && nodesKnown(r.in, r.Host))
	}},
	{Name: "VMs judged", Width: 11, Cell: func(r *hostRow) table.Cell { return table.Number(r.vms) }, Head: "VMs", Right: true},
	{Name: "vCPUs", Width: 7, Only: stated, Cell: func(r *hostRow) table.Cell { return table.Number(r.vcpus) }, Head: "vCPUs", Right: true},
	{Name: "vCPUs on one node", Width: 17, Only: stated, Cell: func(r *hostRow) table.Cell { return table.Number(r.pinned) }, Head: "Pinned", Right: true, About: "vCPUs that may run on one node only"},
	{Name: "VMs of several cells", Width: 18, Only: stated, Cell: func(r *hostRow) table.Cell { return table.Number(r.split) }, Head: "VMs of several cells", Right: true, About: "VMs whose guest sees several NUMA nodes"},
}, runningFields(false, func(r *hostRow) judged.Running { return judged.RunningOn(r.in, r.Host) }), findingFields(func(r *hostRow) []*finding.Finding { return r.findings }, func(*hostRow) []string { return nil }), []answer.Field[*hostRow]{
	{Name: "Notes", Width: 40, Cell: func(r *hostRow) table.Cell { return table.Joined(r.notes) }},
	{Name: "Host ID", Width: 14, Cell: func(r *hostRow) table.Cell { return table.Text(r.ID) }},
	{Name: "Read at", Width: 40, Cell: func(r *hostRow) table.Cell { return table.Text(r.At) }},
})

// hostFact is a column with a fact of numa.HostFacts, for tables of one kind.
func hostFact(word, name string, width int, only string) answer.Field[*hostRow] {
	p := numa.Of(numa.HostFacts, word)
	return answer.Field[*hostRow]{Name: name, Width: width, Only: only, Cell: func(r *hostRow) table.Cell { return factCell(p.Fact(r.Host)) }}
}

// nodeField is a column about the nodes: one value if all are equal, otherwise one per node, "20, 14".
func nodeField(name string, width int, of func(numa.Node) table.Cell) answer.Field[*hostRow] {
	return answer.Field[*hostRow]{Name: name, Width: width, Cell: func(r *hostRow) table.Cell {
		var cells []table.Cell
		for _, n := range r.Nodes.Value {
			cells = append(cells, of(n))
		}
		return table.Known(r.Nodes.Known(), each(cells))
	}}
}

func each(cells []table.Cell) table.Cell {
	if len(cells) == 0 {
		return table.Cell{}
	}
	if slices.Equal(cells[1:], cells[:len(cells)-1]) {
		return cells[0]
	}
	s := ""
	for i, c := range cells {
		if i > 0 {
			s += ", "
		}
		s += cmp.Or(c.String(), "unknown")
	}
	return table.Text(s)
}

// hostRows yields the hosts of a fleet, in cluster order.
func (x *index) hostRows() iter.Seq[*hostRow] {
	return func(yield func(*hostRow) bool) {
		row := func(h *numa.Host) *hostRow {
			return &hostRow{Host: h, findings: x.byHost[h.ID], notes: x.notesAt(h.At)}
		}
		vms := map[*numa.Host]int{}
		for _, c := range x.Clusters {
			for _, v := range c.VMs {
				vms[v.Host]++
			}
		}
		for _, c := range x.Clusters {
			for _, h := range c.Hosts {
				one := row(h)
				if one.in, one.vms = c, vms[h]; x.shows(h) && !yield(one) {
					return
				}
			}
		}
		for i := range x.Fleet.Hosts {
			if x.kind() == stated && !yield(x.statedHost(row(&x.Fleet.Hosts[i]))) {
				return
			}
		}
	}
}

// statedHost adds the sums over the VM definitions of a KVM host.
func (x *index) statedHost(r *hostRow) *hostRow {
	for _, v := range x.Stated {
		if v.Host == nil || v.Host.ID != r.ID {
			continue
		}
		r.vms, r.vcpus = r.vms+1, r.vcpus+v.Stated.VCPUs
		for _, cpus := range v.Stated.CPUs {
			if nodes, _ := r.NodesOf(cpus); cpus != nil && len(nodes) == 1 {
				r.pinned++
			}
		}
		if len(v.Stated.Cells) > 1 {
			r.split++
		}
	}
	return r
}

// A clusterRow is a cluster or a standalone host.
type clusterRow struct {
	*judged.Cluster
	findings []*finding.Finding
}

// clusterFields are the columns of the table of clusters.
var clusterFields = slices.Concat([]answer.Field[*clusterRow]{
	{Name: "Cluster", Width: 24, Cell: func(r *clusterRow) table.Cell { return table.Text(r.Name) }, Head: "Cluster", Shown: func(r *clusterRow) answer.Cell { return answer.Cell{Text: r.Name, To: clusterObject(r.Of.Name)} }},
	clusterCount("Hosts", 7, "Hosts", func(r *clusterRow) int { return r.Hosts }),
	clusterCount("Host shapes", 11, "", func(r *clusterRow) int { return len(r.Kinds) }),
	{Name: "Node", Width: 28, Cell: func(r *clusterRow) table.Cell { return table.Text(words.Paragraph(r.Of.Node())) }, Head: "Node", Shown: func(r *clusterRow) answer.Cell { return answer.Cell{Text: r.Of.Node()} }},
	{Name: "VMs judged", Width: 11, Head: "VMs", Right: true, Cell: func(r *clusterRow) table.Cell { return table.Number(r.VMs) }, Shown: func(r *clusterRow) answer.Cell {
		if r.Unjudged > 0 {
			return answer.Cell{Text: fmt.Sprintf("%d of %d", r.VMs, r.VMs+r.Unjudged)}
		}
		return count(r.VMs)
	}, About: "VMs of the cluster; 1 of 3: the others could not be judged, as the notes say"},
	clusterCount("Wide", 6, "Wide", func(r *clusterRow) int { return r.Wide }),
	faults(clusterCount("Guest blind", 11, "Guest blind", func(r *clusterRow) int { return r.Blind })),
	tooBig(),
	{Name: "Differ by host", Width: 13, Cell: func(r *clusterRow) table.Cell { return table.Number(r.Differing) }, Head: "Fits everywhere",
		About: "Does every VM get the same layout after a power cycle on any host of the cluster? If not: how many get another one on some host, better or worse, or cannot run there",
		Shown: func(r *clusterRow) answer.Cell { return answer.Cell{Text: r.Fits(), Tone: toneIf(r.Differing > 0)} }},
}, runningFields(true, func(r *clusterRow) judged.Running { return r.Running }), countFields(func(r *clusterRow) []*finding.Finding { return r.findings }))

// clusterLegend explains the counts of VMs below the table, because a terminal and a phone show no explanation of a column.
const clusterLegend = "WIDE: VMs that need more than one NUMA client. GUEST BLIND: wide VMs whose guest sees one node. TOO BIG: VMs with more memory than their nodes hold: the rest is remote, or does not fit the host. VCPU/CORE: vCPUs that run, over the cores of the hosts that take VMs."

func clusterCount(name string, width int, head string, of func(*clusterRow) int) answer.Field[*clusterRow] {
	return answer.Field[*clusterRow]{Name: name, Width: width, Head: head, Right: true, Cell: func(r *clusterRow) table.Cell { return table.Number(of(r)) }}
}

// tooBig is the column of clusters whose count is unknown where the memory of nodes or VMs is.
func tooBig() answer.Field[*clusterRow] {
	f := faults(clusterCount("Too big", 8, "Too big", func(r *clusterRow) int { return r.TooBig }))
	known := f.Shown
	f.Shown = func(r *clusterRow) answer.Cell {
		if r.TooBig == 0 && r.Sizeless > 0 {
			return answer.Cell{Text: "–"}
		}
		return known(r)
	}
	return f
}

// faults marks a column of counts that should be 0.
func faults[T any](f answer.Field[T]) answer.Field[T] {
	f.Shown = func(row T) answer.Cell {
		n, _ := f.Cell(row).Number()
		c := count(int(n))
		c.Tone = toneIf(n > 0)
		return c
	}
	return f
}

// clusterRows yields the clusters and standalone hosts.
func (x *index) clusterRows(yield func(*clusterRow) bool) {
	for i := range x.clusters {
		r := &clusterRow{Cluster: &x.clusters[i]}
		for _, v := range r.Of.VMs {
			r.findings = append(r.findings, x.byVM[v.ID]...)
		}
		for _, h := range r.Of.Hosts {
			r.findings = append(r.findings, x.byHost[h.ID]...)
		}
		if !yield(r) {
			return
		}
	}
}

// runningFields are the running vCPUs, and their ratios to cores and threads.
func runningFields[T any](ratio bool, of func(T) judged.Running) []answer.Field[T] {
	field := func(name string, width int, cell func(judged.Running) table.Cell) answer.Field[T] {
		return answer.Field[T]{Name: name, Width: width, Only: predicted, Cell: func(row T) table.Cell { return cell(of(row)) }}
	}
	known := func(r judged.Running) bool { return r.Cores > 0 && !r.Unknown }
	perCore := field("vCPUs per core", 14, func(r judged.Running) table.Cell { return table.Known(known(r), table.Number(r.PerCore)) })
	if ratio { // also on the screen
		perCore.Head, perCore.Right, perCore.About = "vCPU/core", true, "vCPUs that run beside the cores of the hosts"
		perCore.Shown = func(row T) answer.Cell {
			switch r := of(row); {
			case r.Unknown:
				return answer.Cell{Text: "unknown"}
			case !known(r):
				return answer.Cell{Text: "–"}
			}
			return answer.Cell{Text: unit.Digits(of(row).PerCore, 2)}
		}
	}
	return []answer.Field[T]{
		field("vCPUs running", 13, func(r judged.Running) table.Cell { return table.Number(r.VCPUs) }),
		perCore,
		field("vCPUs per thread", 16, func(r judged.Running) table.Cell { return table.Known(known(r), table.Number(r.PerThread)) }),
	}
}
