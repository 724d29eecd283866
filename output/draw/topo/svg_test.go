package topo_test

import (
	"bytes"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/draw/topo"
)

// hosts are a blind wide VM, memory larger than a node, more clients than can be drawn, and nodes that are unknown.
const hosts = `
release 7.0U3
cluster prod
host esx01 nodes=2 cores=18 memory=1024GB cpu="Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz"
host esx02 nodes=2 cores=18 memory=1024GB
vm sql01  host=esx01 vcpus=32 coresPerSocket=2 memory=384GB hotAdd=on
vm app01  host=esx01 vcpus=8 memory=64GB
vm hana01 host=esx02 vcpus=16 coresPerSocket=16 memory=740GB
cluster vdi
host vdi01 nodes=8 cores=8 memory=256GB release=8.0U2
vm desk[001-130] vcpus=2 memory=1GB
vm pin[01-20]  vcpus=4 memory=16GB cpuAffinity=0-3
vm ml01 vcpus=40 coresPerSocket=8 memory=64GB hw=21
cluster dark
host dark01 nodes=? cores=16
`

func TestPicture(t *testing.T) {
	r := fleet(t, hosts)
	for _, name := range []string{"esx01", "esx02", "vdi01", "dark01", "sql01", "hana01", "ml01"} {
		var b bytes.Buffer
		if err := picture.Write(&b, draw(t, r, name).Picture(), true); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, b.Bytes(), "testdata/svg/"+name+".svg")
	}
}

// TestAway checks that hidden NUMA shows as an arrow as wide as the share of remote accesses, and that what a change makes of it is marked.
func TestAway(t *testing.T) {
	r := fleet(t, hosts)
	drawn := func(d *topo.Drawing) string {
		var b bytes.Buffer
		if err := picture.Write(&b, d.Picture(), true); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	hidden, seen, alone := draw(t, r, "sql01"), draw(t, r, "ml01"), draw(t, r, "hana01")
	if got := drawn(hidden); strings.Count(got, `class="arrow"`) != 1 || !strings.Contains(got, ">50 %</text>") || !strings.Contains(got, `class="guest hides"`) {
		t.Errorf("hidden NUMA is not visible:\n%s", got)
	}
	for _, d := range []*topo.Drawing{seen, alone} {
		if got := drawn(d); strings.Contains(got, `class="arrow"`) {
			t.Errorf("%s: an arrow where nothing is hidden", d.Title)
		}
	}
	if seen.Since(hidden); !strings.Contains(drawn(seen), `class="guest changed"`) || !strings.Contains(seen.Facts[0], "32 vCPUs → 40 vCPUs") {
		t.Errorf("the change is not marked: %q", seen.Facts)
	}
}

// TestPrefix checks that a page can have the same drawing twice.
func TestPrefix(t *testing.T) {
	d := draw(t, fleet(t, hosts), "sql01")
	var today, changed bytes.Buffer
	_ = picture.Write(&today, d.Picture(), true)
	d.Prefix = "changed-"
	_ = picture.Write(&changed, d.Picture(), true)
	if got := bytes.ReplaceAll(changed.Bytes(), []byte("changed-"), nil); !bytes.Equal(got, today.Bytes()) || bytes.Count(changed.Bytes(), []byte(` id="changed-vm-sql01`)) != bytes.Count(today.Bytes(), []byte(" id=")) {
		t.Errorf("the ids do not begin with the prefix:\n%s", changed.Bytes())
	}
}
