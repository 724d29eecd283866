package guest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"homenode/numa"
)

// numactl reads numactl -H. Node numbers may have gaps; a node may lack CPUs or
// memory. Its "MB" are MiB.
type numactl struct {
	v      *View
	opened bool
	header []int // node numbers above the distances; nil outside the table
}

var (
	available  = regexp.MustCompile(`^available: (\d+) nodes?(?: \(([\d,\- ]*)\))?$`)
	nodeLine   = regexp.MustCompile(`^node (\d+) (cpus|size|free):`)
	nodeMemory = regexp.MustCompile(`^(\d+) MB$`)
	tableHead  = regexp.MustCompile(`^node(?:\s+\d+)+$`)
	tableRow   = regexp.MustCompile(`^(\d+):((?:\s+\d+)+)$`)
)

func (s *numactl) take(l line) bool {
	v := s.v
	switch {
	case l.text == "":
		return true
	case strings.HasPrefix(l.text, "available:"):
		s.opened = true
		return s.available(l)
	case numactlLine.MatchString(l.text) && l.text[0] == 'N':
		v.NoNUMA = true
		v.file.Add(l.n, l.col, "guest", "NUMA", false, "")
	case nodeLine.MatchString(l.text):
		return s.node(l)
	case l.text == "node distances:", strings.HasPrefix(l.text, "No distance information available"):
	case tableHead.MatchString(l.text):
		return s.head(l)
	case s.header != nil && tableRow.MatchString(l.text):
		s.row(l)
	default:
		return false
	}
	s.opened = true
	return true
}

func (s *numactl) again(l line) bool { return s.opened && (l.text[0] == 'a' || l.text[0] == 'N') }

func (s *numactl) available(l line) bool {
	m := available.FindStringSubmatchIndex(l.text)
	if m == nil {
		return false
	}
	count := line{l.n, l.col + m[2], l.text[m[2]:m[3]]}
	s.v.count(&s.v.NodeCount, count, "NUMA nodes", maxNode)
	if m[4] < 0 {
		return true
	}
	list := line{l.n, l.col + m[4], l.text[m[4]:m[5]]}
	ids, err := cpuList(list.text)
	if err != nil || len(ids) > maxNode || len(ids) > 0 && slices.Max(ids) >= maxNode {
		s.v.file.Warn(list.n, list.col, "found %q, want node numbers below %d such as 0-1", short(list.text), maxNode)
		return true
	}
	for _, id := range ids {
		s.v.node(id)
	}
	s.v.nodesAt = s.v.file.At(l.n, 0)
	return true
}

func (s *numactl) node(l line) bool {
	m := nodeLine.FindStringSubmatch(l.text)
	value := l.at(len(m[0]))
	id, err := strconv.Atoi(m[1])
	if err != nil || id >= maxNode {
		s.v.file.Warn(l.n, l.col, "node %s: want a number below %d", short(m[1]), maxNode)
		return true
	}
	subject := fmt.Sprintf("node %d", id)
	if m[2] == "cpus" {
		if cpus, ok := s.v.list(value, subject, "CPUs"); ok {
			s.v.nodesAt = s.v.file.At(s.v.Line, 0)
			s.v.place(value, id, cpus)
		}
		return true
	}
	n := s.v.node(id)
	to, name := &n.Size, "memory"
	if m[2] == "free" {
		to, name = &n.Free, "free memory"
	}
	if value.text == "<not available>" {
		return true
	}
	mb := nodeMemory.FindStringSubmatch(value.text)
	size, ok := int64(0), mb != nil
	if ok {
		size, err = strconv.ParseInt(mb[1], 10, 64)
		ok = err == nil && size <= int64(numa.MaxHostMemory/numa.MiB)
	}
	if !ok {
		s.v.file.Warn(value.n, value.col, "%s of %s: found %q, want a size such as 2047 MB", name, subject, short(value.text))
		return true
	}
	*to = numa.ReadAt(numa.Bytes(size)*numa.MiB, s.v.file.At(value.n, value.col))
	s.v.file.Add(value.n, value.col, subject, name, size, "MiB")
	return true
}

func (s *numactl) head(l line) bool {
	ids, err := cpuList(l.at(len("node")).text)
	if err != nil || len(ids) > maxNode || s.header != nil {
		return false
	}
	s.header = ids
	return true
}

// row reads the distances of one node; a row of another length is cut or wrapped.
func (s *numactl) row(l line) {
	cells := words(l)
	id, ok := number(strings.TrimSuffix(cells[0].text, ":"), maxNode)
	if !ok || len(cells)-1 != len(s.header) {
		s.v.file.Warn(l.n, l.col, "found %d distances, want %d", len(cells)-1, len(s.header))
		return
	}
	row := make([]int, len(s.header))
	for i, c := range cells[1:] {
		if row[i], ok = number(c.text, 255); !ok {
			s.v.file.Warn(c.n, c.col, "distance: found %q, want a number up to 255", short(c.text))
			return
		}
		s.v.file.Add(c.n, c.col, fmt.Sprintf("node %d", id), fmt.Sprintf("distance to node %d", s.header[i]), row[i], "")
	}
	if len(s.v.Distance) < len(s.header) && s.header[len(s.v.Distance)] == id {
		s.v.Distance = append(s.v.Distance, row)
	}
}

func (s *numactl) end() {
	v := s.v
	if n := len(v.Nodes); v.NodeCount.Known() && v.NodeCount.Value != n && n > 0 {
		v.file.Warn(v.Line, 0, "%d NUMA nodes are announced and %d are listed", v.NodeCount.Value, n)
	}
	if s.header != nil && (len(v.Distance) != len(s.header) || len(s.header) != len(v.Nodes)) {
		v.file.Warn(v.Line, 0, "the table of distances has %d rows and %d columns for %d nodes", len(v.Distance), len(s.header), len(v.Nodes))
		v.Distance = nil
	}
	for i, row := range v.Distance {
		if row[i] != 10 {
			v.file.Warn(v.Line, 0, "node %d has the distance %d to itself, want 10", s.header[i], row[i])
		}
	}
}
