package esxtop

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
)

// A Column is one counter of one instance, from a name such as
// \\esx01\Group Memory(1302698:db01)\Numa Local Memory MBytes.
type Column struct {
	Host     string // localhost, or the name of the machine
	Object   string // Group Memory; empty for a name that is no path
	Instance string // 1302698:db01; empty when there is none
	Counter  string // Numa Local Memory MBytes
	Index    int    // field of the row; the time is field 0
	// Copy numbers columns of one name, from 0: virtual disks of VMs with one name.
	Copy int
	// Damaged: ESXi 6.5 glued another, nameless column to its left. Cells are parsed where the
	// relevant part is clear.
	Damaged bool
}

// String returns the name as in the file.
func (c *Column) String() string {
	if c.Object == "" {
		return c.Counter
	}
	s := `\\` + c.Host + `\` + c.Object
	if c.Instance != "" {
		s += "(" + c.Instance + ")"
	}
	return s + `\` + c.Counter
}

// Is reports whether c is this counter of this object, ignoring case and runs of blanks.
func (c *Column) Is(object, counter string) bool {
	return same(c.Object, object) && same(c.Counter, counter)
}

func same(a, b string) bool { return strings.EqualFold(a, b) || normal(a) == normal(b) }

// normal returns a name in lower case without redundant blanks, including no-break ones.
func normal(s string) string {
	if strings.Contains(s, "  ") || strings.Contains(s, "\u00a0") || strings.HasPrefix(s, " ") || strings.HasSuffix(s, " ") {
		s = strings.Join(strings.Fields(s), " ")
	}
	return strings.ToLower(s)
}

// Group returns the scheduler group of a column of Group Cpu or Group Memory, whose instance is gid:name.
func (c *Column) Group() (gid int64, name string, ok bool) {
	id, name, ok := strings.Cut(c.Instance, ":")
	if !ok {
		return 0, "", false
	}
	gid, err := strconv.ParseInt(id, 10, 64)
	return gid, name, err == nil && gid >= 0
}

// A World is one schedulable thing of a scheduler group.
type World struct {
	GID   int64
	Group string
	ID    int64
	Name  string // vmx-vcpu-0:db01
}

var vcpuName = pattern.Of(`^vmx-vcpu-(\d{1,4})(?::|$)`)

// VCPU returns the vCPU number of the world.
func (w *World) VCPU() (n int, ok bool) {
	m := vcpuName.FindStringSubmatch(w.Name)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}

// A Header describes the columns of a file.
type Header struct {
	Columns []Column
	Wanted  []int // indices in Columns, ascending
	Line    int   // of the file, from 1
	Zone    string
	Bias    time.Duration // to add to a stamp for UTC

	groups map[groupKey]string
	proven map[groupKey]map[int64]bool // VMs and their worlds of vCPUs; set by vms
	slots  []int32                     // by wanted column: its number among those of home nodes, or -1
	homes  int
	// homeColumns are those whose cells are lists of home nodes.
	homeColumns []int
	quoted      bool // esxtop's own form: every field in quotes
	comma       byte // the separator
	trailing    bool // a comma ends the line
	decimals    decimals
	fields      int // number of fields in a complete line by strict split
}

type groupKey struct {
	host string
	gid  int64
}

// World splits the instance of a column of Vcpu: gid:group:world:name. All parts but the ids may
// contain colons; the name of the group is known from columns of Group Cpu and Group Memory.
func (h *Header) World(c *Column) (w World, ok bool) {
	id, rest, ok := strings.Cut(c.Instance, ":")
	if !ok {
		return w, false
	}
	gid, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return w, false
	}
	w.GID = gid
	if name, known := h.groups[groupKey{c.Host, gid}]; known {
		if after, ok := strings.CutPrefix(rest, name+":"); ok {
			digits, world, _ := strings.Cut(after, ":")
			if w.ID, err = strconv.ParseInt(digits, 10, 64); err == nil {
				w.Group, w.Name = name, world
				return w, true
			}
		}
	}
	for at := 0; at < len(rest); {
		end := strings.IndexByte(rest[at:], ':')
		if end < 0 {
			end = len(rest) - at
		}
		if w.ID, err = strconv.ParseInt(rest[at:at+end], 10, 64); err == nil && at > 0 {
			w.Group, w.Name = rest[:at-1], rest[min(len(rest), at+end+1):]
			return w, true
		}
		at += end + 1
	}
	return w, false
}

const magic = "(PDH-CSV"

// maxColumns is ten times the columns of a large host: the data about a column takes more memory than its name.
const maxColumns = 1 << 20

// magicForm is the first cell: version, zone, and the minutes to add for UTC.
var magicForm = pattern.Of(`^\(PDH-CSV [\d.]+\)(?:\s*\((.*)\)\s*\((-?\d{1,4})\))?`)

// A chooser returns an Options.Want for a header whose columns are known.
type chooser func(*Header) func(*Column) bool

// parseHeader parses a header line, without its line end. msg describes its fault.
func parseHeader(line []byte, n int, w *warnings, want chooser) (h *Header, msg string) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	h = &Header{Line: n, groups: map[groupKey]string{}}
	if len(line) == 0 {
		return nil, "found an empty line, want a header"
	}
	if msg := h.readMagic(line); msg != "" {
		return nil, msg
	}
	commas := bytes.Count(line, []byte{h.comma})
	if commas > maxColumns+1 {
		return nil, fmt.Sprintf("found more than %d columns", maxColumns)
	}
	fields := split(line, h.comma, make([]field, 0, commas+1))
	if last := fields[len(fields)-1]; last.lo == last.hi {
		fields = fields[:len(fields)-1]
		h.trailing = true
	}
	h.fields = len(fields)
	fields = h.cutTail(fields, line, w)
	if len(fields) < 2 {
		return nil, "found a header without columns"
	}
	if h.sheetWide() {
		w.add(kindWidth, n, 0, func() string {
			return fmt.Sprintf("the header has %d fields, the most that a spreadsheet keeps: a program cut the columns behind them off when it saved the file; take the file of esxtop itself", h.fields)
		})
	}
	h.columns(fields, line, w)
	h.want(want(h))
	if max(len(h.groups), len(h.proven)) > numa.MaxHostVMs { // a VM takes more memory in every reader of ticks than its columns here
		return nil, fmt.Sprintf("found more than %d groups of the scheduler, want those of one host, or of some", numa.MaxHostVMs)
	}
	return h, ""
}

// sheetWide reports whether the header fills a row of a spreadsheet: 16384 columns in Excel, and without the quotes of esxtop 1024 in LibreOffice before
// 7.4 or 256 in an old .xls.
func (h *Header) sheetWide() bool {
	return h.fields == 16384 || !h.quoted && (h.fields == 1024 || h.fields == 256)
}

// readMagic parses the first cell, and finds the separator after it.
func (h *Header) readMagic(line []byte) (msg string) {
	cell, rest := line, []byte(nil)
	if line[0] == '"' {
		end := bytes.IndexByte(line[1:], '"')
		if end < 0 {
			return fmt.Sprintf("found %s, want a quote at its end", quoted(line))
		}
		cell, rest = line[1:end+1], line[end+2:]
		h.quoted = true
	} else if i := bytes.IndexAny(line, ",;\t"); i >= 0 {
		cell, rest = line[:i], line[i:]
	}
	m := magicForm.Regexp().FindSubmatch(cell)
	if m == nil {
		return fmt.Sprintf("found %s, want %q", quoted(cell), magic+" 4.0) (UTC)(0)")
	}
	h.Zone = string(m[1])
	if minutes, err := strconv.Atoi(string(m[2])); err == nil {
		h.Bias = time.Duration(minutes) * time.Minute
	}
	if rest = bytes.TrimLeft(rest, " "); len(rest) == 0 {
		return "found a header without columns"
	}
	h.comma = rest[0]
	if h.comma != ',' && h.comma != ';' && h.comma != '\t' {
		return fmt.Sprintf("found %s after the first cell, want a comma", quoted(rest))
	}
	return ""
}

// decide finds in the first rows how the file writes fractions; usual is assumed if they do not show it.
func (h *Header) decide(f *feed, usual decimals) {
	const enough = 64 << 10 // some thousand cells
	rows := f.peek(enough)
	if end := bytes.LastIndexByte(rows, f.end); end >= 0 {
		rows = rows[:end]
	} else {
		rows = rows[:max(bytes.LastIndexByte(rows, h.comma), 0)] // the last cell may be cut
	}
	h.decimals = usual
	if d := h.decimalsOf(rows, f.end); d.sure {
		h.decimals = d
	}
}

// cutTail decides whether every field is in quotes and removes the nameless column that ESXi 6.5
// appends without quotes.
func (h *Header) cutTail(fields []field, line []byte, w *warnings) []field {
	last := len(fields) - 1
	for i, f := range fields {
		switch {
		case f.quotes == 2:
		case i == last && h.quoted && f.quotes == 0:
			w.add(kindTail, h.Line, int(f.lo)+1, func() string {
				return fmt.Sprintf("found %s without quotes, want the name of a column: it is left out", quoted(line[f.lo:f.hi]))
			})
			return fields[:last]
		default:
			h.quoted = false
		}
	}
	return fields
}

// A name is a part of a column's name, raw and normalised.
type name struct{ raw, normal string }

// columns parses the names.
func (h *Header) columns(fields []field, line []byte, w *warnings) {
	pool := map[string]name{}
	intern := func(b []byte) name {
		n, ok := pool[string(b)]
		if !ok {
			n.raw = string(b)
			n.normal = normal(n.raw)
			pool[n.raw] = n
		}
		return n
	}
	first := newNames(len(fields))
	copies := map[int]int{} // by the first column with a name: the number of later ones
	h.Columns = make([]Column, len(fields)-1)
	last := &Column{}
	for i, f := range fields[1:] {
		text := line[f.text.lo:f.text.hi]
		c := &h.Columns[i]
		host, object, instance, counter := splitPath(bytes.TrimSpace(text))
		o, n := intern(object), intern(counter)
		*c = Column{intern(host).raw, o.raw, last.Instance, n.raw, i + 1, 0, f.fused}
		if c.Instance != string(instance) {
			c.Instance = intern(instance).raw
		}
		last = c
		if f.fused {
			w.add(kindFused, h.Line, int(f.lo)+1, func() string {
				return fmt.Sprintf("found %s, want a comma and a quote before the name: ESXi 6.5 glues a nameless column to the next one", quoted(line[f.lo:f.hi]))
			})
		}
		if earlier, ok := first.add(text, i); ok {
			h.number(c, earlier, copies)
		}
		if o.normal == "group cpu" || o.normal == "group memory" {
			h.group(c, o.normal == "group memory" && n.normal == "numa home nodes")
		}
	}
}

// number counts the columns before c with the same name, whose hash equals that of column earlier.
func (h *Header) number(c *Column, earlier int, copies map[int]int) {
	for i := earlier; i < c.Index-1; i++ { // it is the first one, except for a hash collision
		e := h.Columns[i]
		e.Index, e.Copy, e.Damaged = c.Index, c.Copy, c.Damaged
		if e == *c {
			copies[i]++
			c.Copy = copies[i]
			return
		}
	}
}

// group records the group of c, and whether its cells are home nodes.
func (h *Header) group(c *Column, homes bool) {
	if gid, name, ok := c.Group(); ok && len(h.groups) <= numa.MaxHostVMs && h.groups[groupKey{c.Host, gid}] != name {
		h.groups[groupKey{c.Host, gid}] = name
	}
	if homes {
		h.homeColumns = append(h.homeColumns, c.Index-1)
	}
}

// splitPath cuts \\host\object(instance)\counter: the counter begins after the last
// backslash, the instance after the first parenthesis.
func splitPath(name []byte) (host, object, instance, counter []byte) {
	rest, ok := bytes.CutPrefix(name, []byte(`\\`))
	end := bytes.IndexByte(rest, '\\')
	if !ok || end < 0 {
		return nil, nil, nil, name
	}
	host, rest = rest[:end], rest[end+1:]
	last := bytes.LastIndexByte(rest, '\\')
	if last < 0 {
		return nil, nil, nil, name
	}
	object, counter = rest[:last], rest[last+1:]
	if i := bytes.IndexByte(object, '('); i >= 0 && object[len(object)-1] == ')' {
		object, instance = object[:i], object[i+1:len(object)-1]
	}
	return host, object, instance, counter
}

// want selects the wanted columns.
func (h *Header) want(want func(*Column) bool) {
	for i := range h.Columns {
		c := &h.Columns[i]
		if want != nil && !want(c) {
			continue
		}
		h.Wanted = append(h.Wanted, i)
		if _, ok := slices.BinarySearch(h.homeColumns, i); ok {
			h.slots = append(h.slots, int32(h.homes))
			h.homes++
		} else {
			h.slots = append(h.slots, -1)
		}
	}
}

// same reports whether both headers have the same columns in the same form.
func (h *Header) same(other *Header) bool {
	if len(h.Columns) != len(other.Columns) || h.quoted != other.quoted || h.trailing != other.trailing || h.comma != other.comma || h.decimals != other.decimals || h.fields != other.fields || h.Bias != other.Bias {
		return false
	}
	for i := range h.Columns {
		if h.Columns[i] != other.Columns[i] {
			return false
		}
	}
	return true
}
