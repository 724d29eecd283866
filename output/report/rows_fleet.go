package report

import (
	"cmp"
	"slices"

	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/output/table"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// layoutColumns are the topology of a VM on one host.
var layoutColumns = []table.Column{
	column("Guest nodes", 11), column("vCPUs per guest node", 20), column("Clients", 8), column("vCPUs per client", 18), column("Home nodes", 11), column("Virtual sockets", 14),
	column("Memory placement", 16), column("N%L expected", 12), column("Local MiB", 11), column("Remote MiB", 11), column("Far share %", 11),
	column("Wide", 6), column("Guest blind", 11), column("NUMA-managed", 13), column("Same on all hosts", 16),
}

// layoutCells describes the VM where it is, after a power cycle.
func layoutCells(v *rule.VM) []table.Cell {
	l := &v.On[0].Layout
	same := true
	for i := range v.On {
		same = same && l.Same(&v.On[i].Layout)
	}
	placement, local, remote, far := l.Memory.Placement.String(), table.Cell{}, table.Cell{}, percentOf(l.FarShare())
	if l.Memory.Known {
		local, remote = mib(l.Memory.Local), mib(l.Memory.Remote)
	} else if l.Memory.Placement == vnuma.Local {
		placement, far = "", table.Cell{}
	}
	expected := table.Cell{}
	if share, ok := l.Memory.Locality(); ok {
		expected = percentOf(share)
	}
	return []table.Cell{
		table.Number(l.VPDs.Len()), table.Text(l.VPDs.String()), table.Number(l.PPDs.Len()), table.Text(l.PPDs.String()), table.Number(l.HomeNodes), table.Number(l.VSockets.Len()),
		table.Text(placement), expected, local, remote, far,
		table.YesNo(l.Wide()), table.YesNo(l.Wide() && !l.GuestSeesNUMA()), table.YesNo(l.Managed), table.YesNo(same),
	}
}

// vmTable has a row for each VM: those judged in the order of the clusters, then
// the others, with what kept them from being judged.
func vmTable(x *index) table.Table {
	return table.Table{
		Name: "vms",
		Columns: slices.Concat([]table.Column{
			column("VM", 24), column("Cluster", 16), column("Host", 20), column("Powerstate", 11), column("Template", 9), column("vCPUs", 7), column("Cores per socket", 15), column("Memory MiB", 12),
			column("CPU hot add", 11), column("Memory hot add", 14), column("HW version", 11), column("OS", 30), column("Judged", 8),
		}, layoutColumns, countColumns, saidColumns, []table.Column{column("Notes", 40), column("VM ID", 14), column("Folder", 20), column("Read at", 40)}),
		Len: len(x.Fleet.VMs),
		Rows: func(yield func([]table.Cell) bool) {
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
func (x *index) vmRow(v *numa.VM, cluster, host string, layout []table.Cell) []table.Cell {
	findings := x.byVM[v.ID]
	row := slices.Concat([]table.Cell{
		table.Text(v.Name), table.Text(cluster), table.Text(host), cellOf(v.Power, powerCell), cellOf(v.Template, table.YesNo), cellOf(v.VCPUs, table.Number[int]),
		cellOf(v.CoresPerSocket, table.Number[int]), cellOf(v.Memory, mib), cellOf(v.CPUHotAdd, table.YesNo), cellOf(v.MemoryHotAdd, table.YesNo),
		cellOf(v.Hardware, table.Number[int]), cellOf(v.GuestOS, table.Text), table.YesNo(layout != nil),
	}, layout, make([]table.Cell, len(layoutColumns)-len(layout)), counts(findings), said(findings))
	return append(row, joined(x.notesAt(v.At)), table.Text(v.ID), table.Text(v.Folder), table.Text(v.At))
}

// powerCell returns the power state in RVTools' word.
func powerCell(p numa.PowerState) table.Cell {
	switch p {
	case numa.PoweredOn:
		return table.Text("poweredOn")
	case numa.PoweredOff:
		return table.Text("poweredOff")
	}
	return table.Text(string(p))
}

// hostTable has a row for each host, in the order of the clusters.
func hostTable(x *index) table.Table {
	return table.Table{
		Name: "hosts",
		Columns: slices.Concat([]table.Column{
			column("Host", 24), column("Cluster", 16), column("ESX version", 12), column("Build", 10), column("Vendor", 14), column("Model", 24), column("CPU model", 36), column("CPUs", 6),
			column("Cores", 7), column("Threads", 8), column("HT active", 9), column("Memory MiB", 12), column("NUMA nodes", 11), column("Cores per node", 14), column("Memory MiB per node", 18),
			column("Nodes are", 10), column("Power policy", 18), column("Connection", 13), column("Maintenance", 12), column("Judged", 8), column("VMs judged", 11),
		}, countColumns, saidColumns, []table.Column{column("Notes", 40), column("Host ID", 14), column("Read at", 40)}),
		Len: len(x.Fleet.Hosts),
		Rows: func(yield func([]table.Cell) bool) {
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

func (x *index) hostRow(c *rule.Cluster, h *numa.Host, vms int) []table.Cell {
	judged := slices.ContainsFunc(c.Kinds, func(k *rule.Kind) bool { return slices.Contains(k.Hosts, h) })
	cores, memory, from := nodeCells(h)
	row := slices.Concat([]table.Cell{
		table.Text(h.Name), table.Text(ClusterTitle(c)), cellOf(h.Release, func(r numa.Release) table.Cell { return table.Text(r.String()) }),
		cellOf(h.Build, table.Number[int]), cellOf(h.Vendor, table.Text), cellOf(h.Model, table.Text), cellOf(h.CPUModel, table.Text),
		cellOf(h.Packages, table.Number[int]), cellOf(h.Cores, table.Number[int]), cellOf(h.Threads, table.Number[int]), cellOf(h.HyperThreading, table.YesNo),
		cellOf(h.Memory, mib), cellOf(h.Nodes, func(n []numa.Node) table.Cell { return table.Number(len(n)) }), cores, memory, from,
		cellOf(h.PowerPolicy, table.Text), cellOf(h.Connection, table.Text), cellOf(h.Maintenance, table.YesNo), table.YesNo(judged), table.Number(vms),
	}, counts(x.byHost[h.ID]), said(x.byHost[h.ID]))
	return append(row, joined(x.notesAt(h.At)), table.Text(h.ID), table.Text(h.At))
}

// nodeCells returns cores and memory of the nodes: a number when all have the
// same, else one for each, "20, 14".
func nodeCells(h *numa.Host) (cores, memory, from table.Cell) {
	if !h.Nodes.Known() {
		return
	}
	var c, m []table.Cell
	for _, n := range h.Nodes.Value {
		c = append(c, table.Number(n.Cores))
		m = append(m, cellOf(n.Memory, mib))
	}
	return each(c), each(m), table.Text(h.Nodes.Origin.Kind.String())
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

// clusterTable has a row for each cluster and standalone host.
func clusterTable(x *index) table.Table {
	return table.Table{
		Name: "clusters",
		Columns: slices.Concat([]table.Column{
			column("Cluster", 24), column("Hosts", 7), column("Host shapes", 11), column("Node", 28), column("VMs judged", 11), column("Wide", 6), column("Guest blind", 11), column("Too big", 8),
			column("Differ by host", 13),
		}, countColumns),
		Len: len(x.Clusters),
		Rows: func(yield func([]table.Cell) bool) {
			for _, s := range x.Summaries() {
				var all []*finding.Finding
				for _, v := range s.Cluster.VMs {
					all = append(all, x.byVM[v.ID]...)
				}
				for _, h := range s.Cluster.Hosts {
					all = append(all, x.byHost[h.ID]...)
				}
				if !yield(append([]table.Cell{
					table.Text(ClusterTitle(s.Cluster)), table.Number(len(s.Cluster.Hosts)), table.Number(len(s.Cluster.Kinds)), table.Text(paragraph(nodeText(s.Cluster))),
					table.Number(len(s.Cluster.VMs)), table.Number(s.Wide), table.Number(s.Blind), table.Number(s.TooBig), table.Number(s.Differing),
				}, counts(all)...)) {
					return
				}
			}
		},
	}
}
