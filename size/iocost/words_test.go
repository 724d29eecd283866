package iocost

import (
	"reflect"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/sheet"
)

func TestParseWorkload(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Asked
	}{
		{"vsan-esa iops=100k block=32k read=70 random=50 policy=raid-6 ipc=1.2", Asked{
			Workload: Workload{Kind: Kind{VSANESA, 32 * numa.KiB, 0.7, 0.5}, Rate: 100e3, Policy: RAID6, IPC: 1.2},
		}},
		{"nvme throughput=32768000B/s block=32k", Asked{
			Workload:     Workload{Kind: Kind{NVMe, 32 * numa.KiB, DefaultRead, DefaultRandom}, Rate: 1000},
			ByThroughput: true, Assumed: []string{"read", "random"},
		}},
		{"nvme block=4k read=100", Asked{Workload: Workload{Kind: Kind{NVMe, 4096, 1, 1}, Rate: 1}, Open: true, Assumed: []string{"random"}}},
		{"network tx=10Gb/s", Asked{Workload: Workload{Kind: Kind{Path: Network}, TX: 10e9}}},
		{"network", Asked{Workload: Workload{Kind: Kind{Path: Network}, TX: 1, RX: 1}, Open: true, Assumed: []string{"tx"}}},
		{"ram throughput=20GB/s", Asked{Workload: Workload{Kind: Kind{Path: RAM}, Traffic: 160e9}}},
	} {
		got, err := ParseWorkload(tt.text)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: found %+v, %v; want %+v", tt.text, got, err, tt.want)
		}
	}
}

func TestParseWorkloadErrors(t *testing.T) {
	for text, want := range map[string]string{
		" ":                                        "found no words, want a path and its traffic: vsan-esa iops=100k block=32k read=70",
		"nvmee iops=1 block=4k":                    `path: found "nvmee", want nvme?`,
		"vsan iops=1 block=4k":                     `path: found "vsan", want vsan-esa?`,
		"NVMe iops=1 block=4k":                     `path: found "NVMe", want nvme?`,
		"tape iops=1":                              `path: found "tape", want one of nvme, vsan-esa, network, ram`,
		"nvme 32k":                                 `found "32k", want key=value such as block=32k`,
		"nvme iops=1 blok=4k":                      `found "blok", want block?`,
		"nvme iops=1 queue=4":                      `found "queue", want one of iops, throughput, block, read, random, ipc`,
		"nvme iops=1 iops=2 block=4k":              "iops: given twice",
		"nvme iops=1":                              "block: found none, want the size of an I/O such as 32k",
		"nvme iops=0 block=4k":                     `iops: found "0": no I/O costs nothing, want more than 0`,
		"nvme iops=10Gb/s block=4k":                `iops: found "10Gb/s", want I/Os a second such as 100000, 100k or 1.2M`,
		"nvme throughput=10 block=4k":              `throughput: found "10", want traffic such as 10Gb/s (bits), 1.2GB/s or 900MiB/s (bytes)`,
		"nvme iops=1 throughput=1GB/s block=4k":    "iops and throughput: found both, want one: the other follows from the block",
		"nvme iops=1 block=0":                      `block: found "0", want a size such as 4k, 512GB or 1.5TB`,
		"nvme iops=1 block=4k read=101":            `read: found "101", want at most 100 %`,
		"nvme iops=1 block=4k random=0.5":          `random: found "0.5": want 70 for 70 %, or 0.5% if it is less than one`,
		"nvme iops=1 block=4k policy=raid-5":       "policy: nothing for path nvme, which has iops, throughput, block, read, random, ipc",
		"vsan-esa iops=1 block=4k policy=raid-7":   `policy: found "raid-7", want one of raid-0, raid-1, raid-5, raid-6`,
		"vsan-esa iops=1 block=4k policy=mirrored": `policy: found "mirrored", want one of raid-0, raid-1, raid-5, raid-6`,
		"vsan-esa iops=1 block=4k ipc=0":           `ipc: found "0", want a factor from 0.1 to 10 such as 1.2`,
		"network tx=10Gb/s block=4k":               "block: nothing for path network, which has tx, rx, ipc",
		"ram iops=1":                               "iops: nothing for path ram, which has throughput, ipc",
	} {
		if _, err := ParseWorkload(text); err == nil || err.Error() != want {
			t.Errorf("%s: found %v, want %q", text, err, want)
		}
	}
}

// FuzzParseWorkload checks that what is read can be reckoned with.
func FuzzParseWorkload(f *testing.F) {
	for _, s := range []string{"vsan-esa iops=100k block=32k read=70 random=50 policy=raid-6 ipc=1.2", "network tx=1b/s rx=1Tb/s", "ram throughput=1GB/s", "nvme block=1", "=", "nvme ="} {
		f.Add(s)
	}
	m, err := New()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseWorkload(text)
		if err != nil {
			return
		}
		r, err := m.Study(Question{Workloads: []Asked{a}, Cluster: Cluster{Hosts: 2, Cores: 8, Core: unit.GHz}, Budget: 0.5})
		if err != nil {
			t.Skip("more traffic than numbers hold")
		}
		if cpu := r.Get("cpu").(sheet.Value); !(cpu.Value > 0) || cpu.Low > cpu.Value*(1+1e-9) || cpu.High < cpu.Value*(1-1e-9) {
			t.Errorf("%q: found %+v", text, cpu)
		}
	})
}
