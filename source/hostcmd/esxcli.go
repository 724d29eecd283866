package hostcmd

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// A record is one object of esxcli: its keys as printed and their values. The text and the JSON
// form differ only in blanks and case of the keys.
type record []field

type field struct {
	key   string
	value text.Line
}

// get returns the value of the key with this normal form.
func (r record) get(key string) text.Line {
	for _, f := range r {
		if normal(f.key) == key {
			return f.value
		}
	}
	return text.Line{}
}

var pciTitle = pattern.Of(`^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

// recordsOf parses "Key: value" lines. A list has many objects: a repeated key begins the next one.
// Lines without a key become fields without one.
func recordsOf(lines []text.Line) []record {
	var records []record
	seen := map[string]bool{}
	for _, l := range lines {
		if l.Text == "" || pciTitle.MatchString(l.Text) {
			continue
		}
		key, _, ok := strings.Cut(l.Text, ":")
		f := field{value: l}
		if ok {
			f = field{strings.TrimSpace(key), l.After(len(key) + 1)}
		}
		if len(records) == 0 || f.key != "" && seen[f.key] {
			records = append(records, nil)
			clear(seen)
		}
		last := len(records) - 1
		records[last], seen[f.key] = append(records[last], f), true
	}
	return records
}

// readRecords parses the formats that are lists of keys and values.
func (o *Output) readRecords(records []record) {
	for _, r := range records {
		switch o.Format {
		case PCIList:
			o.readPCI(r)
		case AdvancedList:
			o.readAdvanced(r)
		default:
			for _, f := range r {
				o.hostField(f)
			}
		}
	}
}

// A hostValue describes a value of the host: its name and its destination.
type hostValue struct {
	name string // of a count; empty for a text
	num  func(*Output) *numa.Fact[int]
	text func(*Output) *numa.Fact[string]
}

var (
	packages  = hostValue{name: "packages", num: func(o *Output) *numa.Fact[int] { return &o.Host.Packages }}
	cores     = hostValue{name: "cores", num: func(o *Output) *numa.Fact[int] { return &o.Host.Cores }}
	threads   = hostValue{name: "PCPUs", num: func(o *Output) *numa.Fact[int] { return &o.Host.Threads }}
	nodeCount = hostValue{name: "NUMA nodes", num: func(o *Output) *numa.Fact[int] { return &o.nodeNum }}
)

// hostValues are the values of the host, by the format, or the title of a struct of vsish, and the
// normal form of their key.
var hostValues = map[string]hostValue{
	CPUGlobal + " cpupackages": packages, CPUGlobal + " cpucores": cores, CPUGlobal + " cputhreads": threads,
	HardwareMem + " numanodecount": nodeCount,
	Platform + " vendorname":       {text: func(o *Output) *numa.Fact[string] { return &o.Host.Vendor }},
	Platform + " productname":      {text: func(o *Output) *numa.Fact[string] { return &o.Host.Model }},
	NCPUs + " package":             packages, NCPUs + " core": cores, NCPUs + " pcpu": threads, NCPUs + " numanode": nodeCount,
	"CPU global information numberofpackages": packages, "CPU global information numberofcores": cores,
	"CPU global information numberofcpus(threads)": threads, "Memory information numberofnumanodes": nodeCount,
}

// hostValue parses a value of hostValues; false for another key.
func (o *Output) hostValue(of, key string, l text.Line) bool {
	v, ok := hostValues[of+" "+normal(key)]
	switch {
	case !ok:
	case v.num != nil:
		o.count(v.num(o), l, v.name)
	default:
		*v.text(o) = numa.ReadAt(l.Text, text.Where(l.N, l.Col))
		o.loose(l, "host", key)
	}
	return ok
}

// hostField parses one value of the host.
func (o *Output) hostField(f field) {
	l := f.value
	if o.hostValue(o.Format, f.key, l) {
		return
	}
	switch o.Format + " " + normal(f.key) {
	case CPUGlobal + " hyperthreadingactive":
		o.Host.HyperThreading = numa.ReadAt(l.Text == "true", text.Where(l.N, l.Col))
		o.loose(l, "host", f.key)
	case HardwareMem + " physicalmemory":
		o.physicalMemory(l)
	case VersionGet + " version":
		o.release(l)
	case VersionGet + " update":
		o.update(l)
	case CoredumpGet + " active", CoredumpGet + " configured":
		if l.Text != "" {
			o.file.Add(l.N, l.Col, "host", strings.ToLower(f.key)+" dump file", l.Text, "")
		}
	case VersionGet + " build":
		at := strings.LastIndexByte(l.Text, '-') + 1 // Releasebuild-21930508
		o.build(l.Part(at, len(l.Text)))
	default:
		switch {
		case f.key != "":
			o.loose(l, "host", f.key)
		case o.Format != Platform || l.Text != "Platform Information":
			o.strange(l)
		}
	}
}

func (o *Output) update(l text.Line) {
	n, ok := o.whole(l, "host", "update", "", 0, 99)
	if r := &o.Host.Release; ok && r.Known() && r.Value.Update() == 0 {
		r.Value += numa.Release(n)
	}
}

// physicalMemory parses "240470433792 Bytes"; older releases omit the unit.
func (o *Output) physicalMemory(l text.Line) {
	l.Text = strings.TrimSuffix(l.Text, " Bytes")
	if n, ok := o.whole(l, "host", "memory", "B", 1, int64(numa.MaxHostMemory)); ok {
		o.Host.Memory = numa.ReadAt(numa.Bytes(n), text.Where(l.N, l.Col))
	}
}

// readPCI adds a device. Its NUMA node is -1, also as an unsigned 32-bit number, for none.
func (o *Output) readPCI(r record) {
	address := r.get("address").Text
	if address == "" {
		o.strange(r[0].value)
		return
	}
	subject := "PCI " + address
	for _, f := range r {
		switch l := f.value; {
		case normal(f.key) == "numanode":
			o.whole(l, subject, "NUMA node", "", -1, math.MaxUint32)
		case f.key == "":
			o.strange(l)
		case l.Text != "":
			o.loose(l, subject, f.key)
		}
	}
}

// readAdvanced parses one setting. It has a number and a text; Type decides which one counts.
func (o *Output) readAdvanced(r record) {
	p := r.get("path").Text
	if p == "" {
		o.strange(r[0].value)
		return
	}
	value, standard := r.get("intvalue"), r.get("defaultintvalue")
	if strings.HasPrefix(r.get("type").Text, "string") {
		value, standard = r.get("stringvalue"), r.get("defaultstringvalue")
	}
	o.setting(strings.ReplaceAll(strings.TrimPrefix(p, "/"), "/", "."), value, value.Text, standard.Text)
}

// setting adds a setting; those that matter to NUMA are the host's options. A boot option has a
// runtime value, in effect since the last boot, beside the configured one.
func (o *Output) setting(key string, at text.Line, runtime, standard string) {
	subject := "setting " + key
	o.file.Add(at.N, at.Col, subject, "value", valueOf(at.Text), "")
	if runtime != at.Text {
		o.file.Add(at.N, at.Col, subject, "runtime value", valueOf(runtime), "")
	}
	o.file.Add(at.N, at.Col, subject, "default", valueOf(standard), "")
	if !numa.KeepOption(key) {
		return
	}
	f := &o.Host.Options
	if !f.Known() {
		*f = numa.ReadAt(numa.Settings(nil), text.Where(o.Line, 0))
	}
	option := numa.Setting{Key: key, Value: runtime}
	i, found := slices.BinarySearchFunc(f.Value, option, func(a, b numa.Setting) int { return strings.Compare(a.Key, b.Key) })
	if found {
		f.Value[i] = option
		return
	}
	f.Value = slices.Insert(f.Value, i, option)
}

// readDumpFiles parses a table whose path is first and size last. Copies in blogs have lost the
// columns, but the words are still in order.
func (o *Output) readDumpFiles(lines []text.Line) {
	for _, l := range lines {
		cells := l.Fields()
		switch {
		case len(cells) == 0, dashes.MatchString(l.Text), cells[0].Text == "Path":
		case len(cells) != 4 || !strings.HasPrefix(cells[0].Text, "/"):
			o.strange(l)
		default:
			o.dumpFile(cells[0].Text, cells[1], cells[2], cells[3])
		}
	}
}

// dumpFile adds a file for the core dump of the host.
func (o *Output) dumpFile(path string, active, configured, size text.Line) {
	subject := "dump file " + path
	o.whole(size, subject, "size", "B", 0, math.MaxInt64>>12)
	o.boolean(active, subject, "active")
	o.boolean(configured, subject, "configured")
}

func (o *Output) boolean(l text.Line, subject, name string) {
	value, err := strconv.ParseBool(l.Text)
	if err != nil {
		o.file.Warn(l.N, l.Col, "%s of %s: found %q, want true or false", name, subject, text.Short(l.Text))
		return
	}
	o.file.Add(l.N, l.Col, subject, name, value, "")
}

// readKernelList parses boot options. Their description contains blanks and is last or, in older
// releases, third; the dashes below the header mark the columns.
func (o *Output) readKernelList(lines []text.Line) {
	var header, marks []text.Line
	for _, l := range lines {
		switch {
		case l.Text == "":
		case header == nil:
			header = l.Fields()
		case dashes.MatchString(l.Text) && marks == nil:
			marks = l.Fields()
		default:
			cells := cellsBelow(marks, l)
			if len(cells) != len(header) {
				o.strange(l)
				continue
			}
			o.kernelOption(header, cells)
		}
	}
}

// cellsBelow splits a line at the marks; without marks, at pairs of blanks.
func cellsBelow(marks []text.Line, l text.Line) []text.Line {
	if marks == nil {
		return slices.DeleteFunc(l.Split("  "), func(c text.Line) bool { return c.Text == "" })
	}
	cells := make([]text.Line, len(marks))
	for i, m := range marks {
		low, high := m.Col-l.Col, len(l.Text)
		if i+1 < len(marks) {
			high = marks[i+1].Col - l.Col
		}
		low, high = min(max(low, 0), len(l.Text)), min(max(high, 0), len(l.Text))
		cells[i] = l.Part(low, max(low, high)).After(0)
	}
	return cells
}

func (o *Output) kernelOption(header, cells []text.Line) {
	var r record
	for i, h := range header {
		r = append(r, field{h.Text, cells[i]})
	}
	o.bootOption(r)
}

func (o *Output) bootOption(r record) {
	name, value := r.get("name"), r.get("configured")
	if name.Text == "" {
		o.strange(r[0].value)
		return
	}
	o.setting("VMkernel.Boot."+name.Text, value, r.get("runtime").Text, r.get("default").Text)
}
