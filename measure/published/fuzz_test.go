package published

import (
	"reflect"
	"testing"

	"homenode/esxi/vnuma"
)

// FuzzRead demands that whatever reads compares without a panic, the same each
// time, and that cases can be written and read as themselves.
func FuzzRead(f *testing.F) {
	for _, c := range shipped(f) {
		f.Add(c.Text())
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
		var text []byte
		for i := range cases {
			text = append(text, cases[i].Text()...)
		}
		if again, err := Read("again", text); err != nil || !reflect.DeepEqual(again, cases) {
			t.Fatalf("read again it differs: %v\n%+v\n%+v", err, again, cases)
		}
	})
}
