package svg_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"homenode/internal/golden"
	"homenode/output/draw/svg"
	"homenode/output/draw/topo"
	"homenode/rules"
	"homenode/source/scenario"
)

const drawn = `
release 7.0U3
cluster prod
host esx01 nodes=2 cores=18 memory=1024GB cpu="Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz"
host esx02 nodes=2 cores=18 memory=1024GB
vm sql01  host=esx01 vcpus=32 coresPerSocket=2 memory=384GB hotAdd=on
vm app01  host=esx01 vcpus=8 memory=64GB
vm hana01 host=esx02 vcpus=16 coresPerSocket=16 memory=740GB
cluster vdi
host vdi01 nodes=8 cores=8 memory=256GB release=8.0U2
vm desk[001-130] vcpus=2 memory=1GB
vm pin[01-20]  vcpus=4 memory=16GB cpuAffinity=0-3
vm ml01 vcpus=40 coresPerSocket=8 memory=64GB hw=21
cluster dark
host dark01 nodes=? cores=16
`

// drawings returns the drawings of all hosts, and of all VMs that are wide.
func drawings(t testing.TB) map[string]*topo.Drawing {
	t.Helper()
	f, err := scenario.Read("fleet.txt", []byte(drawn))
	if err != nil {
		t.Fatal(err)
	}
	r := rules.Run(f, rules.Options{})
	out := map[string]*topo.Drawing{}
	for i := range f.Hosts {
		out[f.Hosts[i].Name] = topo.OfHost(r, &f.Hosts[i])
	}
	for v := range r.EachVM() {
		if v.On[0].Layout.Wide() || v.Name == "hana01" {
			out[v.Name] = topo.OfVM(v, v.Host)
		}
	}
	return out
}

func draw(t testing.TB, d *topo.Drawing, o svg.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := svg.Draw(&b, d, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDraw(t *testing.T) {
	all := drawings(t)
	for _, name := range []string{"esx01", "esx02", "vdi01", "dark01", "sql01", "hana01", "ml01"} {
		golden.Equal(t, draw(t, all[name], svg.Options{Inline: true}), "testdata/"+name+".svg")
	}
}

// Every drawing is well-formed, has each id once and refers to nothing outside.
func TestWellFormed(t *testing.T) {
	for name, d := range drawings(t) {
		first, again := draw(t, d, svg.Options{}), draw(t, d, svg.Options{})
		if !bytes.Equal(first, again) {
			t.Errorf("%s: two drawings differ", name)
		}
		ids := map[string]bool{}
		dec := xml.NewDecoder(bytes.NewReader(first))
		for {
			tok, err := dec.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			e, ok := tok.(xml.StartElement)
			if !ok {
				continue
			}
			for _, a := range e.Attr {
				switch a.Name.Local {
				case "id":
					if ids[a.Value] || !strings.HasPrefix(a.Value, d.ID) {
						t.Errorf("%s: id %q is used twice or does not begin with %q", name, a.Value, d.ID)
					}
					ids[a.Value] = true
				case "href", "src", "style":
					t.Errorf("%s: %s has %s=%q", name, e.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
		if strings.Contains(svg.Style, "url(") || strings.Contains(svg.Style, "@import") {
			t.Error("the style refers to another resource")
		}
	}
}

func TestEscaping(t *testing.T) {
	d := drawings(t)["esx01"]
	hostile := `"><script>alert('1')</script>&` + "\x00\ufffe"
	d.Title, d.Facts, d.Caption = hostile, []string{hostile}, []string{hostile}
	d.Nodes[0].Clients[0].VM, d.Nodes[0].Clients[0].Label = hostile, hostile
	got := draw(t, d, svg.Options{})
	if bytes.Contains(got, []byte("<script")) {
		t.Errorf("a label became markup:\n%s", got)
	}
	var texts []string
	dec := xml.NewDecoder(bytes.NewReader(got))
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := tok.(xml.CharData); ok {
			texts = append(texts, string(c))
		}
	}
	want := `"><script>alert('1')</script>&` + "\uFFFD\uFFFD"
	if got := strings.Join(texts, "\n"); strings.Count(got, want) < 3 { // title, facts or caption, numbers
		t.Errorf("the label does not read %q:\n%s", want, got)
	}
}
