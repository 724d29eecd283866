package guest

import (
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/text"
)

// columns reads lscpu -e and lscpu -p: a header with the column names and one row for each CPU.
// The columns depend on the release and on the command line.
type columns struct {
	v      *View
	header []string
}

// isColumnHeader reports whether l is the header of lscpu -e: capitals only, with CPU and a
// topology column.
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

func (s *columns) take(l text.Line) bool {
	switch {
	case l.Text == "":
		return s.v.Form == LscpuParse && s.header == nil
	case s.v.Form == LscpuParse && l.Text[0] == '#':
		return s.comment(l)
	case s.v.Form == LscpuColumns && isColumnHeader(l.Text):
		s.header = strings.Fields(l.Text)
		return true
	case s.header == nil || l.Text[0] < '0' || l.Text[0] > '9':
		return false
	}
	s.row(l)
	return true
}

func (s *columns) again(text.Line) bool { return len(s.v.CPUs) > 0 }

// comment reads a line of lscpu -p that begins with #; the last one is the header. The columns
// after the empty one are the caches.
func (s *columns) comment(l text.Line) bool {
	if parseHeader.MatchString(l.Text) {
		s.header = strings.Split(strings.TrimLeft(l.Text, "# "), ",")
	}
	return true
}

func (s *columns) row(l text.Line) {
	var cells []text.Line
	if s.v.Form == LscpuParse {
		cells = l.Split(",")
	} else {
		cells = s.joinModel(l.Fields())
	}
	if len(cells) != len(s.header) {
		s.v.file.Warn(l.N, l.Col, "found %d values, want %d: %s", len(cells), len(s.header), strings.Join(s.header, " "))
		return
	}
	s.v.row(s.header, cells)
}

// joinModel joins the words of MODELNAME, the only column with blanks.
func (s *columns) joinModel(cells []text.Line) []text.Line {
	i, surplus := slices.Index(s.header, "MODELNAME"), len(cells)-len(s.header)
	if i < 0 || surplus <= 0 {
		return cells
	}
	joined := cells[i]
	for _, c := range cells[i+1 : i+1+surplus] {
		joined.Text += " " + c.Text
	}
	return slices.Concat(cells[:i], []text.Line{joined}, cells[i+1+surplus:])
}

// row reads one CPU. A value of "-" or an empty value is unknown.
func (v *View) row(header []string, cells []text.Line) {
	at := slices.IndexFunc(header, func(name string) bool { return strings.EqualFold(name, "CPU") })
	if at < 0 {
		v.file.Warn(cells[0].N, 0, "found no column CPU")
		return
	}
	n, ok := number(cells[at].Text, maxCPU)
	if !ok {
		v.file.Warn(cells[at].N, cells[at].Col, "CPU: found %q, want a number up to %d", text.Short(cells[at].Text), maxCPU)
		return
	}
	if c := v.cpu(n); c.Node >= 0 || c.Socket >= 0 || c.Core >= 0 {
		v.file.Warn(cells[at].N, cells[at].Col, "CPU %d is listed twice", n)
		return
	}
	for i, cell := range cells {
		if i != at && cell.Text != "" && cell.Text != "-" {
			v.cell(n, strings.ToUpper(header[i]), cell)
		}
	}
}

// onlineWords are the values of the column ONLINE, in the languages that are read.
var onlineWords = map[string]bool{"yes": true, "y": true, "1": true, "true": true, "ja": true, "oui": true, "no": false, "n": false, "0": false, "false": false, "nein": false, "non": false}

// cell reads one value of a CPU.
func (v *View) cell(cpu int, column string, l text.Line) {
	subject := "CPU " + strconv.Itoa(cpu)
	c := v.cpu(cpu)
	whole := func(to *int, name string, most int) {
		n, ok := number(l.Text, most)
		if !ok {
			v.file.Warn(l.N, l.Col, "%s of %s: found %q, want a number up to %d", name, subject, text.Short(l.Text), most)
			return
		}
		*to = n
		v.file.Add(l.N, l.Col, subject, name, n, "")
	}
	switch column {
	case "NODE":
		whole(&c.Node, "node", maxNode-1)
		if v.nodesAt == "" {
			v.nodesAt = text.Where(v.Line, 0)
		}
	case "SOCKET":
		whole(&c.Socket, "socket", maxCPU)
		if v.socketsAt == "" {
			v.socketsAt = text.Where(v.Line, 0)
		}
	case "CORE":
		whole(&c.Core, "core", maxCPU)
	case "L3":
		whole(&c.LLC, "last-level cache", maxCPU)
	case "ONLINE":
		online, ok := onlineWords[strings.ToLower(l.Text)]
		if !ok {
			v.file.Warn(l.N, l.Col, "online of %s: found %q, want yes or no: record LC_ALL=C lscpu", subject, text.Short(l.Text))
			return
		}
		c.Offline = !online
		v.file.Add(l.N, l.Col, subject, "online", !c.Offline, "")
	case "MODELNAME":
		v.Model = numa.ReadAt(l.Text, text.Where(l.N, l.Col))
		v.file.Add(l.N, l.Col, subject, "processor model", l.Text, "")
	case "":
	default:
		if strings.HasSuffix(column, ":L3") { // L1d:L1i:L2:L3
			last := strings.LastIndexByte(l.Text, ':') + 1
			l.Col, l.Text = l.Col+last, l.Text[last:]
			whole(&c.LLC, "last-level cache", maxCPU)
			return
		}
		v.file.Add(l.N, l.Col, subject, column, l.Text, "")
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
