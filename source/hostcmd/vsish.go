package hostcmd

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

var (
	vsishKey   = pattern.Of(`^([^:{}]+?)\s*:\s*(.*)$`)
	vsishTitle = pattern.Of(`^([^{}]+?)\s*:?\s*\{$`)
	vsishEntry = pattern.Of(`^(\d+)/?$`)
	nodePath   = pattern.Of(`^/(?:memory/nodeList|hardware/numa|hardware/cpuTopology/numa/nodes)/(\d+)(/pcpus)?/?$`)
)

// readVsish parses the output of vsish: a struct "Title {", "key:value", "}", the names of a
// folder, or one value. The path in the prompt identifies the object.
func (o *Output) readVsish(lines []text.Line) {
	p := ""
	for _, word := range strings.Fields(o.Command) {
		if vsishPath.MatchString(word) {
			p = word
		}
	}
	v := &vsish{o: o, path: p}
	for _, l := range lines {
		if l.Text != "" {
			v.take(l)
		}
	}
	v.end()
}

type vsish struct {
	o       *Output
	path    string   // of the command; empty when unknown
	titles  []string // of the open structs
	entries []text.Line
}

func (v *vsish) take(l text.Line) {
	switch {
	case vsishTitle.MatchString(l.Text) && len(v.titles) < 20:
		v.titles = append(v.titles, vsishTitle.FindStringSubmatch(l.Text)[1])
	case l.Text == "}" && len(v.titles) > 0:
		v.titles = v.titles[:len(v.titles)-1]
	case len(v.titles) > 0 && vsishKey.MatchString(l.Text):
		m := vsishKey.FindStringSubmatchIndex(l.Text)
		v.field(l.Text[m[2]:m[3]], l.Part(m[4], m[5]))
	case len(v.titles) == 0 && v.path != "" && vsishEntry.MatchString(l.Text):
		v.entries = append(v.entries, l)
	case len(v.titles) == 0 && v.path != "" && len(l.Fields()) == 1:
		v.o.loose(l, v.path, "value")
	default:
		v.o.strange(l)
	}
}

// field parses one value of a struct.
func (v *vsish) field(key string, l text.Line) {
	o := v.o
	node, _ := v.node()
	switch {
	case o.hostValue(v.titles[0], key, l):
		return
	case v.titles[0] == "CPU global information" && key == "Hyperthreading state": // 0 -> not present, 3 -> enabled
		o.Host.HyperThreading = numa.ReadAt(strings.HasSuffix(l.Text, "-> enabled"), text.Where(l.N, l.Col))
	case node >= 0 && (key == "Total (pages)" || key == "Free (pages)"):
		v.pages(node, key, l)
		return
	}
	subject := v.path
	if subject == "" {
		subject = v.titles[0]
	}
	name := strings.Join(append(v.titles[1:len(v.titles):len(v.titles)], key), ", ")
	o.loose(l, subject, name)
}

func (v *vsish) pages(node int, key string, l text.Line) {
	name := map[string]string{"Total (pages)": "memory", "Free (pages)": "free memory"}[key]
	n, ok := v.o.whole(l, fmt.Sprintf("node %d", node), name, "pages", 0, int64(numa.MaxHostMemory/numa.PageSize))
	if ok && name == "memory" {
		v.o.nodes = append(v.o.nodes, nodeFacts{id: node, memory: numa.ReadAt(numa.Bytes(n)*numa.PageSize, text.Where(l.N, l.Col))})
	}
}

// node returns the NUMA node in the path, or -1; pcpus when the path is the folder of its PCPUs.
func (v *vsish) node() (node int, pcpus bool) {
	m := nodePath.FindStringSubmatch(v.path)
	if m == nil {
		return -1, false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n >= numa.MaxNodes {
		return -1, false
	}
	return n, m[2] != ""
}

// end parses the names of a folder.
func (v *vsish) end() {
	o := v.o
	if len(v.titles) > 0 {
		o.file.Warn(o.Line, 0, "the struct %s does not end", v.titles[0])
	}
	if len(v.entries) == 0 {
		return
	}
	at := text.Where(v.entries[0].N, 0)
	node, pcpus := v.node()
	switch folder := strings.TrimSuffix(v.path, "/"); {
	case pcpus:
		o.file.Add(v.entries[0].N, 0, fmt.Sprintf("node %d", node), "PCPUs", len(v.entries), "")
		o.nodes = append(o.nodes, nodeFacts{id: node, threads: numa.ReadAt(len(v.entries), at)})
	case folder == "/hardware/cpuTopology/numa/nodes" || folder == "/hardware/numa":
		o.file.Add(v.entries[0].N, 0, "host", "NUMA nodes", len(v.entries), "")
		o.nodeNum = numa.ReadAt(len(v.entries), at)
	case len(v.entries) == 1 && folder == v.path && !strings.HasSuffix(v.entries[0].Text, "/"):
		o.loose(v.entries[0], v.path, "value")
	default:
		for _, l := range v.entries {
			o.loose(l, v.path, "entry")
		}
	}
}
