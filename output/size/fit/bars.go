package fit

import (
	"fmt"
	"strings"

	"homenode/numa"
	"homenode/output/answer"
	"homenode/output/size"
	"homenode/size/fit"
)

// drawWidth is the width of the largest node in the small drawing, in columns.
const drawWidth = 32

// drawn is a row of the drawing: nodes with a name.
type drawn struct {
	name  string
	nodes []fit.Use
}

// shapeBars draws the nodes of the hosts with the first shape.
func shapeBars(r *fit.Result) answer.Table {
	var hosts []drawn
	for i := range r.Types {
		hosts = append(hosts, drawn{r.Types[i].Name, r.Types[i].Counts[0].Nodes})
	}
	return nodeBars("nodes with "+r.Shapes[0].Name, hosts)
}

// mixBars draws the VMs on the first hosts of the first type.
func mixBars(r *fit.Result) answer.Table {
	const most = 2
	o := &r.Types[0]
	var hosts []drawn
	first := 1
	for _, f := range o.Mix.Fillings[:min(most, len(o.Mix.Fillings))] {
		name := fmt.Sprintf("host %d", first)
		if f.Hosts > 1 {
			name = fmt.Sprintf("hosts %d to %d", first, first+f.Hosts-1)
		}
		hosts = append(hosts, drawn{name, f.Nodes})
		first += f.Hosts
	}
	return nodeBars("first hosts of "+o.Name, hosts)
}

// nodeBars draws cores and memory of nodes as bars: each client separately, free parts lightly.
// Identical nodes of a host share a row.
func nodeBars(title string, hosts []drawn) answer.Table {
	t := answer.Table{Name: "drawing", Bars: true, Title: title + ": █ clients, ░ left, r reserve", Columns: size.Columns("host", "node", "cores", "memory")}
	cores, memory := 1, numa.Bytes(1)
	for _, h := range hosts {
		for _, n := range h.nodes {
			cores, memory = max(cores, n.VCPUs), max(memory, n.Memory)
		}
	}
	for _, h := range hosts {
		var last []string
		var alike []int
		for _, n := range h.nodes {
			row := []string{h.name, fmt.Sprint(n.Node), coresBar(&n, cores), memoryBar(&n, memory)}
			if last != nil && last[2] == row[2] && last[3] == row[3] {
				alike = append(alike, n.Node)
				last[1] = nodeList(alike)
				continue
			}
			t.Add(row...)
			last, alike = row, []int{n.Node}
		}
	}
	return t
}

// nodeList formats a list of nodes: "0", "0, 1" or "0-15".
func nodeList(nodes []int) string {
	first, last := nodes[0], nodes[len(nodes)-1]
	if len(nodes) > 2 && last-first == len(nodes)-1 {
		return fmt.Sprintf("%d-%d", first, last)
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(nodes), " ", ", "), "[]")
}

func coresBar(n *fit.Use, most int) string {
	var parts []int64
	for _, c := range n.Clients {
		parts = append(parts, int64(c.VCPUs))
	}
	return bar(parts, int64(n.VCPUs), 0, int64(most))
}

func memoryBar(n *fit.Use, most numa.Bytes) string {
	var parts []int64
	for _, c := range n.Clients {
		parts = append(parts, int64((c.Memory-c.Remote)/numa.MiB))
	}
	if n.Foreign > 0 {
		parts = append(parts, int64(n.Foreign/numa.MiB))
	}
	return bar(parts, int64(n.Memory/numa.MiB), int64(n.Reserve/numa.MiB), int64(most/numa.MiB))
}

// bar draws the parts of a whole, separated by thin lines. The scale is most per drawWidth
// columns.
func bar(parts []int64, whole, reserve, most int64) string {
	at := func(v int64) int { return int((v*drawWidth + most/2) / most) }
	var b strings.Builder
	sum, column := int64(0), 0
	for i, p := range parts {
		sum += p
		end := at(sum)
		for ; column < end; column++ {
			if column == end-1 && (i < len(parts)-1 || sum < whole) && end-at(sum-p) > 1 {
				b.WriteString("▌")
			} else {
				b.WriteString("█")
			}
		}
	}
	for ; column < at(whole-reserve); column++ {
		b.WriteString("░")
	}
	for ; column < at(whole); column++ {
		b.WriteString("r")
	}
	return b.String()
}
