package snapshot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario/given"
)

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema(t)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("snapshot.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("snapshot.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, file []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

func TestSchemaAccepts(t *testing.T) {
	s := compiledSchema(t)
	for name, f := range map[string]*numa.Fleet{"every field set": fullFleet(t), "demo": given.Demo(t), "empty": {}} {
		if err := validate(t, s, write(t, f)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSchemaRejects changes a valid file: neither the schema nor Read takes the
// change.
func TestSchemaRejects(t *testing.T) {
	s := compiledSchema(t)
	form := golden.Read(t, "testdata/form.json")
	for _, tt := range []struct{ name, old, new string }{
		{"format", `"homenode-snapshot"`, `"homenode"`},
		{"version", `"version": 1`, `"version": 2`},
		{"version in quotes", `"version": 1`, `"version": "1"`},
		{"no source", `"source": "vc.example.com",`, ``},
		{"source of null", `"source": "vc.example.com"`, `"source": null`},
		{"notes of null", `"notes": [` + "\n" + `{"at":"esx02","text":"not responding"}` + "\n]", `"notes": null`},
		{"note without text", `,"text":"not responding"`, ``},
		{"cluster without name", `,"name":"prod"`, ``},
		{"no end", ",\n\"end\": true", ``},
		{"end of false", `"end": true`, `"end": false`},
		{"unknown key of the file", `"end"`, `"datastores": [], "end"`},
		{"unknown key of a note", `"at":"esx02"`, `"at":"esx02","line":1`},
		{"unknown key of a cluster", `"id":"domain-c8"`, `"id":"domain-c8","drs":true`},
		{"unknown key of a host", `"id":"host-9"`, `"id":"host-9","ip":"10.0.0.1"`},
		{"unknown key of a node", `"package":0`, `"package":0,"die":0`},
		{"unknown key of a VM", `"id":"vm-1"`, `"id":"vm-1","cpus":4`},
		{"unknown key of a fact", `"value":32`, `"value":32,"unit":"vCPU"`},
		{"bare value", `{"value":32,"read":"config.hardware.numCPU"}`, `32`},
		{"fact of null", `{"value":32,"read":"config.hardware.numCPU"}`, `null`},
		{"no origin", `,"read":"config.hardware.numCPU"`, ``},
		{"two origins", `"value":32`, `"value":32,"derived":"x"`},
		{"origin of null", `"config.hardware.numCPU"`, `null`},
		{"text for a number", `"value":32`, `"value":"32"`},
		{"half", `"value":32`, `"value":32.5`},
		{"power state", `"value":"on"`, `"value":"poweredOn"`},
		{"list for an object", `{"value":412316860416,"derived":"memoryMB"}`, `[]`},
		{"node without cores", `"cores":18,`, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !bytes.Contains(form, []byte(tt.old)) {
				t.Fatalf("the form has no %s", tt.old)
			}
			changed := bytes.Replace(form, []byte(tt.old), []byte(tt.new), 1)
			if err := validate(t, s, changed); err == nil {
				t.Error("the schema takes it")
			}
			if f, err := Read("fleet.json", bytes.NewReader(changed)); err == nil {
				t.Errorf("Read takes it: %v", f)
			}
		})
	}
}

// TestSchema compares the schema with the types of package numa, of which it is made. go test -update writes it.
func TestSchema(t *testing.T) { golden.Equal(t, schema(t), "../../docs/schema/homenode-snapshot.json") }

// schema makes the schema of the types.
func schema(t *testing.T) []byte {
	d := describer{defs: described{}, about: comments(t)}
	root := d.object(reflect.TypeFor[numa.Fleet]())
	root["$schema"], root["title"] = "https://json-schema.org/draft/2020-12/schema", fmt.Sprintf("homenode snapshot, version %d", Version)
	root["description"] = "A fleet as homenode reads it. A fact that is absent is unknown, which is neither zero nor false; each fact says whether it was read (and where), derived or assumed."
	fields := root["properties"].(described)
	fields["format"], fields["version"] = described{"const": Format}, described{"const": Version}
	fields["end"] = described{"const": true, "description": "the last field: a file without it is cut short"}
	for _, list := range []string{"notes", "clusters", "hosts", "vms"} {
		fields[list].(described)["type"] = "array"
	}
	root["required"] = []string{"format", "version", "source", "clusters", "hosts", "vms", "end"}
	root["$defs"] = d.defs
	out, err := json.MarshalIndent(root, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

type described = map[string]any

// A describer describes types, each once.
type describer struct {
	defs  described
	about map[string]string // of a field, by type and name
}

// object describes a struct.
func (d *describer) object(t reflect.Type) described {
	fields, required := described{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		owner := t
		if len(f.Index) > 1 {
			owner = t.FieldByIndex(f.Index[:len(f.Index)-1]).Type
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if options == "" {
			required = append(required, name)
		}
		one := d.of(f.Type)
		text := d.about[owner.Name()+"."+f.Name]
		switch owner {
		case reflect.TypeFor[numa.Config]():
			text = aboutOf(numa.VMFacts, name, text)
		case reflect.TypeFor[numa.Host]():
			text = aboutOf(numa.HostFacts, name, text)
		}
		if text != "" {
			one["description"] = text
		}
		fields[name] = one
	}
	return described{"type": "object", "required": required, "additionalProperties": false, "properties": fields}
}

// aboutOf returns what a fact is, by its name in JSON; text where no table of facts has it.
func aboutOf[T any](facts []numa.Property[T], name, text string) string {
	for i := range facts {
		if p := &facts[i]; p.JSON == name {
			return strings.TrimSpace(p.About + " " + p.Unit)
		}
	}
	return text
}

// of describes a type.
func (d *describer) of(t reflect.Type) described {
	switch {
	case t == reflect.TypeFor[numa.PowerState]():
		return described{"enum": []any{numa.PoweredOn, numa.PoweredOff, numa.Suspended}}
	case t == reflect.TypeFor[numa.Hypervisor]():
		return described{"const": numa.KVM}
	case t == reflect.TypeFor[numa.Release](), t.Kind() == reflect.String:
		return described{"type": "string"}
	case t.Kind() == reflect.Bool:
		return described{"type": "boolean"}
	case t.Kind() == reflect.Float64:
		return described{"type": "number"}
	case t.Kind() == reflect.Slice:
		return described{"type": []string{"array", "null"}, "items": d.of(t.Elem())}
	case t.Kind() == reflect.Pointer:
		return d.of(t.Elem())
	case t.Kind() != reflect.Struct:
		return described{"type": "integer"}
	}
	name, fact := t.Name(), strings.HasPrefix(t.Name(), "Fact[")
	if fact {
		value, _ := t.FieldByName("Value")
		name = "Fact of " + strings.ReplaceAll(strings.ReplaceAll(value.Type.String(), "numa.", ""), "[]", "list of ")
	}
	if _, done := d.defs[name]; !done {
		d.defs[name] = described{} // a type may hold itself
		if fact {
			d.defs[name] = d.fact(t)
		} else {
			d.defs[name] = d.object(t)
		}
	}
	return described{"$ref": "#/$defs/" + strings.ReplaceAll(name, " ", "%20")}
}

// fact describes a value with one origin.
func (d *describer) fact(t reflect.Type) described {
	value, _ := t.FieldByName("Value")
	fields, one := described{"value": d.of(value.Type)}, []described{}
	for _, origin := range []string{"read", "derived", "assumed"} {
		fields[origin] = described{"type": "string"}
		one = append(one, described{"required": []string{origin}})
	}
	return described{"type": "object", "required": []string{"value"}, "additionalProperties": false, "properties": fields, "oneOf": one}
}

// comments returns what package numa says of its fields: the comment beside or above each.
func comments(t *testing.T) map[string]string {
	out := map[string]string{}
	files, err := filepath.Glob("../../numa/*.go")
	if err != nil || files == nil {
		t.Fatal(files, err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range s.Fields.List {
					for _, name := range field.Names {
						text := field.Comment.Text()
						if text == "" {
							text = field.Doc.Text()
						}
						out[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(text), " ")
					}
				}
			}
			return true
		})
	}
	return out
}
