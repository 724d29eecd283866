package site

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/chart"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/draw/topo"
	"example.org/homenode/rules/rule"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/held"
)

// freeLittle is the share of a node's free memory below which the fleet's chart marks it: rule H007 looks ahead, the chart shows the present.
const freeLittle = 0.05

// clusterless is the group name of hosts without a cluster.
const clusterless = "without cluster"

// drawingOf returns a chart as a drawing of an answer.
func drawingOf(id, about string, c chart.Chart) answer.Drawing {
	return answer.Drawing{ID: id, About: about, Picture: func() *picture.Picture { return chart.Of(c) }}
}

// percent writes a share.
func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// freeShade and localShade return the shades for the free share of a node's memory, and for N%L.
func freeShade(share float64) chart.Shade {
	return chart.Shade{Known: true, Bad: share < freeLittle, Dark: 1 - share, Text: percent(share)}
}
func localShade(share, low float64) chart.Shade {
	return chart.Shade{Known: true, Bad: share < low, Dark: 1 - share, Text: rule.NL(share)}
}

// hostLink returns the address of a host's page.
func hostLink(id string) string { return answer.Object{Kind: "host", ID: id}.Address() }

// hostMap has the hosts of a map of nodes, by cluster.
type hostMap map[string][]chart.HostRow

func (m hostMap) add(cluster string, row chart.HostRow) {
	cluster = cmp.Or(cluster, clusterless)
	m[cluster] = append(m[cluster], row)
}

// worst lists the hosts with problems: those in before, then those with the most marked cells. why has the first marked cell of each host.
func (m hostMap) worst(before, measures []string) (names []string, why map[string]string) {
	bad, why := map[string]int{}, map[string]string{}
	for _, rows := range m {
		for i := range rows {
			for _, n := range rows[i].Nodes {
				for k, v := range n.Values {
					if name := rows[i].Name; v.Bad {
						bad[name]++
						why[name] = cmp.Or(why[name], fmt.Sprintf(" (node %d: %s %s)", n.Node, measures[k], v.Text))
					}
				}
			}
		}
	}
	names = slices.SortedFunc(maps.Keys(bad), func(a, b string) int { return cmp.Or(cmp.Compare(bad[b], bad[a]), cmp.Compare(a, b)) })
	return append(slices.Clone(before), slices.DeleteFunc(names, func(name string) bool { return slices.Contains(before, name) })...), why
}

