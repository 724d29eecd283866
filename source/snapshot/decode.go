package snapshot

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unique"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.org/homenode/numa"
)

// rules returns the rules for a snapshot in addition to JSON: no unknown keys, no missing fields,
// null for lists only. json itself rejects duplicate keys and invalid UTF-8.
func rules() json.Options {
	f := facts{}
	return json.JoinOptions(json.RejectUnknownMembers(true), json.WithUnmarshalers(json.JoinUnmarshalers(
		fact[bool](f), fact[int](f), fact[string](f), fact[numa.Bytes](f), fact[numa.Release](f), fact[numa.PowerState](f),
		fact[[]int](f), fact[[][]int](f), fact[[]numa.Node](f), fact[numa.Settings](f), fact[[][]numa.Pool](f), fact[[]numa.Bytes](f), fact[[]numa.ClientSeen](f), fact[[]numa.FarShare](f), fact[float64](f),
		object[numa.Note](f), object[numa.Cluster](f), object[numa.Host](f), object[numa.Node](f), object[numa.VM](f), object[numa.Setting](f),
		object[numa.Observation](f), object[numa.Config](f), object[numa.ClientSeen](f), object[numa.FarShare](f),
		object[numa.Stated](f), object[numa.Cell](f), object[numa.Pinned](f), object[numa.Bound](f), object[numa.Module](f), object[numa.Helper](f), object[numa.Pool](f),
		json.UnmarshalFromFunc(readPresent[numa.Stated]),
	)))
}

// facts has the reader of each type of fact.
type facts map[reflect.Type]func(d *jsontext.Decoder, to any) error

// A member is a field of an object.
type member struct {
	index    []int // of the field
	nth      int   // among those without omitempty or omitzero, from 1; 0 for others, which may be missing
	readFact func(d *jsontext.Decoder, to any) error
}

// object returns the reader of a struct. json has no required fields, so the reader goes through the members itself.
func object[T any](f facts) *json.Unmarshalers {
	members, required := map[string]member{}, []string{}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) { // those of embedded structs are on the same level, as in JSON
		name, may, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous || name == "-" {
			continue
		}
		m := member{index: field.Index, readFact: f[field.Type]}
		if may == "" {
			required = append(required, name)
			m.nth = len(required)
		}
		members[name] = m
	}
	return json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *T) error {
		if d.PeekKind() == 'n' && len(required) > 0 {
			_, err := d.ReadToken()
			return cmp.Or(err, missing(required[0]))
		}
		if err := open(d, '{', "an object"); err != nil {
			return err
		}
		to, seen := reflect.ValueOf(v).Elem(), uint64(0)
		for d.PeekKind() != '}' {
			m, err := memberOf(d, members)
			if err != nil {
				return err
			}
			if m.nth > 0 {
				seen |= 1 << m.nth
			}
			if err := m.read(d, to.FieldByIndex(m.index).Addr().Interface()); err != nil {
				return err
			}
		}
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		for i, name := range required {
			if seen&(1<<(i+1)) == 0 {
				return missing(name)
			}
		}
		return nil
	})
}

func missing(name string) error { return fmt.Errorf("found no %q", name) }

// memberOf reads the next key.
func memberOf(d *jsontext.Decoder, members map[string]member) (m member, err error) {
	if d.PeekKind() != '"' {
		_, err = d.ReadToken()
		return m, cmp.Or(err, error(jsontext.ErrNonStringName))
	}
	key, err := d.ReadValue()
	if err != nil {
		return m, err
	}
	m, ok := members[string(key[1:len(key)-1])]
	if !ok && bytes.IndexByte(key, '\\') >= 0 {
		key, err = jsontext.AppendUnquote(nil, key)
		m, ok = members[string(key)]
	}
	if !ok {
		err = cmp.Or(err, json.ErrUnknownName)
	}
	return m, err
}

// read reads the value of a member.
func (m *member) read(d *jsontext.Decoder, to any) error {
	if m.readFact != nil {
		return m.readFact(d, to)
	}
	if s, ok := to.(*string); ok && d.PeekKind() == '"' { // the same as by json, without a search for its reader
		t, err := d.ReadToken()
		if err == nil {
			*s = t.String()
		}
		return err
	}
	return json.UnmarshalDecode(d, to)
}

// Limits of the facts that are kept: texts of one type, and the length of one.
const (
	keptFacts = 4096
	keptText  = 1024
)

