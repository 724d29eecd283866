package sheet

import (
	"fmt"
	"reflect"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// in are the units of types.
var in = map[reflect.Type]string{
	reflect.TypeFor[numa.Bytes](): "gb", reflect.TypeFor[unit.Hz](): "hz", reflect.TypeFor[unit.Share](): "share", reflect.TypeFor[unit.Seconds](): "seconds",
}

// Fields returns the fields of a struct as values by their names in JSON; those of a nested struct are prefixed with its name: limits.break.
// Nil is unknown; fields other than numbers, texts and truths have no value.
func Fields(prefix string, of any) map[string]any {
	out := map[string]any{}
	fields(out, prefix, reflect.ValueOf(of), true)
	return out
}

func fields(out map[string]any, name string, v reflect.Value, known bool) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v, known = reflect.Zero(v.Type().Elem()), false
			continue
		}
		v = v.Elem()
	}
	var value any
	switch text, ok := v.Interface().(fmt.Stringer); {
	case v.Kind() == reflect.Struct && !ok:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			field := fieldName(f)
			switch {
			case !f.IsExported():
			case f.Anonymous && f.Tag.Get("json") == "":
				fields(out, name, v.Field(i), known)
			case name == "":
				fields(out, field, v.Field(i), known)
			default:
				fields(out, name+"."+field, v.Field(i), known)
			}
		}
		return
	case v.CanFloat():
		value = Plain(v.Float(), in[v.Type()])
	case in[v.Type()] != "":
		value = Plain(float64(v.Int()), in[v.Type()])
	case ok:
		value = text.String()
	case v.CanInt():
		value = Plain(float64(v.Int()), "whole")
	case v.Kind() == reflect.String:
		value = v.String()
	case v.Kind() == reflect.Bool:
		value = v.Bool()
	default:
		return
	}
	if !known {
		value = nil
	}
	out[name] = value
}

// fieldName returns the name of a field in JSON, else its own with a small letter.
func fieldName(f reflect.StructField) string {
	if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
		return name
	}
	return strings.ToLower(f.Name[:1]) + f.Name[1:]
}
