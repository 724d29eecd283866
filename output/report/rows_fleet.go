package report

import (
	"cmp"
	"slices"

	"homenode/finding"
	"homenode/numa"
	"homenode/rule"
	"homenode/vnuma"
)

// layoutColumns are the topology of a VM on one host.
var layoutColumns = []Column{
	{"Guest nodes", 11}, {"vCPUs per guest node", 20}, {"Clients", 8}, {"vCPUs per client", 18}, {"Home nodes", 11}, {"Virtual sockets", 14},
	{"Memory placement", 16}, {"N%L expected", 12}, {"Local MiB", 11}, {"Remote MiB", 11}, {"Far share %", 11},
	{"Wide", 6}, {"Guest blind", 11}, {"NUMA-managed", 13}, {"Same on all hosts", 16},
}

// layoutCells describes the VM where it is, after a power cycle.
func layoutCells(v *rule.VM) []Cell {
	l := &v.On[0].Layout
	same := true
	for i := range v.On {
		same = same && l.Same(&v.On[i].Layout)
	}
	placement, local, remote, far := l.Memory.Placement.String(), Cell{}, Cell{}, percentOf(l.FarShare())
	if l.Memory.Known {
		local, remote = mib(l.Memory.Local), mib(l.Memory.Remote)
	} else if l.Memory.Placement == vnuma.Local {
		placement, far = "", Cell{}
	}
	expected := Cell{}
	if share, ok := l.Memory.Locality(); ok {
		expected = percentOf(share)
	}
	return []Cell{
		numberOf(l.VPDs.Len()), textOf(l.VPDs.String()), numberOf(l.PPDs.Len()), textOf(l.PPDs.String()), numberOf(l.HomeNodes), numberOf(l.VSockets.Len()),
		textOf(placement), expected, local, remote, far,
		yesNo(l.Wide()), yesNo(l.Wide() && !l.GuestSeesNUMA()), yesNo(l.Managed), yesNo(same),
	}
}

// vmTable has a row for each VM: those judged in the order of the clusters, then
// the others, with what kept them from being judged.
func vmTable(x *index) Table {
	return Table{
		Name: "vms",
		Columns: slices.Concat([]Column{
			{"VM", 24}, {"Cluster", 16}, {"Host", 20}, {"Powerstate", 11}, {"Template", 9}, {"vCPUs", 7}, {"Cores per socket", 15}, {"Memory MiB", 12},
			{"CPU hot add", 11}, {"Memory hot add", 14}, {"HW version", 11}, {"OS", 30}, {"Judged", 8},
		}, layoutColumns, countColumns, saidColumns, []Column{{"Notes", 40}, {"VM ID", 14}, {"Folder", 20}, {"Read at", 40}}),
		Len: len(x.Fleet.VMs),
		Rows: func(yield func([]Cell) bool) {
			judged := make(map[*numa.VM]bool, x.VMs)
			for _, c := range x.Clusters {
				for _, v := range c.VMs {
					judged[v.VM] = true
					host := ""
					if v.Host != nil {
						host = v.Host.Name
					}
					if !yield(x.vmRow(v.VM, ClusterTitle(c), host, layoutCells(v))) {
						return
					}
				}
			}
			hosts := map[string]string{}
			for i := range x.Fleet.Hosts {
				hosts[x.Fleet.Hosts[i].ID] = x.Fleet.Hosts[i].Name
			}
			for i := range x.Fleet.VMs {
				if v := &x.Fleet.VMs[i]; !judged[v] && !yield(x.vmRow(v, x.Fleet.ClusterName(v.Cluster), hosts[v.Host], nil)) {
					return
				}
			}
		},
	}
}

// vmRow returns the row of a VM; layout is nil for one that was not judged.
func (x *index) vmRow(v *numa.VM, cluster, host string, layout []Cell) []Cell {
	findings := x.byVM[v.ID]
	row := slices.Concat([]Cell{
		textOf(v.Name), textOf(cluster), textOf(host), cellOf(v.Power, powerCell), cellOf(v.Template, yesNo), cellOf(v.VCPUs, numberOf[int]),
		cellOf(v.CoresPerSocket, numberOf[int]), cellOf(v.Memory, mib), cellOf(v.CPUHotAdd, yesNo), cellOf(v.MemoryHotAdd, yesNo),
		cellOf(v.Hardware, numberOf[int]), cellOf(v.GuestOS, textOf), yesNo(layout != nil),
	}, layout, make([]Cell, len(layoutColumns)-len(layout)), counts(findings), said(findings))
	return append(row, joined(x.notesAt(v.At)), textOf(v.ID), textOf(v.Folder), textOf(v.At))
}

// powerCell returns the power state in RVTools' word.
func powerCell(p numa.PowerState) Cell {
	switch p {
	case numa.PoweredOn:
		return textOf("poweredOn")
	case numa.PoweredOff:
		return textOf("poweredOff")
	}
	return textOf(string(p))
}

