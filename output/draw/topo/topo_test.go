package topo_test

import (
	"bytes"
	"strings"
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/output/draw/topo"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
	"example.org/homenode/source/scenario/given"
)

// fleet returns the judged scenario.
func fleet(t testing.TB, text string) *rules.Result {
	t.Helper()
	return rules.Run(given.Fleet(t, "fleet.txt", []byte(text)), rules.Options{})
}

func vm(t testing.TB, r *rules.Result, name string) *rule.VM {
	t.Helper()
	for v := range r.EachVM() {
		if v.Name == name {
			return v
		}
	}
	t.Fatalf("VM %s is not in the result", name)
	return nil
}

// draw returns the drawing of the host or VM with this name on its host.
func draw(t testing.TB, r *rules.Result, name string) *topo.Drawing {
	t.Helper()
	for _, h := range r.Fleet.FindHosts(name) {
		return topo.OfHost(r, h)
	}
	v := vm(t, r, name)
	return topo.OfVM(v, v.Host, vnuma.Choices{})
}

func text(t testing.TB, d *topo.Drawing, width int, colour bool) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := topo.Text(&b, d, width, colour); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The fleet of the drawings: a blind wide VM, memory larger than a node, hosts
// with eight nodes, too many clients to draw, a VM that is not NUMA-managed.
const drawn = `
release 7.0U3
cluster prod
host esx01.example.com nodes=2 cores=18 memory=1024GB cpu="Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz"
host esx02 nodes=2 cores=18 memory=1024GB
vm sql01  host=esx01.example.com vcpus=32 coresPerSocket=2 memory=384GB hotAdd=on
vm app01  host=esx01.example.com vcpus=8 memory=64GB
vm web01  host=esx01.example.com vcpus=4 memory=16GB
vm off01  host=esx01.example.com vcpus=4 memory=16GB power=off
vm hana01 host=esx02 vcpus=16 coresPerSocket=16 memory=740GB
cluster epyc
host epyc01 nodes=8 cores=8 packages=2 memory=1024GB cpu="AMD EPYC 7713 64-Core Processor" release=8.0U2
vm ml01   vcpus=24 memory=192GB coresPerSocket=8 hw=21
cluster vdi
host vdi01 nodes=2 cores=16 memory=256GB release=8.0U2
vm desk[01-30] vcpus=2 memory=8GB
vm pin01  vcpus=4 memory=16GB cpuAffinity=0-3
cluster dark
host dark01 nodes=? cores=16
`

func TestText(t *testing.T) {
	r := fleet(t, drawn)
	for _, tt := range []struct {
		file, name string
		width      int
		colour     bool
	}{
		{"host", "esx01", 100, false},
		{"host-colour", "esx01", 100, true},
		{"host-narrow", "esx01", 40, false},
		{"host-tiny", "esx01", 16, false},
		{"host-remote", "esx02", 0, false},
		{"host-crowded", "vdi01", 80, false},
		{"host-unknown", "dark01", 80, false},
		{"vm-blind", "sql01", 100, false},
		{"vm-remote", "hana01", 100, false},
		{"vm-wide", "ml01", 140, false},
		{"vm-wide-stacked", "ml01", 60, false},
		{"vm-loose", "pin01", 80, false},
	} {
		t.Run(tt.file, func(t *testing.T) {
			golden.Equal(t, text(t, draw(t, r, tt.name), tt.width, tt.colour), "testdata/"+tt.file+".golden")
		})
	}
}

// Boxes are as wide as the terminal allows, no wider, and their borders stand in
// one column whatever the names are made of.
func TestTextWidth(t *testing.T) {
	r := fleet(t, strings.NewReplacer("app01", "数据库服务器生产环境", "web01", "e\u0301te\u0301").Replace(drawn))
	for _, name := range []string{"esx01", "esx02", "vdi01", "epyc01", "sql01", "ml01"} {
		d := draw(t, r, name)
		for width := 12; width <= 200; width++ {
			checkLines(t, string(text(t, d, width, false)), name, width)
		}
	}
}

func checkLines(t *testing.T, drawing, name string, width int) {
	t.Helper()
	box := 0
	for line := range strings.Lines(drawing) {
		line = strings.TrimSuffix(line, "\n")
		n := displayWidth(line)
		if n > width {
			t.Fatalf("%s at width %d: %q takes %d columns", name, width, line, n)
		}
		switch []rune(line + " ")[0] {
		case '┌':
			box = n
		case '│', '└':
			if n != box {
				t.Fatalf("%s at width %d: %q takes %d columns, its box %d", name, width, line, n, box)
			}
		}
	}
}

// displayWidth counts columns for the characters that this test uses.
func displayWidth(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case r >= 0x4e00 && r <= 0x9fff:
			n += 2
		case r == 0x301:
		default:
			n++
		}
	}
	return n
}

func TestHostileNames(t *testing.T) {
	r := fleet(t, drawn)
	v := vm(t, r, "app01")
	v.Name = "a\x1b[31m\nb\u202ec\xff"
	got := string(text(t, draw(t, r, "esx01"), 100, false))
	if want := "a\uFFFD[31m\uFFFDb\uFFFDc\uFFFD "; !strings.Contains(got, "│ "+want) {
		t.Errorf("the name is not drawn as %q:\n%s", want, got)
	}
	checkLines(t, got, "esx01", 100)
}

// The numbers of a drawing add up to those of the host's VMs.
func TestNodesAddUp(t *testing.T) {
	r := fleet(t, drawn)
	for i := range r.Fleet.Hosts {
		h := &r.Fleet.Hosts[i]
		d := topo.OfHost(r, h)
		vcpus, memory, want := 0, numa.Bytes(0), numa.Bytes(0)
		wantVCPUs := 0
		for _, n := range d.Nodes {
			vcpus, memory = vcpus+n.VCPUs, memory+n.More.Memory
			for _, c := range n.Clients {
				memory += c.Memory
			}
			if n.Used > n.Memory.Or(n.Used) {
				t.Errorf("%s: %v of %v in use", h.Name, n.Used, n.Memory.Value)
			}
		}
		for _, c := range d.Loose {
			memory += c.Memory
		}
		for _, v := range r.Fleet.VMs {
			if v.Host == h.ID && v.Power.Value == numa.PoweredOn {
				want += v.Memory.Value
				if v.Name == "pin01" { // it has no home node
					continue
				}
				wantVCPUs += v.VCPUs.Value
			}
		}
		if vcpus != wantVCPUs || memory != want {
			t.Errorf("%s: drawn %d vCPUs and %v; want %d and %v", h.Name, vcpus, memory, wantVCPUs, want)
		}
	}
}

func TestOfVMElsewhere(t *testing.T) {
	r := fleet(t, drawn)
	if d := topo.OfVM(vm(t, r, "sql01"), r.Fleet.FindHosts("epyc01")[0], vnuma.Choices{}); d != nil {
		t.Errorf("OfVM on a host of another cluster = %q, want nil", d.Title)
	}
}
