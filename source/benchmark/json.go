package benchmark

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// A value is a JSON value with its place in the file: an object, or the text of
// anything else that fio is read for. Arrays are objects whose keys are "0", "1", ….
type value struct {
	text      string // of a string or number; empty for others
	number    bool
	keys      []string // in the order of the file
	members   map[string]*value
	line, col int
}

// at returns the value below keys; an empty one when there is none.
func (v *value) at(keys ...string) *value {
	for _, k := range keys {
		next := v.members[k]
		if next == nil {
			return &value{}
		}
		v = next
	}
	return v
}

// float returns the number; false when the value is none.
func (v *value) float() (float64, bool) {
	if !v.number {
		return 0, false
	}
	return number(v.text)
}

// maxDepth is far more than fio nests.
const maxDepth = 64

// A jsonParser reads one document whose bytes begin at line of the file.
type jsonParser struct {
	dec   *json.Decoder
	doc   []byte
	line  int   // of offset at
	at    int64 // everything before it is counted
	begin int64 // of the line
}

// parseJSON reads the document. skip names members that are left out whole, such
// as the bins of json+, which may be millions.
func parseJSON(doc []byte, line int, skip map[string]bool) (*value, *jsonError) {
	doc = bytes.TrimRight(doc, " \t\n")
	p := &jsonParser{dec: json.NewDecoder(bytes.NewReader(doc)), doc: doc, line: line}
	p.dec.UseNumber()
	v, err := p.value(skip, 0, false)
	if err != nil {
		l, c := p.place(p.next())
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, &jsonError{l, c, err}
	}
	return v, nil
}

type jsonError struct {
	line, col int
	err       error
}

// place returns line and column of an offset not before the last one asked for.
func (p *jsonParser) place(offset int64) (line, col int) {
	offset = min(offset, int64(len(p.doc)))
	for p.at < offset {
		if p.doc[p.at] == '\n' {
			p.line, p.begin = p.line+1, p.at+1
		}
		p.at++
	}
	return p.line, int(max(offset-p.begin, 0)) + 1
}

// next returns where the next token begins.
func (p *jsonParser) next() int64 {
	at := p.dec.InputOffset()
	for at < int64(len(p.doc)) && strings.IndexByte(" \t\r\n,:", p.doc[at]) >= 0 {
		at++
	}
	return at
}

func (p *jsonParser) value(skip map[string]bool, depth int, drop bool) (*value, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("found more than %d levels", maxDepth)
	}
	v := &value{}
	if !drop {
		v.line, v.col = p.place(p.next())
	}
	token, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		return v, p.members(v, t == '{', skip, depth, drop)
	case string:
		v.text = t
	case json.Number:
		v.text, v.number = t.String(), true
	}
	return v, nil
}

// members reads the members of an object or array into v, or past them.
func (p *jsonParser) members(v *value, object bool, skip map[string]bool, depth int, drop bool) error {
	if !drop {
		v.members = map[string]*value{}
	}
	for i := 0; p.dec.More(); i++ {
		key := ""
		if object {
			token, err := p.dec.Token()
			if err != nil {
				return err
			}
			key, _ = token.(string)
		} else {
			key = fmt.Sprint(i)
		}
		m, err := p.value(skip, depth+1, drop || skip[key])
		if err != nil {
			return err
		}
		if drop || skip[key] {
			continue
		}
		if v.members[key] == nil {
			v.keys = append(v.keys, key)
		}
		v.members[key] = m
	}
	_, err := p.dec.Token() // the closing one
	return err
}
