package fix_test

import (
	"strings"
	"testing"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/whatif"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario/given"
)

// TestFollows: what vSphere changes along with an edit is in the plan as an edit, harms nothing, and is taken back with it.
func TestFollows(t *testing.T) {
	f := given.Fleet(t, "follows", []byte(`release 7.0U3
cluster s
host esx[01-02] nodes=2 cores=24 memory=4TB mhz=2600
vm part host=esx01 vcpus=32 memory=256GB hw=19 memoryReservation=200GB
vm all host=esx01 vcpus=32 memory=256GB hw=19 memoryReservation=256GB reserveAll=on
vm few host=esx01 vcpus=32 memory=256GB hw=19 memoryReservation=64GB
`))
	for _, tt := range []struct{ wish, edits string }{
		{"vm=part memory=128GB", "memory 262144 131072, memoryReservation 204800 131072"},
		{"vm=part memory=128GB memoryReservation=200GB", "memory 262144 131072, memoryReservation 204800 131072"},
		{"vm=part memory=128GB memoryReservation=32GB", "memory 262144 131072, memoryReservation 204800 32768"},
		{"vm=part memory=512GB", "memory 262144 524288"},
		{"vm=all memory=128GB", "memory 262144 131072, memoryReservation 262144 131072"},
		{"vm=all memory=512GB", "memory 262144 524288, memoryReservation 262144 524288"},
		{"vm=all memoryReservation=128GB", "memoryReservation 262144 131072, reserveAll true false"},
		{"vm=few memory=128GB", "memory 262144 131072"},
		{"vm=few reserveAll=on", "memoryReservation 65536 262144, reserveAll false true"},
	} {
		change, err := whatif.Parse(tt.wish)
		if err != nil {
			t.Fatal(err)
		}
		p, err := fix.Make(t.Context(), f, fix.Options{Now: now, Set: []whatif.Change{change}, Resize: true})
		if err != nil || len(p.Changes) != 1 {
			t.Errorf("%s: %v, %v", tt.wish, p, err)
			continue
		}
		c := p.Changes[0]
		if got := listed(c.Edits); got != tt.edits || c.Brings != nil {
			t.Errorf("%s: %s, brings %q; want %s", tt.wish, got, c.Brings, tt.edits)
		}
		undone, err := p.Undo(func(c *fix.Change) []numa.Edit { return c.Edits })
		if err != nil {
			t.Fatal(err)
		}
		if n := len(undone.Changes[0].Edits); n < len(c.Edits) {
			t.Errorf("%s: the rollback has %d edits, want at least %d", tt.wish, n, len(c.Edits))
		}
	}
}

func listed(edits []numa.Edit) string {
	var out []string
	for _, e := range edits {
		out = append(out, e.Name()+" "+e.From.Text+" "+e.To.Text)
	}
	return strings.Join(out, ", ")
}
