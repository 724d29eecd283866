package fit

import (
	"fmt"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

func TestParseShape(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"12x96GB", "12x96GB 12 98304 0"},
		{"1X512mb*40", "1x512MB 1 512 40"},
		{"db: 12x1.5TB*3", "db 12 1572864 3"},
		{"12", `"12": column 3: the memory is missing, as in 12x96GB`},
		{"x4GB", `"x4GB": column 1: found "x4GB", want the number of vCPUs, as in 12x96GB`},
		{"0x4GB", `"0x4GB": column 1: found 0, want the number of vCPUs: 1 to 4096`},
		{"-1x4GB", `"-1x4GB": column 1: found -1, want the number of vCPUs: 1 to 4096`},
		{"4097x4GB", `"4097x4GB": column 1: found 4097, want the number of vCPUs: 1 to 4096`},
		{"12x", `"12x": column 4: the memory of a VM is missing, as in 12x96GB`},
		{"99999999999999999999x4GB", `"99999999999999999999x4GB": column 1: found 99999999999999999999, want the number of vCPUs: 1 to 4096`},
		{"12x0GB", `"12x0GB": column 4: found "0GB", want more than no memory`},
		{"12x96", `"12x96": column 4: found "96", want the memory of a VM with its unit, such as 96GB or 1.5TB`},
		{"12x96QB", `"12x96QB": column 4: found "96QB", want a size such as 4k, 512GB or 1.5TB`},
		{"12x100TB", `"12x100TB": column 4: found "100TB", want the memory of a VM up to 64 TB`},
		{"12x96GB*", `"12x96GB*": column 9: the number of VMs is missing, as in 12x96GB*40`},
		{"12x96GB*0", `"12x96GB*0": column 9: found 0, want the number of VMs: 1 to 1000000`},
		{":12x96GB", `":12x96GB": column 1: found no name before the colon`},
	} {
		s, err := ParseShape(tt.text)
		got := fmt.Sprint(s.Name, " ", s.VCPUs, " ", int64(s.Memory/numa.MiB), " ", s.Count)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q:\ngot  %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

func TestParseTypes(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"2x32c/1TB", "2x32c/1TB: 2 packages, 64 cores, 128 threads, 2 nodes of 32 cores and 512 GB, 0 MHz, 0"},
		{"R760:2x32C/1.5TB/snc2/noht@2.6GHz=18000.5", "R760: 2 packages, 64 cores, 64 threads, 4 nodes of 16 cores and 384 GB, 2600 MHz, 18000.5"},
		{"1x64c/768GB/nps4/ht, 4x18c/1TB", "1x64c/768GB/nps4/ht: 1 packages, 64 cores, 128 threads, 4 nodes of 16 cores and 192 GB, 0 MHz, 0; " +
			"4x18c/1TB: 4 packages, 72 cores, 144 threads, 4 nodes of 18 cores and 256 GB, 0 MHz, 0"},
		{"2x32/1TB", "2x32c/1TB: 2 packages, 64 cores, 128 threads, 2 nodes of 32 cores and 512 GB, 0 MHz, 0"},
		{"2 × 32 cores / 1 TB / SNC-2", "2x32c/1TB/SNC2: 2 packages, 64 cores, 128 threads, 4 nodes of 16 cores and 256 GB, 0 MHz, 0"},
		{"R760: 2×32c/1TB", "R760: 2 packages, 64 cores, 128 threads, 2 nodes of 32 cores and 512 GB, 0 MHz, 0"},
		{"2x32c", `"2x32c": column 6: the memory of the host is missing, as in 2x32c/1TB`},
		{"32c", `"32c": column 1: found "32c", want the number of sockets, as in 2x32c/1TB`},
		{"2x32c/", `"2x32c/": column 7: the memory of a host is missing, as in 2x32c/1TB`},
		{"2x/1TB", `"2x/1TB": column 3: found "/1TB", want the number of cores of a socket, as in 2x32c/1TB`},
		{"2", `"2": column 2: the number of cores of a socket is missing, as in 2x32c/1TB`},
		{"", `"": column 1: the number of sockets is missing, as in 2x32c/1TB`},
		{"2x32c/1TB,", `"2x32c/1TB,": column 11: the number of sockets is missing, as in 2x32c/1TB`},
		{"2x32c/1TB,0x2c/1TB", `"2x32c/1TB,0x2c/1TB": column 11: found 0, want the number of sockets: 1 to 64`},
		{"2x32c/1TB, 2x0c/1TB", `"2x32c/1TB, 2x0c/1TB": column 14: found 0, want the number of cores of a socket: 1 to 4096`},
		{"2x32c/1", `"2x32c/1": column 7: found "1", want the memory of a host with its unit, such as 96GB or 1.5TB`},
		{"2x31c/1TB/snc2", `"2x31c/1TB/snc2": column 11: found "snc2": 31 cores of a socket do not divide into 2 nodes`},
		{"2x32c/1TB/snc", `"2x32c/1TB/snc": column 11: found "snc", want snc with the NUMA nodes of a socket, 1 to 8`},
		{"2x32c/1TB/nps8", `"2x32c/1TB/nps8": column 11: found "nps8", want nps1, nps2 or nps4`},
		{"2x32c/1TB/nps0", `"2x32c/1TB/nps0": column 11: found "nps0", want nps1, nps2 or nps4`},
		{"2x32c/1TB/snc9", `"2x32c/1TB/snc9": column 11: found "snc9", want snc with the NUMA nodes of a socket, 1 to 8`},
		{"2x32c/1TB/fast", `"2x32c/1TB/fast": column 11: found "fast", want ht, noht, sncN, cod or npsN`},
		{"2x18c/512GB/cod", "2x18c/512GB/cod: 2 packages, 36 cores, 72 threads, 4 nodes of 9 cores and 128 GB, 0 MHz, 0"},
		{"2x9c/512GB/cod", `"2x9c/512GB/cod": column 12: found "cod": 9 cores of a socket do not divide into 2 nodes`},
		{"2x18c/512GB/cod/snc2", `"2x18c/512GB/cod/snc2": column 17: found "snc2" after cod, want one of them`},
		{"2x32c/1TB@fast", `"2x32c/1TB@fast": column 11: found "fast", want a frequency such as 3.6GHz or 2400MHz`},
		{"2x32c/1TB=-5", `"2x32c/1TB=-5": column 11: found "-5", want the price of a host: a number above 0`},
		{"2x32c/1TB=NaN", `"2x32c/1TB=NaN": column 11: found "NaN", want the price of a host: a number above 0`},
		{"2x32c/1TB,2x32c/1TB", `"2x32c/1TB,2x32c/1TB": column 11: found host type 2x32c/1TB twice`},
		{"2x32c/1Tb", `"2x32c/1Tb": column 7: found "1Tb", which are bits, want bytes: 1TB`},
		{"2x32c/1TB/snc2/snc4", `"2x32c/1TB/snc2/snc4": column 16: found "snc4" after snc2, want one of them`},
		{"2x32c/1TB/noht/ht", `"2x32c/1TB/noht/ht": column 16: found "ht" after noht, want one of them`},
		{"2x32c/10MB", `"2x32c/10MB": column 1: found a host of 10 MB, want 4 GB at least: ESXi does not run with less`},
		{"2x1c/4gb=1", "2x1c/4gb: 2 packages, 2 cores, 4 threads, 2 nodes of 1 cores and 2 GB, 0 MHz, 1"},
		{"64x8c/1TB/snc2", `"64x8c/1TB/snc2": column 1: found 128 NUMA nodes, want at most 64`},
	} {
		types, err := ParseTypes(tt.text, numa.ESXi80)
		got := ""
		for i := range types {
			h := &types[i].Host
			n := h.Nodes.Value
			if i > 0 {
				got += "; "
			}
			got += fmt.Sprintf("%s: %d packages, %d cores, %d threads, %d nodes of %d cores and %s, %d MHz, %v", types[i].Name, h.Packages.Value, h.Cores.Value, h.Threads.Value,
				len(n), n[0].Cores, n[0].Memory.Value, h.CoreMHz.Value, types[i].Price)
		}
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q:\ngot  %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

func TestParseShapes(t *testing.T) {
	for _, tt := range []struct {
		texts []string
		err   string
	}{
		{[]string{"db:12x96GB", "12x96GB"}, ""},
		{[]string{"db:12x96GB", "db:4x8GB"}, `"db:4x8GB": column 1: found VMs named db twice`},
		{[]string{"12x96GB*4", "12x96gb*5"}, `"12x96gb*5": column 1: found VMs named 12x96GB twice`},
		{[]string{"12x96Gb"}, `"12x96Gb": column 4: found "96Gb", which are bits, want bytes: 96GB`},
	} {
		_, err := ParseShapes(tt.texts)
		if got := fmt.Sprint(err); got != tt.err && (err != nil || tt.err != "") {
			t.Errorf("%q: error %s, want %s", tt.texts, got, tt.err)
		}
	}
}

func TestParseOverhead(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Overhead
		err  string
	}{
		{"", PublishedOverhead, ""},
		{"0", Overhead{}, ""},
		{"1GB", Overhead{Base: numa.GiB}, ""},
		{"0.5%", Overhead{Share: unit.Share(0.5 / 100)}, ""},
		{"200", Overhead{Base: 200}, `found "200", want an overhead with its unit, such as 1GB or 1%`},
		{"lots", Overhead{}, `found "lots", want a size such as 4k, 512GB or 1.5TB`},
		{"200%", Overhead{}, `found "200%", want at most 100 %`},
	} {
		got, err := ParseOverhead(tt.text)
		if fmt.Sprint(err) != tt.err && (err != nil || tt.err != "") {
			t.Errorf("%q: error %v, want %s", tt.text, err, tt.err)
		}
		if err == nil && got != tt.want {
			t.Errorf("%q: found %v, want %v", tt.text, got, tt.want)
		}
	}
}