// drawing returns the map with clusters and hosts by name. title is appended to the number of hosts. The hosts in before lead the list of the worst.
func (m hostMap) drawing(before []string, about, id, title, measure, memory, dark, bad string) answer.Drawing {
	h := &chart.Hosts{Measures: []string{measure, memory, "N%L"}, Dark: dark, Bad: bad}
	n := 0
	for name, rows := range m {
		slices.SortFunc(rows, func(a, b chart.HostRow) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
		h.Groups, n = append(h.Groups, chart.HostGroup{Name: name, Hosts: rows}), n+len(rows)
	}
	slices.SortFunc(h.Groups, func(a, b chart.HostGroup) int {
		if (a.Name == clusterless) != (b.Name == clusterless) {
			if a.Name == clusterless {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.Name, b.Name)
	})
	d := drawingOf("nodes", about, chart.Chart{ID: id, Title: "Nodes of " + words.Plural(n, "host") + title, Figure: h})
	d.Worst = m.linked(m.worst(before, h.Measures))
	return d
}

// mostWorst is the maximum number of hosts that a map names as the worst.
const mostWorst = 5

// linked returns the first hosts with their addresses, and why each is marked.
func (m hostMap) linked(names []string, why map[string]string) (out []answer.Cell) {
	address := map[string]string{}
	for _, rows := range m {
		for i := range rows {
			address[rows[i].Name] = rows[i].Link
		}
	}
	for i, name := range names {
		if i == mostWorst && len(names) > mostWorst+1 {
			return append(out, answer.Cell{Text: fmt.Sprintf("… %d more", len(names)-i)})
		}
		c := answer.Cell{Text: name + why[name]}
		if link := address[name]; link != "" {
			c.To = answer.Object{Kind: answer.Elsewhere, ID: link}
		}
		out = append(out, c)
	}
	return out
}

// nodesNow charts the current state of the nodes of every host; hosts that cannot be seen have none.
func (l *Live) nodesNow(vcenter string, h *lately) answer.Drawing {
	limits := l.Board.Limits()
	by := hostMap{}
	seen := map[[2]string]bool{}
	status := l.Status()
	link := func(vcenter, id string) string {
		if len(status) > 1 {
			return hostLink(id) + "&" + url.Values{"fleet": {vcenter}}.Encode()
		}
		return hostLink(id)
	}
	l.Board.Each(func(h *board.Host) {
		if vcenter != "" && h.VCenter != vcenter {
			return
		}
		seen[[2]string{h.VCenter, h.ID}] = true
		row := chart.HostRow{ID: h.VCenter + "-" + h.ID, Name: h.Name, Link: link(h.VCenter, h.ID), Note: "one node"}
		for _, n := range h.NodesNow() {
			values := make([]chart.Shade, 3)
			if n.Busy != nil {
				values[0] = chart.Shade{Known: true, Bad: *n.Busy > limits.BusyNode, Dark: *n.Busy, Text: percent(*n.Busy)}
			}
			if n.Free != nil && n.Total > 0 {
				values[1] = freeShade(float64(*n.Free) / float64(n.Total))
			}
			if n.Locality != nil {
				values[2] = localShade(*n.Locality, limits.Locality)
			}
			row.Nodes = append(row.Nodes, chart.HostNode{Node: n.Node, Values: values})
		}
		by.add(h.Cluster, row)
	})
	for _, s := range status {
		for i := range s.Hosts {
			h := &s.Hosts[i]
			if (vcenter == "" || s.Name == vcenter) && !seen[[2]string{s.Name, h.ID}] {
				by.add(h.Cluster, chart.HostRow{ID: s.Name + "-" + h.ID, Name: h.Name, Link: link(s.Name, h.ID), Note: "not seen"})
			}
		}
	}
	return by.drawing(h.worstHosts(true), "Every node as it is seen", "nodes-now", " now", "cores in use", "free memory", "busy, full or far",
		fmt.Sprintf("above %s busy, below %s free or %s local", percent(limits.BusyNode), percent(freeLittle), percent(limits.Locality)))
}

// A placed caches the chart of the nodes of an unchanged fleet: placing and drawing 10,000 VMs takes a quarter of a second.
type placed struct {
	mu      sync.Mutex
	fleet   *held.Fleet
	drawing answer.Drawing
}

// of returns the chart of a fleet.
func (p *placed) of(f *held.Fleet) answer.Drawing {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fleet != f {
		p.fleet, p.drawing = f, nodesPlaced(f)
		all := p.drawing.Picture()
		p.drawing.Picture = func() *picture.Picture { return all }
	}
	return p.drawing
}

// nodesPlaced charts the nodes of every host of a file, with VMs placed as in the charts of its hosts.
func nodesPlaced(f *held.Fleet) answer.Drawing {
	by := hostMap{}
	fleet := f.Result.Fleet
	for i := range fleet.Hosts {
		h := &fleet.Hosts[i]
		row := chart.HostRow{ID: h.ID, Name: h.Name, Link: hostLink(h.ID), Note: "nodes unknown"}
		for _, n := range topo.OfHost(f.Result, h).Nodes {
			values := make([]chart.Shade, 3)
			if load, ok := n.Load(); ok {
				values[0] = chart.Shade{Known: true, Bad: load > mostLoad, Dark: load / mostLoad, Text: fmt.Sprintf("%.1f", load)}
			}
			if free, ok := n.Free(); ok && n.Memory.Value > 0 {
				values[1] = freeShade(float64(free) / float64(n.Memory.Value))
			}
			if share, ok := locality(&n); ok {
				values[2] = localShade(share, lowPlaced)
			}
			row.Nodes = append(row.Nodes, chart.HostNode{Node: n.Number, Values: values})
		}
		by.add(fleet.ClusterName(h.Cluster), row)
	}
	return by.drawing(nil, "Every node with the VMs placed on it", "nodes-placed", " with their VMs", "vCPU per core", "memory left", "loaded, full or far",
		fmt.Sprintf("above %.0f vCPU a core, below %s free or %s local", mostLoad, percent(freeLittle), percent(lowPlaced)))
}

// Limits for nodes whose VMs are placed, not observed: a node is marked above mostLoad vCPUs a core, or with a lower share of memory on home nodes
// than lowPlaced.
const (
	mostLoad  = 4.0
	lowPlaced = 0.8
)

// locality returns the local share of the resident memory of the clients on a node: ballooned or swapped memory is on no node.
func locality(n *topo.Node) (share float64, ok bool) {
	local, all := n.More.Local, n.More.Memory
	for i := range n.Clients {
		c := &n.Clients[i]
		local, all = local+c.Local(), all+c.Memory-c.Nowhere
	}
	return float64(local) / float64(max(all, 1*numa.MiB)), all > 0
}