// fact adds the reader of a fact to f, and returns those of its parts. Most facts of a fleet have few texts, so a fact is kept by its text, and those with
// equal texts share its value.
func fact[T any](f facts) *json.Unmarshalers {
	kept := map[string]numa.Fact[T]{}
	f[reflect.TypeFor[numa.Fact[T]]()] = func(d *jsontext.Decoder, to any) error {
		fact, text := to.(*numa.Fact[T]), whole(d)
		if one, ok := kept[string(text)]; ok {
			*fact = one
			_, err := d.ReadValue()
			return err
		}
		key := string(text)
		err := json.UnmarshalDecode(d, fact)
		if err == nil && key != "" && len(kept) < keptFacts {
			kept[key] = *fact
		}
		return err
	}
	return json.JoinUnmarshalers(json.UnmarshalFromFunc(readFact[T]), json.UnmarshalFromFunc(readPresent[T]), json.UnmarshalFromFunc(refuseNull[T]))
}

// whole returns the text of the next value if that is an object of at most keptText bytes that the decoder has already; nil otherwise.
func whole(d *jsontext.Decoder) []byte {
	if d.PeekKind() != '{' {
		return nil
	}
	text := d.UnreadBuffer()
	text = text[bytes.IndexByte(text, '{'):]
	depth, quoted := 0, false
	for i := 0; i < min(len(text), keptText); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return text[:i+1]
			}
		}
	}
	return nil
}

// readFact reads {"value": V, "read"|"derived"|"assumed": "where"}. A value without exactly one
// origin is an error: every fact has an origin.
func readFact[T any](d *jsontext.Decoder, f *numa.Fact[T]) error {
	if k := d.PeekKind(); k != '{' && k != 0 {
		return fmt.Errorf("found %s, want an object with value and origin, or no field when it is unknown", k)
	}
	var read struct {
		Value   *T      `json:"value"`
		Read    *string `json:"read"`
		Derived *string `json:"derived"`
		Assumed *string `json:"assumed"`
	}
	if err := json.UnmarshalDecode(d, &read); err != nil {
		return err
	}
	origins := 0
	for kind, where := range []*string{numa.Read: read.Read, numa.Derived: read.Derived, numa.Assumed: read.Assumed} {
		if where != nil {
			// Most facts of a fleet share a few property paths, so they are interned.
			f.Origin = numa.Origin{Kind: numa.OriginKind(kind), Where: unique.Make(*where).Value()}
			origins++
		}
	}
	switch {
	case read.Value == nil:
		return errors.New(`found no "value"`)
	case origins != 1:
		return fmt.Errorf("found %d origins, want one of read, derived or assumed", origins)
	}
	f.Value = *read.Value
	switch v := any(read.Value).(type) {
	case *numa.PowerState:
		if *v != numa.PoweredOn && *v != numa.PoweredOff && *v != numa.Suspended {
			return fmt.Errorf("found %.40q, want on, off or suspended", *v)
		}
	case *numa.Release:
		if *v == 0 {
			return errors.New("found 0.0, want a release such as 7.0 U3")
		}
	}
	return nil
}

// readPresent reads a required value, which may be null for a list: json leaves the pointer nil
// if it is missing.
func readPresent[T any](d *jsontext.Decoder, to **T) error {
	*to = new(T)
	return json.UnmarshalDecode(d, *to)
}

// refuseNull runs before json, which accepts null for any value. A list may be null, because Go
// encodes a nil slice as null.
func refuseNull[T any](d *jsontext.Decoder, _ *T) error {
	if t := reflect.TypeFor[T](); d.PeekKind() == 'n' && t.Kind() != reflect.Slice {
		return &json.SemanticError{JSONKind: 'n', GoType: t}
	}
	return json.SkipFunc
}

// open reads the first token of an object or list.
func open(d *jsontext.Decoder, kind jsontext.Kind, want string) error {
	token, err := d.ReadToken()
	if err == nil && token.Kind() != kind {
		err = fmt.Errorf("found %s, want %s", token.Kind(), want)
	}
	return err
}

// next returns the offset of the next list item.
func next(d *jsontext.Decoder) int64 {
	if d.PeekKind() == 0 { // none: the next read returns the error
		return d.InputOffset()
	}
	const blanks = " \t\r\n"
	unread := d.UnreadBuffer()
	item := bytes.TrimLeft(bytes.TrimPrefix(bytes.TrimLeft(unread, blanks), []byte(",")), blanks)
	return d.InputOffset() + int64(len(unread)-len(item))
}
