package topo

import (
	"strings"
	"testing"
	"testing/fstest"

	"example.org/homenode/rules"
	"example.org/homenode/source/kvm"
)

// TestStated draws a VM whose cells have every other vCPU, one of them pinned to the wrong node, with memory as numastat saw it.
func TestStated(t *testing.T) {
	f, err := kvm.ReadFS("kvm", fstest.MapFS{
		"kvm01/capabilities.xml": {Data: []byte("<capabilities><host><topology><cells><cell id='0'><memory unit='GiB'>16</memory><cpus><cpu id='0' core_id='0'/><cpu id='1' core_id='1'/></cpus></cell>" +
			"<cell id='8'><memory unit='GiB'>16</memory><cpus><cpu id='2' core_id='2'/><cpu id='3' core_id='3'/></cpus></cell></cells></topology></host></capabilities>")},
		"kvm01/turn.xml": {Data: []byte("<domain type='kvm' id='1'><name>turn</name><memory unit='GiB'>8</memory><vcpu>4</vcpu><cputune><vcpupin vcpu='0' cpuset='0-1'/><vcpupin vcpu='2' cpuset='0-1'/><vcpupin vcpu='1' cpuset='2-3'/></cputune>" +
			"<numatune><memnode cellid='0' nodeset='0'/><memnode cellid='1' nodeset='8'/></numatune><cpu><topology sockets='4' cores='1' threads='1'/><numa><cell cpus='0,2' memory='4' unit='GiB'/><cell cpus='1,3' memory='4' unit='GiB'/></numa></cpu></domain>")},
		"kvm01/numastat.txt": {Data: []byte("PID  Node 0 Node 8 Total\n7 (qemu-kvm) 3072 5120 8192\n")},
		"kvm01/pids.txt":     {Data: []byte("7 turn\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := rules.Run(f, rules.Options{})
	const want = `kvm01   KVM
┌ node 0 ─ 2 cores ─ 16 GB ───┐ ┌ node 8 ─ 2 cores ─ 16 GB ───┐
│ turn.0 ██  2c  4 GB  ▒ 1 GB │ │ turn.2 █   1c  2 GB         │
│                             │ │ ▒ 3 GB of turn, home elsew… │
│ memory left 13 GB           │ │ memory left 11 GB           │
│ vCPU per core 1.0           │ │ vCPU per core 0.5           │
└─────────────────────────────┘ └─────────────────────────────┘
no home node: turn: 1 vCPU, 2 GB
`
	var b strings.Builder
	if err := Text(&b, OfStatedHost(r, &r.Fleet.Hosts[0]), 80, false); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := strings.Cut(b.String(), "▒ on other"); got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	d := OfStated(r.Stated[0])
	var guests []string
	for i := range d.Guests {
		guests = append(guests, d.Guests[i].Numbers())
	}
	if got, want := strings.Join(guests, "; "), "guest node 0, vCPUs 0, 2, 4 GB, on 1 node; guest node 1, vCPUs 1, 3, 4 GB, on 1 node"; got != want {
		t.Errorf("found %s\nwant  %s", got, want)
	}
	alone := *r.Stated[0]
	alone.Host = nil
	if OfStated(&alone) != nil {
		t.Error("draws a VM on a host that is unknown")
	}
}