// What is read is a host that the model can place VMs on, whatever was typed.
func FuzzParseTypes(f *testing.F) {
	for _, s := range []string{"2x32c/1TB", "R760:2x32c/1.5TB/snc2/noht@2.6GHz=18000", "1x64c/768GB/nps4, 4x18c/1TB", "2x32/1TB", "2x32c/1TB=", ",,", "1x1c/1MB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		types, err := ParseTypes(text, numa.ESXi80)
		if err != nil {
			if e, ok := err.(*numa.SyntaxError); !ok || e.Col < 1 || e.Col > len(text)+1 {
				t.Fatalf("%q: error %v has no place in the text", text, err)
			}
			return
		}
		for i := range types {
			h := &types[i].Host
			if err := h.Check(); err != nil {
				t.Fatal(err)
			}
			o := plain()
			if _, err := newRoom(h, &o); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
		}
	})
}

func FuzzParseShape(f *testing.F) {
	for _, s := range []string{"12x96GB", "db:12x1.5TB*3", "12x", "x", "1x1MB*1000000", "0x0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseShape(text)
		if err != nil {
			if e, ok := err.(*numa.SyntaxError); !ok || e.Col < 1 || e.Col > len(text)+1 {
				t.Fatalf("%q: error %v has no place in the text", text, err)
			}
			return
		}
		if s.VCPUs < 1 || s.Memory < numa.MiB || s.Count < 0 {
			t.Fatalf("%q: found %+v", text, s)
		}
	})
}
