package vnuma

import (
	"testing"

	"example.org/homenode/numa"
)

// TestParts: the parts of all clients together are those of each, and add up to the whole memory.
func TestParts(t *testing.T) {
	m := machineOf(t, numa.ESXi80, 4, 12, 24, 128*gib)
	spread := 0
	for _, hardware := range []int32{11, 13, 19} {
		guests := benchGuests(hardware)
		for i := range guests {
			l := Predict(&guests[i], &m, &Case{})
			if l.PPDs.Len() == 0 || l.HomeNodes < 2 {
				continue
			}
			const x = 1<<37 + 12345
			var out [256]int64
			l.parts(x, out[:])
			sum := int64(0)
			for c := range l.PPDs.Len() {
				if sum += out[c]; out[c] != l.PartOf(c, x) {
					t.Fatalf("client %d of %+v: %d bytes, want %d", c, l, out[c], l.PartOf(c, x))
				}
			}
			if sum != x {
				t.Fatalf("%+v: the parts have %d bytes, want %d", l, sum, x)
			}
			if l.Memory.Placement == Interleaved {
				spread++
			}
		}
	}
	if spread == 0 {
		t.Error("no memory is interleaved")
	}
}
