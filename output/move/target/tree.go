package target

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"

	"homenode/numa"
)

// A node is an element with its position in the file.
type node struct {
	name      string
	attrs     []xml.Attr
	from, to  int // of the whole element
	open      int // end of the start tag
	close     int // start of the end tag; open for <a/>
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

// otherEncoding rejects encodings other than UTF-8.
func otherEncoding(label string, _ io.Reader) (io.Reader, error) {
	return nil, fmt.Errorf("found the encoding %q, want UTF-8", label)
}
