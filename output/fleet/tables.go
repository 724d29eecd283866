package fleet

import (
	"cmp"
	"slices"

	"homenode/esxi/vnuma"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/output/answer"
	"homenode/output/table"
	"homenode/rules/finding"
	"homenode/rules/rule"
	judged "homenode/rules/verdict/fleet"
)

// layoutColumns are the topology of a VM on one host.
var layoutColumns = []table.Column{
	table.Col("Guest nodes", 11), table.Col("vCPUs per guest node", 20), table.Col("Clients", 8), table.Col("vCPUs per client", 18), table.Col("Home nodes", 11), table.Col("Virtual sockets", 14),
	table.Col("Memory placement", 16), table.Col("N%L expected", 12), table.Col("Local MiB", 11), table.Col("Remote MiB", 11), table.Col("Far share %", 11),
	table.Col("Wide", 6), table.Col("Guest blind", 11), table.Col("NUMA-managed", 13), table.Col("Same on all hosts", 16),
}

// layoutCells describes the VM where it is, after a power cycle.
func layoutCells(v *rule.VM) []table.Cell {
	l := &v.On[0].Layout
	placement, local, remote, far := l.Memory.Placement.String(), table.Cell{}, table.Cell{}, table.Percent(l.FarShare())
	if l.Memory.Known {
		local, remote = table.MiB(l.Memory.Local), table.MiB(l.Memory.Remote)
	} else if l.Memory.Placement == vnuma.Local {
		placement, far = "", table.Cell{}
	}
	expected := table.Cell{}
	if share, ok := l.Memory.Locality(); ok {
		expected = table.Percent(share)
	}
	return []table.Cell{
		table.Number(l.VPDs.Len()), table.Text(l.VPDs.String()), table.Number(l.PPDs.Len()), table.Text(l.PPDs.String()), table.Number(l.HomeNodes), table.Number(l.VSockets.Len()),
		table.Text(placement), expected, local, remote, far,
		table.YesNo(l.Wide()), table.YesNo(l.Wide() && !l.GuestSeesNUMA()), table.YesNo(l.Managed), table.YesNo(judged.Same(v)),
	}
}

// vmTable has a row for each VM: those judged in the order of the clusters, then
// the others, with what kept them from being judged.
func vmTable(x *index) table.Table {
	return table.Table{
		Name: "vms",
		Columns: slices.Concat([]table.Column{
			table.Col("VM", 24), table.Col("Cluster", 16), table.Col("Host", 20), table.Col("Powerstate", 11), table.Col("Template", 9), table.Col("vCPUs", 7), table.Col("Cores per socket", 15), table.Col("Memory MiB", 12),
			table.Col("CPU hot add", 11), table.Col("Memory hot add", 14), table.Col("HW version", 11), table.Col("OS", 30), table.Col("Judged", 8),
		}, layoutColumns, answer.CountColumns, answer.SaidColumns, []table.Column{table.Col("Notes", 40), table.Col("VM ID", 14), table.Col("Folder", 20), table.Col("Read at", 40)}),
		Len: len(x.Fleet.VMs),
		Rows: func(yield func([]table.Cell) bool) {
			done := make(map[string]bool, x.VMs) // by ID: the VMs of a filtered fleet are copies
			for _, c := range x.Clusters {
				for _, v := range c.VMs {
					done[v.ID] = true
					host := ""
					if v.Host != nil {
						host = v.Host.Name
					}
					if !yield(x.vmRow(v.VM, c.Title(), host, layoutCells(v))) {
						return
					}
				}
			}
			hosts := map[string]string{}
			for i := range x.Fleet.Hosts {
				hosts[x.Fleet.Hosts[i].ID] = x.Fleet.Hosts[i].Name
			}
			for i := range x.Fleet.VMs {
				if v := &x.Fleet.VMs[i]; !done[v.ID] && !yield(x.vmRow(v, x.Fleet.ClusterName(v.Cluster), hosts[v.Host], nil)) {
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
		table.Text(v.Name), table.Text(cluster), table.Text(host), table.Fact(v.Power, powerCell), table.Fact(v.Template, table.YesNo), table.Fact(v.VCPUs, table.Number[int]),
		table.Fact(v.CoresPerSocket, table.Number[int]), table.Fact(v.Memory, table.MiB), table.Fact(v.CPUHotAdd, table.YesNo), table.Fact(v.MemoryHotAdd, table.YesNo),
		table.Fact(v.Hardware, table.Number[int]), table.Fact(v.GuestOS, table.Text), table.YesNo(layout != nil),
	}, layout, make([]table.Cell, len(layoutColumns)-len(layout)), answer.Counts(findings), answer.Said(findings))
	return append(row, table.Joined(x.notesAt(v.At)), table.Text(v.ID), table.Text(v.Folder), table.Text(v.At))
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
			table.Col("Host", 24), table.Col("Cluster", 16), table.Col("ESX version", 12), table.Col("Build", 10), table.Col("Vendor", 14), table.Col("Model", 24), table.Col("CPU model", 36), table.Col("CPUs", 6),
			table.Col("Cores", 7), table.Col("Threads", 8), table.Col("HT active", 9), table.Col("Memory MiB", 12), table.Col("NUMA nodes", 11), table.Col("Cores per node", 14), table.Col("Memory MiB per node", 18),
			table.Col("Nodes are", 10), table.Col("Power policy", 18), table.Col("Connection", 13), table.Col("Maintenance", 12), table.Col("Judged", 8), table.Col("VMs judged", 11),
		}, runningColumns, answer.CountColumns, answer.SaidColumns, []table.Column{table.Col("Notes", 40), table.Col("Host ID", 14), table.Col("Read at", 40)}),
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
					if x.shows(h) && !yield(x.hostRow(c, h, vms[h])) {
						return
					}
				}
			}
		},
	}
}

