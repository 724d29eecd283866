// Package hwloc reads the topology of a machine from the output of lstopo --of xml, in version 1 and 2 of the hwloc XML:
// NUMA nodes with their memory, huge pages and distances, cores and logical CPUs. Caches and devices are skipped.
package hwloc

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"homenode/internal/bounded"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/source/fact"
	"homenode/source/text"
)

// A Topology is the topology of one machine.
type Topology struct {
	Line     int
	HostName string // host name; "" if not stated
	Arch     string // processor architecture, as in uname; "" if not stated
	Nodes    []Node // by ID
	// Distance is the table of distances between nodes, in the order of Nodes, where 10 is local; nil if not stated.
	Distance [][]int

	file *fact.File
}

// A Node is a NUMA node.
type Node struct {
	ID     int
	Memory numa.Fact[numa.Bytes]
	Pages  []numa.Pool // by size, with the base page size
	Cores  [][]int     // logical CPUs of each core; nil for a node with memory only
}

// File returns the facts of the file.
func (t *Topology) File() *fact.File { return t.file }

// Detect reports whether head is the beginning of hwloc XML.
func Detect(head []byte) bool {
	return bytes.Contains(head, []byte("<topology")) && bytes.Contains(head, []byte(`<object type="Machine"`))
}

// Limits for a plausible machine. Values above them mean that the input is damaged.
const (
	maxFile  = 64 << 20 // bytes
	maxDepth = 100
	maxCPU   = 1 << 16
	maxNode  = 1 << 10
)

// A seen is an object that is open or complete.
type seen struct {
	kind      string
	line, col int
	id        int
	cpus      []int
	memory    numa.Fact[numa.Bytes]
	pages     []numa.Pool
}

type reader struct {
	name         string
	in           *xml.Decoder
	t            *Topology
	open         []*seen // elements; kind "" if not an object
	machine      *seen
	nodes, cores []*seen
	pus          []int
	indexes      []int
	values       []int
	latency      bool // a table of node latencies is being read
	at           *seen
	base         float64 // in version 1: the smallest distance
	row          string  // the element whose text is being read
}

// Read reads the topology of a machine. An error is a *numa.SyntaxError.
func Read(name string, r io.Reader) (*Topology, error) {
	rd := &reader{name: name, in: xml.NewDecoder(bounded.Reader(r, maxFile)), t: &Topology{file: &fact.File{Name: name, Format: "hwloc XML"}}}
	rd.in.CharsetReader = func(label string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("found the encoding %s, want UTF-8", text.Short(label))
	}
	for {
		line, col := rd.in.InputPos()
		token, err := rd.in.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			at, _ := rd.in.InputPos()
			if broken, ok := errors.AsType[*xml.SyntaxError](err); ok {
				at, err = broken.Line, errors.New(broken.Msg)
			}
			return nil, rd.fault(at, 0, "%v", err)
		}
		if err := rd.take(token, line, col); err != nil {
			return nil, err
		}
	}
	return rd.t, rd.end()
}

