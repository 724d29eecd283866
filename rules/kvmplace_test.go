package rules_test

import (
	"fmt"
	"strings"
	"testing"
)

// pinned is a VM of 4 vCPUs and 8 GB on some CPUs of the host, with memory of some mode and nodes.
func pinned(cpus, mode, nodes string) string {
	return fmt.Sprintf("<domain type='kvm'><name>a</name><memory unit='GiB'>8</memory><vcpu cpuset='%s'>4</vcpu><numatune><memory mode='%s' nodeset='%s'/></numatune></domain>", cpus, mode, nodes)
}

// TestRemoteToVCPUs: memory is remote where none of the vCPUs run, also on another node that it is bound to. Where K003 speaks of the binding, K009 does not.
func TestRemoteToVCPUs(t *testing.T) {
	const stat = "PID          Node 0    Node 1     Total\n---\n4242 (qemu-kvm)  %d.00 %d.00 8192.00\n---\nTotal %[1]d.00 %[2]d.00 8192.00\n"
	for _, c := range []struct {
		cpus, mode, nodes string
		on                int // MB on node 1
		want, not         string
	}{
		{"0-7", "strict", "0-1", 8192, "K009 high 8 GB of its 8 GB (100 %)", ""},
		{"0-7", "strict", "0-1", 0, "", "K009"},
		{"0-15", "strict", "0-1", 8192, "", "K009"},
		{"0-7", "interleave", "0-1", 4096, "K003 high", "K009"},
		{"0-7", "strict", "1", 8192, "K003 high", "K009"},
	} {
		got := judged(t, "nodes=2 cores=8 threads=8 memory=64GB", "domains/a.xml", pinned(c.cpus, c.mode, c.nodes), "numastat.txt", fmt.Sprintf(stat, 8192-c.on, c.on), "pids.txt", "4242 a\n")
		if !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s, %s %s, %d MB on node 1: found %s", c.cpus, c.mode, c.nodes, c.on, got)
		}
	}
}

// TestPinsToMemory: memory is not moved to a node that has none: the vCPUs go where it is.
func TestPinsToMemory(t *testing.T) {
	got := judged(t, "nodes=2 cores=8 threads=8 nodeMemory=128GB,0", "domains/a.xml", pinned("8-15", "strict", "0"))
	if !strings.Contains(got, "; Pin vCPUs 0-3 to node 0") {
		t.Errorf("found %s", got)
	}
}

// TestProcessorBits: the processor of the guest has as many address bits as it is limited to, and a small VM needs few of them.
func TestProcessorBits(t *testing.T) {
	const domain = "<domain type='kvm'><name>a</name><memory unit='GiB'>%d</memory><vcpu>4</vcpu><os><type arch='x86_64' machine='pc-q35-7.2'>hvm</type></os><cpu mode='host-passthrough'>%s</cpu></domain>"
	for _, c := range []struct {
		gb      int
		bits    string
		refused bool
	}{
		{1024, "<maxphysaddr mode='passthrough' limit='39'/>", true},
		{1024, "<maxphysaddr mode='passthrough' limit='42'/>", false},
		{8, "<maxphysaddr mode='passthrough' limit='39'/>", false},
		{8, "<maxphysaddr mode='emulate' bits='39'/>", false},
		{1024, "<maxphysaddr mode='passthrough'/>", false},
	} {
		if got := judged(t, "nodes=2 cores=8 threads=8 memory=4TB", "domains/a.xml", fmt.Sprintf(domain, c.gb, c.bits)); strings.Contains(got, "address bits") != c.refused {
			t.Errorf("%d GB, %s: found %s", c.gb, c.bits, got)
		}
	}
}

// TestMainframe: machines of s390x have no NUMA nodes.
func TestMainframe(t *testing.T) {
	const domain = "<domain type='kvm'><name>a</name><memory unit='GiB'>8</memory><vcpu>4</vcpu><os><type arch='s390x' machine='s390-ccw-virtio-7.2'>hvm</type></os>%s</domain>"
	const cells = "<cpu><numa><cell id='0' cpus='0-3' memory='8' unit='GiB'/></numa></cpu>"
	for _, c := range []string{"", cells} {
		if got := judged(t, "nodes=2 cores=8 threads=8 memory=64GB", "domains/a.xml", fmt.Sprintf(domain, c)); strings.Contains(got, "machines of s390x have not") != (c != "") {
			t.Errorf("%q: found %s", c, got)
		}
	}
}
