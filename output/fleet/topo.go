package fleet

import (
	"fmt"
	"io"
	"strconv"

	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/topo"
)

// Topo returns the answer about the contents of hosts' NUMA nodes, or about the nodes that a VM
// gets. all must not be empty.
func Topo(all []*topo.Drawing, source string) *answer.Answer {
	a := &answer.Answer{Command: "explain", Format: "homenode-topo", Title: "NUMA nodes of " + source, Result: map[string][]*topo.Drawing{"drawings": all}}
	nodes := answer.Table{Name: "nodes", Title: "NUMA nodes", Columns: []answer.Column{
		{Name: "drawing"}, {Name: "node", Right: true}, {Name: "cores", Right: true}, {Name: "threads", Right: true}, {Name: "memory", Right: true},
		{Name: "clients", Right: true}, {Name: "vCPUs", Right: true}, {Name: "vCPU per core", Right: true}, {Name: "memory left", Right: true},
	}}
	for i, d := range all {
		if i == 0 {
			a.Title = d.Title
		}
		one := drawing(d.Title, func() *topo.Drawing { return d })
		one.Letters = func(w io.Writer, width int, colour bool) error { return topo.Text(w, d, width, colour) }
		a.Drawings = append(a.Drawings, one)
		for j := range d.Nodes {
			nodes.Add(nodeTexts(d, &d.Nodes[j])...)
		}
	}
	if len(all) > 1 {
		a.Title = fmt.Sprintf("NUMA nodes of %s: %s", source, words.Plural(len(all), "drawing"))
	}
	a.Tables = []answer.Table{nodes}
	return a
}

func nodeTexts(d *topo.Drawing, n *topo.Node) []string {
	memory, free, load := "unknown", "unknown", "unknown"
	if n.Memory.Known() {
		memory = n.Memory.Value.String()
	}
	if b, ok := n.Free(); ok {
		free = b.String()
	}
	if share, ok := n.Load(); ok {
		load = fmt.Sprintf("%.1f", share)
	}
	return []string{d.Title, strconv.Itoa(n.Number), strconv.Itoa(n.Cores), strconv.Itoa(n.Threads), memory, strconv.Itoa(len(n.Clients) + n.More.Clients), strconv.Itoa(n.VCPUs), load, free}
}
