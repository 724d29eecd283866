package kvm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/source/qemu"
)

// TestForms: each form of a definition makes a layout, and what its platform refuses is a stray that says so.
func TestForms(t *testing.T) {
	const nodes = "memory: 2048\nsockets: 2\nnuma: 1\nnuma0: cpus=0,memory=1024\nnuma1: cpus=1,memory=1024\n"
	const vmi = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata:\n  name: a\nspec:\n  template:\n    spec:\n      domain:\n        memory:\n          guest: 4Gi\n        cpu:\n          cores: 4\n          maxSockets: 4\n"
	const cell = "<cpu><numa><cell id='0' cpus='0-1' memory='4' unit='GiB'/></numa></cpu>"
	const module = "<devices><memory model='dimm'><target><size unit='GiB'>2</size><node>0</node></target></memory></devices>"
	domain := func(memory, most string) string {
		return "<domain type='kvm'>" + most + "<memory unit='GiB'>" + memory + "</memory><vcpu>2</vcpu>"
	}
	const bare = "kind: VirtualMachine\nspec:\n  template:\n    spec:\n      domain:\n        devices: {}\n"
	grows := func(requested, block int) string {
		return domain("104", "<maxMemory slots='1' unit='GiB'>200</maxMemory>") + cell + strings.NewReplacer("dimm", "virtio-mem", ">2<", ">100<", "</target>",
			fmt.Sprintf("<block unit='KiB'>%d</block><requested unit='KiB'>%d</requested></target>", block, requested)).Replace(module) + "</domain>"
	}
	plugged := func(most, device string) string {
		return "-m 2G,slots=4,maxmem=8G," + most + " -smp 4,sockets=2 -object memory-backend-ram,id=a,size=1G,host-nodes=3,policy=bind -object memory-backend-ram,id=b,size=1G " +
			"-object memory-backend-ram,id=d,size=2G -numa node,cpus=0-1,memdev=a -numa node,cpus=2-3,memdev=b -device " + device
	}
	tuned := func(in string) string { return "<iothreads>2</iothreads><cputune>" + in + "</cputune></domain>" }
	commands := func(args ...string) string {
		out := "<qemu:commandline>"
		for _, a := range args {
			out += "<qemu:arg value='" + a + "'/>"
		}
		return out + "</qemu:commandline>"
	}
	const eim = "<iommu model='intel'><driver intremap='on' eim='on'/></iommu>"
	many := func(machine string, vcpus int, more string) string { // more is of the processor, or a device
		inside, devices := more, ""
		if strings.HasPrefix(more, "<iommu") {
			inside, devices = "", "<devices>"+more+"</devices>"
		}
		return fmt.Sprintf("<domain type='kvm'><memory unit='GiB'>2</memory><vcpu>%d</vcpu><os><type machine='%s'>hvm</type></os><cpu mode='host-model'>%s</cpu>%s</domain>", vcpus, machine, inside, devices)
	}
	pci := func(machine, root, more string) string { // more: the kind of expander bus, and two bus numbers
		controllers := "<controller type='pci' index='0' model='" + root + "'/>"
		if f := strings.Fields(more); len(f) > 0 {
			for i, number := range f[1:] {
				controllers += fmt.Sprintf("<controller type='pci' index='%d' model='%s-expander-bus'><target busNr='%s'/></controller>", i+1, f[0], number)
			}
		}
		return strings.Replace(many(machine, 8, ""), "</domain>", "<devices>"+controllers+"</devices></domain>", 1)
	}
	for _, tt := range []struct{ name, in, shape, stray string }{
		{"a.args", "-m 2G -smp 4,sockets=2 -object memory-backend-ram,id=a,size=1G,host-nodes=3,policy=bind -object memory-backend-ram,id=b,size=1G -numa node,cpus=0-1,memdev=a -numa node,cpus=2-3,memdev=b", "4 of 4 in [2 2], 2 GB, bound to [3]", ""},
		{"a.xml", domain("2", "") + "<numatune><memory mode='strict' placement='auto' nodeset='0'/></numatune></domain>", "2 of 2 in [2], 2 GB, bound to []", ""},
		{"a.xml", domain("2", "") + "<memoryBacking><hugepages><page size='4' unit='KiB'/></hugepages></memoryBacking></domain>", "2 of 2 in [2], 2 GB, bound to []", ""},
		{"101.conf", "memory: 32768\nsockets: 3\ncores: 4\nnuma: 1\n", "12 of 12 in [4 4 4], 32 GB, bound to []", "32768 MiB over 3 sockets, which leaves a fraction: QEMU does not start the VM; use memory that is a multiple of 3 MiB, or state numa0 to numa2 refused=true"},
		{"101.conf", "memory: 32766\nsockets: 6\ncores: 4\nnuma: 1\n", "24 of 24 in [4 4 4 4 4 4], 32.0 GB, bound to []", ""},
		{"101.conf", "memory: 8191\nsockets: 2\ncores: 4\nnuma: 1\n", "8 of 8 in [4 4], 8.0 GB, bound to []", ""},
		{"101.conf", "memory: 6144\nsockets: 3\ncores: 4\nnuma: 1\nhotplug: memory,disk\n", "", "1024 MiB over 3 sockets"},
		{"a.args", "-m 2G -smp 2 -object memory-backend-ram,id=a,size=2G,host-nodes=1 -numa node,cpus=0-1,memdev=a", "2 of 2 in [2], 2 GB, bound to [1]", "has host-nodes and no policy"},
		{"a.args", "-m 2G -smp 2 -object memory-backend-ram,id=a,size=2G -numa node,cpus=0-1,memdev=b", "", "node 0 has the memory backend b, which there is not: QEMU refuses it refused=true"},
		{"a.args", "-m 2G -smp 2 -object memory-backend-ram,id=a,size=2G,policy=bind -numa node,cpus=0-1,memdev=a", "", "and no host-nodes"},
		{"a.args", "-m 2G -smp 2 -numa node,cpus=0-1,mem=2G -machine pc-q35-7.2,accel=kvm", "2 of 2 in [2], 2 GB, bound to []", "the machine type pc-q35-7.2: machine types from 5.1 on refuse it, and want memdev= refused=true"},
		{"a.args", "-M q35 -m 2G -smp 2 -numa node,cpus=0-1,mem=2G", "", "releases of QEMU from 5.1 on refuse it, and want memdev= refused=true"},
		{"a.args", "-M virt -m 2G -smp 2 -numa node,cpus=0-1,mem=2G", "", "and want memdev= refused=true"},
		{"a.args", "-machine pseries-5.2 -m 2G -smp 2 -numa node,cpus=0-1,mem=2G", "", "and want memdev= refused=true"},
		{"a.args", "-m 2G -smp 2 -numa node,cpus=0-1,mem=2G", "", "no machine type stated: releases of QEMU from 5.1 on refuse it, and want memdev= refused=false"},
		{"a.args", "-machine type=pc-i440fx-5.0 -m 2G -smp 2 -numa node,cpus=0-1,mem=2G", "2 of 2 in [2], 2 GB, bound to []", ""},
		{"a.args", plugged("", "pc-dimm,id=x,memdev=d,node=1"), "4 of 4 in [2 2], 4 GB, bound to [3]", ""},
		{"a.args", plugged("", `'{"driver":"pc-dimm","id":"x","memdev":"d","node":1}'`), "4 of 4 in [2 2], 4 GB, bound to [3]", ""},
		{"a.args", plugged("", "pc-dimm,driver=e1000"), "4 of 4 in [2 2], 2 GB, bound to [3]", ""},
		{"a.args", plugged("", `'{"driver":"e1000","x":{"driver":"pc-dimm"}}'`), "4 of 4 in [2 2], 2 GB, bound to [3]", ""},
		{"a.args", plugged("", "nvdimm,memdev=d"), "4 of 4 in [2 2], 2 GB, bound to [3]", ""},
		{"a.args", plugged("", "virtio-mem-pci,memdev=d,node=1,requested-size=1G,block-size=2M"), "4 of 4 in [2 2], 3 GB, bound to [3]", ""},
		{"a.args", plugged("", "virtio-mem-pci,memdev=d,node=1,requested-size=1025M,block-size=2M"), "", "the requested size of 1049600 KiB is no whole blocks of 2048 KiB: it is refused refused=true"},
		{"a.args", plugged("", "pc-dimm,memdev=d,node=5"), "4 of 4 in [2 2], 2 GB, bound to [3]", "memory device (dimm, 2 GB): there is no node 5, the VM has 2 nodes: QEMU refuses it refused=true"},
		{"a.args", plugged("", "pc-dimm,memdev=e"), "", "memory device (dimm): the memory backend e does not exist: QEMU refuses it refused=true"},
		{"a.args", plugged("", "pc-dimm,memdev=b"), "", "the memory backend b of a memory device (dimm) is used twice: QEMU refuses it refused=true"},
		{"a.args", plugged("maxmem=3G", "pc-dimm,memdev=d"), "", "memory devices of 2 GB and 2 GB of memory exceed maxmem (3 GB): QEMU refuses it refused=true"},
		{"a.args", plugged("slots=0", "pc-dimm,memdev=d"), "", "1 memory module, but -m has 0 slots: QEMU refuses it refused=true"},
		{"a.args", strings.Replace(plugged("", "pc-dimm,memdev=d"), ",slots=4,maxmem=8G,", ",", 1), "", "memory devices need maxmem in -m: QEMU refuses it refused=true"},
		{"a.args", plugged("maxmem=1G", "virtio-net-pci,netdev=n"), "", "maxmem of 1 GB is below the memory of 2 GB: QEMU refuses it refused=true"},
		{"a.args", plugged("", `'{"driver":"virtio-net-pci","netdev":"n"'`), "4 of 4 in [2 2], 2 GB, bound to [3]", ""}, // devices that are not read are not looked at
		{"a.args", "-m 2G,slots=1,maxmem=8G -smp 2 -object memory-backend-ram,id=d,size=2G,host-nodes=1,policy=bind -device pc-dimm,memdev=d", "2 of 2 in [2], 4 GB, bound to []", ""},
		{"a.args", "qemu-system-x86_64 -machine pc-q35-7.2 -m 2G -smp 288", "288 of 288 in [288], 2 GB, bound to []", ""},
		{"a.args", "qemu-system-x86_64 -machine pc-q35-7.2 -m 2G -smp 8,maxcpus=289,sockets=289", "", "289 vCPUs, and the machine type pc-q35-7.2 has at most 288 (1024 from 8.1, 4096 from 9.0): QEMU refuses it refused=true"},
		{"a.args", "qemu-system-x86_64 -machine pc-q35-8.2 -m 2G -smp 1000", "1000 of 1000 in [1000], 2 GB, bound to []", ""},
		{"a.args", "qemu-system-x86_64 -m 2G -smp 256", "", "the machine type pc, which is taken where none is stated, has at most 255: QEMU refuses it refused=true"},
		{"a.args", "-m 2G -smp 256", "256 of 256 in [256], 2 GB, bound to []", ""}, // options without a command
		{"a.args", "qemu-kvm -machine pc-q35-rhel9.0.0 -m 2T -smp 400", "400 of 400 in [400], 2 TB, bound to []", ""},
		{"a.args", "qemu-system-x86_64 -machine pc-q35-8.2 -m 990G -smp 2", "2 of 2 in [2], 990 GB, bound to []", ""},
		{"a.args", "qemu-system-x86_64 -machine pc-q35-8.2 -m 991G -smp 2", "", "991 GB of memory need 41 address bits, and the processor has 40"},
		{"a.args", "qemu-system-x86_64 -machine pc-q35-8.2 -m 2G,slots=1,maxmem=2T -smp 2", "", "2 TB of memory need 42 address bits"},
		{"a.args", "qemu-system-x86_64 -machine pc-q35-8.2 -cpu host -m 2T -smp 2", "2 of 2 in [2], 2 TB, bound to []", ""},
		{"a.args", "qemu-system-x86_64 -machine pc-q35-8.2 -cpu EPYC,phys-bits=41 -m 2T -smp 2", "", "need 42 address bits, and the processor has 41"},
		{"a.conf", "cores: 128\nsockets: 2\nmemory: 2048\n", "", "256 vCPUs, and the machine type pc, which is taken where none is stated, has at most 255"},
		{"a.conf", "cores: 128\nsockets: 2\nmemory: 2048\nmachine: q35,viommu=intel\n", "256 of 256 in [256], 2 GB, bound to []", ""},
		{"a.conf", "cores: 8\nmemory: 1048576\ncpu: x86-64-v2-AES\n", "", "1 TB of memory need 41 address bits"},
		{"a.conf", "cores: 8\nmemory: 1048576\ncpu: cputype=EPYC,phys-bits=host\n", "8 of 8 in [8], 1 TB, bound to []", ""},
		{"a.xml", many("pc-q35-7.2", 289, eim), "", "289 vCPUs, and the machine type pc-q35-7.2 has at most 288"},
		{"a.xml", many("pc-q35-7.2", 288, eim), "288 of 288 in [288], 2 GB, bound to []", ""},
		{"a.xml", many("pc-q35-9.1", 288, ""), "", "288 vCPUs, and no virtual IOMMU with extended interrupt mode (eim='on'): libvirt before 10.10 refuses more than 255 without; newer releases add it refused=true"},
		{"a.xml", strings.Replace(many("pc-q35-7.2", 288, ""), "type='kvm'", "type='kvm' id='1'", 1), "288 of 288 in [288], 2 GB, bound to []", ""}, // it runs
		{"a.xml", many("pc-i440fx-9.0", 8, eim), "", "a virtual IOMMU (intel) on the machine type pc-i440fx-9.0: QEMU has it for q35 alone refused=true"},
		{"a.xml", pci("pc-i440fx-7.2", "pcie-root", ""), "", "a PCI controller pcie-root (index 0) on the machine type pc-i440fx-7.2, whose first is pci-root: libvirt refuses it refused=true"},
		{"a.xml", pci("pc-q35-7.2", "pci-root", ""), "", "a PCI controller pci-root (index 0) on the machine type pc-q35-7.2, whose first is pcie-root: libvirt refuses it refused=true"},
		{"a.xml", pci("pc-q35-7.2", "pcie-root", "pcie 250 240"), "8 of 8 in [8], 2 GB, bound to []", ""},
		{"a.xml", pci("pc-q35-7.2", "pcie-root", "pcie 250 250"), "", "two PCI controllers have the bus number (busNr) 250: QEMU refuses it refused=true"},
		{"a.xml", pci("pc-i440fx-7.2", "pci-root", "pci 250 250"), "", "two PCI controllers have the bus number (busNr) 250: QEMU refuses it refused=true"},
		{"a.xml", pci("pc-i440fx-7.2", "pci-root", "pcie 250 240"), "", "a PCI controller pcie-expander-bus (index 1) on the machine type pc-i440fx-7.2, whose first is pci-root: libvirt refuses it refused=true"},
		{"a.xml", pci("pc-q35-7.2", "pcie-root", "pcie 255 240"), "", "refused=true"},
		{"a.xml", domain("4", "<maxMemory slots='1' unit='GiB'>8</maxMemory>") + cell + strings.NewReplacer("dimm", "nvdimm", "<target>", "<source><path>/nv</path></source><target><label><size unit='GiB'>2</size></label>").Replace(module) + "</domain>", "", "the label of a memory device (nvdimm) is not smaller than its 2 GB: libvirt refuses it (asked: 9.0.0) refused=true"},
		{"a.xml", strings.Replace(many("virt-9.0", 300, ""), "machine", "arch='aarch64' machine", 1), "300 of 300 in [300], 2 GB, bound to []", ""},
		{"a.xml", strings.Replace(many("pc-q35-8.2", 2, "<maxphysaddr mode='emulate' bits='42'/>"), ">2<", ">2048<", 1), "2 of 2 in [2], 2 TB, bound to []", ""},
		{"a.xml", strings.Replace(many("pc-q35-8.2", 2, ""), ">2<", ">2048<", 1), "", "2 TB of memory need 42 address bits, and the processor has 40: QEMU from 7.1 on refuses it; the mode host-passthrough of cpu, or maxphysaddr, has more refused=true"},
		{"a.yaml", strings.NewReplacer("cores: 4", "cores: 64", "maxSockets: 4", "maxSockets: 8").Replace(vmi), "", "512 vCPUs, with those that can be added: libvirt before 10.10 refuses more than 255 without a virtual IOMMU"},
		{"a.args", "qemu-system-x86_64 -machine q35 -m 2G -smp 8,sockets=2,clusters=2,cores=2", "", "2 clusters of a die, which the machine type q35 has not: QEMU refuses it refused=true"},
		{"a.args", "-machine virt -m 2G -smp 8,sockets=2,clusters=2,cores=2", "8 of 8 in [8], 2 GB, bound to []", ""},
		{"a.xml", many("pc-q35-8.2", 8, "<topology sockets='2' dies='1' clusters='2' cores='2' threads='1'/>"), "", "2 clusters of a die, which the machine type pc-q35-8.2 has not: QEMU refuses it refused=true"},
		{"a.xml", strings.Replace(many("pc-q35-8.2", 2, ""), "<memory unit='GiB'>2</memory>", "", 1), "", "it states no memory, neither of the VM nor of cells: libvirt refuses it refused=true"},
		{"a.xml", domain("2", "") + "<numatune><memory mode='loose' nodeset='0'/></numatune></domain>", "", "mode of <memory> is \"loose\", want strict, preferred, interleave, restrictive: libvirt refuses it refused=true"},
		{"a.xml", domain("2", "") + "<numatune><memory mode='strict' placement='static'/></numatune></domain>", "", "<memory> states no nodeset: libvirt refuses it refused=true"},
		{"a.xml", domain("2", "") + "<numatune><memory mode='preferred' placement='auto'/></numatune></domain>", "2 of 2 in [2], 2 GB, bound to []", ""},
		{"a.xml", domain("2", "") + commands("-device", "x", "-object", "rng-random,id=r") + "</domain>", "2 of 2 in [2], 2 GB, bound to []", ""},
		{"a.xml", domain("2", "") + commands("-object", "memory-backend-ram,id=m,size=2G", "--numa", "node,memdev=m") + "</domain>", "", "qemu:commandline adds -object, -numa to the arguments of QEMU, which is not read: the guest may see another shape than the definition states refused=false"},
		{"a.xml", domain("4", "<maxMemory slots='1' unit='GiB'>8</maxMemory>") + cell + strings.NewReplacer("dimm", "nvdimm", "<target>", "<source><path>/nv</path></source><target>").Replace(module) + "</domain>", "2 of 2 in [2], 4 GB, bound to []", ""}, // libvirt adds what the file of the module has
		{"a.yaml", strings.NewReplacer("kind: VirtualMachine\n", "kind: VirtualMachinePool\n", "  template:", "  virtualMachineTemplate:\n   spec:\n    template:", "    spec:\n      domain", "      spec:\n       domain", "        memory", "         memory",
			"          guest", "           guest", "        cpu", "         cpu", "          cores", "           cores", "          max", "           max").Replace(vmi), "4 of 16 in [16], 4 GB, bound to []", ""},
		{"a.conf", nodes, "2 of 2 in [1 1], 2 GB, bound to []", ""},
		{"a.conf", nodes + "hotplug: disk,memory\n", "", "hotplug of memory beside numa0"},
		{"a.conf", "memory: 2048\nsockets: 2\nhotplug: memory\n", "", "hotplug of memory without numa: 1"},
		{"a.conf", "memory: 512\ncores: 2\nnuma: 1\nhotplug: memory\n", "", "hotplug of memory wants 1 GB at least"},
		{"a.conf", "memory: 20000\ncores: 2\nnuma: 1\nhotplug: memory\n", "", "with memory hotplug, memory above the first 19 GB must be a multiple of 1 GB, but it is 20000 MB in all: Proxmox does not start the VM; use 19456 or 20480 MB refused=true"},
		{"a.conf", "memory: 1025\ncores: 2\nnuma: 1\nhotplug: memory\n", "", "use 1024 or 1536 MB refused=true"},
		{"a.conf", "memory: 17408\ncores: 2\nnuma: 1\nhotplug: memory\n", "", ""},
		{"a.conf", "memory: 17920\ncores: 2\nnuma: 1\nhotplug: memory\n", "", "use 17408 or 18432 MB refused=true"},
		{"a.conf", "memory: 20480\nsockets: 2\ncores: 2\nnuma: 1\nhotplug: memory\n", "", ""},
		{"a.conf", "memory: 20000\ncores: 2\nnuma: 1\n", "", ""},
		{"a.conf", strings.Replace(nodes, "cpus=1,memory=1024", "cpus=1", 1), "", "numa1 states no memory"},
		{"a.yaml", vmi, "4 of 16 in [16], 4 GB, bound to []", ""},
		{"a.yaml", vmi + "          dedicatedCpuPlacement: true\n          isolateEmulatorThread: true\n", "", "isolateEmulatorThread takes a CPU more, 5 together"},
		{"a.yaml", vmi + "          numa:\n            guestMappingPassthrough: {}\n", "", "guestMappingPassthrough without dedicatedCpuPlacement"},
		{"a.yaml", bare + "        cpu: {dedicatedCpuPlacement: true}\n        resources: {requests: {cpu: 4, memory: 4Gi}, limits: {cpu: 4}}\n", "4 of 4 in [4], 4 GB, bound to []", ""},
		{"a.yaml", bare + "        cpu: {dedicatedCpuPlacement: true}\n        resources: {requests: {cpu: 4, memory: 4Gi}, limits: {cpu: 8}}\n", "8 of 8 in [8], 4 GB, bound to []", "requests.cpu of 4 differs from limits.cpu of 8"},
		{"a.yaml", bare + "        cpu: {cores: 2, dedicatedCpuPlacement: true}\n        resources: {limits: {cpu: 8, memory: 4Gi}}\n", "2 of 2 in [2], 4 GB, bound to []", "2 vCPUs beside 8 CPUs"},
		{"a.yaml", bare + "        cpu: {cores: 8, dedicatedCpuPlacement: true}\n        memory: {guest: 16Gi}\n        resources: {requests: {memory: 16Gi}, limits: {memory: 20Gi}}\n", "8 of 8 in [8], 16 GB, bound to []", "requests.memory of 16Gi differs from limits.memory of 20Gi: KubeVirt refuses it refused=true"},
		{"a.yaml", bare + "        cpu: {cores: 8, dedicatedCpuPlacement: true}\n        resources: {requests: {memory: 16Gi}, limits: {memory: 16384Mi}}\n", "", ""},
		{"a.yaml", bare + "        cpu: {cores: 8}\n        resources: {requests: {memory: 16Gi, cpu: 7500m}, limits: {memory: 20Gi}}\n", "", ""},
		{"a.yaml", bare + "        cpu: {cores: 8, dedicatedCpuPlacement: true}\n        resources: {requests: {cpu: 7500m, memory: 4Gi}}\n", "", "requests.cpu of 7500m is no whole number: KubeVirt refuses it refused=true"},
		{"a.yaml", bare + "        cpu: {cores: 8, dedicatedCpuPlacement: true}\n        resources: {limits: {cpu: \"7.5\", memory: 4Gi}}\n", "", "limits.cpu of 7.5 is no whole number: KubeVirt refuses it refused=true"},
		{"a.yaml", bare + "        cpu: {cores: 8, dedicatedCpuPlacement: true}\n        resources: {limits: {cpu: 8000m, memory: 4Gi}}\n", "", ""},
		{"a.yaml", bare + "        memory: {guest: 4Gi}\n        cpu: {sockets: 4, maxSockets: 2}\n", "4 of 4 in [4], 4 GB, bound to []", "4 sockets, and maxSockets is 2"},
		{"a.yaml", bare + "        resources:\n          requests: {cpu: \"24\", memory: 96Gi}\n", "24 of 24 in [24], 96 GB, bound to []", ""},
		{"a.yaml", bare + "        resources:\n          requests: {cpu: 2}\n          limits: {cpu: 1500m, memory: 4Gi}\n", "2 of 2 in [2], 4 GB, bound to []", ""},
		{"a.yaml", bare + "        memory: {guest: 4Gi}\n        cpu: {model: host-model}\n        resources: {requests: {cpu: 500m}}\n", "1 of 1 in [1], 4 GB, bound to []", ""},
		{"a.yaml", bare + "        memory: {guest: 4Gi}\n        cpu: {cores: 4}\n        resources: {requests: {cpu: 2}}\n", "4 of 4 in [4], 4 GB, bound to []", ""},
		{"a.xml", "<domain type='kvm'><maxMemory slots='4' unit='GiB'>8</maxMemory><memory unit='GiB'>6</memory><vcpu>2</vcpu>" + cell + module + "</domain>", "2 of 2 in [2], 6 GB, bound to []", ""},
		{"a.xml", "<domain type='kvm'><maxMemory slots='4' unit='GiB'>5</maxMemory><memory unit='GiB'>6</memory><vcpu>2</vcpu></domain>", "", "maxMemory of 5 GB is below the memory of 6 GB"},
		{"a.xml", "<domain type='kvm'><maxMemory slots='4' unit='GiB'>5</maxMemory><memory unit='GiB'>6</memory><vcpu>2</vcpu>" + cell + "</domain>", "", ""}, // libvirt takes the memory of the cells
		{"a.xml", "<domain type='kvm'><maxMemory slots='4' unit='GiB'>5</maxMemory><memory unit='GiB'>4</memory><vcpu>2</vcpu>" + cell + module + "</domain>", "", "maxMemory of 5 GB is below the memory of 6 GB"},
		{"a.xml", domain("8", "<maxMemory slots='1' unit='GiB'>64</maxMemory>") + cell + strings.NewReplacer("dimm", "virtio-mem", ">2<", ">100<", "</target>", "<block unit='MiB'>2</block><requested unit='GiB'>4</requested></target>").Replace(module) + "</domain>", "", "maxMemory of 64 GB is below the memory of 104 GB, with memory devices: libvirt refuses it refused=true"},
		{"a.xml", strings.Replace(domain("1", "<maxMemory slots='1' unit='GiB'>64</maxMemory>"), "<vcpu>", "<os><type arch='ppc64le' machine='pseries'>hvm</type></os><vcpu>", 1) + module + "</domain>", "", "memory devices of 2 GB, and the memory with them is 1 GB: libvirt refuses it refused=true"},
		{"a.xml", "<domain type='kvm'><maxMemory slots='4' unit='GiB'>8</maxMemory><memory unit='GiB'>6</memory><vcpu>2</vcpu>" + cell + strings.Replace(module, ">0<", ">5<", 1) + "</domain>", "", "a memory device (dimm) of 2 GB is of cell 5"},
		{"a.xml", "<domain type='kvm'><memory unit='GiB'>4</memory><vcpu>2</vcpu>" + cell + "<numatune><memnode cellid='0' mode='restrictive' nodeset='0'/></numatune></domain>", "2 of 2 in [2], 4 GB, bound to [0]", "the mode restrictive, and that of the VM strict: newer releases of libvirt refuse it refused=false"},
		{"a.xml", "<domain type='kvm'><memory unit='GiB'>4</memory><vcpu>2</vcpu>" + cell + "<numatune><memory mode='restrictive' nodeset='0-1'/><memnode cellid='0' mode='preferred' nodeset='0'/></numatune></domain>", "2 of 2 in [2], 4 GB, bound to [0]", "the mode preferred, and that of the VM restrictive: libvirt refuses it refused=true"},
		{"a.xml", "<domain type='kvm'><memory unit='GiB'>4</memory><vcpu>2</vcpu>" + cell + "<numatune><memory mode='restrictive' nodeset='0-1'/><memnode cellid='0' mode='restrictive' nodeset='0'/></numatune></domain>", "2 of 2 in [2], 4 GB, bound to [0]", ""},
		{"a.xml", "<domain type='kvm'><memory unit='GiB'>4</memory><vcpu current='2'>8</vcpu></domain>", "2 of 8 in [8], 4 GB, bound to []", ""},
		{"a.xml", "<domain type='kvm'><memory unit='GiB'>4</memory><vcpu>2</vcpu><vcpus><vcpu id='0' enabled='yes'/><vcpu id='1' enabled='no'/></vcpus></domain>", "1 of 2 in [2], 4 GB, bound to []", ""},
		{"a.args", "-M pc-q35-6.1 -m 2G -smp 4", "4 of 4 in [4], 2 GB, bound to []", ""},
		{"a.args", "-m 2G -smp 4,maxcpus=12,sockets=2,cores=5", "", "a topology of 10 vCPUs, and 12 vCPUs"},
		{"a.args", "-m 2G -smp 8,maxcpus=4", "", "8 vCPUs (cpus), and at most 4"},
		{"a.args", "-S -m 2G -daemonize -smp 2 -enable-kvm", "2 of 2 in [2], 2 GB, bound to []", ""},
		{"a.conf", "cores: 2\nmemory: 163", "", "the file ends without a line break"},
		{"a.conf", "cores: 2\nhugepages: any\nmemory: 2049\nnuma: 1\nnuma0: cpus=0-1,hostnodes=0,memory=2049,policy=bind\n", "", "no whole pages of 2 MB"},
		{"a.conf", "cores: 2\nhugepages: any\nmemory: 2050\nnuma: 1\nnuma0: cpus=0-1,hostnodes=0,memory=2050,policy=bind\n", "", ""},
		{"a.conf", "cores: 2\nhugepages: 2\nmemory: 2048\nnuma: 1\nnuma0: cpus=0-1,hostnodes=0-1,memory=2048,policy=bind\n", "", "has 2 hostnodes, and hugepages want one"},
		{"a.yaml", bare + "        memory: {guest: 4Gi, hugepages: {pageSize: 2Mi}}\n        cpu: {cores: 4, dedicatedCpuPlacement: true, realtime: {}, numa: {guestMappingPassthrough: {}}}\n", "", ""},
		{"a.yaml", bare + "        memory: {guest: 4Gi}\n        cpu: {cores: 2, threads: 4, dedicatedCpuPlacement: true}\n", "8 of 8 in [8], 4 GB, bound to []", "4 threads of a core: KubeVirt takes 2 at most refused=true"},
		{"a.yaml", bare + "        memory: {guest: 4Gi}\n        cpu: {cores: 2, threads: 4}\n", "8 of 8 in [8], 4 GB, bound to []", ""},
		{"a.yaml", bare + "        memory: {guest: 4Gi}\n        cpu: {cores: 2, threads: 2, dedicatedCpuPlacement: true}\n", "", ""},
		{"a.yaml", bare + "        memory: {guest: 4Gi}\n        cpu: {cores: 2, threads: 2, dedicatedCpuPlacement: true}\n      architecture: arm64\n", "", "2 threads of a core on arm64: KubeVirt takes 1 refused=true"},
		{"a.yaml", bare + "        memory: {guest: 4Gi}\n        cpu: {cores: 2, threads: 2, dedicatedCpuPlacement: true}\n      architecture: amd64\n", "", ""},
		{"a.yaml", bare + "        memory: {guest: 4Gi}\n        cpu: {cores: 4, realtime: {}}\n", "", "realtime without dedicatedCpuPlacement and numa.guestMappingPassthrough"},
		{"a.yaml", bare + "        cpu: {cores: 4}\n", "", "no memory is stated"},
		{"a.yaml", bare + "        memory: {guest: 4Gi}\n        resources: {limits: {memory: 3Gi}}\n", "", "limits.memory of 3Gi is below the 4Gi of the guest"},
		{"a.xml", domain("4", "") + "<iothreads>2</iothreads><cputune><iothreadpin iothread='5' cpuset='0'/></cputune></domain>", "", "it pins I/O thread 5, which there is not"},
		{"a.xml", domain("4", "") + "<iothreads>2</iothreads><iothreadids><iothread id='5'/></iothreadids><cputune><iothreadpin iothread='5' cpuset='0'/><iothreadpin iothread='1' cpuset='0'/></cputune></domain>", "", ""},
		{"a.xml", domain("4", "") + "<iothreads>2</iothreads><cputune><iothreadpin iothread='2' cpuset='0'/><iothreadpin iothread='2' cpuset='1'/></cputune></domain>", "", "two <iothreadpin> have the same iothread"},
		{"a.xml", domain("4", "") + cell + "<memoryBacking><hugepages><page size='2' unit='MiB' nodeset='0'/><page size='1' unit='GiB' nodeset='0'/></hugepages></memoryBacking></domain>", "", "two sizes of huge pages, 2 MB and 1 GB"},
		{"a.xml", domain("4", "") + "<memoryBacking><hugepages><page size='1' unit='GiB'/><page size='2' unit='MiB' nodeset='0'/></hugepages></memoryBacking></domain>", "", "two sizes of huge pages, 1 GB and 2 MB"},
		{"a.xml", domain("4", "") + cell + "<memoryBacking><hugepages><page size='2' unit='MiB'/><page size='1' unit='GiB' nodeset='0'/></hugepages></memoryBacking></domain>", "", ""},
		{"a.xml", domain("4", "") + cell + "<numatune><memnode cellid='0' mode='strict' nodeset='0'/><memnode cellid='0' mode='strict' nodeset='1'/></numatune></domain>", "2 of 2 in [2], 4 GB, bound to [1]", "two <memnode> have the same cellid"},
		{"a.xml", domain("8", "<maxMemory slots='1' unit='GiB'>8</maxMemory>") + cell + strings.Replace(module, "</devices>", strings.TrimPrefix(module, "<devices>"), 1) + "</domain>", "2 of 2 in [2], 8 GB, bound to []", "2 memory modules, and maxMemory has 1 slot"},
		{"a.xml", domain("6", "") + cell + module + "</domain>", "", "1 memory device, and no maxMemory: libvirt refuses it refused=true"},
		{"a.xml", domain("6", "") + cell + strings.NewReplacer("dimm", "virtio-mem", "</target>", "<block unit='MiB'>2</block><requested unit='GiB'>2</requested></target>").Replace(module) + "</domain>", "", "1 memory device, and no maxMemory: libvirt refuses it refused=true"},
		{"a.xml", domain("4", "") + cell + strings.NewReplacer("dimm", "virtio-pmem", "<target>", "<source><path>/p</path></source><target>", "<node>0</node>", "").Replace(module) + "</domain>", "", "1 memory device, and no maxMemory: libvirt refuses it refused=true"},
		{"a.xml", domain("6", "") + cell + strings.Replace(module, "dimm", "sgx-epc", 1) + "</domain>", "", "1 memory device (sgx-epc), and no maxMemory: libvirt 9.0 refuses it refused=false"},
		{"a.xml", domain("6", "<maxMemory slots='1' unit='GiB'>8</maxMemory>") + cell + strings.Replace(module, "<node>0</node>", "", 1) + "</domain>", "", "states no cell"},
		{"a.xml", domain("6", "<maxMemory slots='1' unit='GiB'>8</maxMemory>") + cell + strings.Replace(module, "<target>", "<source><pagesize unit='GiB'>4</pagesize></source><target>", 1) + "</domain>", "", "2 GB is no whole pages of 4 GB"},
		{"a.xml", domain("104", "<maxMemory slots='1' unit='GiB'>200</maxMemory>") + cell + strings.NewReplacer("dimm", "virtio-mem", ">2<", ">100<", "</target>", "<block unit='MiB'>2</block><requested unit='GiB'>8</requested><current unit='GiB'>6</current></target>").Replace(module) + "</domain>", "2 of 2 in [2], 12 GB, bound to []", ""},
		{"a.xml", grows(4194304+1024, 2048), "", "virtio-mem: the requested size of 4195328 KiB is no whole blocks of 2048 KiB: it is refused refused=true"},
		{"a.xml", grows(4194304, 2048), "", ""},
		{"a.xml", grows(3072, 3072), "", "the block size of 3072 KiB is no power of two: it is refused refused=true"},
		{"a.xml", grows(4<<30, 2048), "", "is above its size of 104857600 KiB: it is refused refused=true"},
		{"a.xml", grows(0, 64<<20), "", "the size of 104857600 KiB is no whole blocks of 67108864 KiB: it is refused refused=true"},
		{"a.xml", domain("104", "<maxMemory slots='1' unit='GiB'>200</maxMemory>") + cell + strings.NewReplacer("dimm", "nvdimm", ">2<", ">100<", "<target>", "<source><path>/nv</path></source><target>").Replace(module) + "</domain>", "2 of 2 in [2], 4 GB, bound to []", ""},
		{"a.xml", "<domain type='kvm'><name>one</name><memory unit='GiB'>4</memory><os><type>hvm</type></os></domain>", "1 of 1 in [1], 4 GB, bound to []", ""},
		{"a.xml", domain("4", "") + "<numatune><memory mode='preferred' nodeset='0-1'/></numatune></domain>", "2 of 2 in [2], 4 GB, bound to [0 1]", "memory has the mode preferred and 2 nodes: libvirt before 9.3 does not start it refused=false"},
		{"a.xml", domain("4", "") + "<numatune><memory mode='preferred' nodeset='1'/></numatune></domain>", "2 of 2 in [2], 4 GB, bound to [1]", ""},
		{"a.xml", domain("4", "") + "<cpu><topology sockets='1' cores='2' threads='1'/></cpu><cpu/></domain>", "2 of 2 in [2], 4 GB, bound to []", ""}, // libvirt takes the first
		{"a.xml", domain("4", "") + tuned("<iothreadsched iothreads='1-2' scheduler='fifo' priority='1'/><emulatorsched scheduler='rr' priority='1'/><cachetune vcpus='0'><cache id='0' level='3' type='both' size='3' unit='MiB'/></cachetune>"), "", ""},
		{"a.xml", domain("4", "") + tuned("<iothreadsched iothreads='5' scheduler='fifo' priority='1'/>"), "", "iothreads of <iothreadsched> is \"5\", want I/O threads, of which there are 2: libvirt refuses it refused=true"},
		{"a.xml", domain("4", "") + tuned("<iothreadsched iothreads='1' scheduler='fifo'/>"), "", "<iothreadsched> states no priority: libvirt refuses it refused=true"},
		{"a.xml", domain("4", "") + tuned("<iothreadsched scheduler='batch'/>"), "", "<iothreadsched> states no iothreads: libvirt refuses it refused=true"},
		{"a.xml", domain("4", "") + tuned("<iothreadsched iothreads='1' scheduler='batch'/><iothreadsched iothreads='1-2' scheduler='batch'/>"), "", "two <iothreadsched> have the same iothreads: libvirt refuses it refused=true"},
		{"a.xml", domain("4", "") + tuned("<emulatorsched scheduler='fifo'/>"), "", "<emulatorsched> states no priority: libvirt refuses it refused=true"},
		{"a.xml", domain("4", "") + tuned("<emulatorsched scheduler='batch'/><emulatorsched scheduler='idle'/>"), "", "<emulatorsched> is there twice: libvirt refuses it refused=true"},
		{"a.xml", domain("4", "") + tuned("<cachetune vcpus='0'><cache id='0' type='both' size='3' unit='MiB'/></cachetune>"), "", "<cache> states no level: libvirt refuses it refused=true"},
		{"a.xml", domain("4", "") + tuned("<cachetune vcpus='0'><cache id='0' level='3' type='x' size='3' unit='MiB'/></cachetune>"), "", "type of <cache> is \"x\", want both, code, data: libvirt refuses it refused=true"},
		{"a.xml", domain("4", "") + tuned("<memorytune vcpus='0-1'><node id='0' bandwidth='20'/></memorytune><memorytune vcpus='1'><node id='0' bandwidth='20'/></memorytune>"), "", "two <memorytune> have the same vcpus: libvirt refuses it refused=true"},
		{"a.xml", domain("4", "") + "<vcpus><vcpu id='0' enabled='no'/><vcpu id='1' enabled='yes'/></vcpus></domain>", "", "vCPU 0 is off"},
		{"a.xml", domain("4", "") + "<vcpus><vcpu id='0' enabled='yes' hotpluggable='yes'/><vcpu id='1' enabled='yes'/></vcpus></domain>", "", "vCPU 0 can be unplugged"},
		{"a.xml", "<domain type='kvm'><memory unit='GiB'>4</memory><vcpu>2</vcpu><memoryBacking><hugepages><page size='2' unit='MiB' nodeset='1'/></hugepages></memoryBacking></domain>", "", "huge pages for cell 1, which there is not"},
	} {
		f, err := ReadBytes(tt.name, []byte(tt.in))
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		s := f.VMs[0].Stated
		if got := fmt.Sprintf("%d of %d in %v, %s, bound to %v", s.VCPUs, s.Most(), s.Sizes(), s.Shape.Memory, s.Bound[0].Nodes); tt.shape != "" && got != tt.shape {
			t.Errorf("%s: found %s, want %s", tt.in, got, tt.shape)
		}
		strays := ""
		for _, n := range s.Strays {
			strays += fmt.Sprintf("%s refused=%v\n", n.Text, n.Refused)
		}
		if tt.stray == "" && s.Strays != nil || tt.stray != "" && !strings.Contains(strays, tt.stray) {
			t.Errorf("%s: found %q, want %q", tt.in, strays, tt.stray)
		}
	}
}

