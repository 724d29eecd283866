package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/rules"
	"example.org/homenode/source/kvm"
)

// TestSoftMemory: memory that should come from a node, and does not have to, is counted against it; advice names only room that there is.
func TestSoftMemory(t *testing.T) {
	const host = "nodes=2 cores=16 threads=32 memory=256GB"
	one := func(name string, gb int, tune string) string {
		return fmt.Sprintf("<domain type='kvm'><name>%s</name><memory unit='GiB'>%d</memory><vcpu cpuset='0-15'>8</vcpu>%s<features><acpi/></features><cpu><topology sockets='1' cores='8' threads='1'/></cpu></domain>", name, gb, tune)
	}
	tune := func(mode string) string { return "<numatune><memory mode='" + mode + "' nodeset='0'/></numatune>" }
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{"a.xml", one("a", 100, tune("preferred")), "b.xml", one("b", 100, tune("preferred"))}, "K017 medium 200 GB of memory should come from node 0 of kvm01, where it is preferred or its vCPUs are pinned, and 128 GB is there: 72 GB come from other nodes: that of a, b; Bind VMs with at least 72 GB of it to another node"},
		{[]string{"a.xml", one("a", 60, tune("preferred")), "b.xml", one("b", 100, "")}, "160 GB of memory should come from node 0"},
		{[]string{"a.xml", one("a", 60, tune("strict")), "b.xml", one("b", 100, "")}, "160 GB of memory should come from node 0"},
		{[]string{"a.xml", one("a", 28, tune("preferred")), "b.xml", one("b", 100, "")}, ""},
		{[]string{"a.xml", one("a", 100, tune("strict")), "b.xml", one("b", 100, tune("strict"))}, "K017 high 200 GB of memory is bound to node 0"},
		{[]string{"a.xml", one("a", 100, ""), "b.xml", one("b", 100, ""), "c.xml", one("c", 100, "")}, "Run VMs with at least 100 GB of it on another host, and bind 100 GB to other nodes of this"},
		{[]string{"a.xml", one("a", 100, ""), "b.xml", one("b", 100, ""), "c.xml", strings.NewReplacer("type='kvm'", "type='kvm' id='1'", "0-15", "16-31").Replace(one("c", 100, ""))}, "Run VMs with at least 100 GB of it on another host: no other node with CPUs has room for it"},
	} {
		got := ""
		for line := range strings.Lines(judged(t, host, c.files...)) {
			if strings.HasPrefix(line, "K017") {
				got += line
			}
		}
		if (got != "") != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: found %s, want %s", c.files, got, c.want)
		}
	}
}

// TestSocketsInCells: the advice for sockets in several cells is not what is so already, and is true: after it no socket is in several.
func TestSocketsInCells(t *testing.T) {
	in := func(vcpus int, topology, first, second string) string {
		return fmt.Sprintf("<domain type='kvm'><name>a</name><memory unit='GiB'>8</memory><vcpu>%d</vcpu><features><acpi/></features><cpu><topology %s/><numa><cell id='0' cpus='%s' memory='4' unit='GiB'/><cell id='1' cpus='%s' memory='4' unit='GiB'/></numa></cpu></domain>",
			vcpus, topology, first, second)
	}
	for _, c := range []struct{ in, want, cured string }{
		{in(24, "sockets='1' cores='24' threads='1'", "0-11", "12-23"), "K008", strings.Replace(in(24, "sockets='1' cores='24' threads='1'", "0-11", "12-23"), "<numa>", "<cache mode='disable'/><numa>", 1)},
		{in(24, "sockets='1' cores='24' threads='1'", "0-11", "12-23"), "State a socket, or a die, for each cell", in(24, "sockets='2' cores='12' threads='1'", "0-11", "12-23")},
		{in(24, "sockets='2' cores='12' threads='1'", "0-5,12-17", "6-11,18-23"), "; List vCPUs 0-11 in cell 0 and vCPUs 12-23 in cell 1\n", in(24, "sockets='2' cores='12' threads='1'", "0-11", "12-23")},
		{in(24, "sockets='1' cores='24' threads='1'", "0-5,12-17", "6-11,18-23"), "List vCPUs 0-11 in cell 0 and vCPUs 12-23 in cell 1, and state a socket for each cell", in(24, "sockets='2' cores='12' threads='1'", "0-11", "12-23")},
		{in(8, "sockets='2' cores='2' threads='2'", "0,2,4,6", "1,3,5,7"), "the threads of core 0, vCPUs 0 and 1, are in cells 0 and 1; List vCPUs 0-3 in cell 0 and vCPUs 4-7 in cell 1\n", in(8, "sockets='2' cores='2' threads='2'", "0-3", "4-7")},
		{in(24, "sockets='1' cores='12' threads='2'", "0-10", "11-23"), "the threads of core 5, vCPUs 10 and 11, are in cells 0 and 1; List vCPUs 0-11 in cell 0 and vCPUs 12-23 in cell 1, and state a socket", in(24, "sockets='2' cores='6' threads='2'", "0-11", "12-23")},
		{in(10, "sockets='1' cores='5' threads='2'", "0-4", "5-9"), "Use a number of vCPUs that is a multiple of 4, with as many in each cell, and a socket for each cell", in(12, "sockets='2' cores='3' threads='2'", "0-5", "6-11")},
	} {
		const host = "nodes=2 cores=32 memory=512GB"
		if got := judged(t, host, "a.xml", c.in); !strings.Contains(got, "K008") || !strings.Contains(got, c.want) {
			t.Errorf("%s: found %s, want %s", c.in, got, c.want)
		}
		if got := judged(t, host, "a.xml", c.cured); strings.Contains(got, "K008") {
			t.Errorf("%s: found %s", c.cured, got)
		}
	}
}

