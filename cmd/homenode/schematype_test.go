package main

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// A jsonSchema is what a JSON Schema (2020-12) says of one value.
type jsonSchema map[string]any

// describeType returns the schema of the JSON of a type. values are some such JSON, decoded: types that write their JSON themselves are described by what
// of them is seen there.
func describeType(t reflect.Type, values []any) jsonSchema {
	d := describer{defs: jsonSchema{}, seen: map[string][]any{}}
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
	defs jsonSchema
	seen map[string][]any // of types that write their JSON themselves
}

var (
	marshals = reflect.TypeFor[json.Marshaler]()
	texts    = reflect.TypeFor[encoding.TextMarshaler]()
)

// of describes a type, of which values are some JSON.
func (d *describer) of(t reflect.Type, values []any) jsonSchema {
	values = slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil })
	switch {
	case t == reflect.TypeFor[time.Time]():
		return jsonSchema{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage]():
		return jsonSchema{}
	case t.Kind() == reflect.Pointer && !t.Implements(texts):
		return jsonSchema{"anyOf": []any{d.of(t.Elem(), values), jsonSchema{"type": "null"}}}
	case t.Implements(marshals) || reflect.PointerTo(t).Implements(marshals):
		name := typeName(t)
		d.seen[name] = append(d.seen[name], values...)
		return jsonSchema{"anyOf": []any{jsonSchema{"$ref": "#/$defs/" + name}, jsonSchema{"type": "null"}}}
	case t.Implements(texts) || reflect.PointerTo(t).Implements(texts):
		return jsonSchema{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Bool:
		return jsonSchema{"type": "boolean"}
	case reflect.String:
		return jsonSchema{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return jsonSchema{"type": "number"}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return jsonSchema{"type": "string"}
		}
		return jsonSchema{"type": "array", "items": d.of(t.Elem(), elements(values))}
	case reflect.Map:
		return jsonSchema{"type": "object", "additionalProperties": d.of(t.Elem(), members(values))}
	case reflect.Interface:
		return jsonSchema{}
	case reflect.Struct:
		return d.object(t, values)
	}
	return jsonSchema{"type": "integer"}
}

// object describes a struct: by its name, or in place when it has none.
func (d *describer) object(t reflect.Type, values []any) jsonSchema {
	name := typeName(t)
	if t.Name() != "" {
		if _, known := d.defs[name]; known && len(values) == 0 {
			return jsonSchema{"$ref": "#/$defs/" + name}
		}
		d.defs[name] = jsonSchema{} // it may have one of its own kind
	}
	properties, required := jsonSchema{}, []string{}
	d.fields(t, values, properties, &required)
	out := jsonSchema{"type": "object", "properties": properties}
	if len(required) > 0 {
		slices.Sort(required)
		out["required"] = slices.Compact(required)
	}
	if t.Name() == "" {
		return out
	}
	d.defs[name] = out
	return jsonSchema{"$ref": "#/$defs/" + name}
}

// fields describes the fields of a struct as encoding/json writes them.
func (d *describer) fields(t reflect.Type, values []any, properties jsonSchema, required *[]string) {
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

// typeName names a type in a schema.
func typeName(t reflect.Type) string {
	path := t.PkgPath()
	name := strings.ReplaceAll(strings.TrimPrefix(path, "example.org/homenode/"), "/", ".") + "." + t.Name()
	return strings.NewReplacer("[", "-of-", "]", "", "example.org/homenode/", "", "/", ".", "*", "", " ", "").Replace(name)
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
func inferred(values []any) jsonSchema {
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
	out := jsonSchema{}
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
		object := jsonSchema{}
		for name, of := range properties {
			object[name] = inferred(of)
		}
		out["properties"] = object
	}
	return out
}
