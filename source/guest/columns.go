package guest

import (
	"slices"
	"strconv"
	"strings"

	"homenode/numa"
)

// columns reads lscpu -e and lscpu -p: a header that names the columns and one row
// a CPU. The columns differ by release and by what the user asked for.
type columns struct {
	v      *View
	header []string
}

// isColumnHeader reports whether l is the header of lscpu -e: capitals only, with
// CPU and something of its place.
func isColumnHeader(l string) bool {
	fields := strings.Fields(l)
	place := false
	for _, f := range fields {
		if f != strings.ToUpper(f) && !strings.HasPrefix(f, "L1") {
			return false
		}
		place = place || f == "NODE" || f == "SOCKET" || f == "CORE"
	}
	return place && slices.Contains(fields, "CPU")
}

func (s *columns) take(l line) bool {
	switch {
	case l.text == "":
		return s.v.Form == LscpuParse && s.header == nil
	case s.v.Form == LscpuParse && l.text[0] == '#':
		return s.comment(l)
	case s.v.Form == LscpuColumns && isColumnHeader(l.text):
		s.header = strings.Fields(l.text)
		return true
	case s.header == nil || l.text[0] < '0' || l.text[0] > '9':
		return false
	}
	s.row(l)
	return true
}

func (s *columns) again(line) bool { return len(s.v.CPUs) > 0 }

// comment reads a line of lscpu -p that begins with #; the last is the header. The
// columns after the empty one are the caches.
func (s *columns) comment(l line) bool {
	if parseHeader.MatchString(l.text) {
		s.header = strings.Split(strings.TrimLeft(l.text, "# "), ",")
	}
	return true
}

func (s *columns) row(l line) {
	var cells []line
	if s.v.Form == LscpuParse {
		cells = split(l)
	} else {
		cells = s.joinModel(words(l))
	}
	if len(cells) != len(s.header) {
		s.v.file.Warn(l.n, l.col, "found %d values, want %d: %s", len(cells), len(s.header), strings.Join(s.header, " "))
		return
	}
	s.v.row(s.header, cells)
}

// joinModel puts the words of MODELNAME, the one column with blanks, together.
func (s *columns) joinModel(cells []line) []line {
	i, surplus := slices.Index(s.header, "MODELNAME"), len(cells)-len(s.header)
	if i < 0 || surplus <= 0 {
		return cells
	}
	joined := cells[i]
	for _, c := range cells[i+1 : i+1+surplus] {
		joined.text += " " + c.text
	}
	return slices.Concat(cells[:i], []line{joined}, cells[i+1+surplus:])
}

// row reads one CPU. A value of "-" or nothing is unknown.
func (v *View) row(header []string, cells []line) {
	at := slices.IndexFunc(header, func(name string) bool { return strings.EqualFold(name, "CPU") })
	if at < 0 {
		v.file.Warn(cells[0].n, 0, "found no column CPU")
		return
	}
	n, ok := number(cells[at].text, maxCPU)
	if !ok {
		v.file.Warn(cells[at].n, cells[at].col, "CPU: found %q, want a number up to %d", short(cells[at].text), maxCPU)
		return
	}
	if c := v.cpu(n); c.Node >= 0 || c.Socket >= 0 || c.Core >= 0 {
		v.file.Warn(cells[at].n, cells[at].col, "CPU %d is listed twice", n)
		return
	}
	for i, cell := range cells {
		if i != at && cell.text != "" && cell.text != "-" {
			v.cell(n, strings.ToUpper(header[i]), cell)
		}
	}
}

// cell reads one value of a CPU.
func (v *View) cell(cpu int, column string, l line) {
	subject := "CPU " + strconv.Itoa(cpu)
	c := v.cpu(cpu)
	whole := func(to *int, name string, most int) {
		n, ok := number(l.text, most)
		if !ok {
			v.file.Warn(l.n, l.col, "%s of %s: found %q, want a number up to %d", name, subject, short(l.text), most)
			return
		}
		*to = n
		v.file.Add(l.n, l.col, subject, name, n, "")
	}
	switch column {
	case "NODE":
		whole(&c.Node, "node", maxNode-1)
		if v.nodesAt == "" {
			v.nodesAt = v.file.At(v.Line, 0)
		}
	case "SOCKET":
		whole(&c.Socket, "socket", maxCPU)
		if v.socketsAt == "" {
			v.socketsAt = v.file.At(v.Line, 0)
		}
	case "CORE":
		whole(&c.Core, "core", maxCPU)
	case "L3":
		whole(&c.LLC, "last-level cache", maxCPU)
	case "ONLINE":
		c.Offline = !slices.Contains([]string{"yes", "Y", "1", "true"}, l.text)
		v.file.Add(l.n, l.col, subject, "online", !c.Offline, "")
	case "MODELNAME":
		v.Model = numa.ReadAt(l.text, v.file.At(l.n, l.col))
		v.file.Add(l.n, l.col, subject, "processor model", l.text, "")
	case "":
	default:
		if strings.HasSuffix(column, ":L3") { // L1d:L1i:L2:L3
			last := strings.LastIndexByte(l.text, ':') + 1
			l.col, l.text = l.col+last, l.text[last:]
			whole(&c.LLC, "last-level cache", maxCPU)
			return
		}
		v.file.Add(l.n, l.col, subject, column, l.text, "")
	}
}

func (s *columns) end() { s.v.fromCPUs() }

// fromCPUs fills the nodes from their CPUs.
func (v *View) fromCPUs() {
	for _, c := range v.CPUs {
		if c.Node >= 0 {
			n := v.node(c.Node)
			n.CPUs = append(n.CPUs, c.Number)
		}
	}
	for _, n := range v.Nodes {
		slices.Sort(n.CPUs)
	}
}
