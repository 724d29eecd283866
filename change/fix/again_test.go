package fix_test

import (
	"strings"
	"testing"
	"time"

	"example.org/homenode/change/fix"
	"example.org/homenode/source/scenario"
)

// TestPowersOnAgain: a default plan does not power-cycle a VM that runs and that its host would refuse, and gives a Windows guest of unknown
// software no more sockets than SQL Server Standard uses.
func TestPowersOnAgain(t *testing.T) {
	f, err := scenario.Read("test", []byte(`release 8.0U3
host h1 nodes=2 cores=16 threads=32 memory=512GB mhz=2000
vm tight host=h1 vcpus=24 memory=64GB coresPerSocket=12 hw=21 hotAdd=on latency=high power=on
vm newer host=h1 vcpus=24 memory=64GB coresPerSocket=8 hw=22 hotAdd=on power=on
vm cured host=h1 vcpus=24 memory=64GB coresPerSocket=12 hw=21 hotAdd=on power=on
vm odd host=h1 vcpus=27 memory=64GB coresPerSocket=9 hw=19 power=on guest="Microsoft Windows Server 2019 (64-bit)"
`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := fix.Make(t.Context(), f, fix.Options{Now: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Changes) != 2 || p.Changes[0].VM.Name != "cured" || p.Changes[1].VM.Name != "odd" || p.Changes[1].Edits[0].To.Text != "27" {
		t.Errorf("changes %+v, want those of the VMs cured and odd, which gets one socket", p.Changes)
	}
	for _, name := range []string{"tight", "newer"} {
		said := false
		for _, l := range p.Left {
			said = said || l.VM == name && l.Rule == "N001" && strings.Contains(l.Why, "would not power on again")
		}
		if !said {
			t.Errorf("%s: the reason is missing in %+v", name, p.Left)
		}
	}
}