// TestPlatformRefuses: what Proxmox, QEMU and libvirt refuse on a host is said, and advice names only nodes that there are.
func TestPlatformRefuses(t *testing.T) {
	const host, slow = "nodes=2 cores=16 threads=32 memory=256GB", "<capabilities><host><cpu><arch>x86_64</arch></cpu><topology><cells num='2'>" +
		"<cell id='0'><memory unit='GiB'>64</memory><distances><sibling id='0' value='10'/><sibling id='1' value='20'/></distances><cpus><cpu id='0' socket_id='0' core_id='0' siblings='0'/><cpu id='1' socket_id='0' core_id='1' siblings='1'/></cpus></cell>" +
		"<cell id='1'><memory unit='GiB'>64</memory><distances><sibling id='0' value='20'/><sibling id='1' value='10'/></distances><cpus/></cell></cells></topology></host></capabilities>"
	qemu := func(rest string) string {
		return "-machine pc-q35-7.2 -cpu host -m 32G -smp 16,sockets=2,cores=8 -object memory-backend-ram,id=m0,size=16G -object memory-backend-ram,id=m1,size=16G -numa node,nodeid=0,cpus=0-15,memdev=m0 -numa node,nodeid=1,memdev=m1" + rest
	}
	xml := func(kind, arch, rest string) string {
		return "<domain type='" + kind + "'><name>a</name><memory unit='GiB'>4</memory><vcpu>2</vcpu><os><type arch='" + arch + "'>hvm</type></os>" + rest + "<features><acpi/></features><cpu><topology sockets='1' cores='2' threads='1'/></cpu></domain>"
	}
	pages := "numa: 1\nsockets: 4\ncores: 2\nmemory: 8192\nhugepages: 2\n"
	for _, c := range []struct{ host, file, in, want, not string }{
		{host, "1.conf", pages, "K013 high hugepages of socket 2 are reserved on node 2, which kvm01 has not: Proxmox does not start the VM; Use at most 2 sockets, or state numa0", ""},
		{host, "1.conf", strings.Replace(pages, "sockets: 4", "sockets: 2", 1), "", "K013"},
		{host, "1.conf", strings.Replace(pages, "hugepages: 2\n", "", 1), "", "K013"},
		{host, "1.conf", "numa: 1\nsockets: 2\ncores: 8\nmemory: 32768\nnuma0: cpus=0-7,hostnodes=0,memory=16384,policy=bind\nnuma1: cpus=8-15,hostnodes=5,memory=16384,policy=bind\n", "memory is bound to node 5, which kvm01 has not", "nodes 0, 5"},
		{host, "1.conf", "name: p\ncores: 4\n", "", "K013"},
		{host, "1.conf", "numa: 1\ncores: 16\nmemory: 32768\nnuma0: cpus=0-7,memory=16384\nnuma1: cpus=8-15,memory=16384\n", "K008 medium socket 0 lies in cells 0 and 1, which are not its dies; State a socket for each cell", ""},
		{host, "a.args", strings.NewReplacer("sockets=2,cores=8", "sockets=1,modules=2,cores=8", "cpus=0-15", "cpus=0-7", "nodeid=1", "nodeid=1,cpus=8-15").Replace(qemu("")), "K008 medium socket 0 lies in cells 0 and 1", ""},
		{host, "a.args", strings.NewReplacer("sockets=2,cores=8", "sockets=1,modules=2,cores=8", "cpus=0-15", "cpus=0-7", "nodeid=1", "nodeid=1,cpus=8-15", "q35-7.2", "q35-10.0,smp-cache.0.cache=l3,smp-cache.0.topology=module").Replace(qemu("")), "", "K008"},
		{host, "a.args", "-M virt -m 4G -smp 16,sockets=1,dies=2,cores=8", "K013 high 2 dies of a socket, which the machine type virt has not: QEMU refuses it", ""},
		{host, "a.args", "-M q35 -m 4G -smp 16,sockets=1,dies=2,cores=8", "", "K013"},
		{slow, "a.xml", strings.Replace(xml("qemu", "aarch64", ""), "cores='2'", "dies='2' cores='1'", 1), "K013 high 2 dies of a socket, which the machine type aarch64 has not", ""},
		{slow, "a.xml", strings.NewReplacer(">2</vcpu>", ">9</vcpu>", "cores='2'", "cores='9'", "<acpi/>", "<acpi/><gic version='2'/>").Replace(xml("qemu", "aarch64", "")), "K013 high 9 vCPUs, and an interrupt controller (gic) of version 2, which has 8 at most", ""},
		{host, "a.xml", xml("kvm", "x86_64", "<cputune><vcpupin vcpu='0' cpuset='0'/><emulatorpin cpuset='0'/><vcpusched vcpus='0' scheduler='fifo' priority='1'/></cputune>"), "K010 high CPU 0 of the host: the other threads of QEMU may run there and nowhere else", ""},
		{host, "a.xml", xml("kvm", "x86_64", "<cputune><vcpupin vcpu='0' cpuset='0'/><emulatorpin cpuset='0'/></cputune>"), "K010 low CPU 0 of the host: the other threads of QEMU may run there and nowhere else", ""},
		{host, "a.xml", xml("kvm' id='3", "x86_64", "<cputune><vcpupin vcpu='0' cpuset='0-3,99'/><emulatorpin cpuset='0-1,99'/></cputune>"), "K013 low vCPU 0 is pinned to CPUs 99, which kvm01 has not", "K013 high"},
		{host, "a.xml", xml("kvm' id='3", "x86_64", "<cputune><vcpupin vcpu='0' cpuset='0-3,99'/><vcpupin vcpu='1' cpuset='98'/></cputune>"), "K013 high vCPU 1 is pinned to CPUs 98, which kvm01 has not", "K013 low"},
		{host, "a.xml", xml("kvm", "x86_64", "<cputune><vcpupin vcpu='0' cpuset='0-3,99'/></cputune>"), "K013 high vCPU 0 is pinned to CPUs 99, which kvm01 has not", ""},
		{host, "a.xml", xml("kvm", "x86_64", "<maxMemory slots='257' unit='GiB'>64</maxMemory>"), "K013 high maxMemory has 257 slots: QEMU starts 256 at most", ""},
		{host, "a.args", qemu(",initiator=0"), "K013 high -numa states an initiator, latencies or caches, and -machine states no hmat=on: QEMU refuses it", ""},
		{host, "a.args", qemu(",initiator=0 -machine hmat=on"), "", "QEMU refuses"},
		{host, "a.args", qemu(" -machine hmat=on"), "K013 high hmat=on, and node 1 has neither vCPUs nor an initiator", ""},
		{host, "a.args", qemu(" -numa hmat-cache,node-id=0,size=10K,level=1,associativity=direct,policy=write-back,line=8"), "states no hmat=on", ""},
		{host, "a.args", strings.Replace(qemu(""), "id=m1", "id=m0", 1), `K013 high the memory backend "m0" has no id of its own: QEMU refuses it`, ""},
		{host, "a.args", strings.Replace(qemu(""), "id=m1", "id=m1,host-nodes=0,policy=strict", 1), "K013 high the memory backend m1 has the policy strict, but QEMU accepts only default, preferred, bind and interleave", ""},
		{host, "a.xml", xml("kvm", "x86_64", "<memoryBacking><hugepages/><source type='anonymous'/></memoryBacking>"), `K013 high type of <source> is "anonymous", want file, memfd: libvirt refuses it`, ""},
		{host, "a.xml", xml("kvm", "x86_64", "<devices><iommu model='foo'/></devices>"), `K013 high model of <iommu> is "foo", want intel, smmuv3, virtio, amd: libvirt refuses it`, ""},
		{host, "a.xml", xml("kvm", "x86_64", "<devices><controller type='pci' index='1' model='pci-bridge'/><controller type='pci' index='1' model='pci-bridge'/></devices>"), "K013 high two <controller> have the same type, index: libvirt refuses it", ""},
		{host, "a.xml", xml("kvm", "x86_64", "<devices><controller type='scsi'/><controller type='scsi'/><controller type='usb' index='1'/><controller type='pci' index='1' model='pci-bridge'/></devices>"), "", "K013"},
		{host, "a.xml", xml("kvm", "x86_64", "<maxMemory slots='2' unit='GiB'>64</maxMemory><devices><memory model='nvdimm'><source><path>/n</path></source><target><size unit='GiB'>1</size><node>0</node><label><size unit='KiB'>64</size></label></target></memory></devices>"), `K013 high size of <label> is "64", want a number from 128 on: libvirt refuses it`, ""},
		{host, "a.args", "-machine pc-q35-7.2 -cpu host -m 32G -smp 8 -smp 16,sockets=2", "", "K013"},
		{slow, "a.xml", xml("kvm", "aarch64", ""), "K013 high it is of aarch64 and its host of x86_64, which does not run it", ""},
		{slow, "a.xml", xml("qemu", "aarch64", ""), "", "K013"},
		{slow, "a.xml", xml("kvm", "x86_64", "<numatune><memory mode='strict' nodeset='1'/></numatune>"), "K003 low the memory of cell 0 (4 GB) is on node 1 of kvm01, which has no CPUs and is closest to node 0, and its vCPUs run anywhere", ""},
		{slow, "a.xml", xml("kvm", "x86_64", "<numatune><memory mode='strict' nodeset='0'/></numatune>"), "", "K003"},
	} {
		got := judged(t, c.host, c.file, c.in)
		if !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: found %s, want %s, not %s", c.in, got, c.want, c.not)
		}
	}
}

