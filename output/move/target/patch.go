package target

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"homenode/change/move"
	"homenode/internal/words"
	"homenode/numa"
)

// A Patched is a domain that another tool wrote, with the NUMA elements of a move.
type Patched struct {
	Data    []byte
	Changes []string // in the order of the file; nil when it has them already
}

// Patch puts what a move says of NUMA into the domain XML of a file: vcpu, the topology and the cells of cpu, numatune, pins of
// cputune, huge pages of memoryBacking, acpi of features, and memory where it differs. Every other byte stays.
func Patch(name string, data []byte, m *move.Move) (*Patched, error) {
	root, err := parseDomain(name, data)
	if err != nil {
		return nil, err
	}
	p := &patcher{data: data, root: root, out: &Patched{}}
	p.domain(domainOf(m), m.Binding() != nil)
	slices.SortStableFunc(p.edits, func(a, b edit) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	last := 0
	for _, e := range p.edits {
		p.out.Data = append(append(p.out.Data, data[last:e.from]...), e.text...)
		if e.says != "" {
			p.out.Changes = append(p.out.Changes, e.says)
		}
		last = e.to
	}
	p.out.Data = append(p.out.Data, data[last:]...)
	return p.out, nil
}

// An Identity is what a domain can be told by. What is not stated, or is no number, is "" or 0.
type Identity struct {
	Name, Title, UUID string
	VCPUs             int // with those that can be added
	Memory            numa.Bytes
}

// IdentityOf reads what the domain in a file can be told by.
func IdentityOf(name string, data []byte) (Identity, error) {
	root, err := parseDomain(name, data)
	if err != nil {
		return Identity{}, err
	}
	read := func(element string) (out amount, text string) {
		if n := root.child(element); n != nil {
			var t struct {
				Text string `xml:",chardata"`
			}
			if xml.Unmarshal(data[n.from:n.to], &t) == nil {
				text = strings.TrimSpace(t.Text)
			}
			if xml.Unmarshal(data[n.from:n.to], &out) != nil {
				out = amount{}
			}
		}
		return out, text
	}
	var id Identity
	_, id.Name = read("name")
	_, id.Title = read("title")
	_, id.UUID = read("uuid")
	vcpus, _ := read("vcpu")
	id.VCPUs = int(min(vcpus.Value, mostCPUs))
	memory, _ := read("memory")
	if id.Memory, err = inBytes(memory.Value, memory.Unit); err != nil {
		id.Memory = 0
	}
	return id, nil
}

// A node is an element with where it is in the file.
type node struct {
	name      string
	attrs     []xml.Attr
	from, to  int // of all
	open      int // where its start tag ends
	close     int // where its end tag begins; open for <a/>
	empty     bool
	children  []*node
	line, col int
	deep      int
}

func (n *node) child(name string) *node {
	if n == nil {
		return nil
	}
	for _, c := range n.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

func (n *node) all(name string) (out []*node) {
	if n != nil {
		for _, c := range n.children {
			if c.name == name {
				out = append(out, c)
			}
		}
	}
	return out
}

// mostDeep is how deep elements may lie in a domain.
const mostDeep = 100

// parseDomain reads the elements of a domain.
func parseDomain(name string, data []byte) (*node, error) {
	in := xml.NewDecoder(bytes.NewReader(data))
	in.CharsetReader = otherEncoding
	fault := func(line, col int, text string, args ...any) error {
		return &numa.SyntaxError{File: name, Line: line, Col: col, Msg: fmt.Sprintf(text, args...)}
	}
	var root *node
	var open []*node
	for {
		line, col := in.InputPos()
		from := int(in.InputOffset())
		token, err := in.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			if broken, ok := errors.AsType[*xml.SyntaxError](err); ok {
				line, col = in.InputPos()
				err = errors.New(broken.Msg)
				if n := len(open); n > 0 && broken.Msg == "unexpected EOF" {
					err = fmt.Errorf("found the end of the file inside <%s> of line %d", open[n-1].name, open[n-1].line)
				}
			}
			return nil, fault(line, col, "%v", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			n := &node{name: t.Name.Local, attrs: slices.Clone(t.Attr), from: from, open: int(in.InputOffset()), line: line, col: col, deep: len(open)}
			n.empty = bytes.HasSuffix(data[from:n.open], []byte("/>"))
			switch {
			case len(open) == mostDeep:
				return nil, fault(line, col, "found elements %d deep", mostDeep)
			case len(open) > 0:
				open[len(open)-1].children = append(open[len(open)-1].children, n)
			case root == nil && n.name == "domain":
				root = n
			default:
				return nil, fault(line, col, "found <%s>, want one <domain>", n.name)
			}
			open = append(open, n)
		case xml.EndElement:
			n := open[len(open)-1]
			n.close, n.to = from, int(in.InputOffset())
			open = open[:len(open)-1]
		}
	}
	if root == nil {
		return nil, fault(1, 1, "found no <domain>")
	}
	return root, nil
}

// otherEncoding refuses what is not UTF-8.
func otherEncoding(label string, _ io.Reader) (io.Reader, error) {
	return nil, fmt.Errorf("found the encoding %q, want UTF-8", label)
}

// An edit replaces bytes of a file.
type edit struct {
	from, to int
	text     string
	says     string
}

type patcher struct {
	data  []byte
	root  *node
	edits []edit
	out   *Patched
}

// domain makes the edits, each element of the domain for itself. Pins, memory binding and huge pages that the file has stay where
// the move says nothing of them.
func (p *patcher) domain(d *domain, placed bool) {
	p.amount("memory", d.Memory)
	if p.root.child("currentMemory") != nil {
		p.amount("currentMemory", d.Memory)
	}
	p.element(p.root, "vcpu", d.VCPU)
	if d.Backing != nil {
		if d.Backing.Huge != nil {
			p.inside(p.root, "memoryBacking", []string{"hugepages"}, []part{{"hugepages", d.Backing.Huge}})
		} else {
			p.inside(p.root, "memoryBacking", []string{"allocation"}, []part{{"allocation", d.Backing.Allocation}})
		}
	}
	if placed {
		var pins []part
		if d.CPUTune != nil {
			for _, pin := range d.CPUTune.Pins {
				pins = append(pins, part{"vcpupin", pin})
			}
			if d.CPUTune.Emulator != nil {
				pins = append(pins, part{"emulatorpin", d.CPUTune.Emulator})
			}
		}
		p.inside(p.root, "cputune", []string{"vcpupin", "emulatorpin"}, pins)
		p.element(p.root, "numatune", d.Tune)
	}
	p.features(d)
	if d.Devices != nil && !p.extended() {
		p.inside(p.root, "devices", []string{"iommu"}, []part{{"iommu", d.Devices.IOMMU}})
	}
	parts := []part{{"topology", d.CPU.Topology}}
	if d.CPU.NUMA != nil {
		parts = append(parts, part{"numa", d.CPU.NUMA})
	}
	p.inside(p.root, "cpu", []string{"topology", "numa"}, parts)
}

// extended reports whether the domain has an IOMMU with extended interrupt mode.
func (p *patcher) extended() bool {
	driver := p.root.child("devices").child("iommu").child("driver")
	return driver != nil && slices.ContainsFunc(driver.attrs, func(a xml.Attr) bool { return a.Name.Local == "eim" && a.Value == "on" })
}

// passthrough reports whether the domain has the CPU of the host.
func (p *patcher) passthrough() bool {
	cpu := p.root.child("cpu")
	return cpu != nil && slices.ContainsFunc(cpu.attrs, func(a xml.Attr) bool { return a.Name.Local == "mode" && a.Value == passthrough })
}

// features puts in what is missing of the features.
func (p *patcher) features(d *domain) {
	has := p.root.child("features")
	var parts []part
	if has.child("acpi") == nil {
		parts = append(parts, part{"acpi", struct{}{}})
	}
	dedicated := d.Feature.KVM != nil && p.passthrough() // the mode of the CPU stays, and with others not every libvirt takes it
	if kvm := has.child("kvm"); dedicated && kvm == nil {
		parts = append(parts, part{"kvm", d.Feature.KVM})
	} else if dedicated && kvm.child("hint-dedicated") == nil {
		p.inside(has, "kvm", nil, []part{{"hint-dedicated", d.Feature.KVM.Dedicated}})
	}
	var old []string
	if d.Feature.APIC != nil {
		old, parts = []string{"ioapic"}, append(parts, part{"ioapic", d.Feature.APIC})
	}
	if parts != nil {
		p.inside(p.root, "features", old, parts)
	}
}

// A part is an element that is to be in another.
type part struct {
	name  string
	value any
}

// indent returns the blanks before the children of an element: those of the first, else two more than its own.
func (p *patcher) indent(n *node) string {
	if len(n.children) > 0 {
		if own, ok := p.before(n.children[0]); ok {
			return own
		}
	}
	own, _ := p.before(n)
	return own + step(own)
}

// step is what a file that is indented so adds for an element inside.
func step(indent string) string {
	if strings.HasPrefix(indent, "\t") {
		return "\t"
	}
	return "  "
}

// before returns the blanks before an element that begins its line.
func (p *patcher) before(n *node) (string, bool) {
	start := bytes.LastIndexByte(p.data[:n.from], '\n') + 1
	blanks := string(p.data[start:n.from])
	if start == 0 || strings.Trim(blanks, " \t") != "" {
		return "", false
	}
	return blanks, true
}

// write writes an element at a depth.
func write(x part, indent string) string {
	var b bytes.Buffer
	e := xml.NewEncoder(&b)
	e.Indent(indent, step(indent))
	if err := e.EncodeElement(x.value, xml.StartElement{Name: xml.Name{Local: x.name}}); err != nil {
		panic(err) // into a buffer, of plain structs
	}
	return closed.Replace(strings.TrimLeft(b.String(), " \t"))
}

// closed writes elements without content as every tool of libvirt does.
var closed = strings.NewReplacer("></topology>", "/>", "></cell>", "/>", "></sibling>", "/>", "></vcpupin>", "/>", "></emulatorpin>", "/>", "></memory>", "/>", "></memnode>", "/>",
	"></page>", "/>", "></allocation>", "/>", "></acpi>", "/>", "></hint-dedicated>", "/>", "></ioapic>", "/>", "></driver>", "/>")

// same reports whether an element has what another says, however it is written.
func (p *patcher) same(n *node, text string) bool {
	return canonical(string(p.data[n.from:n.to])) == canonical(text)
}

// canonical writes an element without blanks, comments and order of attributes.
func canonical(text string) string {
	var b strings.Builder
	in := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := in.Token()
		if err != nil {
			return b.String()
		}
		switch t := token.(type) {
		case xml.StartElement:
			attrs := make([]string, len(t.Attr))
			for i, a := range t.Attr {
				attrs[i] = fmt.Sprintf("%s=%q", a.Name.Local, a.Value)
			}
			slices.Sort(attrs)
			fmt.Fprintf(&b, "<%s %s>", t.Name.Local, strings.Join(attrs, " "))
		case xml.EndElement:
			b.WriteString("</>")
		case xml.CharData:
			b.WriteString(strings.TrimSpace(string(t)))
		}
	}
}

// replace replaces an element; with nothing, its line goes too when it is alone there.
func (p *patcher) replace(n *node, text, says string) {
	from, to := n.from, n.to
	if text == "" {
		if blanks, ok := p.before(n); ok {
			from -= len(blanks) + 1
			if from > 0 && p.data[from-1] == '\r' {
				from--
			}
		}
	}
	p.edits = append(p.edits, edit{from, to, text, fmt.Sprintf("line %d: %s", n.line, says)})
}

// element puts a child in the place of that of its name, or behind <vcpu>, <memory> or the name.
func (p *patcher) element(parent *node, name string, value any) {
	old := parent.child(name)
	indent := p.indent(parent)
	text := write(part{name, value}, indent)
	switch {
	case old == nil:
		p.insert(parent, text, indent, fmt.Sprintf("%s is put in", name))
	case !p.same(old, text):
		p.replace(old, text, fmt.Sprintf("%s becomes %s", short(string(p.data[old.from:old.to])), short(text)))
	}
}

// short writes an element in one line of some words.
func short(text string) string {
	const most = 90
	text = words.Paragraph(text)
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + " …"
	}
	return text
}

