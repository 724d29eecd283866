package sizing

import (
	"bytes"
	"io"
	"testing"

	"homenode/capacity"
	"homenode/internal/golden"
)

func TestPublished(t *testing.T) {
	checks := []capacity.Check{
		{ID: "B-5", What: "32 KiB read", Quantity: "Hz per b/s", Printed: "~2.5", Computed: 2.443},
		{ID: "B-6", What: "32 KiB write", Quantity: "Hz per b/s", Printed: "5.43", Computed: 5.307, Inconsistency: "I-8", Note: "32 KB taken as 256,000 bits"},
		{ID: "B-6", What: "nothing printed", Quantity: "GHz", Printed: "—", Computed: 74.11},
		{ID: "B-7", What: "a hair", Quantity: "GHz", Printed: "28", Computed: 27.999},
	}
	for _, tt := range []struct {
		file  string
		write func(io.Writer, *Answer) error
	}{
		{"published.txt", func(w io.Writer, a *Answer) error { return Text(w, a, false) }}, {"published.json", JSON},
	} {
		var b bytes.Buffer
		if err := tt.write(&b, Published("size example", checks)); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, b.Bytes(), "testdata/"+tt.file)
	}
}