// TestModulesBeside: libvirt adds memory modules to the memory of the VM, whether it is stated with them or without. That memory can be added explains
// nothing else: what was added is among the devices.
func TestModulesBeside(t *testing.T) {
	for gb, found := range map[int]bool{64: false, 65: false, 66: true, 33: true} {
		in := fmt.Sprintf("<domain type='kvm'><name>a</name><maxMemory slots='4' unit='GiB'>256</maxMemory><memory unit='GiB'>%d</memory><vcpu>8</vcpu><features><acpi/></features><cpu><topology sockets='2' cores='4' threads='1'/><numa>"+
			"<cell id='0' cpus='0-3' memory='32' unit='GiB'/><cell id='1' cpus='4-7' memory='32' unit='GiB'/></numa></cpu><devices><memory model='dimm'><target><size unit='GiB'>1</size><node>0</node></target></memory></devices></domain>", gb)
		if got := judged(t, "nodes=2 cores=16 memory=256GB", "a.xml", in); strings.Contains(got, "K005") != found {
			t.Errorf("%d GB: found %s", gb, got)
		}
		for _, node := range []string{"", "<node>5</node>"} { // of no cell: K013 alone
			if got := judged(t, "nodes=2 cores=16 memory=256GB", "a.xml", strings.Replace(in, "<node>0</node>", node, 1)); !strings.Contains(got, "K013") || strings.Contains(got, "K005") != found {
				t.Errorf("%d GB, node %q: found %s", gb, node, got)
			}
		}
	}
}