// TestTaskset: taskset before QEMU, or for threads in comments as a move writes them, says where vCPUs run.
func TestTaskset(t *testing.T) {
	for in, want := range map[string]string{
		"# Use: taskset -c 0-3,32 qemu-system-x86_64 -machine q35\n-m 2G\n-smp 2\n":                                                   "[[0 1 2 3 32] [0 1 2 3 32]] 0",
		"taskset -c 0-3 numactl --membind 0 qemu-system-x86_64 -m 2G -smp 2":                                                          "[[0 1 2 3] [0 1 2 3]] 0",
		"numactl --membind=0 taskset -c 0-3 /usr/bin/kvm -m 2G -smp 2":                                                                "[[0 1 2 3] [0 1 2 3]] 0",
		"taskset --cpu-list 0-1 /usr/bin/kvm -m 2G -smp 2":                                                                            "[[0 1] [0 1]] 0",
		"taskset -a -c 0-1 nice -n 5 qemu-kvm -m 2G -smp 2":                                                                           "[[0 1] [0 1]] 0",
		"taskset 0x30f qemu-system-x86_64 -m 2G -smp 2":                                                                               "[[0 1 2 3 8 9] [0 1 2 3 8 9]] 0",
		"taskset 3,00000001 qemu-system-x86_64 -m 2G -smp 2":                                                                          "[[0 32 33] [0 32 33]] 0",
		"taskset -c 0-3 numactl -C 2 qemu-system-x86_64 -m 2G -smp 2":                                                                 "[[2] [2]] 0",
		"numactl -C 2 taskset -c 0-1 qemu-system-x86_64 -m 2G -smp 2":                                                                 "[[0 1] [0 1]] 0",
		"taskset -c 0-3 numactl -N 1 qemu-system-x86_64 -m 2G -smp 2":                                                                 "[[] []] 0", // node 1, if the host is known
		"taskset -c 0-1 \\\n  numactl -m 0 \\\n  qemu-system-x86_64 \\\n  -m 2G \\\n  -smp 2":                                         "[[0 1] [0 1]] 0",
		"taskset -c 4 /usr/bin/qemu-system-x86_64 -m 2G -smp 2":                                                                       "[[4] [4]] 0",
		"# Use: taskset -c 0-1 qemu\n#   taskset -pc 0 THREAD-ID, of vCPUs 0\n#   taskset -pc 1 THREAD-ID, of vCPUs 1\n-m 2G\n-smp 2": "[[0] [1]] 2",
		"-m 2G -smp 2": "[[] []] 0",
	} {
		f, err := ReadBytes("a.args", []byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(f.VMs[0].Stated.CPUs, len(f.VMs[0].Stated.Pins)); got != want {
			t.Errorf("%s: found %s, want %s", in, got, want)
		}
	}
}

// TestTree: the machine virt of ARM tells its guest of nodes without ACPI.
func TestTree(t *testing.T) {
	for machine, known := range map[string]bool{"<type arch='aarch64' machine='virt-7.2'>": false, "<type arch='x86_64' machine='pc-q35-7.2'>": true} {
		f := fleetOf(t, "a.xml", "<domain type='kvm'><memory unit='GiB'>4</memory><vcpu>2</vcpu><os>"+machine+"hvm</type></os><features/></domain>")
		if acpi := f.VMs[0].Stated.ACPI; acpi.Known() != known {
			t.Errorf("%s: ACPI known %v, want %v", machine, acpi.Known(), known)
		}
	}
}

// TestOffline: CPUs of which nothing is stated are offline, and the others count.
func TestOffline(t *testing.T) {
	f := fleetOf(t, "a/1.xml", strings.Replace(capabilities, "<cpu id='5' socket_id='0' core_id='1' siblings='1,5'/>", "<cpu id='5'/>", 1))
	if n := f.Hosts[0].Nodes.Value; len(n) != 2 || n[0].Threads != 3 || n[0].Cores != 2 {
		t.Errorf("found %+v", n)
	}
}

// TestRemote: memory on the node of a cell is not remote, QEMU's own neither; that of a cell on the node of another is.
func TestRemote(t *testing.T) {
	h := &numa.Host{Nodes: numa.ReadAt([]numa.Node{{ID: 0, Cores: 4}, {ID: 1, Cores: 4}}, "x")}
	for _, tt := range []struct {
		cells []int // nodes of cells of 1 GB
		on    [2]int
		want  numa.Bytes
	}{
		{[]int{0}, [2]int{1400, 0}, 0},
		{[]int{0}, [2]int{1024, 300}, 300},
		{[]int{0, 1}, [2]int{1200, 900}, 0},
		{[]int{0, 1}, [2]int{2048, 0}, 1024 - 250 - 4 - 16},
	} {
		s := &numa.Stated{Shape: numa.Shape{VCPUs: 2, Memory: numa.Bytes(len(tt.cells)) * numa.GiB}}
		for _, n := range tt.cells {
			s.Cells = append(s.Cells, numa.Cell{Memory: numa.GiB})
			s.Bound = append(s.Bound, numa.Bound{Mode: "strict", Nodes: []int{n}})
		}
		o := &numa.Observation{OnNode: numa.ReadAt([]numa.MemoryOnNode{{Node: 0, Guest: numa.Bytes(tt.on[0]) * numa.MiB}, {Node: 1, Guest: numa.Bytes(tt.on[1]) * numa.MiB}}, "x")}
		if got, _, _, ok := s.RemoteOf(h, o); !ok || got != tt.want*numa.MiB {
			t.Errorf("%v on %v: %s remote, want %d MB", tt.cells, tt.on, got, tt.want)
		}
	}
}

// TestCommands: each command of QEMU in a file is a VM, behind columns of ps, a wrapper or a script; what is of other processes is none of it.
func TestCommands(t *testing.T) {
	for in, want := range map[string]string{
		"qemu-system-x86_64 -name a -m 4G -smp 40\nqemu-system-x86_64 -name b -m 4G -smp 4\n": "a 40, b 4",
		"USER PID %CPU COMMAND\nqemu 11 9.0 ? Sl 10:00 0:01 /usr/bin/qemu-system-x86_64 -name guest=a -smp 2 -m 1G\nroot 12 0.0 - S /usr/sbin/other -smp 9 -m 9G\n" +
			"root 13 1 kvm -smp 3 -m 1G -name b\nroot 14 grep --color qemu-kvm\nroot 15 grep qemu-kvm\n": "a 2, b 3",
		"#!/bin/sh\nqemu-system-x86_64 \\\n  -accel kvm \\\n  -smp 4 \\\n  -m 1G\nsudo taskset -c 1 /usr/libexec/qemu-kvm -smp 5 -m 2G\n":                                    "a 4, a line 6 5",
		"numactl -m 0 -N 0 qemu-system-x86_64 -m 2G -smp 2 -machine q35,accel=kvm -accel kvm -name kvm\n":                                                                    "kvm 2",
		"LC_ALL=C \\\n/usr/bin/qemu-system-x86_64 \\\n-name guest=a \\\n-m 4G \\\n-smp 2\nLC_ALL=C \\\n/usr/bin/qemu-system-x86_64 \\\n-name guest=b \\\n-m 4G \\\n-smp 3\n": "a 2, b 3",
		"# qemu-system-x86_64 -smp 9\n-m 4G\n-smp 2\n": "a 2",
	} {
		f, err := ReadBytes("a.args", []byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		var got []string
		for _, v := range f.VMs {
			got = append(got, fmt.Sprintf("%s %d", v.Name, v.Stated.VCPUs))
		}
		if all := strings.Join(got, ", "); all != want {
			t.Errorf("%s: found %s, want %s", in, all, want)
		}
	}
	f := fleetOf(t, "ps.args", "kvm -name a -smp 2 -m 1G\nkvm -name b -smp x -m 1G\nkvm -name c -smp 3 -m 1G\n")
	if len(f.VMs) != 2 || len(f.Unread) != 1 {
		t.Errorf("one that is wrong beside others: %d VMs, unread %v", len(f.VMs), f.Unread)
	}
	if _, err := ReadBytes("a.args", []byte("-smp 2 -m 1G\n-smp 3 -m 1G\n")); err == nil || !strings.Contains(err.Error(), "a second -smp") {
		t.Error(err)
	}
}

// TestJSONLists: lists in JSON are lists, as in key=value.
func TestJSONLists(t *testing.T) {
	const in = `-m 2G -smp 2 -object '{"qom-type":"memory-backend-ram","id":"a","size":2147483648,"host-nodes":[0,2],"policy":"bind"}' `
	for _, node := range []string{`-numa '{"type":"node","cpus":[0,1],"memdev":"a"}'`, "-numa node,cpus=0-1,memdev=a"} {
		f, err := ReadBytes("a.args", []byte(in+node))
		if err != nil {
			t.Error(err)
			continue
		}
		if s := f.VMs[0].Stated; fmt.Sprintf("%v %v %v %v", s.Bound[0].Nodes, s.Bound[0].Mode, s.Cells[0].CPUs, s.Strays) != "[0 2] strict [0 1] []" {
			t.Errorf("%s: %+v", node, s)
		}
	}
	if _, err := ReadBytes("a.args", []byte(strings.Replace(in, "[0,2]", `["x"]`, 1))); err == nil || !strings.Contains(err.Error(), "nodes of the host") {
		t.Error(err)
	}
}

// TestKubeVirtList: the items of a list are read one by one, and the size of an instancetype is unknown.
func TestKubeVirtList(t *testing.T) {
	const list = "apiVersion: v1\nitems:\n" +
		"- apiVersion: kubevirt.io/v1\n  kind: VirtualMachine\n  metadata: {name: a}\n  spec:\n    template:\n      spec:\n        domain: {cpu: {cores: 4}, memory: {guest: 4Gi}}\n" +
		"- apiVersion: kubevirt.io/v1\n  kind: VirtualMachine\n  metadata: {name: b}\n  spec:\n    instancetype: {name: u1.large}\n    template:\n      spec:\n        domain: {devices: {}}\n" +
		"- apiVersion: kubevirt.io/v1\n  kind: VirtualMachine\n  metadata: {name: x}\n  spec:\n    template:\n      spec:\n        domain: {cpu: {cores: many}}\n" +
		"- apiVersion: kubevirt.io/v1\n  kind: VirtualMachine\n  metadata: {name: c}\n  spec:\n    preference: {name: rhel}\n    template:\n      spec:\n        domain: {cpu: {cores: 2}, memory: {guest: 4Gi}}\n" +
		"- apiVersion: kubevirt.io/v1\n  kind: VirtualMachine\n  metadata: {name: d}\n  spec:\n    preference: {name: rhel}\n    template:\n      spec:\n        domain: {memory: {guest: 4Gi}}\n" +
		"kind: List\n"
	f := fleetOf(t, "h/list.yaml", list)
	var got []string
	for _, v := range f.VMs {
		got = append(got, fmt.Sprintf("%s %d %s", v.Name, v.VCPUs.Value, v.Memory.Value))
	}
	all := strings.Join(notes(f), "\n")
	if fmt.Sprint(got) != "[a 4 4 GB c 2 4 GB]" || strings.Count(all, "instancetype or preference") != 2 || !strings.Contains(all, "many") || len(f.Unread) != 1 {
		t.Errorf("found %v, unread %v, notes:\n%s", got, f.Unread, all)
	}
	_, err := ReadBytes("e.yaml", []byte("kind: VirtualMachine\nspec:\n  a: b\n bad: [\n"))
	if err == nil || strings.Contains(err.Error(), "line ") || strings.HasPrefix(err.Error(), "e.yaml:1:") {
		t.Error(err)
	}
}

// TestSockets: machine types before 6.2 make sockets of vCPUs whose topology -smp does not state, newer ones cores.
func TestSockets(t *testing.T) {
	for in, want := range map[string]string{
		"-M pc-q35-6.1 -smp 8":             "8 sockets of 1 core",
		"-smp 8 -machine pc-i440fx-4.2":    "8 sockets of 1 core",
		"-smp 8,cores=4 -machine virt-6.0": "2 sockets of 4 cores",
		"-smp 8,sockets=2 -M pc-q35-6.1":   "2 sockets of 4 cores",
		"-smp 8,threads=2 -M pc-q35-6.1":   "4 sockets of 1 core of 2 threads",
		"-smp 8 -M pc-q35-6.2":             "1 socket of 8 cores",
		"-smp 8 -M q35":                    "1 socket of 8 cores",
		"-smp 8":                           "1 socket of 8 cores",
	} {
		f, err := ReadBytes("a.args", []byte("-m 2G "+in))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.VMs[0].Stated.Topology(); got != want {
			t.Errorf("%s: found %s, want %s", in, got, want)
		}
	}
}

// TestValues: an option without a value does not take the next option for it.
func TestValues(t *testing.T) {
	docs, err := qemu.Read("a.args", strings.NewReader("qemu-system-x86_64 -S -m 2G -smp 2 -daemonize\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, f := range docs[0].File().Facts {
		got += fmt.Sprintf("%s=%v ", f.Name, f.Value)
	}
	if got != "-S= -m=2G -smp=2 -daemonize= " {
		t.Errorf("found %s", got)
	}
}

// TestCutLines: lines of ps that a terminal cut have a note each and are not judged, also those that only their width shows; whole lines are.
func TestCutLines(t *testing.T) {
	const head = "/usr/bin/qemu-system-x86_64 -name guest=%,debug-threads=on -machine q35 -m 65536 -smp 40"
	var in string
	want := []string{}
	for i, end := range []string{",sockets=1,dies=1,cores=20,thr", ",sockets=2,cores=20,threads=1 -numa node,nodeid=0,cp", ",cores=", " -smp", ` -object {"qom-type":"memory-ba`,
		",sockets=2,cores=20,threads=1 -object memory-backend-ram,id=r,size=34359738", ",sockets=2,cores=20,", ",sockets=2,cores=20,threads=1 -object memory-backend-ram,id=r,si"} {
		in += fmt.Sprintf("%4d %s%s\n", 2001+i, strings.Replace(head, "%", fmt.Sprint("cut", i), 1), end)
		want = append(want, fmt.Sprintf("a/ps.txt:%d:", i+1))
	}
	f := fleetOf(t, "a/ps.txt", in+"3001 "+strings.Replace(head, "%", "whole", 1)+",sockets=2,cores=20,threads=1\n")
	got := notes(f)
	for i, at := range want {
		if n := slices.IndexFunc(got, func(s string) bool { return strings.Contains(s, at) && strings.Contains(s, "which may be cut off") }); n < 0 {
			t.Errorf("no note at %s (cut%d) in\n%s", at, i, strings.Join(got, "\n"))
		}
	}
	if len(f.VMs) != 1 || f.VMs[0].Name != "whole" || len(f.Unread) == 0 {
		t.Errorf("found %+v", f.VMs)
	}
	wide := func(name, end string, width int) string {
		line := strings.Replace(head, "%", name, 1) + end
		return strings.Replace(line, "q35", "q35,x="+strings.Repeat("y", width-len(line)-3), 1) + "\n"
	}
	f = fleetOf(t, "a/ps.txt", wide("broken", ",cores=2,thr", 200)+wide("number", ",cores=2", 200)+wide("short", ",cores=40", 180))
	if len(f.VMs) != 1 || f.VMs[0].Name != "short" || !slices.Contains(notes(f), "fleet/a/ps.txt:2:1: number: its definition breaks off: it is not judged") {
		t.Errorf("found %+v, %q", f.VMs, notes(f))
	}
}

// TestRounded: libvirt rounds cells up to whole MiB, so that those of 8 GB are whole pages of 2 MB, and their sum is the memory of the VM.
func TestRounded(t *testing.T) {
	for _, tt := range []struct {
		memory, unit, arch string
		want               numa.Bytes
	}{{"8", "GB", "x86_64", 7630 * numa.MiB}, {"4097", "MiB", "x86_64", 4097 * numa.MiB}, {"1025", "MiB", "ppc64le", 1280 * numa.MiB}} {
		xml := "<domain type='kvm'><vcpu>2</vcpu><os><type arch='" + tt.arch + "'>hvm</type></os><cpu><topology sockets='2' cores='1' threads='1'/><numa>"
		for i := range 2 {
			xml += fmt.Sprintf("<cell id='%d' cpus='%d' memory='%s' unit='%s'/>", i, i, tt.memory, tt.unit)
		}
		n, _ := strconv.Atoi(tt.memory)
		f, err := ReadBytes("a.xml", fmt.Appendf(nil, "%s</numa></cpu><memory unit='%s'>%d</memory></domain>", xml, tt.unit, 2*n))
		if err != nil {
			t.Fatal(err)
		}
		if s := f.VMs[0].Stated; s.Cells[1].Memory != tt.want || s.Shape.Memory != 2*tt.want {
			t.Errorf("%s %s: found cells of %d KiB, %d KiB together", tt.memory, tt.unit, s.Cells[1].Memory/numa.KiB, s.Shape.Memory/numa.KiB)
		}
	}
}

// TestOperatorIsNoKubeVirt: a VM of the VM Operator is none of KubeVirt, even if a remark names that.
func TestOperatorIsNoKubeVirt(t *testing.T) {
	const text = "# once kubevirt.io/v1\napiVersion: vmoperator.vmware.com/v1alpha3\nkind: VirtualMachine\nmetadata: {name: db, annotations: {from: kubevirt.io/v1}}\n"
	for added, want := range map[string]bool{"": false, "---\napiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: b}\n": true} {
		if Defines("vm.yaml", []byte(text+added)) != want {
			t.Errorf("%s%s: want %v", text, added, want)
		}
	}
}
