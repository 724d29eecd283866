package coefficients

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/numa"
)

// Parse parses the text of a file; name is used in messages. It is strict: an unknown member or a
// newer version could change the meaning of the others.
func Parse(name string, text []byte) (*File, error) {
	p := &parser{name: name, text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	// The decoder reports wrong error offsets once it has returned tokens.
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, p.syntax(err)
	}
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
	return f, nil
}

type parser struct {
	name string
	text []byte
	dec  *json.Decoder
}

// next returns the offset of the next token.
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
	return &numa.SyntaxError{File: p.name, Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

// syntax converts an error of encoding/json to one with its place.
func (p *parser) syntax(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && syntax.Offset > 0 && syntax.Error() != "unexpected end of JSON input" {
		return p.bad(syntax.Offset-1, "%s", err)
	}
	return p.bad(int64(len(p.text)), "found the end, want the rest of the JSON")
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
	if !p.dec.More() {
		return p.bad(p.next(), "found no point, want the costs that homenode size calibrate --save writes")
	}
	for n := 1; p.dec.More(); n++ {
		at := p.next()
		var raw json.RawMessage
		if err := p.dec.Decode(&raw); err != nil {
			return p.syntax(err)
		}
		e, err := entry(raw)
		if err != nil {
			return p.bad(at, "point %d: %s", n, err)
		}
		if i := slices.IndexFunc(f.Entries, func(old Entry) bool { return old.Kind == e.Kind }); i >= 0 {
			return p.bad(at, "point %d: the same kind of I/O as point %d", n, i+1)
		}
		if err := e.joins(f.Entries); err != nil {
			return p.bad(at, "point %d: %s", n, err)
		}
		f.Entries = append(f.Entries, e)
	}
	if _, err := p.dec.Token(); err != nil {
		return p.syntax(err)
	}
	return nil
}

// needed are the required members of a point: a missing one must not count as 0, which would mean a
// write, or sequential.
var needed = map[string][]string{
	"":        {"path", "block", "read", "random", "perIO", "runs", "scope"},
	"perIO":   {"value", "low", "high"},
	"network": {"value", "low", "high"},
}

// entry parses one point.
func entry(raw []byte) (e Entry, err error) {
	one := json.NewDecoder(bytes.NewReader(raw))
	one.DisallowUnknownFields()
	if err := one.Decode(&e); err != nil {
		return e, plainly(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return e, err
	}
	if err := present(members, ""); err != nil {
		return e, err
	}
	for _, name := range []string{"perIO", "network"} {
		var figure map[string]json.RawMessage
		if members[name] == nil {
			continue
		}
		if err := json.Unmarshal(members[name], &figure); err != nil {
			return e, err
		}
		if figure != nil || name == "perIO" {
			if err := present(figure, name); err != nil {
				return e, err
			}
		}
	}
	return e, e.check()
}

// present checks for the required members.
func present(members map[string]json.RawMessage, of string) error {
	for _, name := range needed[of] {
		if v := members[name]; v == nil || string(v) == "null" {
			return fmt.Errorf("found no %q", strings.TrimPrefix(of+"."+name, "."))
		}
	}
	return nil
}

// plainly rewords a decoder error without Go terms.
func plainly(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		field := wrong.Field
		for _, embedded := range []string{"Point.", "Kind."} {
			field = strings.TrimPrefix(field, embedded)
		}
		return fmt.Errorf("%s: found %s, which does not fit", cmp.Or(field, "the point"), wrong.Value)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}