func (r *reader) fault(line, col int, format string, args ...any) error {
	return &numa.SyntaxError{File: r.name, Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

func (r *reader) take(token xml.Token, line, col int) error {
	switch token := token.(type) {
	case xml.StartElement:
		if len(r.open) == maxDepth {
			return r.fault(line, col, "found elements %d deep", maxDepth)
		}
		o := &seen{line: line, col: col, id: -1}
		r.open = append(r.open, o)
		attrs := map[string]string{}
		for _, a := range token.Attr {
			attrs[a.Name.Local] = a.Value
		}
		return r.begin(token.Name.Local, o, attrs)
	case xml.EndElement:
		r.open, r.row = r.open[:len(r.open)-1], ""
	case xml.CharData:
		if r.latency && r.row != "" {
			return r.list(string(token), line, col)
		}
	}
	return nil
}

func (r *reader) begin(name string, o *seen, attrs map[string]string) (err error) {
	switch name {
	case "object":
		return r.object(o, attrs)
	case "info":
		for _, s := range []struct {
			name, fact string
			to         *string
		}{{"HostName", "name", &r.t.HostName}, {"Architecture", "architecture", &r.t.Arch}} {
			if attrs["name"] == s.name && *s.to == "" {
				*s.to = strings.TrimSpace(attrs["value"])
				r.t.file.Add(o.line, o.col, "host", s.fact, *s.to, "")
			}
		}
	case "page_type":
		size, err1 := strconv.ParseInt(attrs["size"], 10, 64)
		count, err2 := strconv.Atoi(attrs["count"])
		if n := len(r.open); err1 == nil && err2 == nil && size > 0 && count > 0 && n > 1 {
			r.open[n-2].pages = append(r.open[n-2].pages, numa.Pool{Size: numa.Bytes(size), Count: count})
		}
	case "distances2", "distances":
		return r.distances(name, o, attrs)
	case "latency":
		if v, err := strconv.ParseFloat(attrs["value"], 64); r.latency && err == nil && v >= 0 && v < 1<<20 && len(r.values) < maxNode*maxNode {
			r.values = append(r.values, int(math.Round(v*r.base)))
		}
	case "indexes", "u64values":
		r.row = name
	}
	return nil
}

// distances begins a table of distances: in version 2 with the node numbers, in version 1 with relative values of nodes in
// the order of the file. The first table of node latencies is used.
func (r *reader) distances(name string, o *seen, attrs map[string]string) error {
	r.latency = false
	switch first := r.at == nil; {
	case name == "distances2" && (attrs["type"] != "NUMANode" || attrs["name"] != "" && attrs["name"] != "NUMALatency"):
		return nil // for other objects, or no latencies
	case name == "distances2" && attrs["indexing"] != "os":
		r.t.file.Warn(o.line, o.col, "distances of NUMA nodes by %s are not read", text.Short(attrs["indexing"]))
		return nil
	case !first:
		r.t.file.Warn(o.line, o.col, "a second table of distances: the first counts")
		return nil
	}
	if name == "distances" {
		base, err := strconv.ParseFloat(attrs["latency_base"], 64)
		if err != nil || !(base >= 0 && base < 1<<20) {
			return r.fault(o.line, o.col, "found distances with latency_base %q, want a number", text.Short(attrs["latency_base"]))
		}
		r.base = base
	}
	r.latency, r.at = true, o
	return nil
}

func (r *reader) object(o *seen, attrs map[string]string) (err error) {
	if o.kind = attrs["type"]; !slices.Contains([]string{"Machine", "NUMANode", "Core", "PU"}, o.kind) {
		return nil
	}
	if s := attrs["os_index"]; s != "" {
		if o.id, err = strconv.Atoi(s); err != nil || o.id < 0 || o.id >= maxCPU {
			return r.fault(o.line, o.col, "found os_index %q of a %s, want a number below %d", text.Short(s), o.kind, maxCPU)
		}
	}
	if s := attrs["local_memory"]; s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 || n > int64(numa.MaxHostMemory) {
			return r.fault(o.line, o.col, "found local_memory %q, want bytes", text.Short(s))
		}
		o.memory = numa.ReadAt(numa.Bytes(n), text.Where(o.line, o.col))
	}
	if o.kind != "PU" {
		if o.cpus, err = bits(attrs["cpuset"]); err != nil {
			return r.fault(o.line, o.col, "cpuset: %v", err)
		}
	}
	switch o.kind {
	case "Machine":
		r.machine = o
		r.t.Line = o.line
	case "NUMANode":
		if o.id < 0 || o.id >= maxNode {
			return r.fault(o.line, o.col, "found a NUMANode with os_index %q, want a number below %d", text.Short(attrs["os_index"]), maxNode)
		}
		r.nodes = append(r.nodes, o)
	case "Core":
		r.cores = append(r.cores, o)
	case "PU":
		if o.id < 0 {
			return r.fault(o.line, o.col, "found a PU without os_index")
		}
		r.pus = append(r.pus, o.id)
	}
	return nil
}

// bits parses a set of CPUs: words of 32 bits, the highest first, "0x0000ffff,0xff000000".
func bits(s string) ([]int, error) {
	var out []int
	if s == "" || s == "0x0" {
		return nil, nil
	}
	list := strings.Split(s, ",")
	if len(list) > maxCPU/32 {
		return nil, fmt.Errorf("found %d words, want at most %d", len(list), maxCPU/32)
	}
	for i := range list {
		word := list[len(list)-1-i]
		if word == "" {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimPrefix(word, "0x"), 16, 32)
		if err != nil {
			return nil, fmt.Errorf("found %q, want words such as 0x0000ffff", text.Short(s))
		}
		for b := range 32 {
			if n&(1<<b) != 0 {
				out = append(out, i*32+b)
			}
		}
	}
	return out, nil
}

// list parses numbers of the distance table.
func (r *reader) list(s string, line, col int) error {
	to := &r.indexes
	if r.row == "u64values" {
		to = &r.values
	}
	for word := range strings.FieldsSeq(s) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 || len(*to) > maxNode*maxNode {
			return r.fault(line, col, "found the distance %q, want a number", text.Short(word))
		}
		*to = append(*to, n)
	}
	return nil
}

