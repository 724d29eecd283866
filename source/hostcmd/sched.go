package hostcmd

import (
	"fmt"
	"strconv"
	"strings"

	"homenode/numa"
	"homenode/source/text"
)

// readSchedStats reads the three tables of the NUMA scheduler. Their columns are
// the same since 5.x; up to 6.7 percent have a sign in their name and masks a 0x.
func (o *Output) readSchedStats(lines []text.Line) {
	switch o.Format {
	case NUMAClients:
		o.readClients(lines)
	case NUMAPNode:
		o.readPNodes(lines)
	case NUMACNode:
		o.readCNodes(lines)
	}
}

func (o *Output) readClients(lines []text.Line) {
	t := o.tableOf(lines, "homenode")
	var clients Clients
	for _, row := range t.rows {
		group, ok := t.cell(row, "groupName")
		id := t.small(row, "group "+group.Text, "clientID", "client", "", 0, -1)
		if !ok || id < 0 {
			o.file.Warn(row[0].N, 0, "found no groupName and clientID")
			continue
		}
		subject := fmt.Sprintf("client %s/%d", group.Text, id)
		c := Client{
			Line:          row[0].N,
			Group:         group.Text,
			GroupID:       t.whole(row, subject, "groupID", "group", "", 0, -1),
			ID:            id,
			Home:          t.small(row, subject, "homeNode", "home node", "", -1, -1),
			Worlds:        t.small(row, subject, "nWorlds", "worlds", "", 0, 0),
			VCPUs:         t.small(row, subject, "vmmWorlds", "vCPUs", "", 0, 0),
			Local:         t.memory(row, subject, "localMem", "local memory"),
			Remote:        t.memory(row, subject, "remoteMem", "remote memory"),
			CurrentLocal:  t.small(row, subject, "currLocal", "N%L", "%", 0, -1),
			LifetimeLocal: t.small(row, subject, "cummLocal", "N%L over its life", "%", 0, -1),
		}
		if mask, ok := t.cell(row, "affinity"); ok {
			c.Affinity = o.nodeMask(mask, subject)
		}
		if c.Local < 0 || c.Remote < 0 {
			c.Local, c.Remote = -1, -1
		} else if share := truncated(c.Local, c.Local+c.Remote); c.CurrentLocal >= 0 && c.CurrentLocal != share {
			o.file.Warn(c.Line, 0, "%s: N%%L is stated as %d but %d and %d KiB give %d", subject, c.CurrentLocal, c.Local/numa.KiB, c.Remote/numa.KiB, share)
		}
		clients = append(clients, c)
	}
	o.Result = clients
}

// nodeMask reads a set of nodes, hexadecimal with and without 0x.
func (o *Output) nodeMask(l text.Line, subject string) uint64 {
	mask, err := strconv.ParseUint(strings.TrimPrefix(l.Text, "0x"), 16, 64)
	if err != nil {
		o.file.Warn(l.N, l.Col, "node affinity of %s: found %q, want a hexadecimal mask", subject, text.Short(l.Text))
		return 0
	}
	o.file.Add(l.N, l.Col, subject, "node affinity", l.Text, "mask")
	return mask
}

func (o *Output) readPNodes(lines []text.Line) {
	t := o.tableOf(lines, "nodeid")
	var nodes NodeLoads
	for _, row := range t.rows {
		id := t.small(row, "host", "nodeID", "NUMA node", "", 0, -1)
		if id < 0 || id >= numa.MaxNodes {
			o.file.Warn(row[0].N, 0, "found no node number below %d", numa.MaxNodes)
			continue
		}
		subject := fmt.Sprintf("node %d", id)
		n := NodeLoad{
			ID:          id,
			Used:        t.whole(row, subject, "used", "CPU time used", "ms", 0, -1),
			Idle:        t.whole(row, subject, "idle", "CPU time idle", "ms", 0, -1),
			Entitled:    t.whole(row, subject, "entitled", "CPU time entitled", "ms", 0, 0),
			Owed:        t.whole(row, subject, "owed", "CPU time owed", "ms", -1<<53, 0),
			LoadAverage: t.small(row, subject, "loadAvgPct", "load average", "%", 0, 0),
			VCPUs:       t.small(row, subject, "nVcpu", "vCPUs", "", 0, 0),
			Free:        t.memory(row, subject, "freeMem", "free memory"),
			Total:       t.memory(row, subject, "totalMem", "memory"),
		}
		nodes = append(nodes, n)
		facts := nodeFacts{id: id}
		if total, ok := t.cell(row, "totalMem"); ok && n.Total > 0 {
			facts.memory = numa.ReadAt(n.Total, text.Where(total.N, total.Col))
		}
		o.nodes = append(o.nodes, facts)
	}
	o.Result = nodes
	if len(nodes) > 0 {
		o.nodeNum = numa.ReadAt(len(nodes), text.Where(o.Line, 0))
	}
}

