package published

import (
	"io/fs"
	"reflect"
	"testing"

	"example.org/homenode/esxi/vnuma"
)

// FuzzRead demands that whatever reads compares without a panic, the same each time.
func FuzzRead(f *testing.F) {
	files, err := fs.Glob(Shipped, "testdata/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		data, err := fs.ReadFile(Shipped, name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cases, err := Read("cases", data)
		if err != nil {
			return
		}
		for i := range cases {
			c := &cases[i]
			got := Compare(c, vnuma.Choices{})
			if len(got.Fields)+len(got.Open) != len(c.Observed) {
				t.Fatalf("%d fields observed: %s", len(c.Observed), printed(got))
			}
			if again := Compare(c, vnuma.Choices{}); !reflect.DeepEqual(got, again) {
				t.Fatalf("compared again it differs:\n%s\n%s", printed(got), printed(again))
			}
		}
	})
}
