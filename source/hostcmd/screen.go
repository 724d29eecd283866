package hostcmd

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// A Screen is one refresh of esxtop's memory screen. Its "MB" are MiB, shown with two decimals for
// VMs and none for the host.
type Screen struct {
	Time    string     // of day, as shown; empty when the first line is missing
	Free    numa.Bytes // of the host; -1 when it is not shown
	MinFree numa.Bytes // -1 when it is not shown
	State   string     // of memory, "high"; empty when it is not shown
	Nodes   []ScreenNode
	VMs     []ScreenVM // managed by the NUMA scheduler
	Others  []ScreenVM // rows without a home node: unmanaged VMs, and groups of the kernel
}

// A ScreenNode is one node of the line NUMA /MB, in the order of the nodes.
type ScreenNode struct{ Total, Free numa.Bytes }

// A ScreenVM is one row whose columns have values: "-" means that the NUMA scheduler does not manage it.
type ScreenVM struct {
	Line       int
	GID        int64      // scheduler group; -1 when the screen does not show it
	Name       string     // cut to the width of its column
	Homes      []int      // home nodes; more than one for a wide VM
	Migrations int        // since the previous refresh; -1 when it is not shown
	Local      numa.Bytes // -1 when it is not shown
	Remote     numa.Bytes // -1 when it is not shown
	// PercentLocal is N%L, truncated; -1 when it is not shown. It is 100 for a VM that is
	// interleaved over all nodes.
	PercentLocal int
	OnNode       []numa.MemoryOnNode // GST_NDx and OVD_NDx of all nodes; nil when they are not all shown
}

var (
	screenCount = pattern.Of(`(\d+) (worlds|VMs?|vCPUs?)\b`)
	screenTime  = pattern.Of(`^\d{1,2}:\d\d(?::\d\d)?(?:am|pm)?`)
	screenLabel = pattern.Of(`^([A-Z]+)\s*/MB:`)
	screenPair  = pattern.Of(`(-?\d+(?:\.\d+)?)\s*([A-Za-z_][\w/]*)`)
	screenNode  = pattern.Of(`(\d+) \(\s*(\d+)\s*\)`)
	memoryState = pattern.Of(`(\w+) state\b`)
	homeNodes   = pattern.Of(`^(?:-|\d+(?:,\d+)*)$`)
	nodeColumn  = pattern.Of(`^(GST|OVD)_ND(\d{1,2})$`)
)

// A screenHeader is the line with the names of the columns.
type screenHeader struct {
	before, after []string // the columns before and after NAME
	nameEnd       int      // end of the first column after NAME
	cut           bool     // the name of the last column is truncated
}

func (o *Output) readScreen(lines []text.Line) {
	s := &Screen{Free: -1, MinFree: -1}
	o.Result = s
	var header *screenHeader
	for _, l := range lines {
		switch {
		case l.Text == "":
		case strings.Contains(l.Text, " worlds,"):
			o.screenUp(s, l)
		case screenLabel.MatchString(l.Text):
			o.screenHost(s, l)
		case strings.Contains(l.Text, "NAME") && strings.Contains(l.Text, "NHN"):
			header = o.screenHeader(l)
		case header != nil:
			o.screenRow(s, header, l)
		default:
			o.strange(l)
		}
	}
}

// screenUp parses the first line of the screen.
func (o *Output) screenUp(s *Screen, l text.Line) {
	s.Time = screenTime.FindString(l.Text)
	for _, m := range screenCount.Regexp().FindAllStringSubmatchIndex(l.Text, -1) {
		o.whole(l.Part(m[2], m[3]), "host", l.Text[m[4]:m[5]], "", 0, math.MaxInt32)
	}
}

// screenHost parses a line of sizes such as "PMEM  /MB: 130961   total: 3060     vmk".
func (o *Output) screenHost(s *Screen, l text.Line) {
	label := screenLabel.FindStringSubmatch(l.Text)
	values := l.After(len(label[0]))
	if label[1] == "NUMA" {
		o.screenNodes(s, values)
		return
	}
	for _, m := range screenPair.Regexp().FindAllStringSubmatchIndex(values.Text, -1) {
		o.screenSize(s, label[1], values.Part(m[2], m[3]), values.Text[m[4]:m[5]])
	}
	if m := memoryState.FindStringSubmatchIndex(values.Text); m != nil {
		s.State = values.Text[m[2]:m[3]]
		o.file.Add(values.N, values.Col+m[2], "host", "memory state", s.State, "")
	}
}

