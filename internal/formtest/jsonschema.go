package formtest

import (
	"bytes"
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A Schema is what a JSON Schema (2020-12) says of one value.
type Schema map[string]any

// SchemaOf returns the schema of the JSON of a type. values are some such JSON, decoded: types that write their JSON themselves are described by what
// of them is seen there.
func SchemaOf(t reflect.Type, values []any) Schema {
	d := describer{defs: Schema{}, seen: map[string][]any{}}
	s := d.of(t, values)
	for _, name := range slices.Sorted(maps.Keys(d.seen)) { // what is seen of a type is complete only now
		d.defs[name] = inferred(d.seen[name])
	}
	if len(d.defs) > 0 {
		s["$defs"] = d.defs
	}
	return s
}

// A describer describes types, each once.
type describer struct {
	defs Schema
	seen map[string][]any // of types that write their JSON themselves
}

var (
	marshals = reflect.TypeFor[json.Marshaler]()
	texts    = reflect.TypeFor[encoding.TextMarshaler]()
)

// of describes a type, of which values are some JSON.
func (d *describer) of(t reflect.Type, values []any) Schema {
	values = slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil })
	switch {
	case t == reflect.TypeFor[time.Time]():
		return Schema{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage]():
		return Schema{}
	case t.Kind() == reflect.Pointer && !t.Implements(texts):
		return Schema{"anyOf": []any{d.of(t.Elem(), values), Schema{"type": "null"}}}
	case t.Implements(marshals) || reflect.PointerTo(t).Implements(marshals):
		name := nameOf(t)
		d.seen[name] = append(d.seen[name], values...)
		return Schema{"anyOf": []any{Schema{"$ref": "#/$defs/" + name}, Schema{"type": "null"}}}
	case t.Implements(texts) || reflect.PointerTo(t).Implements(texts):
		return Schema{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.String:
		return Schema{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return Schema{"type": "number"}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return Schema{"type": "string"}
		}
		return Schema{"type": "array", "items": d.of(t.Elem(), elements(values))}
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": d.of(t.Elem(), members(values))}
	case reflect.Interface:
		return Schema{}
	case reflect.Struct:
		return d.object(t, values)
	}
	return Schema{"type": "integer"}
}

// object describes a struct: by its name, or in place when it has none.
func (d *describer) object(t reflect.Type, values []any) Schema {
	name := nameOf(t)
	if t.Name() != "" {
		if _, known := d.defs[name]; known && len(values) == 0 {
			return Schema{"$ref": "#/$defs/" + name}
		}
		d.defs[name] = Schema{} // it may have one of its own kind
	}
	properties, required := Schema{}, []string{}
	d.fields(t, values, properties, &required)
	out := Schema{"type": "object", "properties": properties}
	if len(required) > 0 {
		slices.Sort(required)
		out["required"] = slices.Compact(required)
	}
	if t.Name() == "" {
		return out
	}
	d.defs[name] = out
	return Schema{"$ref": "#/$defs/" + name}
}

// fields describes the fields of a struct as encoding/json writes them.
func (d *describer) fields(t reflect.Type, values []any, properties Schema, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case f.Anonymous && tag == "" && inner.Kind() == reflect.Struct && !inner.Implements(marshals):
			some := required
			if f.Type.Kind() == reflect.Pointer { // it may be nil
				some = new([]string)
			}
			d.fields(inner, values, properties, some)
			continue
		case tag == "-" || !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		var of []any
		for _, v := range values {
			if object, ok := v.(map[string]any); ok && object[name] != nil {
				of = append(of, object[name])
			}
		}
		properties[name] = d.of(f.Type, of)
		if !strings.Contains(options, "omit") {
			*required = append(*required, name)
		}
	}
}

// nameOf names a type in a schema.
func nameOf(t reflect.Type) string {
	path := t.PkgPath()
	name := strings.ReplaceAll(strings.TrimPrefix(path, "homenode/"), "/", ".") + "." + t.Name()
	return strings.NewReplacer("[", "-of-", "]", "", "homenode/", "", "/", ".", "*", "", " ", "").Replace(name)
}

func elements(values []any) (out []any) {
	for _, v := range values {
		if list, ok := v.([]any); ok {
			out = append(out, list...)
		}
	}
	return out
}

func members(values []any) (out []any) {
	for _, v := range values {
		if object, ok := v.(map[string]any); ok {
			for _, member := range object {
				out = append(out, member)
			}
		}
	}
	return out
}

// inferred describes values by what they have: a member that one of them lacks is not required.
func inferred(values []any) Schema {
	kinds := map[string]bool{}
	properties, count := map[string][]any{}, 0
	for _, v := range values {
		switch v := v.(type) {
		case bool:
			kinds["boolean"] = true
		case string:
			kinds["string"] = true
		case float64:
			kinds["number"] = true
		case []any:
			kinds["array"] = true
		case map[string]any:
			kinds["object"], count = true, count+1
			for name, member := range v {
				properties[name] = append(properties[name], member)
			}
		case nil:
			kinds["null"] = true
		}
	}
	out := Schema{}
	names := []string{}
	for kind := range kinds {
		names = append(names, kind)
	}
	slices.Sort(names)
	switch len(names) {
	case 0:
		return out
	case 1:
		out["type"] = names[0]
	default:
		out["type"] = names
	}
	if kinds["array"] {
		out["items"] = inferred(elements(values))
	}
	if count > 0 {
		object := Schema{}
		for name, of := range properties {
			object[name] = inferred(of)
		}
		out["properties"] = object
	}
	return out
}

// Compiled compiles a schema for tests.
func Compiled(t *testing.T, name string, schema []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s
}
