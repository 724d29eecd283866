package libvirt

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/numa"
	"example.org/homenode/source/text"
)

// An element is an XML element with its place.
type element struct {
	name     string
	line     int
	col      int
	attrs    []xml.Attr
	text     string
	children []*element
	closed   bool // its end was read
}

// Limits for a plausible file. Values above them mean that the file is damaged.
const (
	maxFile     = 64 << 20 // bytes
	maxDepth    = 100
	maxElements = 1 << 20
)

// unread are elements of which nothing is read. Devices are most of a domain: memory modules, IOMMUs and controllers alone are read.
var unread = map[string]bool{"qemuCaps": true, "guest": true, "secmodel": true, "sysinfo": true, "snapshots": true}

// A parser builds the elements of a file. Text around them, such as the prompt before a pasted output, is skipped.
type parser struct {
	name  string
	in    *xml.Decoder
	open  []*element
	roots []*element
	count int
	skip  int // number of open elements that are skipped
}

// converted says what makes UTF-8 of a file.
const converted = ": iconv -f %s -t UTF-8 converts it"

// elements returns the outermost elements of a file. With an error it returns the elements before it.
func elements(name string, r io.Reader) ([]*element, error) {
	in := bufio.NewReader(bounded.Reader(r, maxFile))
	p := &parser{name: name, in: xml.NewDecoder(in)}
	if head, _ := in.Peek(2); string(head) == "\xff\xfe" || string(head) == "\xfe\xff" { // an error comes with the next read
		return nil, p.fault(1, 1, "found UTF-16, want UTF-8"+converted, "UTF-16")
	}
	p.in.Strict = false // for fragments, and "&&" of a pasted command; nesting is checked here
	p.in.CharsetReader = func(label string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("found the encoding %s, want UTF-8"+converted, text.Short(label), text.Short(label))
	}
	for {
		line, col := p.in.InputPos()
		token, err := p.in.RawToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			return p.roots, p.broken(err)
		}
		if err := p.take(token, line, col); err != nil {
			return p.roots, err
		}
	}
	if n := len(p.open); n > 0 {
		line, col := p.in.InputPos()
		last := p.open[n-1]
		return p.roots, p.fault(line, col, "found the end of the file inside <%s> of line %d", last.name, last.line)
	}
	return p.roots, nil
}

func (p *parser) take(token xml.Token, line, col int) error {
	switch t := token.(type) {
	case xml.StartElement:
		e := &element{name: t.Name.Local, line: line, col: col}
		if p.count++; p.count > maxElements {
			return p.fault(line, col, "found more than %d elements", maxElements)
		}
		if len(p.open) == maxDepth {
			return p.fault(line, col, "found elements %d deep", maxDepth)
		}
		device := len(p.open) > 0 && p.open[len(p.open)-1].name == "devices"
		if unread[e.name] || p.skip > 0 || device && e.name != "memory" && e.name != "iommu" && e.name != "controller" {
			p.skip++
		} else {
			e.attrs = t.Attr
			if n := len(p.open); n > 0 {
				p.open[n-1].children = append(p.open[n-1].children, e)
			} else {
				p.roots = append(p.roots, e)
			}
		}
		p.open = append(p.open, e)
	case xml.EndElement:
		n := len(p.open)
		if n == 0 {
			return p.fault(line, col, "found </%s>, which nothing begins", text.Short(t.Name.Local))
		}
		if last := p.open[n-1]; last.name != t.Name.Local {
			return p.fault(line, col, "found </%s>, want </%s> of line %d", text.Short(t.Name.Local), text.Short(last.name), last.line)
		}
		p.open[n-1].closed = true
		p.open = p.open[:n-1]
		p.skip = max(0, p.skip-1)
	case xml.CharData:
		if n := len(p.open); n > 0 && p.skip == 0 {
			if e := p.open[n-1]; len(e.text) < 1<<12 {
				e.text += string(t)
			}
		}
	}
	return nil
}

func (p *parser) fault(line, col int, format string, args ...any) error {
	return &numa.SyntaxError{File: p.name, Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

// broken adds the place to an error of the decoder.
func (p *parser) broken(err error) error {
	line, col := p.in.InputPos()
	if broken, ok := errors.AsType[*xml.SyntaxError](err); ok {
		return p.fault(broken.Line, 0, "%s", broken.Msg)
	}
	return p.fault(line, col, "%v", err)
}

// child returns the first child at a path of names; nil if there is none.
func (e *element) child(path ...string) *element {
	for _, name := range path {
		var found *element
		if e != nil {
			for _, c := range e.children {
				if c.name == name {
					found = c
					break
				}
			}
		}
		if e = found; e == nil {
			return nil
		}
	}
	return e
}

// all returns the children with a name; none for a nil element.
func (e *element) all(name string) (out []*element) {
	if e == nil {
		return nil
	}
	for _, c := range e.children {
		if c.name == name {
			out = append(out, c)
		}
	}
	return out
}

// attr returns an attribute without surrounding blanks; "" if it is absent.
func (e *element) attr(name string) string {
	if e == nil {
		return ""
	}
	for _, a := range e.attrs {
		if a.Name.Local == name && a.Name.Space == "" {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}

// has reports whether the element has an attribute, with or without a value.
func (e *element) has(name string) bool {
	return e != nil && slices.ContainsFunc(e.attrs, func(a xml.Attr) bool { return a.Name.Local == name && a.Name.Space == "" })
}

// content returns the text without surrounding blanks.
func (e *element) content() string {
	if e == nil {
		return ""
	}
	return strings.TrimSpace(e.text)
}
