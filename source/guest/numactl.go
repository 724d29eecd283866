package guest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// numactl reads numactl -H. Node numbers may have gaps; a node may have no CPUs or no memory.
// Its "MB" are MiB.
type numactl struct {
	v           *View
	opened      bool
	matrix[int] // of distances
}

var (
	available  = pattern.Of(`^available: (\d+) nodes?(?: \(([\d,\- ]*)\))?$`)
	nodeLine   = pattern.Of(`^node (\d+) (cpus|size|free):`)
	nodeMemory = pattern.Of(`^(\d+) MB$`)
	tableHead  = pattern.Of(`^node(?:\s+\d+)+$`)
	tableRow   = pattern.Of(`^(\d+):((?:\s+\d+)+)$`)
)

func (s *numactl) take(l text.Line) bool {
	v := s.v
	l = uncommented(l)
	switch {
	case l.Text == "":
		return true
	case strings.HasPrefix(l.Text, "available:"):
		s.opened = true
		return s.available(l)
	case numactlLine.MatchString(l.Text) && l.Text[0] == 'N':
		v.NoNUMA = true
		v.file.Add(l.N, l.Col, "guest", "NUMA", false, "")
	case nodeLine.MatchString(l.Text):
		return s.node(l)
	case l.Text == "node distances:", strings.HasPrefix(l.Text, "No distance information available"):
	case tableHead.MatchString(l.Text):
		return s.head(l.After(len("node")))
	case s.ids != nil && tableRow.MatchString(l.Text):
		s.row(v, l)
	default:
		return false
	}
	s.opened = true
	return true
}

func (s *numactl) again(l text.Line) bool { return s.opened && (l.Text[0] == 'a' || l.Text[0] == 'N') }

func (s *numactl) available(l text.Line) bool {
	m := available.FindStringSubmatchIndex(l.Text)
	if m == nil {
		return false
	}
	count := l.Part(m[2], m[3])
	s.v.count(&s.v.NodeCount, count, "NUMA nodes", maxNode)
	if m[4] < 0 {
		return true
	}
	list := l.Part(m[4], m[5])
	ids, err := cpuList(list.Text)
	if err != nil || len(ids) > maxNode || len(ids) > 0 && slices.Max(ids) >= maxNode {
		s.v.file.Warn(list.N, list.Col, "found %q, want node numbers below %d such as 0-1", text.Short(list.Text), maxNode)
		return true
	}
	for _, id := range ids {
		s.v.node(id)
	}
	s.v.nodesAt = text.Where(l.N, 0)
	return true
}

func (s *numactl) node(l text.Line) bool {
	m := nodeLine.FindStringSubmatch(l.Text)
	value := l.After(len(m[0]))
	id, err := strconv.Atoi(m[1])
	if err != nil || id >= maxNode {
		s.v.file.Warn(l.N, l.Col, "node %s: want a number below %d", text.Short(m[1]), maxNode)
		return true
	}
	subject := fmt.Sprintf("node %d", id)
	if m[2] == "cpus" {
		if cpus, ok := s.v.list(value, subject, "CPUs"); ok {
			s.v.nodesAt = text.Where(s.v.Line, 0)
			s.v.place(value, id, cpus)
		}
		return true
	}
	n := s.v.node(id)
	to, name := &n.Size, "memory"
	if m[2] == "free" {
		to, name = &n.Free, "free memory"
	}
	if value.Text == "<not available>" {
		return true
	}
	mb := nodeMemory.FindStringSubmatch(value.Text)
	size, ok := int64(0), mb != nil
	if ok {
		size, err = strconv.ParseInt(mb[1], 10, 64)
		ok = err == nil && size <= int64(numa.MaxHostMemory/numa.MiB)
	}
	if !ok {
		s.v.file.Warn(value.N, value.Col, "%s of %s: found %q, want a size such as 2047 MB", name, subject, text.Short(value.Text))
		return true
	}
	*to = numa.ReadAt(numa.Bytes(size)*numa.MiB, text.Where(value.N, value.Col))
	s.v.file.Add(value.N, value.Col, subject, name, size, "MiB")
	return true
}

func (s *numactl) end() {
	v := s.v
	if n := len(v.Nodes); v.NodeCount.Known() && v.NodeCount.Value != n && n > 0 {
		v.file.Warn(v.Line, 0, "%d NUMA nodes are announced and %d are listed", v.NodeCount.Value, n)
	}
	if s.ids != nil {
		v.Distance = s.matrix.end(v)
	}
	for i, row := range v.Distance {
		if row[i] != 10 {
			v.file.Warn(v.Line, 0, "node %d has the distance %d to itself, want 10", s.ids[i], row[i])
		}
	}
}
