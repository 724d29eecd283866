package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.org/homenode/change/fix"
	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/internal/formtest"
	"example.org/homenode/internal/golden"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/format"
)

// schemaFolder has a JSON Schema of each form of answer.
const schemaFolder = "docs/schema"

// whole are the formats that stand without the frame of answers: files that commands read again.
var whole = map[string]reflect.Type{fix.Format: reflect.TypeFor[fix.Plan]()}

// schemas checks the JSON of answers, and makes the schemas of their types.
type schemas struct {
	compiled map[string]*jsonschema.Schema // those of the folder
	results  map[string][]reflect.Type     // by the format of the answer
	values   map[string][]any              // some answers of each format
	last     []*answer.Answer              // printed since the last check
}

// newSchemas watches what commands print until the test ends.
func newSchemas(t *testing.T) *schemas {
	s := &schemas{compiled: map[string]*jsonschema.Schema{}, results: map[string][]reflect.Type{}, values: map[string][]any{}}
	flags.Printed = func(all []*answer.Answer) { s.last = append(s.last, all...) }
	t.Cleanup(func() { flags.Printed = nil })
	return s
}

// check checks the JSON of one question.
func (s *schemas) check(t *testing.T, question string, document []byte) {
	t.Helper()
	printed := s.last
	s.last = nil
	var value map[string]any
	if json.Unmarshal(document, &value) != nil {
		return // several answers, or a drawing
	}
	name, _ := value["format"].(string)
	for _, a := range printed {
		t := reflect.TypeOf(format.Result(a))
		if format.Name(a) == name && t != nil && !slices.Contains(s.results[name], t) {
			s.results[name] = append(s.results[name], t)
		}
	}
	if len(s.values[name]) < 40 {
		s.values[name] = append(s.values[name], value)
	}
	if golden.Updating() {
		return
	}
	schema := s.compiled[name]
	if schema == nil {
		b, err := os.ReadFile(filepath.Join(schemaFolder, name+".json"))
		if err != nil {
			t.Errorf("homenode %s: its answer has no schema: %v", question, err)
			return
		}
		schema = formtest.Compiled(t, name+".json", b)
		s.compiled[name] = schema
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Errorf("homenode %s: %.1500v", question, err)
	}
}

// compare compares the schemas of the folder with those of the types; make docs writes them.
func (s *schemas) compare(t *testing.T) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(s.values)) {
		schema := s.schemaOf(name)
		schema["$schema"], schema["title"] = "https://json-schema.org/draft/2020-12/schema", name
		b, err := json.MarshalIndent(schema, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, append(b, '\n'), filepath.Join(schemaFolder, name+".json"))
	}
}

// schemaOf returns the schema of a format.
func (s *schemas) schemaOf(name string) jsonSchema {
	if t := whole[name]; t != nil {
		return describeType(t, s.values[name])
	}
	schema := describeType(format.Envelope, s.values[name])
	defs := schema["$defs"].(jsonSchema)
	properties := defs["output.format.envelope"].(jsonSchema)["properties"].(jsonSchema)
	properties["format"] = jsonSchema{"const": name}
	properties["version"] = jsonSchema{"const": s.values[name][0].(map[string]any)["version"]}
	var values, kinds []any
	for _, v := range s.values[name] {
		values = append(values, v.(map[string]any)["result"])
	}
	for _, result := range s.results[name] {
		kind := describeType(result, values)
		if more, ok := kind["$defs"].(jsonSchema); ok {
			maps.Copy(defs, more)
			delete(kind, "$defs")
		}
		kinds = append(kinds, kind)
	}
	if len(kinds) > 0 {
		properties["result"] = jsonSchema{"anyOf": kinds}
	}
	return schema
}
