package coefficients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"homenode/source/fact"
)

// Parse reads the text of a file; name is used in messages. It is strict: a member that
// it does not know, or a version of tomorrow, could change what the others mean.
func Parse(name string, text []byte) (*File, error) {
	p := &parser{name: name, text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.DisallowUnknownFields()
	f := &File{Name: name}
	if err := p.open('{', "the object that homenode size calibrate writes"); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for p.dec.More() {
		at := p.next()
		token, err := p.dec.Token()
		if err != nil {
			return nil, p.syntax(err)
		}
		key, _ := token.(string)
		if seen[key] {
			return nil, p.bad(at, "found %q a second time", key)
		}
		seen[key] = true
		if err := p.member(f, key, at); err != nil {
			return nil, err
		}
	}
	if _, err := p.dec.Token(); err != nil {
		return nil, p.syntax(err)
	}
	for _, key := range []string{"format", "version", "points"} {
		if !seen[key] {
			return nil, p.bad(0, "found no %q: no file of homenode size calibrate", key)
		}
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, p.bad(p.next(), "found more after the object")
	}
	return f, nil
}

type parser struct {
	name string
	text []byte
	dec  *json.Decoder
}

// next returns where the next token begins.
func (p *parser) next() int64 {
	at := p.dec.InputOffset()
	for at < int64(len(p.text)) && bytes.IndexByte([]byte(" \t\r\n,:"), p.text[at]) >= 0 {
		at++
	}
	return at
}

// bad returns an error at an offset.
func (p *parser) bad(at int64, format string, args ...any) error {
	before := p.text[:min(at, int64(len(p.text)))]
	line := 1 + bytes.Count(before, []byte("\n"))
	col := len(before) - bytes.LastIndexByte(before, '\n')
	return &fact.SyntaxError{File: p.name, Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

// syntax returns an error of the decoder with its place.
func (p *parser) syntax(err error) error {
	at := p.dec.InputOffset()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = syntax.Offset - 1
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return p.bad(int64(len(p.text)), "found the end, want the rest of the JSON")
	}
	return p.bad(max(at, 0), "%s", err)
}

func (p *parser) open(want json.Delim, what string) error {
	at := p.next()
	token, err := p.dec.Token()
	if err != nil {
		return p.syntax(err)
	}
	if token != want {
		return p.bad(at, "found %v, want %s", token, what)
	}
	return nil
}

func (p *parser) member(f *File, key string, at int64) error {
	switch key {
	case "format":
		var s string
		if at = p.next(); p.dec.Decode(&s) != nil || s != format {
			return p.bad(at, "found the format %q, want %q", s, format)
		}
	case "version":
		var v json.Number
		if at = p.next(); p.dec.Decode(&v) != nil || v != "1" {
			return p.bad(at, "found version %q, want %d: a newer homenode wrote it, or it was edited", v, version)
		}
	case "points":
		return p.points(f)
	default:
		return p.bad(at, "found %q, want format, version or points", key)
	}
	return nil
}

func (p *parser) points(f *File) error {
	if err := p.open('[', "a list of points"); err != nil {
		return err
	}
	for n := 1; p.dec.More(); n++ {
		at := p.next()
		var raw json.RawMessage
		if err := p.dec.Decode(&raw); err != nil {
			return p.syntax(err)
		}
		var e Entry
		one := json.NewDecoder(bytes.NewReader(raw))
		one.DisallowUnknownFields()
		err := one.Decode(&e)
		if err == nil {
			err = e.check()
		}
		if err != nil {
			return p.bad(at, "point %d: %s", n, err)
		}
		if i := slices.IndexFunc(f.Entries, func(old Entry) bool { return old.Kind == e.Kind }); i >= 0 {
			return p.bad(at, "point %d: the same kind of I/O as point %d", n, i+1)
		}
		f.Entries = append(f.Entries, e)
	}
	if _, err := p.dec.Token(); err != nil {
		return p.syntax(err)
	}
	return nil
}
