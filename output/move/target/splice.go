package target

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"homenode/internal/words"
)

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
			attrs := words.Texts(t.Attr, func(a xml.Attr) string { return fmt.Sprintf("%s=%q", a.Name.Local, a.Value) })
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
	p.edits = append(p.edits, edit{at, at, "\n" + indent + text, fmt.Sprintf("line %d: %s", parent.line+bytes.Count(p.data[parent.from:at], []byte("\n")), says)})
}

// fill gives an element <a/> children.
func (p *patcher) fill(n *node, texts []string, indent, says string) {
	start := strings.TrimRight(strings.TrimSuffix(string(p.data[n.from:n.open]), "/>"), " ") + ">"
	own, _ := p.before(n)
	p.edits = append(p.edits, edit{n.from, n.to, start + "\n" + indent + strings.Join(texts, "\n"+indent) + "\n" + own + "</" + n.name + ">", fmt.Sprintf("line %d: %s", n.line, says)})
}

// inside puts parts into the child of a name, in the place of those of the names that are old. The rest of the child stays.
func (p *patcher) inside(parent *node, name string, old []string, parts []part) {
	n := parent.child(name)
	var had []*node
	for _, o := range old {
		had = append(had, n.all(o)...)
	}
	if n == nil {
		p.create(parent, name, parts)
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
	says := insideSays(name, namesOf(parts, old), len(parts) == 0, before)
	switch {
	case n.empty:
		p.fill(n, texts, indent, says)
	case had == nil:
		at := n.open
		if k := len(n.children); k > 0 {
			at = n.children[k-1].to
		}
		p.edits = append(p.edits, edit{at, at, "\n" + indent + strings.Join(texts, "\n"+indent), fmt.Sprintf("line %d: %s", n.line, says)})
	default:
		for i, o := range had {
			text := ""
			if i == 0 {
				text = strings.Join(texts, "\n"+indent)
			}
			p.replace(o, text, says)
			if i > 0 {
				p.edits[len(p.edits)-1].says = ""
			}
		}
	}
}

// create puts an element with parts into a parent that has none of its name.
func (p *patcher) create(parent *node, name string, parts []part) {
	if len(parts) == 0 {
		return
	}
	indent := p.indent(parent)
	var b strings.Builder
	attr := ""
	if name == "cpu" {
		attr = " mode='host-model'"
	}
	b.WriteString("<" + name + attr + ">")
	for _, x := range parts {
		b.WriteString("\n" + indent + step(indent) + write(x, indent+step(indent)))
	}
	b.WriteString("\n" + indent + "</" + name + ">")
	p.insert(parent, b.String(), indent, name+" is put in")
}

// insideSays reports which parts of an element are put in or taken out, and for what.
func insideSays(name, parts string, out bool, before []string) string {
	verb := "is"
	if strings.Contains(parts, ",") {
		verb = "are"
	}
	says := parts + " of " + name + " " + verb
	switch {
	case out:
		return says + " taken out"
	case before != nil:
		return says + " put in for " + short(strings.Join(before, " "))
	}
	return says + " put in"
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
