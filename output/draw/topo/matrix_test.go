package topo_test

import (
	"bytes"
	"strings"
	"testing"

	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/draw/topo"
	"example.org/homenode/rules"
	"example.org/homenode/rules/verdict/matrix"
	"example.org/homenode/source/scenario/given"
)

// TestMatrix checks that the ids of a matrix name the VM and the host, and how each cell is marked.
func TestMatrix(t *testing.T) {
	f := given.Demo(t)
	var b bytes.Buffer
	if err := picture.Write(&b, topo.OfMatrix(matrix.Of(rules.Run(f, rules.Options{}).Clusters[1], matrix.Options{})), false); err != nil {
		t.Fatal(err)
	}
	for id, class := range map[string]string{
		"matrix-mixed__vm-erp01__host-esx11.demo":         "cell home",
		"matrix-mixed__vm-erp01__host-esx16.demo":         "cell worse",
		"matrix-mixed__vm-exch01__host-esx15.demo":        "cell worse",
		"matrix-mixed__vm-ctx01__host-esx16.demo":         "cell alike",
		"matrix-mixed__vm-old01__host-esx11.demo":         "cell better",
		"matrix-mixed__vm-exch01__host-esx16.demo__block": "block",
	} {
		if want := `id="` + id + `" class="` + class + `"`; !strings.Contains(b.String(), want) {
			t.Errorf("no %s", want)
		}
	}
}