func (o *Output) readCNodes(lines []text.Line) {
	t := o.tableOf(lines, "nodeid")
	var rows ClientMemory
	type client struct {
		group string
		id    int
	}
	sums := map[client]numa.Bytes{}
	for _, row := range t.rows {
		group, ok := t.cell(row, "groupName")
		id := t.small(row, "group "+group.Text, "clientID", "client", "", 0, -1)
		node := t.small(row, fmt.Sprintf("client %s/%d", group.Text, id), "nodeID", "node", "", 0, -1)
		if !ok || id < 0 || node < 0 || node >= numa.MaxNodes {
			o.file.Warn(row[0].N, 0, "found no groupName, clientID and nodeID below %d", numa.MaxNodes)
			continue
		}
		subject := fmt.Sprintf("client %s/%d on node %d", group.Text, id, node)
		r := ClientOnNode{
			Line:      row[0].N,
			Group:     group.Text,
			GroupID:   t.whole(row, subject, "groupID", "group", "", 0, -1),
			Client:    id,
			Node:      node,
			Time:      t.whole(row, subject, "time", "time at home", "", 0, 0),
			TimePct:   t.small(row, subject, "timePct", "time at home", "%", 0, -1),
			Memory:    t.memory(row, subject, "memory", "memory"),
			MemoryPct: t.small(row, subject, "memoryPct", "share of memory", "%", 0, -1),
		}
		rows = append(rows, r)
		sums[client{r.Group, r.Client}] += max(r.Memory, 0)
	}
	for _, r := range rows {
		if share := truncated(r.Memory, sums[client{r.Group, r.Client}]); r.Memory >= 0 && r.MemoryPct >= 0 && r.MemoryPct != share {
			o.file.Warn(r.Line, 0, "client %s/%d on node %d: its share is stated as %d%% but the rows give %d%%", r.Group, r.Client, r.Node, r.MemoryPct, share)
		}
	}
	o.Result = rows
}

// readCounts reads sched-stats -t ncpus: lines of a number and what is counted.
func (o *Output) readCounts(lines []text.Line) {
	for _, l := range lines {
		cells := l.Fields()
		if len(cells) == 0 {
			continue
		}
		label := l.After(len(cells[0].Text))
		n, err := strconv.ParseInt(cells[0].Text, 10, 64)
		switch {
		case len(cells) < 2:
			o.strange(l)
		case o.hostValue(NCPUs, strings.TrimSuffix(label.Text, "s"), cells[0]):
		case err != nil:
			o.strange(l)
		default:
			o.file.Add(l.N, l.Col, "host", label.Text, n, "")
		}
	}
}

// readLoose reads sched-stats -t numa-migration, of which no output is public: a
// table if its first line has several words and no number, and "key: value" lines.
func (o *Output) readLoose(lines []text.Line) {
	var header []text.Line
	for _, l := range lines {
		cells := l.Fields()
		key, _, isPair := strings.Cut(l.Text, ":")
		switch {
		case len(cells) == 0:
		case isPair && l.After(len(key)+1).Text != "":
			o.loose(l.After(len(key)+1), "host", strings.TrimSpace(key))
		case len(cells) > 1 && !hasNumber(cells):
			header = cells
		case len(cells) > 1 && len(cells) == len(header):
			for i, c := range cells[1:] {
				o.loose(c, cells[0].Text, header[i+1].Text)
			}
		default:
			o.strange(l)
		}
	}
}

func hasNumber(cells []text.Line) bool {
	for _, c := range cells {
		if _, err := strconv.ParseFloat(c.Text, 64); err == nil {
			return true
		}
	}
	return false
}

// loose states a value whose meaning is not known.
func (o *Output) loose(l text.Line, subject, name string) {
	o.file.Add(l.N, l.Col, subject, name, valueOf(l.Text), "")
}

// valueOf returns s as a number, a bool, or itself.
func valueOf(s string) any {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	switch s {
	case "true":
		return true
	case "false":
		return false
	}
	return s
}
