package sizing

import (
	"fmt"
	"strings"

	"homenode/capacity/fit"
	"homenode/numa"
)

// drawWidth is how many columns the largest node takes in the small drawing.
const drawWidth = 32

// fitDrawing draws the nodes of the first shape in blocks: cores and memory, each VM
// apart, what is left light.
func fitDrawing(r *fit.Result) Table {
	t := Table{Name: "drawing", Title: fmt.Sprintf("%s, each █ run a client, ░ left, r reserve", r.Shapes[0].Name), Columns: []Column{
		{Name: "host type"}, {Name: "node"}, {Name: "cores"}, {Name: "memory"},
	}}
	cores, memory := 1, numa.Bytes(1)
	for i := range r.Types {
		for _, n := range r.Types[i].Counts[0].Nodes {
			cores, memory = max(cores, n.VCPUs), max(memory, n.Memory)
		}
	}
	for i := range r.Types {
		o := &r.Types[i]
		var last []string
		for _, n := range o.Counts[0].Nodes {
			row := []string{o.Name, fmt.Sprint(n.Node), coresBar(&n, cores), memoryBar(&n, memory)}
			if last != nil && last[2] == row[2] && last[3] == row[3] {
				last[1] += fmt.Sprintf(", %d", n.Node)
				continue
			}
			t.Rows = append(t.Rows, row)
			last = row
		}
	}
	return t
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
		parts = append(parts, int64(c.Memory/numa.MiB))
	}
	return bar(parts, int64(n.Memory/numa.MiB), int64(n.Reserve/numa.MiB), int64(most/numa.MiB))
}

// bar draws parts of a whole on a scale of which drawWidth columns are most; a thin line
// stands between parts.
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