// TestOneTooFar: a list of CPUs goes one too far only where it begins as a node of so many CPUs does.
func TestOneTooFar(t *testing.T) {
	for cpus, found := range map[string]bool{"0-10": true, "10-20": true, "13-23": false, "1-11": false} {
		fleet, err := kvm.ReadBytes("a.xml", []byte("<domain type='kvm'><name>a</name><memory unit='GiB'>4</memory><vcpu cpuset='"+cpus+"'>10</vcpu></domain>"))
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(rules.Run(fleet, rules.Options{}).Findings)
		if strings.Contains(got, "one too far") != found {
			t.Errorf("%s: found %s", cpus, got)
		}
	}
}

// TestSoftPages: huge pages that should come from a node and may come from others are counted for all VMs of the node.
func TestSoftPages(t *testing.T) {
	one := func(name, mode string, gb int) string {
		return fmt.Sprintf("<domain type='kvm'><name>%s</name><memory unit='GiB'>%d</memory><vcpu cpuset='0-15'>4</vcpu><memoryBacking><hugepages><page size='1' unit='GiB'/></hugepages></memoryBacking><numatune><memory mode='%s' nodeset='0'/></numatune>"+
			"<features><acpi/></features><cpu><topology sockets='1' cores='4' threads='1'/></cpu></domain>", name, gb, mode)
	}
	for _, c := range []struct{ a, b, want string }{
		{one("a", "strict", 150), one("b", "strict", 150), "from node 0, and 100 are reserved there; Take memory of them from other nodes, or run them on another host: node 0 has 256 GB"},
		{one("a", "preferred", 60), one("b", "preferred", 60), "K016 medium cell 0 and b take 120 pages of 1 GB from node 0, and 100 are reserved there"},
		{one("a", "preferred", 60), one("b", "strict", 60), "K016 medium cell 0 and b take 120 pages of 1 GB"},
		{one("a", "strict", 60), one("b", "strict", 60), "K016 high cell 0 and b take 120 pages of 1 GB"},
		{one("a", "preferred", 40), one("b", "preferred", 60), ""},
	} {
		if got := judged(t, "nodes=2 cores=16 memory=512GB pages=100,100", "a.xml", c.a, "b.xml", c.b); strings.Contains(got, "K016") != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: found %s, want %s", c.a, c.b, got, c.want)
		}
	}
}