func (o *Output) screenSize(s *Screen, label string, l text.Line, name string) {
	if name == "state" {
		return
	}
	unit := "MiB"
	if strings.HasSuffix(name, "/s") {
		unit = "MiB/s"
	}
	value, err := strconv.ParseFloat(l.Text, 64)
	if err != nil {
		return
	}
	o.file.Add(l.N, l.Col, "host", label+" "+name, value, unit)
	if value < 0 || value >= float64(numa.MaxHostMemory/numa.MiB) {
		return
	}
	switch {
	case label == "PMEM" && name == "free":
		s.Free = numa.Bytes(value) * numa.MiB
	case label == "VMKMEM" && name == "minfree":
		s.MinFree = numa.Bytes(value) * numa.MiB
	case label == "PMEM" && name == "total" && value > 0:
		o.Host.Memory = numa.DerivedFrom(numa.Bytes(value)*numa.MiB, text.Where(l.N, l.Col)+", in whole MB")
	}
}

func (o *Output) screenNodes(s *Screen, l text.Line) {
	pairs := screenNode.Regexp().FindAllStringSubmatchIndex(l.Text, numa.MaxNodes)
	for i, m := range pairs {
		subject := fmt.Sprintf("node %d", i)
		total, ok1 := o.whole(l.Part(m[2], m[3]), subject, "memory", "MiB", 0, int64(numa.MaxHostMemory/numa.MiB))
		free, ok2 := o.whole(l.Part(m[4], m[5]), subject, "free memory", "MiB", 0, int64(numa.MaxHostMemory/numa.MiB))
		if !ok1 || !ok2 {
			return
		}
		n := ScreenNode{numa.Bytes(total) * numa.MiB, numa.Bytes(free) * numa.MiB}
		s.Nodes = append(s.Nodes, n)
		o.nodes = append(o.nodes, nodeFacts{id: i, memory: numa.DerivedFrom(n.Total, text.Where(l.N, l.Col+m[2])+", in whole MB")})
	}
	if len(pairs) == 0 {
		o.strange(l)
		return
	}
	o.nodeNum = numa.ReadAt(len(pairs), text.Where(l.N, 0))
}

func (o *Output) screenHeader(l text.Line) *screenHeader {
	cells := l.Fields()
	h := &screenHeader{}
	name := slices.IndexFunc(cells, func(c text.Line) bool { return c.Text == "NAME" })
	if name < 0 || name+1 == len(cells) {
		o.strange(l)
		return nil
	}
	h.nameEnd = cells[name+1].End()
	for i, c := range cells {
		switch {
		case i < name:
			h.before = append(h.before, c.Text)
		case i > name:
			h.after = append(h.after, c.Text)
		}
	}
	last := h.after[len(h.after)-1]
	if strings.HasPrefix("GST_ND", last) || strings.HasPrefix("OVD_ND", last) {
		h.cut = true
		o.file.Warn(l.N, cells[len(cells)-1].Col, "the right edge is cut: column %s is left out", last)
	}
	return h
}

// screenRow parses one group of worlds. Its name may contain blanks; the columns on both sides do not.
func (o *Output) screenRow(s *Screen, h *screenHeader, l text.Line) {
	cells := l.Fields()
	first := h.firstAfterName(cells)
	if first < 0 {
		o.strange(l)
		return
	}
	name := l.Part(cells[len(h.before)].Col-l.Col, cells[first-1].End()-l.Col)
	v := ScreenVM{Line: l.N, GID: -1, Name: name.Text, Migrations: -1, Local: -1, Remote: -1, PercentLocal: -1}
	subject := "VM " + name.Text
	for i, column := range h.before {
		if column == "GID" {
			v.GID, _ = o.whole(cells[i], subject, "group", "", 0, math.MaxInt64>>12)
		}
	}
	after := cells[first:]
	if want := len(h.after); len(after) < want && !h.cut {
		o.file.Warn(l.N, 0, "found %d values after the name, want %d: the right edge is cut", len(after), want)
	}
	managed := false
	for i, c := range after {
		if c.Text != "-" && (!h.cut || i < len(h.after)-1) {
			managed = o.screenCell(&v, subject, h.after[i], c) || managed
		}
	}
	if !managed {
		o.file.Add(l.N, name.Col, subject, "managed by the NUMA scheduler", false, "")
		s.Others = append(s.Others, ScreenVM{Line: l.N, GID: v.GID, Name: v.Name, Migrations: -1, Local: -1, Remote: -1, PercentLocal: -1})
		return
	}
	o.checkShare(&v, subject)
	if len(v.OnNode) > 0 && !v.whole(h.cut) {
		o.file.Warn(l.N, 0, "%s: GST_NDx do not add up to NLMEM and NRMEM: left out", subject)
		v.OnNode = nil
	}
	s.VMs = append(s.VMs, v)
}

