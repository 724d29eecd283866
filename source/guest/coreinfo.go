package guest

import (
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// coreinfo reads Sysinternals Coreinfo. A map has a line for each socket, node or cache: one
// character for each logical processor of the group, * for a member. On a machine with several
// processor groups the name is on a separate line, followed by one mask for each group.
type coreinfo struct {
	v     *View
	title string // of the open map; empty outside
	maps  map[string][]*entry
	open  *entry    // entry with the name on a separate line: masks follow
	brand text.Line // last line before the features: the processor model
	cost  matrix[float64]
	costs bool // their title was read
	llcs  int  // last-level caches so far
}

// An entry is a named set of logical processors.
type entry struct {
	name  string
	masks []string // one for each processor group
	at    text.Line
}

// The titles of the maps.
const (
	coreMap   = "Logical to Physical Processor Map"
	socketMap = "Logical Processor to Socket Map"
	nodeMap   = "Logical Processor to NUMA Node Map"
	cacheMap  = "Logical Processor to Cache Map"
	groupMap  = "Logical Processor to Group Map"
	costTitle = "Approximate Cross-NUMA Node Access Cost"
)

var (
	maskLine    = pattern.Of(`^([*-]+)(?:\s*([^\s*-].*))?$`)
	nameLine    = pattern.Of(`^(Physical Processor|Socket|NUMA Node|Group|Data Cache|Instruction Cache|Unified Cache|Trace Cache)\b.*:$`)
	featureLine = pattern.Of(`^(\S+(?: \S+)*)\s+([*-])\s+(\S.*)$`)
	familyLine  = pattern.Of(`^\S+ Family \d+ Model \d+ Stepping \d+`)
	detailLine  = pattern.Of(`^(Maximum implemented CPUID leaves|Maximum implemented address width|Processor signature|Microcode signature):`)
	bannerLine  = pattern.Of(`^(?:Coreinfo v\d|Copyright|Sysinternals|Processor capabilities|Calculating Cross-NUMA|Note: )`)
	costHead    = pattern.Of(`^\d+(?:\s+\d+)*$`)
	costRow     = pattern.Of(`^\d+:(?:\s+\d+[.,]\d+)+$`)
	level       = pattern.Of(`\bLevel (\d)\b`)
	lastNumber  = pattern.Of(`^\D*(\d+)`)
)

func (s *coreinfo) take(l text.Line) bool {
	switch {
	case l.Text == "":
		s.title, s.open = "", nil
	case coreinfoLine.MatchString(l.Text):
		s.begin(l)
	case s.title == costTitle && s.costLine(l):
	case s.title != "" && s.title != costTitle && s.mapLine(l):
	case s.title == "" && s.feature(l):
	default:
		return false
	}
	return true
}

// again reports whether l repeats a title, or a line that precedes the maps.
func (s *coreinfo) again(l text.Line) bool {
	title := titleOf(l)
	_, twice := s.maps[title]
	return twice || title == costTitle && s.costs || len(s.maps) > 0 && (bannerLine.MatchString(l.Text) || detailLine.MatchString(l.Text))
}

func titleOf(l text.Line) string {
	if strings.HasPrefix(l.Text, costTitle) {
		return costTitle
	}
	title, _, _ := strings.Cut(l.Text, ":")
	return title
}

// begin reads a line that only Coreinfo prints.
func (s *coreinfo) begin(l text.Line) {
	switch {
	case strings.HasPrefix(l.Text, "No NUMA"):
		s.v.NodeCount = numa.ReadAt(1, text.Where(l.N, l.Col))
		s.v.file.Add(l.N, l.Col, "guest", "NUMA nodes", 1, "")
	case detailLine.MatchString(l.Text):
		s.detail(l)
	case bannerLine.MatchString(l.Text):
	default:
		s.title, s.open = titleOf(l), nil
		if s.title == costTitle {
			s.costs = true
			return
		}
		if s.maps == nil {
			s.maps = map[string][]*entry{}
		}
		s.maps[s.title] = nil
	}
}

// costLine reads a line of the access cost table.
func (s *coreinfo) costLine(l text.Line) bool {
	switch {
	case s.cost.ids == nil && costHead.MatchString(l.Text):
		return s.cost.head(l)
	case s.cost.ids != nil && costRow.MatchString(l.Text):
		s.cost.row(s.v, l)
		return true
	}
	return false
}

// mapLine reads a mask, or a name followed by masks.
func (s *coreinfo) mapLine(l text.Line) bool {
	if nameLine.MatchString(l.Text) {
		s.open = &entry{name: strings.TrimSuffix(l.Text, ":"), at: l}
		s.maps[s.title] = append(s.maps[s.title], s.open)
		return true
	}
	m := maskLine.FindStringSubmatch(l.Text)
	switch {
	case m == nil || len(m[1]) > maxCPU:
		return false
	case m[2] != "":
		s.open = nil
		s.maps[s.title] = append(s.maps[s.title], &entry{name: m[2], masks: []string{m[1]}, at: l})
	case s.open == nil || len(s.open.masks) == maxCPU/64:
		return false
	default:
		s.open.masks = append(s.open.masks, m[1])
	}
	return true
}

// feature reads the lines before the maps: the banner, the processor model and its features.
func (s *coreinfo) feature(l text.Line) bool {
	switch m := featureLine.FindStringSubmatchIndex(l.Text); {
	case bannerLine.MatchString(l.Text):
	case detailLine.MatchString(l.Text):
		s.detail(l)
	case familyLine.MatchString(l.Text):
		if s.brand.N > 0 {
			s.v.Model = numa.ReadAt(s.brand.Text, text.Where(s.brand.N, s.brand.Col))
			s.v.file.Add(s.brand.N, s.brand.Col, "guest", "processor model", s.brand.Text, "")
		}
		s.v.file.Add(l.N, l.Col, "guest", "processor family", l.Text, "")
	case m != nil:
		name := l.Text[m[2]:m[3]]
		s.v.file.Add(l.N, l.Col+m[4], "guest", name, l.Text[m[4]] == '*', "")
	case len(s.maps) == 0 && s.v.Model.Value == "" && s.brand.N == 0:
		s.brand = l
	default:
		return false
	}
	return true
}

func (s *coreinfo) detail(l text.Line) {
	name, _, _ := strings.Cut(l.Text, ":")
	value := l.After(len(name) + 1)
	s.v.file.Add(value.N, value.Col, "guest", name, value.Text, "")
}

func (s *coreinfo) end() {
	v := s.v
	widths, first := s.groups()
	for i, title := range []string{coreMap, socketMap, nodeMap, cacheMap, groupMap} {
		llc := lastLevel(s.maps[title])
		for j, e := range s.maps[title] {
			of, from := widths, first
			if title == groupMap && len(e.masks) == 1 && j < len(widths) { // the mask of its own group
				of, from = widths[j:j+1], first[j:j+1]
			}
			cpus, ok := s.members(e, of, from)
			if !ok {
				continue
			}
			name, _, _ := strings.Cut(strings.Join(strings.Fields(e.name), " "), " (")
			v.file.Add(e.at.N, e.at.Col, name, "CPUs", strings.ReplaceAll(words.Ranges(cpus), ", ", ","), "")
			s.assign(i, j, e, cpus, llc)
		}
	}
	v.CPUCount = s.countCPUs(widths)
	if n := len(s.maps[socketMap]); n > 0 {
		v.Sockets = numa.ReadAt(n, v.socketsAt)
	}
	if n := len(v.Nodes); n > 0 && v.NodeCount.Known() && v.NodeCount.Value != n {
		v.file.Warn(v.Line, 0, `"No NUMA nodes." is stated and %d nodes are listed`, n)
	} else if n > 0 && !v.NodeCount.Known() {
		v.NodeCount = numa.ReadAt(n, v.nodesAt)
	}
	if s.costs {
		v.Cost = s.cost.end(v)
	}
}

func (s *coreinfo) countCPUs(widths []int) numa.Fact[int] {
	n := 0
	for _, w := range widths {
		n += w
	}
	if n == 0 {
		return numa.Fact[int]{}
	}
	return numa.ReadAt(n, text.Where(s.v.Line, 0))
}

// groups returns the number of logical processors of each processor group and the number of the
// first one in each.
func (s *coreinfo) groups() (widths, first []int) {
	for title, entries := range s.maps {
		for _, e := range entries {
			for g, mask := range e.masks {
				if title == groupMap && len(entries) > 1 && len(e.masks) == 1 {
					continue // each mask is as wide as its own group
				}
				if g == len(widths) {
					widths = append(widths, 0)
				}
				widths[g] = max(widths[g], len(mask))
			}
		}
	}
	sum := 0
	for _, w := range widths {
		first = append(first, sum)
		sum += w
	}
	return widths, first
}

// members returns the numbers of the logical processors of an entry, counted across all groups.
func (s *coreinfo) members(e *entry, widths, first []int) (cpus []int, ok bool) {
	if len(e.masks) != len(widths) {
		s.v.file.Warn(e.at.N, e.at.Col, "%s has %d masks, want one for each of %d processor groups", text.Short(e.name), len(e.masks), len(widths))
		return nil, false
	}
	for g, mask := range e.masks {
		if len(mask) != widths[g] {
			s.v.file.Warn(e.at.N, e.at.Col, "the mask of %s has %d characters, want %d", text.Short(e.name), len(mask), widths[g])
			return nil, false
		}
		for i := range len(mask) {
			if mask[i] == '*' {
				cpus = append(cpus, first[g]+i)
			}
		}
	}
	return cpus, first == nil || first[len(first)-1]+widths[len(widths)-1] <= maxCPU
}

// assign sets the number of an entry, the j-th of map i, in its logical processors.
func (s *coreinfo) assign(i, j int, e *entry, cpus []int, llc string) {
	v := s.v
	id, ok := j, true
	if m := lastNumber.FindStringSubmatch(e.name); m != nil && i < 3 {
		id, ok = number(m[1], maxCPU)
	}
	if !ok || i == 2 && id >= maxNode {
		v.file.Warn(e.at.N, e.at.Col, "%s: want a number below %d", text.Short(e.name), maxNode)
		return
	}
	switch i {
	case 0:
		for _, c := range cpus {
			v.cpu(c).Core = id
		}
	case 1:
		v.socketsAt = text.Where(s.maps[socketMap][0].at.N, 0)
		for _, c := range cpus {
			v.cpu(c).Socket = id
		}
	case 2:
		v.place(e.at, id, cpus)
	case 3:
		if m := level.FindStringSubmatch(e.name); m != nil && m[1] == llc && !strings.HasPrefix(e.name, "Instruction") {
			for _, c := range cpus {
				v.cpu(c).LLC = s.llcs
			}
			s.llcs++
		}
	}
}

// lastLevel returns the title of the highest cache level.
func lastLevel(caches []*entry) string {
	last := ""
	for _, e := range caches {
		if m := level.FindStringSubmatch(e.name); m != nil {
			last = max(last, m[1])
		}
	}
	return last
}
