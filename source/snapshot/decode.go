package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unique"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"homenode/numa"
)

// strict are the rules for a snapshot in addition to JSON: no unknown keys, no missing fields,
// null for lists only. json itself rejects duplicate keys and invalid UTF-8.
var strict = sync.OnceValue(func() json.Options {
	return json.JoinOptions(json.RejectUnknownMembers(true), json.WithUnmarshalers(json.JoinUnmarshalers(
		object[numa.Note](), object[numa.Cluster](), object[numa.Host](), object[numa.Node](), object[numa.VM](), object[numa.Setting](),
		object[numa.Observation](), object[numa.Config](), object[numa.ClientSeen](), object[numa.FarShare](),
		object[numa.Stated](), object[numa.Cell](), object[numa.Pinned](), object[numa.Bound](), object[numa.Module](), object[numa.Helper](), object[numa.Pool](),
		json.UnmarshalFromFunc(readPresent[numa.Stated]),
		fact[bool](), fact[int](), fact[string](), fact[numa.Bytes](), fact[numa.Release](), fact[numa.PowerState](),
		fact[[]int](), fact[[][]int](), fact[[]numa.Node](), fact[numa.Settings](), fact[[][]numa.Pool](), fact[[]numa.Bytes](), fact[[]numa.ClientSeen](), fact[[]numa.FarShare](), fact[float64](),
	)))
})

// object returns the reader of a struct. json has no required fields, so the reader uses the
// same struct with pointers for those without omitempty or omitzero: a nil pointer means that
// the field is missing.
func object[T any]() *json.Unmarshalers {
	fields := slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[T]()), func(f reflect.StructField) bool { return f.Anonymous || f.Tag.Get("json") == "-" })
	for i := range fields {
		if !strings.Contains(fields[i].Tag.Get("json"), ",") {
			fields[i].Type = reflect.PointerTo(fields[i].Type)
		}
	}
	flat := slices.Clone(fields) // those of embedded structs are on the same level, as in JSON
	for i := range flat {
		flat[i].Index = nil
	}
	form := reflect.StructOf(flat)
	return json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *T) error {
		read, to := reflect.New(form), reflect.ValueOf(v).Elem()
		if err := json.UnmarshalDecode(d, read.Interface()); err != nil {
			return err
		}
		for i, field := range fields {
			from, to := read.Elem().Field(i), to.FieldByIndex(field.Index)
			if from.Type() != to.Type() {
				if from.IsNil() {
					return fmt.Errorf("found no %q", field.Tag.Get("json"))
				}
				from = from.Elem()
			}
			to.Set(from)
		}
		return nil
	})
}

// fact returns the readers of a fact and of its parts.
func fact[T any]() *json.Unmarshalers {
	return json.JoinUnmarshalers(json.UnmarshalFromFunc(readFact[T]), json.UnmarshalFromFunc(readPresent[T]), json.UnmarshalFromFunc(refuseNull[T]))
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
