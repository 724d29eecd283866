package snapshot

import (
	"reflect"
	"strconv"
	"strings"

	"homenode/numa"
)

// A decoder takes one value from the lexer into v.
type decoder func(l *lexer, v reflect.Value) error

// decoderOf returns the decoder of a type of package numa. The forms are those of
// encoding/json, which writes them, with nothing left to its generosity.
func decoderOf(t reflect.Type) decoder {
	switch {
	case t == reflect.TypeFor[numa.Release]():
		return decodeRelease
	case t == reflect.TypeFor[numa.PowerState]():
		return decodePower
	case isFact(t):
		return factDecoder(decoderOf(t.Field(0).Type))
	}
	switch t.Kind() {
	case reflect.String:
		return decodeString
	case reflect.Bool:
		return decodeBool
	case reflect.Int, reflect.Int64:
		return decodeInt
	case reflect.Slice:
		return sliceDecoder(t)
	case reflect.Struct:
		return newStructForm(t).decode
	}
	panic("snapshot: no form for " + t.String())
}

// isFact reports whether t is a numa.Fact: a value and its origin.
func isFact(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 2 && t.Field(1).Type == reflect.TypeFor[numa.Origin]()
}

// A structForm is the form of a struct. A set of fields is a bit mask.
type structForm struct {
	fields   []field
	required uint64 // those that are not omitted when empty
}

type field struct {
	name   string
	decode decoder
}

func newStructForm(t reflect.Type) *structForm {
	f := &structForm{}
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if options == "" {
			f.required |= 1 << i
		}
		f.fields = append(f.fields, field{name, decoderOf(t.Field(i).Type)})
	}
	if len(f.fields) > 64 {
		panic("snapshot: more than 64 fields in " + t.String())
	}
	return f
}

// find returns the index of the field with this key, or -1. A snapshot has the
// fields in the order of the struct: the search starts at the one after the last.
func (f *structForm) find(key []byte, next int) int {
	for i := range f.fields {
		k := (next + i) % len(f.fields)
		if f.fields[k].name == string(key) {
			return k
		}
	}
	return -1
}

func (f *structForm) decode(l *lexer, v reflect.Value) error {
	l.peek()
	start := l.at
	seen, next := uint64(0), 0
	err := l.object("an object", func(key []byte) error {
		i := f.find(key, next)
		if i < 0 {
			return l.unknownKey(key)
		}
		if seen&(1<<i) != 0 {
			return l.fail("found %q twice", key)
		}
		seen |= 1 << i
		next = i + 1
		if err := l.colon(); err != nil {
			return err
		}
		return in(f.fields[i].name, f.fields[i].decode(l, v.Field(i)))
	})
	if err != nil {
		return err
	}
	for i := range f.fields {
		if f.required&^seen&(1<<i) != 0 {
			return l.failAt(start, "found no %q", f.fields[i].name)
		}
	}
	return nil
}

// factDecoder returns the decoder of {"value": V, "read"|"derived"|"assumed":
// "where"}. A value without exactly one origin is an error: a number nobody
// vouches for is not a fact.
func factDecoder(value decoder) decoder {
	return func(l *lexer, v reflect.Value) error {
		l.peek()
		start := l.at
		values, origins := 0, 0
		var o numa.Origin
		err := l.object("an object with value and origin, or no field when it is unknown", func(key []byte) error {
			switch string(key) {
			case "value":
				values++
				if values > 1 {
					return l.fail("found %q twice", key)
				}
				if err := l.colon(); err != nil {
					return err
				}
				return in("value", value(l, v.Field(0)))
			case "read":
				o.Kind = numa.Read
			case "derived":
				o.Kind = numa.Derived
			case "assumed":
				o.Kind = numa.Assumed
			default:
				return l.unknownKey(key)
			}
			origins++
			if err := l.colon(); err != nil {
				return err
			}
			where, err := l.str()
			if err != nil {
				return in(o.Kind.String(), err)
			}
			o.Where = l.intern(where)
			return nil
		})
		switch {
		case err != nil:
			return err
		case values == 0:
			return l.failAt(start, `found no "value"`)
		case origins != 1:
			return l.failAt(start, "found %d origins, want one of read, derived or assumed", origins)
		}
		*v.Field(1).Addr().Interface().(*numa.Origin) = o
		return nil
	}
}

func sliceDecoder(t reflect.Type) decoder {
	item := decoderOf(t.Elem())
	return func(l *lexer, v reflect.Value) error {
		if l.peek() == 'n' { // how Go writes a list nobody made
			return l.keyword("null", "a list")
		}
		v.Set(reflect.MakeSlice(t, 0, 0))
		return l.sequence('[', ']', "a list", func(i int) error {
			v.Grow(1)
			v.SetLen(i + 1)
			return inItem(i, item(l, v.Index(i)))
		})
	}
}

func decodeString(l *lexer, v reflect.Value) error {
	s, err := l.str()
	if err != nil {
		return err
	}
	v.SetString(l.intern(s))
	return nil
}

func decodePower(l *lexer, v reflect.Value) error {
	const want = "on, off or suspended"
	if l.peek() != '"' {
		return l.wanted(want)
	}
	s, err := l.str()
	if err != nil {
		return err
	}
	switch p := numa.PowerState(s); p {
	case numa.PoweredOn, numa.PoweredOff, numa.Suspended:
		v.SetString(string(p))
		return nil
	}
	return l.fail("found %q, want %s", shorten(string(s)), want)
}

func decodeRelease(l *lexer, v reflect.Value) error {
	s, err := l.str()
	if err != nil {
		return err
	}
	r, err := numa.ParseRelease(string(s))
	if err != nil || r == 0 { // 0 is the release nobody knows
		return l.fail("found %q, want a release such as 7.0 U3", shorten(string(s)))
	}
	v.SetUint(uint64(r))
	return nil
}

func decodeBool(l *lexer, v reflect.Value) error {
	const want = "true or false"
	w, err := l.literal(want)
	if err != nil {
		return err
	}
	if string(w) != "true" && string(w) != "false" {
		return l.fail("found %s, want %s", shorten(string(w)), want)
	}
	v.SetBool(w[0] == 't')
	return nil
}

func decodeInt(l *lexer, v reflect.Value) error {
	const want = "a whole number"
	w, err := l.literal(want)
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(string(w), 10, 64)
	if err != nil || v.OverflowInt(n) || string(w) != strconv.FormatInt(n, 10) { // JSON has no +1 and no 01
		return l.fail("found %s, want %s", shorten(string(w)), want)
	}
	v.SetInt(n)
	return nil
}
