package published

import (
	"bytes"
	"reflect"
	"testing"

	"homenode/esxi/vnuma"
)

// FuzzRead demands that whatever reads compares without a panic, the same each
// time, and that a case of the text form can be written and reads as itself.
func FuzzRead(f *testing.F) {
	for _, c := range shipped(f) {
		f.Add(c.Text())
	}
	f.Add([]byte(`[{"id": "a", "release": 8, "hw_version": 20, "source_host": "2x20", "host": {"sockets": "4", "numa_nodes": 8, "node_total_kb": [1, "2"]}, "vm": {"vcpus": 36, "extra": {"numa.vcpu.min": 6, "vmotion_from": {"sockets": 2}}}, "observed": {"vpd_count": "2", "gst_nd_mb": [1, null], "home_nodes": 0}}]`))
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
		if start := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff"))); start[0] == '[' || start[0] == '{' {
			return
		}
		if again, err := Read("again", cases[0].Text()); err != nil || !reflect.DeepEqual(again, cases) {
			t.Fatalf("read again it differs: %v\n%+v\n%+v", err, again, cases)
		}
	})
}