// hostTable has a row for each host, in the order of the clusters.
func hostTable(x *index) Table {
	return Table{
		Name: "hosts",
		Columns: slices.Concat([]Column{
			{"Host", 24}, {"Cluster", 16}, {"ESX version", 12}, {"Build", 10}, {"Vendor", 14}, {"Model", 24}, {"CPU model", 36}, {"CPUs", 6},
			{"Cores", 7}, {"Threads", 8}, {"HT active", 9}, {"Memory MiB", 12}, {"NUMA nodes", 11}, {"Cores per node", 14}, {"Memory MiB per node", 18},
			{"Nodes are", 10}, {"Power policy", 18}, {"Connection", 13}, {"Maintenance", 12}, {"Judged", 8}, {"VMs judged", 11},
		}, countColumns, saidColumns, []Column{{"Notes", 40}, {"Host ID", 14}, {"Read at", 40}}),
		Len: len(x.Fleet.Hosts),
		Rows: func(yield func([]Cell) bool) {
			vms := map[*numa.Host]int{}
			for _, c := range x.Clusters {
				for _, v := range c.VMs {
					vms[v.Host]++
				}
			}
			for _, c := range x.Clusters {
				for _, h := range c.Hosts {
					if !yield(x.hostRow(c, h, vms[h])) {
						return
					}
				}
			}
		},
	}
}

func (x *index) hostRow(c *rule.Cluster, h *numa.Host, vms int) []Cell {
	judged := slices.ContainsFunc(c.Kinds, func(k *rule.Kind) bool { return slices.Contains(k.Hosts, h) })
	cores, memory, from := nodeCells(h)
	row := slices.Concat([]Cell{
		textOf(h.Name), textOf(ClusterTitle(c)), cellOf(h.Release, func(r numa.Release) Cell { return textOf(r.String()) }),
		cellOf(h.Build, numberOf[int]), cellOf(h.Vendor, textOf), cellOf(h.Model, textOf), cellOf(h.CPUModel, textOf),
		cellOf(h.Packages, numberOf[int]), cellOf(h.Cores, numberOf[int]), cellOf(h.Threads, numberOf[int]), cellOf(h.HyperThreading, yesNo),
		cellOf(h.Memory, mib), cellOf(h.Nodes, func(n []numa.Node) Cell { return numberOf(len(n)) }), cores, memory, from,
		cellOf(h.PowerPolicy, textOf), cellOf(h.Connection, textOf), cellOf(h.Maintenance, yesNo), yesNo(judged), numberOf(vms),
	}, counts(x.byHost[h.ID]), said(x.byHost[h.ID]))
	return append(row, joined(x.notesAt(h.At)), textOf(h.ID), textOf(h.At))
}

// nodeCells returns cores and memory of the nodes: a number when all have the
// same, else one for each, "20, 14".
func nodeCells(h *numa.Host) (cores, memory, from Cell) {
	if !h.Nodes.Known() {
		return
	}
	var c, m []Cell
	for _, n := range h.Nodes.Value {
		c = append(c, numberOf(n.Cores))
		m = append(m, cellOf(n.Memory, mib))
	}
	return each(c), each(m), textOf(h.Nodes.Origin.Kind.String())
}

func each(cells []Cell) Cell {
	if len(cells) == 0 {
		return Cell{}
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
	return textOf(s)
}

// clusterTable has a row for each cluster and standalone host.
func clusterTable(x *index) Table {
	return Table{
		Name: "clusters",
		Columns: slices.Concat([]Column{
			{"Cluster", 24}, {"Hosts", 7}, {"Host shapes", 11}, {"Node", 28}, {"VMs judged", 11}, {"Wide", 6}, {"Guest blind", 11}, {"Too big", 8},
			{"Differ by host", 13},
		}, countColumns),
		Len: len(x.Clusters),
		Rows: func(yield func([]Cell) bool) {
			for _, s := range x.Summaries() {
				var all []*finding.Finding
				for _, v := range s.Cluster.VMs {
					all = append(all, x.byVM[v.ID]...)
				}
				for _, h := range s.Cluster.Hosts {
					all = append(all, x.byHost[h.ID]...)
				}
				if !yield(append([]Cell{
					textOf(ClusterTitle(s.Cluster)), numberOf(len(s.Cluster.Hosts)), numberOf(len(s.Cluster.Kinds)), textOf(paragraph(nodeText(s.Cluster))),
					numberOf(len(s.Cluster.VMs)), numberOf(s.Wide), numberOf(s.Blind), numberOf(s.TooBig), numberOf(s.Differing),
				}, counts(all)...)) {
					return
				}
			}
		},
	}
}

// TableNamed returns the table with this name; false when there is none.
func TableNamed(tables []Table, name string) (Table, bool) {
	for _, t := range tables {
		if t.Name == name {
			return t, true
		}
	}
	return Table{}, false
}
