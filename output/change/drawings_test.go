package change_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"example.org/homenode/change/whatif"
	"example.org/homenode/output/change"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/rules"
	"example.org/homenode/source/scenario"
)

// TestDrawn draws a VM as it is today and changed, with IDs that differ, and says what becomes of it.
func TestDrawn(t *testing.T) {
	f, err := scenario.Read("fleet.txt", []byte(`release 7.0U3
cluster c
host a nodes=2 cores=16 memory=512GB
host old nodes=2 cores=16 memory=512GB
vm db host=a vcpus=24 memory=128GB hotAdd=on hw=17
vm web host=a vcpus=4 memory=16GB hw=19
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		change, verdict, abouts string
	}{
		{"vm=db hotAdd=off", "Switching CPU hot add off lets db see its 2 NUMA nodes; half of its memory accesses stop being remote.", "Today: 24 vCPU, 128 GB, CPU hot add on a | Changed: 24 vCPU, 128 GB on a"},
		{"vm=db host=old", "Moved to old, db gets the same topology.", "Today: 24 vCPU, 128 GB, CPU hot add on a | Changed: 24 vCPU, 128 GB, CPU hot add on old"},
		{"vm=web host=old hw=21", "web cannot run: does not power on: virtual hardware 21 is newer than the 19 of ESXi 7.0 U3.", "Today: 4 vCPU, 16 GB on a"},
		{"hotAdd=off", "1 VM better, 0 worse, 1 unchanged", "Today: 24 vCPU, 128 GB, CPU hot add on a | Changed: 24 vCPU, 128 GB on a"},
	} {
		c, err := whatif.Parse(tt.change)
		if err != nil {
			t.Fatal(err)
		}
		r, err := whatif.Judge(t.Context(), f, []whatif.Change{c}, rules.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		a := change.WhatIf(r, change.Options{})
		if a.Verdict[0] != tt.verdict {
			t.Errorf("%s: found %q\nwant %q", tt.change, a.Verdict[0], tt.verdict)
		}
		var abouts []string
		seen := map[string]bool{}
		for _, d := range a.Drawings {
			abouts = append(abouts, d.About)
			var b bytes.Buffer
			if err := picture.Write(&b, d.Picture(), false); err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(b.String(), -1) {
				if seen[m[1]] {
					t.Fatalf("%s: id %s is there twice", tt.change, m[1])
				}
				seen[m[1]] = true
			}
		}
		if got := strings.Join(abouts, " | "); got != tt.abouts {
			t.Errorf("%s: drawn %q\nwant %q", tt.change, got, tt.abouts)
		}
	}
}
