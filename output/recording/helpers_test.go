package recording_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/net/html"

	"homenode/output/answer"
	"homenode/output/form"
)

// hostile is a name that tries to leave the place it is written to.
const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'` + "`" + `{{.Policy}}`

// hostileNames do so in any of the forms.
var hostileNames = []string{
	`=cmd|' /C calc'!A0`, `@SUM(1+1)*cmd|' /C calc'!A0`, "\t=1+1", "\r\n+1", "＝1+1", "-2+3", " =1", "'quoted", `"a","b"`, "a;=1",
	hostile, "a\x1b[31m\u202eb\u2066\x00\x9b\xff", "|pipe`tick``` [x](javascript:1) @all #1 https://evil.example www.evil.example",
	"]]><testcase/>&amp;", "{0} {1} ](x)", "_x0041_", "a\ufffe\uffff",
}

// written returns the answer in a form; what stands behind csv is the name of a table.
func written(t testing.TB, name string, a *answer.Answer, o form.Options) []byte {
	t.Helper()
	name, o.Table, _ = strings.Cut(name, " ")
	var b bytes.Buffer
	if err := form.Write(&b, name, a, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// checkClean reports what would change a terminal or hide text.
func checkClean(t *testing.T, name string, b []byte) {
	t.Helper()
	for i, r := range string(b) {
		if r != '\n' && r != '\r' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028') {
			t.Errorf("%s: found %U at byte %d", name, r, i)
			return
		}
	}
}

// checkPage walks the page: it holds one script, no handler, no style attribute, has each
// id once, and its links inside lead somewhere.
func checkPage(t *testing.T, page []byte) {
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
		if n.Data == "script" {
			scripts++
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "id" && ids[a.Val]:
				t.Errorf("id %q is used twice", a.Val)
			case a.Key == "id":
				ids[a.Val] = true
			case a.Key == "href" && strings.HasPrefix(a.Val, "#"):
				links = append(links, a.Val[1:])
			case a.Key == "src", a.Key == "style", strings.HasPrefix(a.Key, "on"):
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

func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	file, err := os.ReadFile("../fleet/testdata/sarif/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sarifRead is what the tests read of a SARIF log.
type sarifRead struct {
	Runs []struct {
		Tool struct {
			Driver struct{ Rules []struct{ ID string } }
		}
		Results []struct {
			RuleID    string
			Locations []struct {
				PhysicalLocation struct {
					ArtifactLocation struct{ URI string }
					Region           struct{ StartLine int }
				}
				LogicalLocations []struct{ FullyQualifiedName, DecoratedName string }
			}
		}
	}
}

// junitRead is what they read of a JUnit report.
type junitRead struct {
	Tests  int `xml:"tests,attr"`
	Suites []struct {
		Name  string `xml:"name,attr"`
		Cases []struct {
			Name    string `xml:"name,attr"`
			Failure []struct {
				Text string `xml:",chardata"`
			} `xml:"failure"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}
