package fleet

import (
	"iter"
	"slices"
	"strconv"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/table"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	judged "example.org/homenode/rules/verdict/fleet"
)

// A vmRow is a VM of the fleet.
type vmRow struct {
	*numa.VM
	cluster  string
	to       answer.Object // the page of the cluster
	host     *numa.Host
	on       *rule.VM       // its assessment; nil for none
	in       *rule.Cluster  // of on
	stated   *rule.StatedVM // its assessment on KVM; nil for none
	findings []*finding.Finding
	notes    []string
}

func (r *vmRow) judged() bool { return r.on != nil || r.stated != nil }

func (r *vmRow) hostName() string {
	if r.host == nil {
		return ""
	}
	return r.host.Name
}

// hostCell returns the host. On KVM only hosts have pages.
func (r *vmRow) hostCell() answer.Cell {
	switch {
	case r.stated != nil && r.host == nil:
		return answer.Cell{Text: noHost}
	case r.stated != nil:
		return answer.Cell{Text: r.hostName()}
	}
	return answer.Cell{Text: r.hostName(), To: hostObject(r.host)}
}

// assumed returns the assumptions of the layout, even for a VM without findings.
func (r *vmRow) assumed() []string {
	if r.on == nil {
		return nil
	}
	assumed := r.on.Assumed(&r.on.On[0].Layout)
	if r.on.Home == nil {
		assumed = append(assumed, "the layout is of another host of the cluster: its own host is unknown or not judged")
	}
	return assumed
}

// page returns the object of the VM's page.
func (r *vmRow) page() answer.Object {
	if r.stated != nil {
		return answer.Object{}
	}
	return answer.Object{Kind: "vm", ID: r.ID}
}