// TestNumactl: what numactl states for the command of QEMU holds for its vCPUs and its memory, and backends with nodes of their own keep them.
func TestNumactl(t *testing.T) {
	const host = "nodes=2 cores=16 threads=32 memory=256GB"
	for _, c := range []struct{ wrap, options, want string }{
		{"numactl --cpunodebind=0 --membind=0", "", ""},
		{"numactl -N 0 -m 1", "", "K003 high the vCPUs of cell 0 run on node 0 of kvm01, and its 16 GB come from node 1"},
		{"numactl -N0 -m1", "", "its 16 GB come from node 1"},
		{"numactl -C 0-15 --preferred=1", "", "its 16 GB come from node 1"},
		{"numactl --interleave=all", "", "K003 medium the memory of cell 0 (16 GB) is interleaved over nodes 0-1"},
		{"numactl --membind=0", "", "K007 medium its 8 vCPUs may run on nodes 0-1 of kvm01"},
		{"numactl -N 5 -m 0", "", "K013 high numactl names the CPUs of node 5, which kvm01 has not"},
		{"numactl -N 0 -m 1", "-object memory-backend-ram,id=m,size=16G,host-nodes=0,policy=bind -numa node,cpus=0-7,memdev=m", ""},
		{"numactl --all -N 0", "", ""},
		{"env A=1", "", ""},
	} {
		in := "root 12 1 0 ? " + c.wrap + " /usr/bin/qemu-system-x86_64 -name v -machine pc-q35-7.2 -cpu host -m 16G -smp 8,sockets=1,cores=8 " + c.options + "\n"
		if got := judged(t, host, "ps.args", in); (got != "") != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: found %s, want %s", in, got, c.want)
		}
	}
}

// TestOnceOnHost: of two definitions of one UUID, or of one name, libvirt takes one on a host; both are judged.
func TestOnceOnHost(t *testing.T) {
	one := func(name, uuid string) string {
		return "<domain type='kvm'><name>" + name + "</name><uuid>11111111-2222-3333-4444-55555555550" + uuid + "</uuid><memory unit='GiB'>4</memory><vcpu>2</vcpu><features><acpi/></features><cpu><topology sockets='1' cores='2' threads='1'/></cpu></domain>"
	}
	for _, c := range []struct{ a, b, want string }{
		{one("a", "1"), one("b", "1"), "K013 high a (kvm/kvm01/a.xml:1) has the same UUID: libvirt refuses the second on a host"},
		{one("a", "1"), one("a", "2"), "K013 high a (kvm/kvm01/a.xml:1) has the same name: libvirt refuses the second on a host"},
		{one("a", "1"), one("a", "1"), ""},
		{one("a", "1"), one("b", "2"), ""},
	} {
		if got := judged(t, "nodes=2 cores=16 memory=256GB", "a.xml", c.a, "b.xml", c.b); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s %s: found %q, want %q", c.a, c.b, got, c.want)
		}
	}
}