func (x *index) hostRow(c *rule.Cluster, h *numa.Host, vms int) []table.Cell {
	cores, memory, from := nodeCells(h)
	row := slices.Concat([]table.Cell{
		table.Text(h.Name), table.Text(c.Title()), table.Fact(h.Release, func(r numa.Release) table.Cell { return table.Text(r.String()) }),
		table.Fact(h.Build, table.Number[int]), table.Fact(h.Vendor, table.Text), table.Fact(h.Model, table.Text), table.Fact(h.CPUModel, table.Text),
		table.Fact(h.Packages, table.Number[int]), table.Fact(h.Cores, table.Number[int]), table.Fact(h.Threads, table.Number[int]), table.Fact(h.HyperThreading, table.YesNo),
		table.Fact(h.Memory, table.MiB), table.Fact(h.Nodes, func(n []numa.Node) table.Cell { return table.Number(len(n)) }), cores, memory, from,
		table.Fact(h.PowerPolicy, table.Text), table.Fact(h.Connection, table.Text), table.Fact(h.Maintenance, table.YesNo), table.YesNo(predicted(c, h)), table.Number(vms),
	}, runningCells(judged.RunningOn(c, h)), answer.Counts(x.byHost[h.ID]), answer.Said(x.byHost[h.ID]))
	return append(row, table.Joined(x.notesAt(h.At)), table.Text(h.ID), table.Text(h.At))
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
		m = append(m, table.Fact(n.Memory, table.MiB))
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
			table.Col("Cluster", 24), table.Col("Hosts", 7), table.Col("Host shapes", 11), table.Col("Node", 28), table.Col("VMs judged", 11), table.Col("Wide", 6), table.Col("Guest blind", 11), table.Col("Too big", 8),
			table.Col("Differ by host", 13),
		}, runningColumns, answer.CountColumns),
		Len: len(x.Clusters),
		Rows: func(yield func([]table.Cell) bool) {
			for _, s := range x.clusters {
				var all []*finding.Finding
				for _, v := range s.Of.VMs {
					all = append(all, x.byVM[v.ID]...)
				}
				for _, h := range s.Of.Hosts {
					all = append(all, x.byHost[h.ID]...)
				}
				if !yield(slices.Concat([]table.Cell{
					table.Text(s.Name), table.Number(s.Hosts), table.Number(len(s.Kinds)), table.Text(words.Paragraph(s.Of.Node())),
					table.Number(s.VMs), table.Number(s.Wide), table.Number(s.Blind), table.Number(s.TooBig), table.Number(s.Differing),
				}, runningCells(s.Running), answer.Counts(all))) {
					return
				}
			}
		},
	}
}

// runningColumns and runningCells are the vCPUs that run beside the cores and threads.
var runningColumns = []table.Column{table.Col("vCPUs running", 13), table.Col("vCPUs per core", 14), table.Col("vCPUs per thread", 16)}

func runningCells(r judged.Running) []table.Cell {
	if r.Cores == 0 {
		return []table.Cell{table.Number(r.VCPUs), {}, {}}
	}
	return []table.Cell{table.Number(r.VCPUs), table.Number(r.PerCore), table.Number(r.PerThread)}
}