// vmFields are the columns of the table of VMs.
var vmFields = slices.Concat([]answer.Field[*vmRow]{
	{Name: "VM", Width: 24, Cell: func(r *vmRow) table.Cell { return table.Text(r.Name) }, Head: "Name", Shown: func(r *vmRow) answer.Cell { return answer.Cell{Text: r.Name, To: r.page()} }},
	{Name: "Cluster", Width: 16, Only: predicted, Cell: func(r *vmRow) table.Cell { return table.Text(r.cluster) },
		Head: "Cluster", Shown: func(r *vmRow) answer.Cell { return answer.Cell{Text: r.cluster, To: r.to} }},
	{Name: "Host", Width: 20, Cell: func(r *vmRow) table.Cell { return table.Text(r.hostName()) }, Head: "Host", Shown: func(r *vmRow) answer.Cell { return r.hostCell() }},
	vmFact("power", "Powerstate", 11, ""),
	vmFact("template", "Template", 9, predicted),
	numbered("vCPUs", vmFact("vcpus", "vCPUs", 7, "")),
	vmFact("coresPerSocket", "Cores per socket", 15, ""),
	{Name: "Memory MB", Width: 12, Cell: func(r *vmRow) table.Cell { return table.Fact(r.Memory, table.MB) }, Head: "Memory", Right: true, Shown: func(r *vmRow) answer.Cell { return memoryCell(r.Memory) }},
	vmFact("hotAdd", "CPU hot add", 11, predicted),
	vmFact("memoryHotAdd", "Memory hot add", 14, predicted),
	vmFact("hw", "HW version", 11, predicted),
	vmFact("guest", "OS", 30, predicted),
	{Name: "Judged", Width: 8, Cell: func(r *vmRow) table.Cell { return table.YesNo(r.judged()) }},

	layoutField("Guest nodes", 11, func(l *vnuma.Layout) table.Cell { return table.Number(l.VPDs.Len()) }, func(v *rule.StatedVM) table.Cell { return table.Number(len(v.Stated.Cells)) }),
	layoutField("vCPUs per guest node", 20, func(l *vnuma.Layout) table.Cell { return table.Text(l.VPDs.String()) },
		func(v *rule.StatedVM) table.Cell { return table.Text(v.Sizes()) }),
	{Head: "Guest sees", Shown: func(r *vmRow) answer.Cell { return r.guestSees() }},
	layoutField("Clients", 8, func(l *vnuma.Layout) table.Cell { return table.Number(l.PPDs.Len()) }, nil),
	layoutField("vCPUs per client", 18, func(l *vnuma.Layout) table.Cell { return table.Text(l.PPDs.String()) }, nil),
	{Head: "Carried by", Only: predicted, Shown: func(r *vmRow) answer.Cell { return carriedBy(&r.on.On[0].Layout) }},
	layoutField("Home nodes", 11, func(l *vnuma.Layout) table.Cell { return table.Number(l.HomeNodes) }, nil),
	layoutField("Virtual sockets", 14, func(l *vnuma.Layout) table.Cell { return table.Number(l.VSockets.Len()) }, func(v *rule.StatedVM) table.Cell { return table.Number(v.Stated.Sockets) }),
	{Name: "MAXDOP at most", Width: 14, Only: predicted, Cell: func(r *vmRow) table.Cell { return r.parallel() }},
	layoutField("Memory placement", 16, func(l *vnuma.Layout) table.Cell {
		return table.Known(placed(l), table.Text(l.Memory.String()))
	}, nil),
	layoutField("N%L expected alone on its host", 12, func(l *vnuma.Layout) table.Cell {
		share, ok := l.Memory.Locality()
		return table.Known(ok, table.Percent(share))
	}, nil),
	shownAs("Runs on", layoutField("Runs on", 16, nil, func(v *rule.StatedVM) table.Cell { return table.Text(perCell(v, runsOn)) })),
	shownAs("Memory from", layoutField("Memory from", 30, nil, func(v *rule.StatedVM) table.Cell { return table.Text(perCell(v, memoryFrom)) })),
	layoutField("Local MB alone on its host", 11, func(l *vnuma.Layout) table.Cell { return table.Known(l.Memory.Known, table.MB(l.Memory.Local)) }, nil),
	layoutField("Local MB", 11, nil, func(v *rule.StatedVM) table.Cell {
		far, all, ok := remoteOf(v)
		return table.Known(ok, table.MB(all-far))
	}),
	layoutField("Remote MB alone on its host", 11, func(l *vnuma.Layout) table.Cell { return table.Known(l.Memory.Known, table.MB(l.Memory.Remote)) }, nil),
	layoutField("Remote MB", 11, nil, func(v *rule.StatedVM) table.Cell {
		far, _, ok := remoteOf(v)
		return table.Known(ok, table.MB(far))
	}),
	layoutField("Ballooned or swapped MB alone on its host", 22, func(l *vnuma.Layout) table.Cell { return table.Known(l.Memory.Known, table.MB(l.Memory.Nowhere)) }, nil),
	{Head: "Remote", Right: true, About: "Share of the memory in numastat that is on other nodes than the layout requires", Only: stated, Shown: func(r *vmRow) answer.Cell {
		far, all, ok := remoteOf(r.stated)
		if !ok {
			return answer.Cell{Text: "unknown"}
		}
		return answer.Cell{Text: words.Percent(float64(far) / float64(all))}
	}},
	layoutField("Far share %", 11, func(l *vnuma.Layout) table.Cell { return table.Known(placed(l), table.Percent(l.FarShare())) }, nil),
	layoutField("Wide", 6, func(l *vnuma.Layout) table.Cell { return table.YesNo(l.Wide()) }, nil),
	layoutField("Guest blind", 11, func(l *vnuma.Layout) table.Cell { return table.YesNo(l.HidesNUMA()) }, nil),
	layoutField("NUMA-managed", 13, func(l *vnuma.Layout) table.Cell { return table.YesNo(l.Managed) }, nil),
	{Name: "Same on all hosts", Width: 16, Only: predicted, Cell: func(r *vmRow) table.Cell {
		return table.Known(r.on != nil, table.YesNo(r.on == nil || judged.Same(r.in, r.on)))
	}},
	{Head: "Findings", Shown: func(r *vmRow) answer.Cell { return answer.References(r.findings) }},
}, findingFields(func(r *vmRow) []*finding.Finding { return r.findings }, (*vmRow).assumed), []answer.Field[*vmRow]{
	{Name: "Notes", Width: 40, Cell: func(r *vmRow) table.Cell { return table.Joined(r.notes) }},
	{Name: "VM ID", Width: 14, Cell: func(r *vmRow) table.Cell { return table.Text(r.ID) }},
	{Name: "Folder", Width: 20, Only: predicted, Cell: func(r *vmRow) table.Cell { return table.Text(r.Folder) }},
	{Name: "Read at", Width: 40, Cell: func(r *vmRow) table.Cell { return table.Text(r.At) }},
})

