package evidence_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/source/esxtop/fetchstats"
	"example.org/homenode/source/evidence"
	"example.org/homenode/source/scenario"
)

// TestLastTick joins recordings of two hosts to an inventory that is older: the last tick of each host counts, a VM that
// moved is where it was seen last, and one whose name two VMs have is left out.
func TestLastTick(t *testing.T) {
	f, err := scenario.Read("fleet", []byte(`release 8.0U3
cluster prod
host esx01 nodes=2 cores=16 memory=256GB
host esx02 nodes=2 cores=16 memory=256GB
vm stays host=esx01 vcpus=8 memory=64GB
vm moved host=esx01 vcpus=8 memory=64GB
vm twin  host=esx01 vcpus=8 memory=64GB
vm other host=esx01 vcpus=8 memory=64GB
`))
	if err != nil {
		t.Fatal(err)
	}
	f.VMs[3].Name = "twin"
	dir := t.TempDir()
	begin := time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)
	write := func(host string, ticks ...[]numa.VMTick) {
		w := &fetchstats.Writer{Boot: begin.Add(-time.Hour)}
		text := w.Info()
		for i, vms := range ticks {
			text += w.Answer(&numa.Tick{Host: host, Time: begin.Add(time.Duration(i) * time.Minute), Has: numa.HasFree, VMs: vms})
		}
		golden.Write(t, filepath.Join(dir, host+"-20261101T08.dsv"), []byte(text))
	}
	vm := func(gid int64, name string, home int, local, remote numa.Bytes) numa.VMTick {
		return numa.VMTick{GID: gid, Name: name, VCPUs: 8, Has: numa.HasHomes | numa.HasMemory | numa.HasPercent | numa.HasSize, Homes: numa.SetOf(home),
			Local: local, Remote: remote, Size: 64 * numa.GiB}
	}
	write("esx01",
		[]numa.VMTick{vm(7, "stays", 0, 60*numa.GiB, 0), vm(8, "moved", 0, 60*numa.GiB, 0), vm(9, "twin", 0, 1, 0)},
		[]numa.VMTick{vm(7, "stays", 1, 20*numa.GiB, 40*numa.GiB), vm(9, "twin", 0, 1, 0)})
	write("esx02", nil, []numa.VMTick{vm(3, "moved", 1, 8*numa.GiB, 24*numa.GiB), vm(4, "stranger", 0, 1, 0)})

	p, err := evidence.Read(dir)
	if err != nil || len(p.Errs) > 0 || len(p.Docs) != 2 {
		t.Fatalf("%d documents, %v, %v", len(p.Docs), p.Errs, err)
	}
	if s := evidence.Join(f, []evidence.Piece{p}); s != (evidence.Summary{Joined: 2}) {
		t.Errorf("%+v", s)
	}
	var got []string
	for _, v := range f.VMs {
		for _, o := range v.Observed {
			got = append(got, fmt.Sprintf("%s on %s: %s %s homes %v local %s remote %s", v.Name, v.Host, o.Host, o.Time, o.Homes.Value, o.Local.Value, o.Remote.Value))
		}
	}
	want := []string{
		"stays on esx01: esx01 2026-11-01T08:01:00Z homes [1] local 20 GB remote 40 GB",
		"moved on esx02: esx02 2026-11-01T08:01:00Z homes [1] local 8 GB remote 24 GB",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(f.Notes) != 1 || !strings.Contains(f.Notes[0].Text, "moved is on esx02 in the recording") {
		t.Errorf("notes %v", f.Notes)
	}
}
