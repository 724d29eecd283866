// Package jsontree parses JSON text into a tree of values with their places in the file.
package jsontree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/text"
)

// A Kind is the kind of a value, identified by a character of its text.
type Kind byte

// The kinds of values.
const (
	Object Kind = '{'
	List   Kind = '['
	String Kind = '"'
	Number Kind = '0'
	Bool   Kind = 't'
	Null   Kind = 'n'
)

// A Value is a JSON value and its place.
type Value struct {
	Kind      Kind              // 0 for an absent value
	Text      string            // of a string, number or bool
	Keys      []string          // of an object or list, in the order of the file
	Members   map[string]*Value // of a list by "0", "1", …
	Cut       bool              // an object or list that ends too early
	Line, Col int               // from 1; Col in bytes
}

// At returns the value at a path of keys; an empty one if there is none.
func (v *Value) At(keys ...string) *Value {
	for _, k := range keys {
		next := v.Members[k]
		if next == nil {
			return &Value{}
		}
		v = next
	}
	return v
}

// List returns the members in their order.
func (v *Value) List() []*Value {
	list := make([]*Value, len(v.Keys))
	for i, k := range v.Keys {
		list[i] = v.Members[k]
	}
	return list
}

// Cell returns the text of the value and its place.
func (v *Value) Cell() text.Line { return text.Line{N: v.Line, Col: v.Col, Text: v.Text} }

// Limits: far above the nesting of any tool, and above the output of fio for a thousand jobs. A
// value needs some 300 bytes of memory, however short its text is.
const (
	maxDepth  = 64
	maxValues = 500_000
)

// Parse parses the document whose text begins at the line of its file. It skips the members
// named in skip. An error contains the line and column, but no file name; the values before the
// damage are returned too.
func Parse(doc []byte, line int, skip ...string) (*Value, *numa.SyntaxError) {
	doc = bytes.TrimRight(doc, " \t\n")
	p := &parser{dec: json.NewDecoder(bytes.NewReader(doc)), doc: doc, line: line, skip: skip}
	p.dec.UseNumber()
	v, err := p.value(0)
	if err == nil {
		return v, nil
	}
	l, c := p.place(p.next())
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return v, &numa.SyntaxError{Line: l, Col: c, Msg: err.Error()}
}

// Lines is Parse for consecutive lines of a file.
func Lines(lines []text.Line, skip ...string) (*Value, *numa.SyntaxError) {
	var doc []byte
	for _, l := range lines {
		doc = append(doc, strings.Repeat(" ", l.Col-1)...)
		doc = append(append(doc, l.Text...), '\n')
	}
	return Parse(doc, lines[0].N, skip...)
}

type parser struct {
	dec    *json.Decoder
	doc    []byte
	values int // read so far
	skip   []string
	line   int   // of offset at
	at     int64 // everything before it is counted
	begin  int64 // of the line
}

// place returns the line and column of an offset. Offsets must not decrease between calls.
func (p *parser) place(offset int64) (line, col int) {
	offset = min(offset, int64(len(p.doc)))
	for p.at < offset {
		if p.doc[p.at] == '\n' {
			p.line, p.begin = p.line+1, p.at+1
		}
		p.at++
	}
	return p.line, int(max(offset-p.begin, 0)) + 1
}

// next returns the offset of the next token.
func (p *parser) next() int64 {
	at := p.dec.InputOffset()
	for at < int64(len(p.doc)) && strings.IndexByte(" \t\r\n,:", p.doc[at]) >= 0 {
		at++
	}
	return at
}

// value reads a value.
func (p *parser) value(depth int) (*Value, error) {
	v := &Value{}
	if depth > maxDepth {
		return v, fmt.Errorf("found more than %d levels", maxDepth)
	}
	v.Line, v.Col = p.place(p.next())
	if p.values++; p.values > maxValues {
		return v, fmt.Errorf("found more than %d values", maxValues)
	}
	token, err := p.dec.Token()
	if err != nil {
		return v, err
	}
	switch t := token.(type) {
	case json.Delim:
		v.Kind = Kind(t)
		err = p.members(v, depth)
		v.Cut = err != nil
	case string:
		v.Kind, v.Text = String, t
	case json.Number:
		v.Kind, v.Text = Number, t.String()
	case bool:
		v.Kind, v.Text = Bool, strconv.FormatBool(t)
	default:
		v.Kind = Null
	}
	return v, err
}

// members reads the members of an object or list into v.
func (p *parser) members(v *Value, depth int) error {
	v.Members = map[string]*Value{}
	for i := 0; p.dec.More(); i++ {
		key := ""
		if v.Kind == Object {
			token, err := p.dec.Token()
			if err != nil {
				return err
			}
			key, _ = token.(string)
		} else {
			key = strconv.Itoa(i)
		}
		if slices.Contains(p.skip, key) { // reading past it takes a fraction of the time
			var raw json.RawMessage
			if err := p.dec.Decode(&raw); err != nil {
				return err
			}
			continue
		}
		m, err := p.value(depth + 1)
		if m.Kind != 0 {
			if v.Members[key] == nil {
				v.Keys = append(v.Keys, key)
			}
			v.Members[key] = m
		}
		if err != nil {
			return err
		}
	}
	_, err := p.dec.Token() // the closing one
	return err
}