// end links the objects.
func (r *reader) end() error {
	switch {
	case r.machine == nil:
		return r.fault(0, 0, "found no <object type=\"Machine\">")
	case len(r.nodes) == 0: // version 1 of a machine with one node
		r.machine.id = 0
		r.nodes = []*seen{r.machine}
	}
	inFile := slices.Clone(r.nodes)
	slices.SortFunc(r.nodes, func(a, b *seen) int { return a.id - b.id })
	owner := map[int]int{} // by PU: index of its node, the one with the fewest CPUs, because another kind of memory can have all CPUs
	for i, n := range r.nodes {
		if i > 0 && n.id == r.nodes[i-1].id {
			return r.fault(n.line, n.col, "found NUMA node %d twice", n.id)
		}
		for _, c := range n.cpus {
			if had, ok := owner[c]; !ok || len(n.cpus) < len(r.nodes[had].cpus) {
				owner[c] = i
			}
		}
		r.t.Nodes = append(r.t.Nodes, Node{ID: n.id, Memory: n.memory, Pages: n.pages})
	}
	online := map[int]bool{}
	for _, p := range r.pus {
		online[p] = true
	}
	for _, core := range r.cores {
		cpus := slices.DeleteFunc(core.cpus, func(c int) bool { return !online[c] })
		if len(cpus) == 0 {
			continue
		}
		if i, ok := owner[cpus[0]]; ok {
			r.t.Nodes[i].Cores = append(r.t.Nodes[i].Cores, cpus)
		}
	}
	if !slices.ContainsFunc(r.t.Nodes, func(n Node) bool { return n.Cores != nil }) {
		r.t.file.Warn(r.machine.line, r.machine.col, "no cpuset says which cores its nodes have: they count as nodes without cores")
	}
	r.facts()
	if r.at != nil {
		r.table(inFile)
	}
	r.t.file.Sort()
	return nil
}

// table sets the distances of all nodes; inFile lists the nodes in the order of the file.
func (r *reader) table(inFile []*seen) {
	k := len(r.t.Nodes)
	if r.base > 0 { // version 1
		for _, n := range inFile {
			r.indexes = append(r.indexes, n.id)
		}
	}
	at := map[int]int{} // position of a node in the table
	for i, id := range r.indexes {
		at[id] = i
	}
	if len(at) != k || len(r.indexes) != k || len(r.values) != k*k || slices.ContainsFunc(r.nodes, func(n *seen) bool { _, ok := at[n.id]; return !ok }) {
		r.t.file.Warn(r.at.line, r.at.col, "found %d distances of %d nodes, and %d nodes: they count as unknown", len(r.values), len(r.indexes), k)
		return
	}
	if k < 2 {
		return
	}
	for _, a := range r.t.Nodes {
		var row []int
		for _, b := range r.t.Nodes {
			row = append(row, r.values[at[a.ID]*k+at[b.ID]])
		}
		r.t.Distance = append(r.t.Distance, row)
	}
}

func (r *reader) facts() {
	for i, n := range r.nodes {
		subject := fmt.Sprint("node ", n.id)
		if n.memory.Known() {
			r.t.file.Add(n.line, n.col, subject, "memory", int64(n.memory.Value/numa.KiB), "KiB")
		}
		for _, p := range n.pages {
			r.t.file.Add(n.line, n.col, subject, "pages of "+p.Size.String(), p.Count, "")
		}
		if cores := r.t.Nodes[i].Cores; cores != nil {
			slices.SortFunc(cores, func(a, b []int) int { return a[0] - b[0] })
			all := slices.Concat(cores...)
			slices.Sort(all)
			r.t.file.Add(n.line, n.col, subject, "cores", len(cores), "")
			r.t.file.Add(n.line, n.col, subject, "CPUs", words.Ranges(all), "")
		}
	}
}