// amount sets a size where it differs.
func (p *patcher) amount(name string, want amount) {
	old := p.root.child(name)
	if old != nil {
		var has amount
		if xml.Unmarshal(p.data[old.from:old.to], &has) == nil {
			a, err1 := inBytes(has.Value, has.Unit)
			b, err2 := inBytes(want.Value, want.Unit)
			if err1 == nil && err2 == nil && a == b {
				return
			}
		}
	}
	indent := p.indent(p.root)
	text := fmt.Sprintf("<%s unit='%s'>%d</%s>", name, want.Unit, want.Value, name)
	if old == nil {
		p.insert(p.root, text, indent, name+" is put in")
		return
	}
	p.replace(old, text, fmt.Sprintf("%s becomes %s", short(string(p.data[old.from:old.to])), text))
}

// insert puts an element in as the last child, before comments that end the parent.
func (p *patcher) insert(parent *node, text, indent, says string) {
	if parent.empty {
		p.fill(parent, []string{text}, indent, says)
		return
	}
	at := parent.open
	for _, c := range parent.children {
		if parent != p.root || slices.Contains([]string{"name", "uuid", "title", "description", "metadata", "memory", "currentMemory", "vcpu"}, c.name) {
			at = c.to
		}
	}
	p.edits = append(p.edits, edit{at, at, p.newline() + indent + text, fmt.Sprintf("line %d: %s", parent.line+bytes.Count(p.data[parent.from:at], []byte("\n")), says)})
}

