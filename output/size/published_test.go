package size

import (
	"bytes"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/format"
)

func TestPublished(t *testing.T) {
	checks := []unit.Check{
		{ID: "b-vsan", What: "32 KiB read", Quantity: "Hz per b/s", Printed: "~2.5", Computed: 2.443},
		{ID: "b-vsan-bits", What: "32 KiB write", Quantity: "Hz per b/s", Printed: "5.43", Computed: 5.307, Inconsistency: "I-8", Note: "32 KB taken as 256,000 bits"},
		{ID: "b-vsan-bits", What: "nothing printed", Quantity: "GHz", Printed: "—", Computed: 74.11},
		{ID: "b-vsan-rule", What: "a hair", Quantity: "GHz", Printed: "28", Computed: 27.999},
	}
	var b bytes.Buffer
	if err := format.Write(&b, "table", Published("size example", checks), format.Options{}); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, b.Bytes(), "testdata/published.txt")
}
