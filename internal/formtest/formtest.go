// Package formtest checks answers in files: pages, SARIF logs and JUnit reports, also with names
// that try to break out of their context.
package formtest

import (
	"bytes"
	_ "embed"
	"strings"
	"testing"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/net/html"
)

// Hostile is a name that tries to break out of its context.
const Hostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'` + "`" + `{{.Policy}}`

// HostileNames do so in each output format.
var HostileNames = []string{
	`=cmd|' /C calc'!A0`, `@SUM(1+1)*cmd|' /C calc'!A0`, "\t=1+1", "\r\n+1", "＝1+1", "-2+3", " =1", "'quoted", `"a","b"`, "a;=1",
	Hostile, "a\x1b[31m\u202eb\u2066\x00\x9b\xff", "|pipe`tick``` [x](javascript:1) @all #1 https://evil.example www.evil.example",
	"]]><testcase/>&amp;", "{0} {1} ](x)", "_x0041_", "a\ufffe\uffff",
}

// Clean reports characters that would change a terminal or hide text.
func Clean(t *testing.T, name string, b []byte) {
	t.Helper()
	for i, r := range string(b) {
		if r != '\n' && r != '\r' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028') {
			t.Errorf("%s: found %U at byte %d", name, r, i)
			return
		}
	}
}

// Page checks a page: it has one script, no handlers, no style attributes, no external resources,
// unique ids, and internal links with targets.
func Page(t *testing.T, page []byte) {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	ids, links, scripts := map[string]bool{}, []string{}, 0
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script":
			scripts++
		case "img", "link", "iframe", "object", "embed", "base", "source", "image", "use":
			t.Errorf("found <%s>, which may load something", n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "id" && ids[a.Val]:
				t.Errorf("id %q is used twice", a.Val)
			case a.Key == "id":
				ids[a.Val] = true
			case a.Key == "href" && strings.HasPrefix(a.Val, "#"):
				links = append(links, a.Val[1:])
			case a.Key == "href" && !strings.HasPrefix(a.Val, "https://") && !strings.HasPrefix(a.Val, "http://"),
				a.Key == "src", a.Key == "style", strings.HasPrefix(a.Key, "on"):
				t.Errorf("found <%s %s=%q>", n.Data, a.Key, a.Val)
			}
		}
	}
	if scripts != 1 {
		t.Errorf("found %d scripts, want 1", scripts)
	}
	for _, id := range links {
		if !ids[id] {
			t.Errorf("a link leads to #%s, which is nowhere", id)
		}
	}
}

//go:embed testdata/sarif-schema-2.1.0.json
var schema []byte

// SARIFSchema returns the schema of SARIF logs.
func SARIFSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	return Compiled(t, "sarif.json", schema)
}

// SARIF is the part of a log that tests read.
type SARIF struct {
	Runs []struct {
		Tool struct {
			Driver struct{ Rules []struct{ ID string } }
		}
		Results []struct {
			RuleID      string
			RuleIndex   int
			Kind, Level string
			Message     struct{ Text string }
			Locations   []struct {
				PhysicalLocation *struct {
					ArtifactLocation struct{ URI string }
					Region           *struct{ StartLine int }
				}
				LogicalLocations []struct{ Name, FullyQualifiedName, DecoratedName string }
			}
			PartialFingerprints map[string]string
		}
	}
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
