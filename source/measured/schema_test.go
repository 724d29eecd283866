package measured

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.org/homenode/internal/golden"
	"example.org/homenode/source/machine"
)

// schemaOf returns the JSON Schema of a type: its fields by their tags, nothing beside them.
func schemaOf(t reflect.Type) map[string]any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t.Implements(reflect.TypeFor[interface{ Known() bool }]()):
		return map[string]any{"type": "object", "required": []string{"value"}, "properties": map[string]any{
			"value": schemaOf(t.Field(0).Type), "read": word, "derived": word, "assumed": word}, "additionalProperties": false}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Slice:
		return map[string]any{"type": []string{"array", "null"}, "items": schemaOf(t.Elem())}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return word
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Struct:
		properties, required := map[string]any{}, []string{}
		for i := range t.NumField() {
			name, option, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			properties[name] = schemaOf(t.Field(i).Type)
			if option == "" {
				required = append(required, name)
			}
		}
		return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	}
	return map[string]any{"type": "integer"}
}

var word = map[string]any{"type": "string"}

// TestSchema keeps the schema that users have equal to the types, and holds results against it.
func TestSchema(t *testing.T) {
	s := schemaOf(reflect.TypeFor[Result]())
	s["$schema"], s["title"] = "https://json-schema.org/draft/2020-12/schema", "What homenode measure measured"
	s["properties"].(map[string]any)["format"] = map[string]any{"const": Format}
	s["properties"].(map[string]any)["version"] = map[string]any{"const": Version}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, append(b, '\n'), "measured.schema.json")

	for name, r := range map[string]*Result{"full": full(), "least": {Format: Format, Version: Version, Machine: &machine.Machine{}}} {
		var file bytes.Buffer
		if err := Write(&file, r); err != nil {
			t.Fatal(err)
		}
		if err := validate(t, b, file.Bytes()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if validate(t, b, []byte(`{"format": "homenode-measure", "version": 2}`)) == nil {
		t.Error("the schema takes another version")
	}
}

func validate(t *testing.T, schema, file []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("s.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("s.json")
	if err != nil {
		t.Fatal(err)
	}
	if doc, err = jsonschema.UnmarshalJSON(bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	return compiled.Validate(doc)
}