// newline is that of the file.
func (p *patcher) newline() string {
	if bytes.Contains(p.data, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// fill gives an element <a/> children.
func (p *patcher) fill(n *node, texts []string, indent, says string) {
	start := strings.TrimRight(strings.TrimSuffix(string(p.data[n.from:n.open]), "/>"), " ") + ">"
	own, _ := p.before(n)
	nl := p.newline()
	p.edits = append(p.edits, edit{n.from, n.to, start + nl + indent + strings.Join(texts, nl+indent) + nl + own + "</" + n.name + ">", fmt.Sprintf("line %d: %s", n.line, says)})
}

// inside puts parts into the child of a name, in the place of those of the names that are old. The rest of the child stays.
func (p *patcher) inside(parent *node, name string, old []string, parts []part) {
	n := parent.child(name)
	var had []*node
	for _, o := range old {
		had = append(had, n.all(o)...)
	}
	if n == nil {
		if len(parts) == 0 {
			return
		}
		indent := p.indent(parent)
		nl := p.newline()
		var b strings.Builder
		attr := ""
		if name == "cpu" {
			attr = " mode='host-model'"
		}
		b.WriteString("<" + name + attr + ">")
		for _, x := range parts {
			b.WriteString(nl + indent + step(indent) + write(x, indent+step(indent)))
		}
		b.WriteString(nl + indent + "</" + name + ">")
		p.insert(parent, b.String(), indent, name+" is put in")
		return
	}
	indent := p.indent(n)
	var texts, before []string
	for _, x := range parts {
		texts = append(texts, write(x, indent))
	}
	for _, o := range had {
		before = append(before, string(p.data[o.from:o.to]))
	}
	if canonical(strings.Join(texts, "")) == canonical(strings.Join(before, "")) {
		return
	}
	says := namesOf(parts, old)
	verb := "is"
	if strings.Contains(says, ",") {
		verb = "are"
	}
	says += " of " + name + " " + verb
	if len(parts) == 0 {
		says += " taken out"
	} else {
		says += " put in"
		if had != nil {
			says += fmt.Sprintf(" for %s", short(strings.Join(before, " ")))
		}
	}
	nl := p.newline()
	switch {
	case n.empty:
		p.fill(n, texts, indent, says)
	case had == nil:
		at := n.open
		if k := len(n.children); k > 0 {
			at = n.children[k-1].to
		}
		p.edits = append(p.edits, edit{at, at, nl + indent + strings.Join(texts, nl+indent), fmt.Sprintf("line %d: %s", n.line, says)})
	default:
		for i, o := range had {
			text := ""
			if i == 0 {
				text = strings.Join(texts, nl+indent)
			}
			p.replace(o, text, says)
			if i > 0 {
				p.edits[len(p.edits)-1].says = ""
			}
		}
	}
}

// namesOf lists the names of what is changed, each once.
func namesOf(parts []part, old []string) string {
	var out []string
	for _, x := range parts {
		if !slices.Contains(out, x.name) {
			out = append(out, x.name)
		}
	}
	if out == nil {
		out = old
	}
	return strings.Join(out, ", ")
}
