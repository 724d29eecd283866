package snapshot

import (
	"bytes"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"homenode/numa"
)

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
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
	for name, f := range map[string]*numa.Fleet{"every field set": fullFleet(t), "demo": demoFleet(t), "empty": {}} {
		if err := validate(t, s, write(t, f)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSchemaRejects changes a valid file: neither the schema nor Read takes the
// change.
func TestSchemaRejects(t *testing.T) {
	s := compiledSchema(t)
	form, err := os.ReadFile("testdata/form.json")
	if err != nil {
		t.Fatal(err)
	}
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

// TestSchemaHasEveryField compares the schema with the types of package numa: the
// same keys, the same of them required.
func TestSchemaHasEveryField(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	property := func(schema any, keys ...string) any {
		for _, k := range keys {
			m, ok := schema.(map[string]any)
			if !ok || m[k] == nil {
				t.Fatalf("the schema has no %s", strings.Join(keys, "."))
			}
			schema = m[k]
		}
		return schema
	}
	host := property(doc, "properties", "hosts", "items")
	vm := property(doc, "properties", "vms", "items")
	observed := property(vm, "properties", "observed", "items")
	for _, tt := range []struct {
		t      reflect.Type
		schema any
	}{
		{reflect.TypeFor[numa.Note](), property(doc, "properties", "notes", "items")},
		{reflect.TypeFor[numa.Cluster](), property(doc, "properties", "clusters", "items")},
		{reflect.TypeFor[numa.Host](), host},
		{reflect.TypeFor[numa.Node](), property(host, "properties", "nodes", "properties", "value", "items")},
		{reflect.TypeFor[numa.VM](), vm},
		{reflect.TypeFor[numa.Attached](), property(host, "properties", "attached", "properties", "value", "items")},
		{reflect.TypeFor[numa.Device](), property(vm, "properties", "devices", "properties", "value", "items")},
		{reflect.TypeFor[numa.Setting](), property(vm, "properties", "settings", "properties", "value", "items")},
		{reflect.TypeFor[numa.Observation](), observed},
		{reflect.TypeFor[numa.Config](), property(observed, "properties", "config")},
		{reflect.TypeFor[numa.ClientSeen](), property(observed, "properties", "clients", "properties", "value", "items")},
		{reflect.TypeFor[numa.FarShare](), property(observed, "properties", "far", "properties", "value", "items")},
		{reflect.TypeFor[numa.Setting](), property(host, "properties", "options", "properties", "value", "items")},
	} {
		var keys, required []string
		for _, f := range reflect.VisibleFields(tt.t) {
			if f.Anonymous || f.Tag.Get("json") == "-" {
				continue
			}
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			keys = append(keys, name)
			if options == "" {
				required = append(required, name)
			}
		}
		slices.Sort(keys)
		properties := property(tt.schema, "properties").(map[string]any)
		if got := slices.Sorted(maps.Keys(properties)); !slices.Equal(got, keys) {
			t.Errorf("%v: the schema has %v, the type %v", tt.t, got, keys)
		}
		var got []string
		for _, k := range property(tt.schema, "required").([]any) {
			got = append(got, k.(string))
		}
		if !slices.Equal(got, required) {
			t.Errorf("%v: the schema requires %v, the reader %v", tt.t, got, required)
		}
	}
}
