package hostcmd

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/text"
)

// readSchedStats parses the three tables of the NUMA scheduler. Their columns are the same since
// 5.x; up to 6.7 percentages have a sign in their name and masks a 0x.
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
		id := -1
		t.read(row, "group "+group.Text, column{"clientID", "client", "", 0, &id})
		if !ok || id < 0 {
			o.file.Warn(row[0].N, 0, "found no groupName and clientID")
			continue
		}
		subject := fmt.Sprintf("client %s/%d", group.Text, id)
		c := Client{Line: row[0].N, Group: group.Text, GroupID: -1, ID: id, Home: -1, Local: -1, Remote: -1, CurrentLocal: -1, LifetimeLocal: -1}
		t.read(row, subject,
			column{"groupID", "group", "", 0, &c.GroupID},
			column{"homeNode", "home node", "", -1, &c.Home},
			column{"nWorlds", "worlds", "", 0, &c.Worlds},
			column{"vmmWorlds", "vCPUs", "", 0, &c.VCPUs},
			column{"localMem", "local memory", "KiB", 0, &c.Local},
			column{"remoteMem", "remote memory", "KiB", 0, &c.Remote},
			column{"currLocal", "N%L", "%", 0, &c.CurrentLocal},
			column{"cummLocal", "N%L over its life", "%", 0, &c.LifetimeLocal})
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

// nodeMask parses a set of nodes, hexadecimal with and without 0x.
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
		id := -1
		t.read(row, "host", column{"nodeID", "NUMA node", "", 0, &id})
		if id < 0 || id >= numa.MaxNodes {
			o.file.Warn(row[0].N, 0, "found no node number below %d", numa.MaxNodes)
			continue
		}
		subject := fmt.Sprintf("node %d", id)
		n := NodeLoad{ID: id, Used: -1, Idle: -1, Free: -1, Total: -1}
		t.read(row, subject,
			column{"used", "CPU time used", "ms", 0, &n.Used},
			column{"idle", "CPU time idle", "ms", 0, &n.Idle},
			column{"entitled", "CPU time entitled", "ms", 0, &n.Entitled},
			column{"owed", "CPU time owed", "ms", -1 << 53, &n.Owed},
			column{"loadAvgPct", "load average", "%", 0, &n.LoadAverage},
			column{"nVcpu", "vCPUs", "", 0, &n.VCPUs},
			column{"freeMem", "free memory", "KiB", 0, &n.Free},
			column{"totalMem", "memory", "KiB", 0, &n.Total})
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
		id, node := -1, -1
		t.read(row, "group "+group.Text, column{"clientID", "client", "", 0, &id})
		t.read(row, fmt.Sprintf("client %s/%d", group.Text, id), column{"nodeID", "node", "", 0, &node})
		if !ok || id < 0 || node < 0 || node >= numa.MaxNodes {
			o.file.Warn(row[0].N, 0, "found no groupName, clientID and nodeID below %d", numa.MaxNodes)
			continue
		}
		subject := fmt.Sprintf("client %s/%d on node %d", group.Text, id, node)
		r := ClientOnNode{Line: row[0].N, Group: group.Text, GroupID: -1, Client: id, Node: node, TimePct: -1, Memory: -1, MemoryPct: -1}
		t.read(row, subject,
			column{"groupID", "group", "", 0, &r.GroupID},
			column{"time", "time at home", "", 0, &r.Time},
			column{"timePct", "time at home", "%", 0, &r.TimePct},
			column{"memory", "memory", "KiB", 0, &r.Memory},
			column{"memoryPct", "share of memory", "%", 0, &r.MemoryPct})
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

// readCounts parses sched-stats -t ncpus: lines of a number and its name.
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

// readLoose parses sched-stats -t numa-migration, which has no published output: as a table if its
// first line has several words and no number, and as "key: value" lines.
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

// loose adds a value with an unknown meaning.
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