// vmFact is a column with a fact of numa.VMFacts, for tables of one kind.
func vmFact(word, name string, width int, only string) answer.Field[*vmRow] {
	p := numa.Of(numa.VMFacts, word)
	return answer.Field[*vmRow]{Name: name, Width: width, Only: only, Cell: func(r *vmRow) table.Cell { return factCell(p.Fact(&r.Config)) }}
}

// layoutField is a column about the layout of a VM at its current location: after a power cycle, or on KVM according to its
// definition. One of the functions is nil if only tables of the other kind have the column.
func layoutField(name string, width int, of func(*vnuma.Layout) table.Cell, ofStated func(*rule.StatedVM) table.Cell) answer.Field[*vmRow] {
	f := answer.Field[*vmRow]{Name: name, Width: width, Cell: func(r *vmRow) table.Cell {
		switch {
		case r.on != nil && of != nil && !r.on.Off(): // one that does not power on has no layout
			return of(&r.on.On[0].Layout)
		case r.stated != nil && ofStated != nil:
			return ofStated(r.stated)
		}
		return table.Cell{}
	}}
	switch {
	case ofStated == nil:
		f.Only = predicted
	case of == nil:
		f.Only = stated
	}
	return f
}

// placed reports whether the location of a layout's memory is known.
func placed(l *vnuma.Layout) bool { return l.Memory.Known || l.Memory.Placement != vnuma.Local }

// remoteOf returns the observed memory, and the part of it on other nodes than intended by the layout.
func remoteOf(v *rule.StatedVM) (far, all numa.Bytes, ok bool) {
	far, all, _, ok = v.Stated.RemoteOf(v.Host, v.MemoryOn())
	return far, all, ok
}

// guestSees returns the number of nodes that the guest sees.
func (r *vmRow) guestSees() answer.Cell {
	if r.stated != nil {
		return answer.Cell{Text: statedShape(r.stated)}
	}
	l := &r.on.On[0].Layout
	if l.Refused.Any() {
		return answer.Cell{Text: stopped, Sort: "0"}
	}
	return answer.Cell{Text: guestSees(l), Sort: strconv.Itoa(l.VPDs.Len())}
}

// parallel returns the MAXDOP that is recommended where SQL Server is known to run in the guest, with its soft-NUMA.
func (r *vmRow) parallel() table.Cell {
	if r.on == nil || r.on.Off() {
		return table.Cell{}
	}
	for _, one := range r.on.Products() {
		if most, _ := rule.Parallel(&one, &r.on.On[0].Layout); most > 0 {
			return table.Number(most)
		}
	}
	return table.Cell{}
}

// stopped stands for the layout of a VM that its host refuses to power on.
const stopped = "does not power on"

// carriedBy returns the clients of a layout.
func carriedBy(l *vnuma.Layout) answer.Cell {
	text := "no client"
	switch {
	case l.Refused.Any():
		return answer.Cell{Text: "–", Sort: "0"}
	case l.Managed:
		text = words.Plural(l.PPDs.Len(), "client")
		if l.Wide() {
			text += ", " + l.PPDs.String()
		}
	}
	return answer.Cell{Text: text, Sort: strconv.Itoa(l.PPDs.Len())}
}

// vmRows yields the VMs of a fleet: the assessed ones in cluster order and, unless judgedOnly is set, the others.
func (x *index) vmRows(judgedOnly bool) iter.Seq[*vmRow] {
	return func(yield func(*vmRow) bool) {
		done := make(map[string]bool, x.VMs) // by ID, because the VMs of a filtered fleet are copies
		row := func(v *numa.VM, cluster string, host *numa.Host) *vmRow {
			done[v.ID] = true
			return &vmRow{VM: v, cluster: cluster, host: host, findings: x.byVM[v.ID], notes: x.notesAt(v.At)}
		}
		for _, c := range x.Clusters {
			for _, v := range c.VMs {
				one := row(v.VM, c.Title(), v.Host)
				if one.on, one.in, one.to = v, c, clusterObject(c.Name); !yield(one) {
					return
				}
			}
		}
		for _, v := range x.Stated {
			one := row(v.VM, "", v.Host)
			if one.stated = v; !yield(one) {
				return
			}
		}
		hosts := x.Fleet.HostsByID()
		for i := range x.Fleet.VMs {
			v := &x.Fleet.VMs[i]
			if !judgedOnly && !done[v.ID] && !yield(row(v, x.Fleet.ClusterName(v.Cluster), hosts[v.Host])) {
				return
			}
		}
	}
}
