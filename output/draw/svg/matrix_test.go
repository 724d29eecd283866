package svg_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"testing"

	"homenode/output/draw/svg"
	"homenode/rules"
	"homenode/rules/verdict/matrix"
	"homenode/source/demo"
)

// TestMatrix checks that a matrix is well-formed XML whose ids are unique and name the
// VM and the host, and that two runs give the same bytes.
func TestMatrix(t *testing.T) {
	f, err := demo.Fleet()
	if err != nil {
		t.Fatal(err)
	}
	draw := func() []byte {
		var b bytes.Buffer
		c := rules.Run(f, rules.Options{}).Clusters[1]
		if err := svg.DrawMatrix(&b, matrix.Of(c, matrix.Options{}), svg.Options{}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	page := draw()
	if !bytes.Equal(page, draw()) {
		t.Error("two runs differ")
	}
	class := map[string]string{}
	d := xml.NewDecoder(bytes.NewReader(page))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			var id string
			for _, a := range e.Attr {
				if a.Name.Local == "id" {
					if _, twice := class[a.Value]; twice {
						t.Errorf("id %s twice", a.Value)
					}
					id = a.Value
				}
			}
			i := slices.IndexFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == "class" })
			if id != "" && i >= 0 {
				class[id] = e.Attr[i].Value
			}
		}
	}
	for id, want := range map[string]string{
		"matrix-mixed__vm-erp01__host-esx11.demo":         "cell home",
		"matrix-mixed__vm-erp01__host-esx16.demo":         "cell worse",
		"matrix-mixed__vm-exch01__host-esx15.demo":        "cell worse",
		"matrix-mixed__vm-ctx01__host-esx16.demo":         "cell alike",
		"matrix-mixed__vm-old01__host-esx11.demo":         "cell better",
		"matrix-mixed__vm-exch01__host-esx16.demo__block": "block",
	} {
		if class[id] != want {
			t.Errorf("id %s has class %q, want %q", id, class[id], want)
		}
	}
}
