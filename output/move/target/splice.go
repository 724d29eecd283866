package target

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"homenode/internal/words"
)

// A part is an element to insert into another.
type part struct {
	name  string
	value any
}

// indent returns the indentation of an element's children: that of the first child, otherwise two more than its own.
func (p *patcher) indent(n *node) string {
	if len(n.children) > 0 {
		if own, ok := p.before(n.children[0]); ok {
			return own
		}
	}
	own, _ := p.before(n)
	return own + step(own)
}

// step returns one level of indentation in a file with this indentation.
func step(indent string) string {
	if strings.HasPrefix(indent, "\t") {
		return "\t"
	}
	return "  "
}

// before returns the indentation of an element; ok is false if the element does not begin its line.
func (p *patcher) before(n *node) (string, bool) {
	start := bytes.LastIndexByte(p.data[:n.from], '\n') + 1
	blanks := string(p.data[start:n.from])
	if start == 0 || strings.Trim(blanks, " \t") != "" {
		return "", false
	}
	return blanks, true
}

// write formats an element with an indentation.
func write(x part, indent string) string {
	var b bytes.Buffer
	e := xml.NewEncoder(&b)
	e.Indent(indent, step(indent))
	if err := e.EncodeElement(x.value, xml.StartElement{Name: xml.Name{Local: x.name}}); err != nil {
		panic(err) // cannot fail for plain structs in a buffer
	}
	return closed.Replace(strings.TrimLeft(b.String(), " \t"))
}

// same reports whether an element is equal to text, ignoring formatting.
func (p *patcher) same(n *node, text string) bool {
	return canonical(string(p.data[n.from:n.to])) == canonical(text)
}

// canonical formats an element without spaces and comments, with sorted attributes.
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

// replace replaces an element. If text is empty, it also removes the line if the element is alone on it.
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

// insert adds an element as the last child, before comments at the end of the parent.
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

// fill adds children to an element <a/>.
func (p *patcher) fill(n *node, texts []string, indent, says string) {
	start := strings.TrimRight(strings.TrimSuffix(string(p.data[n.from:n.open]), "/>"), " ") + ">"
	own, _ := p.before(n)
	p.edits = append(p.edits, edit{n.from, n.to, start + "\n" + indent + strings.Join(texts, "\n"+indent) + "\n" + own + "</" + n.name + ">", fmt.Sprintf("line %d: %s", n.line, says)})
}

// inside inserts parts into the named child, replacing elements whose names are in old. The rest of the child is unchanged.
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

// create adds an element with parts to a parent without such a child.
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

// insideSays describes the parts of an element that are inserted or removed, and the parts that they replace.
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

// namesOf lists the names of the changed elements, without duplicates.
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