// firstAfterName returns the index of the first cell after the name, by its place under the header
// or, when the paste has shifted it, by counting from both ends.
func (h *screenHeader) firstAfterName(cells []text.Line) int {
	for i := len(h.before) + 1; i < len(cells) && len(cells)-i <= len(h.after)+1; i++ {
		if cells[i].End() == h.nameEnd && len(cells)-i <= len(h.after) {
			return i
		}
	}
	for i := max(len(cells)-len(h.after), 0); i < len(cells); i++ {
		if home := i + slices.Index(h.after, "NHN"); i > len(h.before) && home < len(cells) && homeNodes.MatchString(cells[home].Text) {
			return i
		}
		if !h.cut || i > len(cells)-len(h.after) {
			break // only a truncated column may lack its value
		}
	}
	return -1
}

// screenCell parses one value; true for the home nodes.
func (o *Output) screenCell(v *ScreenVM, subject, column string, l text.Line) (home bool) {
	if m := nodeColumn.FindStringSubmatch(column); m != nil {
		node, _ := strconv.Atoi(m[2])
		i := slices.IndexFunc(v.OnNode, func(s numa.MemoryOnNode) bool { return s.Node == node })
		if i < 0 {
			i = len(v.OnNode)
			v.OnNode = append(v.OnNode, numa.MemoryOnNode{Node: node, Guest: -1, Overhead: -1})
		}
		if m[1] == "GST" {
			o.screenMemory(&v.OnNode[i].Guest, l, subject, "memory on node "+m[2])
		} else {
			o.screenMemory(&v.OnNode[i].Overhead, l, subject, "overhead memory on node "+m[2])
		}
		return false
	}
	switch column {
	case "NHN":
		for _, part := range l.Split(",") {
			n, ok := o.whole(part, subject, "home node", "", 0, numa.MaxNodes-1)
			if !ok {
				return false
			}
			v.Homes = append(v.Homes, int(n))
		}
		return true
	case "NMIG":
		if n, ok := o.whole(l, subject, "migrations", "", 0, math.MaxInt32); ok {
			v.Migrations = int(n)
		}
	case "NRMEM":
		o.screenMemory(&v.Remote, l, subject, "remote memory")
	case "NLMEM":
		o.screenMemory(&v.Local, l, subject, "local memory")
	case "N%L":
		if n, ok := o.whole(l, subject, "N%L", "%", 0, 100); ok {
			v.PercentLocal = int(n)
		}
	default:
		o.loose(l, subject, column)
	}
	return false
}

func (o *Output) screenMemory(to *numa.Bytes, l text.Line, subject, name string) {
	mb, err := strconv.ParseFloat(l.Text, 64)
	if err != nil || !(mb >= 0 && mb < float64(numa.MaxHostMemory/numa.MiB)) {
		o.file.Warn(l.N, l.Col, "%s of %s: found %q, want a number of MB", name, subject, text.Short(l.Text))
		return
	}
	*to = numa.Bytes(math.Round(mb * float64(numa.MiB)))
	o.file.Add(l.N, l.Col, subject, name, mb, "MiB")
}

// whole reports whether OnNode has all memory of the VM: without a truncated or unreadable node,
// the others would seem to have a greater share.
func (v *ScreenVM) whole(cut bool) bool {
	var sum numa.Bytes
	for _, n := range v.OnNode {
		if n.Guest < 0 {
			return false
		}
		sum += n.Guest
	}
	if v.Local < 0 || v.Remote < 0 {
		return !cut
	}
	// Rounding, and changes while the screen is drawn.
	off := sum - v.Local - v.Remote
	return max(off, -off) <= max((v.Local+v.Remote)/100, numa.MiB/10)
}

// checkShare compares N%L with the memory beside it, which is rounded to 0.01 MB.
func (o *Output) checkShare(v *ScreenVM, subject string) {
	if v.Local < 0 || v.Remote < 0 {
		return
	}
	const half = numa.MiB / 200
	low := truncated(max(v.Local-half, 0), v.Local+v.Remote)
	high := truncated(v.Local+half, v.Local+v.Remote)
	if v.PercentLocal >= 0 && v.Local+v.Remote > 0 && (v.PercentLocal < low || v.PercentLocal > high) {
		o.file.Warn(v.Line, 0, "%s: N%%L is shown as %d but %.2f and %.2f MB give %d", subject, v.PercentLocal,
			float64(v.Local)/float64(numa.MiB), float64(v.Remote)/float64(numa.MiB), truncated(v.Local, v.Local+v.Remote))
	}
}
