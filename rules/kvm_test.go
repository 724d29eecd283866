package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"example.org/homenode/rules"
	"example.org/homenode/source/kvm"
)

// judged returns the findings about the VMs of definitions on a host, in words or as its capabilities, a line each: "K016 high …". Names and texts of files alternate.
func judged(t *testing.T, host string, files ...string) string {
	t.Helper()
	data := []byte(host)
	if !strings.HasPrefix(host, "<") {
		data = capabilities(t, "kvm01", host)
	}
	all := fstest.MapFS{"kvm01/capabilities.xml": {Data: data}}
	for i := 0; i < len(files); i += 2 {
		all["kvm01/"+files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	fleet, err := kvm.ReadFS("kvm", all)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, f := range rules.Run(fleet, rules.Options{}).Findings {
		fmt.Fprintln(&out, f.Rule, f.Severity, f.Message+"; "+f.Advice)
	}
	return out.String()
}

// TestHugetlbfs: memory of a file in hugetlbfs is huge pages of its node's pool, and none of its ordinary pages.
func TestHugetlbfs(t *testing.T) {
	const host = "nodes=2 cores=32 memory=512GB pages=200,200"
	args := func(path string, gb int) string {
		in := fmt.Sprintf("-m %dG -smp 16,sockets=2", 2*gb)
		for i := range 2 {
			in += fmt.Sprintf(" -object memory-backend-file,id=m%d,size=%dG,mem-path=%s,host-nodes=%d,policy=bind -numa node,cpus=%d-%d,memdev=m%d", i, gb, path, i, 8*i, 8*i+7, i)
		}
		return in
	}
	for _, path := range []string{"/dev/hugepages/libvirt/qemu/1-a", "/dev/hugepages1G", "/run/hugepages/kvm/1048576kB"} {
		if got := judged(t, host, "a.args", args(path, 190)); strings.Contains(got, "K004") || strings.Contains(got, "K016") || strings.Contains(got, "K017") {
			t.Errorf("%s: found %s", path, got)
		}
		if got := judged(t, host, "a.args", args(path, 210)); !strings.Contains(got, "K016 high cell 0 takes 210 pages of 1 GB from node 0, and 200 are reserved") {
			t.Errorf("%s: found %s", path, got)
		}
	}
	if got := judged(t, host, "a.args", "-m 450G -smp 4 -mem-path /dev/hugepages1G"); !strings.Contains(got, "K016 high the VM takes 450 pages") {
		t.Errorf("the memory of a VM: found %s", got)
	}
}

// TestAffinity: Proxmox has one affinity for all threads. One that is exactly the nodes of the cells is left; no advice is to take from a cell
// the node of its memory.
func TestAffinity(t *testing.T) {
	const cells = "cores: 8\nsockets: 2\nmemory: 16384\nnuma: 1\nnuma0: cpus=0-7,hostnodes=0,memory=8192,policy=bind\nnuma1: cpus=8-15,hostnodes=1,memory=8192,policy=bind\n"
	for in, want := range map[string]string{
		cells + "affinity: 0-31\n": "K007 low the vCPUs of cell 0 ",
		strings.NewReplacer(",hostnodes=0", "", ",hostnodes=1", "", ",policy=bind", "").Replace(cells) + "affinity: 0-31\n": "K007 medium",
		cells:                      "K007 low the vCPUs of cell 0 ",
		cells + "affinity: 0-63\n": "K007 medium the vCPUs of cell 0 ",
		"cores: 8\nmemory: 8192\nnuma: 1\nnuma0: cpus=0-7,hostnodes=0,memory=8192,policy=bind\naffinity: 0-31\n": "Pin them to the CPUs of one node",
	} {
		host := "nodes=2 cores=16 memory=256GB"
		if strings.Contains(in, "0-63") {
			host = "nodes=4 cores=16 memory=512GB"
		}
		got := judged(t, host, "a.conf", in)
		if !strings.Contains(got, want) || strings.Contains(got, "K007") && strings.Contains(in, "numa1") && (strings.Contains(got, "of one node,") || !strings.Contains(got, "hookscript")) {
			t.Errorf("%s: found %s", in, got)
		}
	}
}

// TestEnabled: vCPUs that can be added and are not there count nowhere, whichever they are.
func TestEnabled(t *testing.T) {
	domain := func(pin func(vcpu int) string) string {
		in := "<domain type='kvm'><name>a</name><memory unit='GiB'>4</memory><vcpu current='8'>16</vcpu><vcpus>"
		for i := range 16 {
			in += fmt.Sprintf("<vcpu id='%d' enabled='%s' hotpluggable='%s'/>", i, []string{"yes", "no"}[i/4%2], []string{"no", "yes"}[min(i, 1)])
		}
		in += "</vcpus><cputune>"
		for i := range 16 {
			in += fmt.Sprintf("<vcpupin vcpu='%d' cpuset='%s'/>", i, pin(i))
		}
		return in + "</cputune><features><acpi/></features></domain>"
	}
	const host, other = "nodes=2 cores=8 threads=8 memory=64GB", "<domain type='kvm'><name>b</name><memory unit='GiB'>4</memory><vcpu cpuset='0-7'>%d</vcpu></domain>"
	half := domain(func(v int) string { return []string{"0-7", "8-15"}[v/8] })
	if got := judged(t, host, "a.xml", half, "b.xml", fmt.Sprintf(other, 4)); strings.Contains(got, "K017") {
		t.Errorf("8 vCPUs on node 0: found %s", got)
	}
	if got := judged(t, host, "a.xml", half, "b.xml", fmt.Sprintf(other, 5)); !strings.Contains(got, "9 vCPUs are pinned to the 8 CPUs of node 0") {
		t.Errorf("9 vCPUs on node 0: found %s", got)
	}
	if got := judged(t, host, "a.xml", domain(func(v int) string { return []string{"0-3", "8-15"}[v/4%2] })); !strings.Contains(got, "K010 high 8 of its 8 vCPUs may run on 4 CPUs") {
		t.Errorf("8 vCPUs on 4 CPUs: found %s", got)
	}
	if got := judged(t, host, "a.xml", domain(func(v int) string { return []string{"0-7", "99"}[v/4%2] })); strings.Contains(got, "K013") {
		t.Errorf("CPUs of vCPUs that are off: found %s", got)
	}
}

// TestWholeElsewhere: a VM of one node that does not fit it is put on a node that it fits; only where there is none is it divided.
func TestWholeElsewhere(t *testing.T) {
	const domain = "<domain type='kvm'><name>a</name><memory unit='GiB'>20</memory><vcpu cpuset='0-7'>4</vcpu><numatune><memory mode='strict' nodeset='0'/></numatune></domain>"
	for pages, want := range map[string]string{
		"20,0":  "20 GB in 12 GB; Put it on node 1, its vCPUs and its memory: it has 32 GB left",
		"20,20": "20 GB in 12 GB; Divide the VM into more cells",
	} {
		if got := judged(t, "nodes=2 cores=8 threads=8 memory=64GB pages="+pages, "a.xml", domain); !strings.Contains(got, want) {
			t.Errorf("pages %s: found %s, want %s", pages, got, want)
		}
	}
}

// TestNodesWithoutCPUs: memory on a node without CPUs is near the node with CPUs at the least distance, and remote to the others.
func TestNodesWithoutCPUs(t *testing.T) {
	host := func(distances [4]string) string {
		out := "<capabilities><host><topology><cells num='4'>"
		for i, gb := range []int{128, 128, 64, 64} {
			out += fmt.Sprintf("<cell id='%d'><memory unit='GiB'>%d</memory><distances>", i, gb)
			for j, d := range strings.Fields(distances[i]) {
				out += fmt.Sprintf("<sibling id='%d' value='%s'/>", j, d)
			}
			out += "</distances><cpus>"
			for cpu := 8 * i; cpu < 8*i+8 && i < 2; cpu++ {
				out += fmt.Sprintf("<cpu id='%d' socket_id='%d' core_id='%d' siblings='%d'/>", cpu, i, cpu, cpu)
			}
			out += "</cpus></cell>"
		}
		return out + "</cells></topology></host></capabilities>"
	}
	domain := func(cpus, mode, nodes string) string {
		return "<domain type='kvm'><name>a</name><memory unit='GiB'>8</memory><vcpu cpuset='" + cpus + "'>4</vcpu><numatune><memory mode='" + mode +
			"' nodeset='" + nodes + "'/></numatune><features><acpi/></features><cpu><topology sockets='1' cores='4' threads='1'/></cpu></domain>"
	}
	near := host([4]string{"10 21 13 23", "21 10 23 13", "13 23 10 23", "23 13 23 10"})
	for _, c := range []struct{ host, domain, want string }{
		{near, domain("0-7", "strict", "2"), "K003 low"},
		{near, domain("0-7", "interleave", "0,2"), "K003 low"},
		{near, domain("0-7", "strict", "3"), "K003 high"},
		{near, domain("0-7", "strict", "1"), "K003 high"},
		{near, domain("0-7", "interleave", "0,3"), "K003 high"},
		{near, domain("8-15", "strict", "3"), "K003 low"},
		{host([4]string{"10 21 30 30", "21 10 30 30", "30 30 10 30", "30 30 30 10"}), domain("0-7", "strict", "3"), "K003 low"}, // as near to both
		{host([4]string{}), domain("0-7", "strict", "3"), "K003 low"},                                                           // no distances
	} {
		if got := judged(t, c.host, "a.xml", c.domain); !strings.Contains(got, c.want) || strings.Count(got, "K0") != 1 {
			t.Errorf("%s: found %s, want %s alone", c.domain, got, c.want)
		}
	}
}

// TestSocketsThere: sockets without vCPUs, which can be added, are no fault, and no advice changes how many vCPUs there are.
func TestSocketsThere(t *testing.T) {
	kubevirt := func(cpu string) string {
		return "kind: VirtualMachine\nspec:\n  template:\n    spec:\n      domain:\n        memory: {guest: 8Gi}\n        cpu: {" + cpu + "}\n"
	}
	windows := func(sockets, present int) string {
		return fmt.Sprintf("<domain type='kvm'><name>a</name><metadata><libosinfo:libosinfo xmlns:libosinfo='http://libosinfo.org/xmlns/libvirt/domain/1.0'>"+
			"<libosinfo:os id='http://microsoft.com/win/10'/></libosinfo:libosinfo></metadata><memory unit='GiB'>8</memory><vcpu current='%d'>%d</vcpu>"+
			"<features><acpi/></features><cpu><topology sockets='%d' cores='1' threads='1'/></cpu></domain>", present, sockets, sockets)
	}
	for _, c := range []struct{ name, in, want string }{
		{"a.yaml", kubevirt("sockets: 4, cores: 1, maxSockets: 16"), ""},
		{"a.yaml", kubevirt("sockets: 8, cores: 1"), "each of the 8 vCPUs is a socket of its own; Define 1 socket of 8 cores"},
		{"a.yaml", kubevirt("sockets: 6, cores: 1, maxSockets: 16"), "each of the 6 vCPUs is a socket of its own; Define 3 sockets of 2 cores, and maxSockets 8"},
		{"a.yaml", kubevirt("sockets: 5, cores: 1, maxSockets: 16"), "Define 1 socket of 5 cores, and no maxSockets"},
		{"a.conf", "sockets: 16\ncores: 1\nvcpus: 6\nmemory: 8192\n", "each of the 6 vCPUs is a socket of its own; Define 1 socket of 16 cores, for the 16 vCPUs that there can be"},
		{"a.conf", "sockets: 16\ncores: 1\nvcpus: 4\nmemory: 8192\n", ""},
		{"a.xml", windows(16, 4), ""},
		{"a.xml", windows(16, 8), "so only 4 of the 8 vCPUs; the guest sees 16 sockets of 1 core; Define at most 4 sockets with more cores each, for the same 8 vCPUs"},
	} {
		if got := judged(t, "nodes=2 cores=32 memory=512GB", c.name, c.in); strings.Contains(got, "K012") != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: found %s, want %s", c.in, got, c.want)
		}
	}
}

// TestPageSizes: a size of huge pages that the host does not have is said to be none of it, with the sizes that it has.
func TestPageSizes(t *testing.T) {
	host := "<capabilities><host><topology><cells num='1'><cell id='0'><memory unit='GiB'>64</memory><pages unit='KiB' size='64'>1</pages>" +
		"<pages unit='KiB' size='2048'>0</pages><pages unit='KiB' size='524288'>40</pages><pages unit='KiB' size='16777216'>0</pages>" +
		"<cpus><cpu id='0' socket_id='0' core_id='0' siblings='0'/><cpu id='1' socket_id='0' core_id='1' siblings='1'/></cpus></cell></cells></topology></host></capabilities>"
	for page, want := range map[string]string{
		"1048576": "K016 high cell 0 requires huge pages of 1 GB, which kvm01 does not support (supported: 2 MB, 512 MB, 16 GB); Use a page size that the host supports: 2 MB, 512 MB\n",
		"524288":  "",
		"2048":    "K016 high the VM takes 2048 pages of 2 MB",
	} {
		in := "<domain type='kvm'><name>a</name><memory unit='GiB'>4</memory><vcpu>2</vcpu><memoryBacking><hugepages><page size='" + page + "' unit='KiB'/></hugepages></memoryBacking></domain>"
		if got := judged(t, host, "a.xml", in); strings.Contains(got, "K016") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("pages of %s KiB: found %s, want %s", page, got, want)
		}
	}
}

// TestRefusedBeside: VMs that do not start take nothing from the others.
func TestRefusedBeside(t *testing.T) {
	domain := func(name, page, nodes, rest string) string {
		return "<domain type='kvm'><name>" + name + "</name><memory unit='GiB'>3</memory><vcpu cpuset='0-7'>6</vcpu><memoryBacking><hugepages><page size='" + page +
			"' unit='MiB'/></hugepages></memoryBacking><numatune><memory mode='strict' nodeset='" + nodes + "'/></numatune>" + rest + "</domain>"
	}
	host := "<capabilities><host><topology><cells num='2'>"
	for i := range 2 {
		host += fmt.Sprintf("<cell id='%d'><memory unit='GiB'>64</memory><pages unit='KiB' size='4'>1</pages><pages unit='KiB' size='1048576'>8</pages><cpus>", i)
		for cpu := 8 * i; cpu < 8*i+8; cpu++ {
			host += fmt.Sprintf("<cpu id='%d' socket_id='%d' core_id='%d' siblings='%d'/>", cpu, i, cpu, cpu)
		}
		host += "</cpus></cell>"
	}
	host += "</cells></topology></host></capabilities>"
	one := domain("a", "1024", "0", "")
	for _, c := range []struct {
		other string
		found bool
	}{
		{domain("b", "1024", "0", ""), true},
		{domain("b", "16", "0", ""), false},                                      // a size that the host does not have
		{domain("b", "1024", "0,7", ""), false},                                  // a node that it does not have
		{domain("b", "1024", "0", "<maxMemory unit='GiB'>1</maxMemory>"), false}, // refused
		{domain("b", "1024", "0", "<cpu><numa><cell id='0' cpus='0-5' memory='3145729' unit='KiB'/></numa></cpu>"), false},
	} {
		got := judged(t, host, "a.xml", one, "b.xml", c.other)
		if found := strings.Contains(got, "12 vCPUs are pinned to the 8 CPUs of node 0"); found != c.found {
			t.Errorf("%s: found %s", c.other, got)
		}
	}
}

// TestSpelling: advice names the settings of the tool that the definition is of.
func TestSpelling(t *testing.T) {
	const host = "nodes=2 cores=8 memory=64GB"
	args := func(node, gb int) string {
		return fmt.Sprintf("-m %dG -smp 4,sockets=1 -object memory-backend-ram,id=a,size=%dG,host-nodes=%d,policy=bind -numa node,cpus=0-3,memdev=a", gb, gb, node)
	}
	conf := func(sockets, gb int, rest string) string {
		return fmt.Sprintf("sockets: %d\ncores: 4\nmemory: %d\nnuma: 1\n%s", sockets, gb*1024, rest)
	}
	for _, c := range []struct{ name, in, want string }{
		{"a.args", "taskset -c 0-7 qemu-system-x86_64 " + args(1, 4), "K003 high the vCPUs of cell 0 run on node 0 of kvm01, and its 4 GB come from node 1; Bind the memory of the cell to the node of its vCPUs: host-nodes and policy=bind of the memory backend\n"},
		{"a.args", "taskset -c 0-7 qemu-system-x86_64 " + args(0, 40), "Divide the VM into more cells: -numa node with cpus"},
		{"a.args", "taskset -c 0-15 qemu-system-x86_64 " + args(0, 4), "of one node, the one of their memory: taskset -pc for the thread of each vCPU"},
		{"a.conf", conf(1, 4, "affinity: 0-7\nnuma0: cpus=0-3,hostnodes=1,memory=4096,policy=bind\n"), "to the node of its vCPUs: hostnodes and policy of numaN\n"},
		{"a.conf", conf(1, 40, "affinity: 0-7\nnuma0: cpus=0-3,hostnodes=0,memory=40960,policy=bind\n"), "Divide the VM into more cells: numa: 1, with a socket for each, or numa0, numa1 … with cpus and memory\n"},
		{"a.conf", conf(1, 4, "affinity: 0-15\nnuma0: cpus=0-3,hostnodes=0,memory=4096,policy=bind\n"), "of one node, the one of their memory: affinity\n"},
	} {
		if got := judged(t, host, c.name, c.in); !strings.Contains(got, c.want) {
			t.Errorf("%s: found %s, want %s", c.in, got, c.want)
		}
	}
}

// TestUnlisted: vCPUs that no cell lists are in the first; a topology of another number of vCPUs is said once, and the cells are held against
// the vCPUs that there are; a cell without vCPUs that are there is told.
func TestUnlisted(t *testing.T) {
	domain := func(vcpu, topology, first, second string) string {
		return "<domain type='kvm'><name>a</name><memory unit='GiB'>8</memory>" + vcpu + "<features><acpi/></features><cpu><topology " + topology + "/><numa><cell id='0' cpus='" + first +
			"' memory='4' unit='GiB'/><cell id='1' cpus='" + second + "' memory='4' unit='GiB'/></numa></cpu></domain>"
	}
	const two = "sockets='2' cores='4' threads='1'"
	for _, c := range []struct{ in, want, not string }{
		{domain("<vcpu>8</vcpu>", two, "0-2", "3-5"), "K002 high the cells do not divide its vCPUs: vCPUs 6-7 are in no cell: libvirt and QEMU take cell 0; List each of the vCPUs 0 to 7 in one cell", "K008"},
		{domain("<vcpu>8</vcpu>", "sockets='2' cores='6' threads='1'", "0-3", "4-7"), "K013 high a topology of 12 vCPUs, and 8 vCPUs", "K002"},
		{domain("<vcpu>8</vcpu>", "sockets='2' cores='6' threads='1'", "0-3", "4-11"), "cell 1 has vCPUs 8-11 of 8, which libvirt refuses; List each of the vCPUs 0 to 7 in one cell", "no cell"},
		{domain("<vcpu>8</vcpu>", two, "0-3", "2-7"), "vCPUs 2-3 are in cells 0 and 1, which libvirt refuses", "no cell"},
		{domain("<vcpu current='4'>8</vcpu>", two, "0-3", "4-7"), "K002 low cell 1 has 4 GB, and none of its 4 vCPUs is there yet: until one is added, the memory is remote to all 4 that are", ""},
		{domain("<vcpu current='5'>8</vcpu>", two, "0-3", "4-7"), "", "K002"},
		{domain("<vcpu>8</vcpu>", two, "0-7", "x"), "K013", "another kind"},
		{domain("<vcpu current='4'>8</vcpu>", two, "0-1", "2-3"), "K008", "K002"}, // vCPUs 4-7 are not there
		{domain("<vcpu current='4'>8</vcpu>", two, "0-1", "3"), "vCPU 2 is in no cell", "4-7"},
		{strings.Replace(domain("<vcpu>8</vcpu>", two, "0-3", "4-7"), "<cell id='1' cpus='4-7' memory='4'", "<cell id='1' memory='4'", 1), "vCPUs 4-7 are in no cell", ""},
		{strings.Replace(domain("<vcpu>8</vcpu>", two, "0-3", "4-7"), "memory='4' unit='GiB'/><cell id='1' cpus='4-7' memory='4' unit='GiB'/>", "memory='8' unit='GiB'/>", 1), "", "K002"}, // all are in the only cell
	} {
		if got := judged(t, "nodes=2 cores=8 memory=64GB", "a.xml", c.in); !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: found %s, want %s and no %s", c.in, got, c.want, c.not)
		}
	}
	fleet, err := kvm.ReadBytes("a.xml", []byte(domain("<vcpu>8</vcpu>", two, "0-2", "3-5")))
	if err != nil || fmt.Sprint(fleet.VMs[0].Stated.Sizes(), fleet.VMs[0].Stated.Cells[0].CPUs) != "[5 3] [0 1 2 6 7]" {
		t.Errorf("%+v, %v", fleet.VMs[0].Stated, err)
	}
}

// TestAdvised: the checks name one topology for a VM, and none that another of them forbids, or that is in the way of another.
func TestAdvised(t *testing.T) {
	const smt = "nodes=2 cores=16 threads=32 memory=256GB"
	flat := func(vcpus int, topology, rest string) string {
		return fmt.Sprintf("<domain type='kvm'><name>a</name><memory unit='GiB'>64</memory><vcpu>%d</vcpu>%s<features><acpi/></features><cpu>%s</cpu></domain>", vcpus, rest, topology)
	}
	sockets := func(s, c, t int) string {
		return fmt.Sprintf("<topology sockets='%d' cores='%d' threads='%d'/>", s, c, t)
	}
	pins := func(cpus ...int) (out string) {
		for v, cpu := range cpus {
			out += fmt.Sprintf("<vcpupin vcpu='%d' cpuset='%d'/>", v, cpu)
		}
		return "<cputune>" + out + "</cputune>"
	}
	beside, apart := pins(2, 34, 3, 35, 4, 36, 5, 37), pins(2, 3, 4, 5, 34, 35, 36, 37) // threads of cores 2 to 5
	for _, c := range []struct {
		in   string
		want []string
		not  string
	}{
		{flat(32, "", ""), []string{"Define 2 sockets of 16 cores", "State 2 cells, each on a node, or"}, "1 socket"},
		{flat(32, sockets(1, 32, 1), ""), []string{"State 2 cells, each on a node, with 2 sockets of 16 cores, or"}, "K012"},
		{flat(32, sockets(2, 16, 1), ""), []string{"State 2 cells, each on a node, or"}, "sockets of"},
		{flat(23, "", ""), []string{"K012 medium", "Use 22 or 24 vCPUs: 23 in 2 cells have no larger socket"}, "1 socket of 23"},
		{flat(23, sockets(1, 23, 1), ""), []string{"State 2 cells, each on a node, and use 22 or 24 vCPUs"}, "K012"},
		{flat(60, "", ""), []string{"60 vCPUs are more than kvm01 holds", "Define larger sockets, each inside a cell"}, "1 socket"},
		{flat(8, sockets(8, 1, 1), beside), []string{"Define 1 socket of 4 cores of 2 threads", "State 1 socket of 4 cores of 2 threads, or pin each"}, "threads='"},
		{flat(8, sockets(1, 8, 1), beside), []string{"K015", "State 1 socket of 4 cores of 2 threads, or pin each"}, "K012"},
		{flat(8, sockets(1, 8, 1), apart), []string{"K015", "where now such as vCPUs 0 and 4 are"}, "State"},
		{flat(8, sockets(8, 1, 1), apart), []string{"Define 1 socket of 8 cores", "where now such as vCPUs 0 and 4 are"}, "threads='"},
		{flat(8, sockets(1, 4, 2), apart), []string{"K015", "Pin the threads of a core to the threads of one core of the host\n"}, "threads='"},
		{flat(8, sockets(1, 4, 2), pins(2, 3, 4, 5, 6, 7, 8, 9)), []string{"of the host, or state threads='1'\n"}, ""},
		{flat(8, sockets(1, 4, 2), beside), nil, "K015"},
	} {
		got := judged(t, smt, "a.xml", c.in)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: found %s, want %s", c.in, got, want)
			}
		}
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: found %s, want no %s", c.in, got, c.not)
		}
	}
}

// TestWhereTo: advice names where there is room, and how much has to go there, the same for every VM.
func TestWhereTo(t *testing.T) {
	uneven := "<capabilities><host><topology><cells num='2'>"
	for i, gb := range []int{256, 64} {
		uneven += fmt.Sprintf("<cell id='%d'><memory unit='GiB'>%d</memory><cpus>", i, gb)
		for cpu := 16 * i; cpu < 16*i+16; cpu++ {
			uneven += fmt.Sprintf("<cpu id='%d' socket_id='%d' core_id='%d' siblings='%d'/>", cpu, i, cpu, cpu)
		}
		uneven += "</cpus></cell>"
	}
	uneven += "</cells></topology></host></capabilities>"
	cells := func(gb0, gb1 int, cpus1, more string) string {
		return fmt.Sprintf("<domain type='kvm'><name>a</name><memory unit='GiB'>%d</memory><vcpu>8</vcpu><cputune><vcpupin vcpu='0' cpuset='0-15'/><vcpupin vcpu='1' cpuset='0-15'/><vcpupin vcpu='2' cpuset='0-15'/>"+
			"<vcpupin vcpu='3' cpuset='0-15'/><vcpupin vcpu='4' cpuset='16-31'/><vcpupin vcpu='5' cpuset='16-31'/><vcpupin vcpu='6' cpuset='%[4]s'/><vcpupin vcpu='7' cpuset='%[4]s'/></cputune>"+
			"<numatune><memnode cellid='0' mode='strict' nodeset='0'/><memnode cellid='1' mode='strict' nodeset='1'/></numatune><features><acpi/></features><cpu><topology sockets='2' cores='4' threads='1'/>"+
			"<numa><cell id='0' cpus='0-3' memory='%[2]d' unit='GiB'/><cell id='1' cpus='4-7' memory='%[3]d' unit='GiB'/></numa></cpu>%[5]s</domain>", gb0+gb1, gb0, gb1, cpus1, more)
	}
	flat := func(name string, vcpus int, cpus string, gb int) string {
		return fmt.Sprintf("<domain type='kvm'><name>%s</name><memory unit='GiB'>%d</memory><vcpu cpuset='%s'>%d</vcpu><features><acpi/></features><cpu><topology sockets='1' cores='%d' threads='1'/></cpu></domain>", name, gb, cpus, vcpus, vcpus)
	}
	loose := strings.NewReplacer(" cpuset=''", "").Replace(flat("w", 20, "", 200))
	for _, c := range []struct {
		files []string
		want  string
		count int
	}{
		{[]string{"a.xml", cells(96, 96, "16-31", "")}, "K004 high cell 1 is larger than node 1 of kvm01: 96 GB in 64 GB; Move at least 32 GB of it to a cell on node 0, which has 160 GB left\n", 1},
		{[]string{"a.xml", cells(16, 16, "0-15", "")}, "Pin vCPUs 6-7 to node 1\n", 1},
		{[]string{"a.xml", loose}, "State 2 cells as their nodes hold them: at most 16 vCPUs and 256 GB on node 0, at most 16 vCPUs and 64 GB on node 1", 1},
		{[]string{"a.xml", flat("a", 12, "0-15", 1), "b.xml", flat("b", 6, "0-15", 1), "c.xml", flat("c", 2, "0-15", 1)}, "; Pin b (6 vCPUs) and bind its memory to node 1\n", 2},
		{[]string{"a.xml", flat("a", 12, "0-15", 1), "b.xml", flat("b", 6, "0-15", 1), "c.xml", flat("c", 2, "0-15", 1)}, "; Pin it (6 vCPUs) and bind its memory to node 1\n", 1},
		{[]string{"a.xml", flat("a", 7, "0-15", 1), "b.xml", flat("b", 7, "0-15", 1), "c.xml", flat("c", 7, "0-15", 1), "d.xml", flat("d", 7, "0-15", 1)}, "; Pin VMs with at least 12 vCPUs of them and bind their memory to node 1\n", 4},
		{[]string{"a.xml", strings.Replace(cells(16, 16, "16-31", ""), "'16-31'", "'0-15'", -1), "b.xml", flat("b", 12, "0-15", 1)}, "Pin cell 0 (4 vCPUs) and bind its memory to node 1\n", 1},
	} {
		if got := judged(t, uneven, c.files...); strings.Count(got, c.want) != c.count {
			t.Errorf("%s: found %s, want %d times %s", c.files, got, c.count, c.want)
		}
	}
	big := strings.NewReplacer("cpus='0-3'", "cpus='0-19'", "cpus='4-7'", "cpus='20-39'", ">8<", ">40<", "cores='4'", "cores='20'").Replace(cells(16, 16, "16-31", ""))
	if got := judged(t, uneven, "a.xml", big); !strings.Contains(got, "Use fewer vCPUs, or a larger host: it has 40, and kvm01 holds 32, a core each") || strings.Contains(got, "Divide") {
		t.Errorf("40 vCPUs on 32 cores: found %s", got)
	}
}

// TestAllCPUsArePinsOfNone: a list of all CPUs of the host limits no more than none, so both get the same findings.
func TestAllCPUsArePinsOfNone(t *testing.T) {
	host := "<capabilities><host><topology><cells num='2'>"
	for node := range 2 {
		host += fmt.Sprintf("<cell id='%d'><memory unit='GiB'>64</memory><cpus num='8'>", node)
		for cpu := node * 8; cpu < node*8+8; cpu++ {
			host += fmt.Sprintf("<cpu id='%d' socket_id='%d' core_id='%d' siblings='%d'/>", cpu, node, cpu, cpu)
		}
		host += "</cpus></cell>"
	}
	host += "</cells></topology></host></capabilities>"
	all := func(vcpus int) (pins string) {
		for v := range vcpus {
			pins += fmt.Sprintf("<vcpupin vcpu='%d' cpuset='0-15'/>", v)
		}
		return "<cputune>" + pins + "</cputune>"
	}
	flat, cells := "<topology sockets='1' cores='4' threads='1'/>", "<topology sockets='2' cores='2' threads='1'/><numa>"+
		"<cell id='0' cpus='0-1' memory='4' unit='GiB'/><cell id='1' cpus='2-3' memory='4' unit='GiB'/></numa>"
	for _, cpu := range []string{flat, cells} {
		for _, c := range []struct{ memory, want string }{
			{"", ""},
			{"<numatune><memory mode='strict' nodeset='0'/></numatune>", "K007 medium"},
			{"<numatune><memory mode='strict' nodeset='0-1'/></numatune>", ""},
			{"<numatune><memory mode='interleave' nodeset='0-1'/></numatune>", "K003 medium"},
			{"<numatune><memory mode='restrictive' nodeset='0-1'/></numatune>", ""},
		} {
			domain := func(list, pins string) string {
				return "<domain type='kvm'><name>a</name><memory unit='GiB'>8</memory><vcpu" + list + ">4</vcpu>" + pins + c.memory +
					"<features><acpi/></features><cpu>" + cpu + "</cpu></domain>"
			}
			none := judged(t, host, "a.xml", domain("", ""))
			if !strings.HasPrefix(none, c.want) || c.want == "" && none != "" {
				t.Errorf("%s %s: found %q, want %q", cpu, c.memory, none, c.want)
			}
			for _, same := range []string{domain(" cpuset='0-15'", ""), domain("", all(4))} {
				if got := judged(t, host, "a.xml", same); got != none {
					t.Errorf("%s: found\n%s\nwithout a list\n%s", same, got, none)
				}
			}
		}
	}
}

// TestFaultOnce: the same fault of several elements is one finding, with all places.
func TestFaultOnce(t *testing.T) {
	pins := ""
	for v := range 4 {
		pins += fmt.Sprintf("<vcpupin vcpu='%d' cpuset='0-15,^4-7'/>", v)
	}
	got := judged(t, "nodes=2 cores=16 memory=128GB", "a.xml", "<domain type='kvm'><name>a</name><memory unit='GiB'>8</memory><vcpu>4</vcpu><cputune>"+pins+
		"</cputune><features><acpi/></features></domain>")
	if strings.Count(got, "K013 high") != 1 {
		t.Errorf("found\n%s\nwant one finding of the list that libvirt refuses", got)
	}
}

// TestNoRoomToDivide: a VM is divided only where the other VMs of its host leave the memory for it.
func TestNoRoomToDivide(t *testing.T) {
	const domain = "<domain type='kvm'><name>%s</name><memory unit='GiB'>%d</memory><vcpu%s>4</vcpu>%s</domain>"
	const less = "Give the VM less memory, or run it or others on another host: it has 55 GB, and other VMs and huge pages leave %s of kvm01"
	node := func(n int) string { return fmt.Sprintf("<numatune><memory mode='strict' nodeset='%d'/></numatune>", n) }
	for _, c := range []struct {
		cpus, bound string
		other       int // GB of another VM on node 1
		want        string
	}{
		{" cpuset='0-7'", node(0), 8, "K004 high the VM is larger than node 0 of kvm01: 55 GB in 32 GB; Divide the VM into more cells"},
		{" cpuset='0-7'", node(0), 12, "K004 high the VM is larger than node 0 of kvm01: 55 GB in 32 GB; " + fmt.Sprintf(less, "52 GB")},
		{"", "", 8, "the guest sees one node; State 2 cells, each on a node"},
		{"", "", 12, "the guest sees one node; " + fmt.Sprintf(less, "52 GB") + "; state a cell for each node"},
	} {
		got := judged(t, "nodes=2 cores=8 threads=8 memory=64GB", "a.xml", fmt.Sprintf(domain, "a", 55, c.cpus, c.bound), "b.xml", fmt.Sprintf(domain, "b", c.other, " cpuset='8-15'", node(1)))
		if !strings.Contains(got, c.want) {
			t.Errorf("%d GB of another: found %s, want %s", c.other, got, c.want)
		}
	}
}

// TestMoreThanHost: a VM with more vCPUs than its host has CPUs needs fewer, by the advice of each check.
func TestMoreThanHost(t *testing.T) {
	const domain = "<domain type='kvm'><name>a</name><memory unit='GiB'>20</memory><vcpu %s>%d</vcpu><features><acpi/></features><cpu><topology sockets='1' cores='%[2]d' threads='1'/></cpu></domain>"
	const less = "K010 high 40 of its 40 vCPUs may run on %d CPUs of the host and no others; Use fewer vCPUs, or a larger host: it has 40, and kvm01 holds 16, a core each"
	for _, c := range []struct {
		vcpus      int
		pins, want string
	}{
		{40, "", fmt.Sprintf(less, 32)},
		{40, "cpuset='0-7'", fmt.Sprintf(less, 8)},
		{24, "cpuset='0-7'", "K010 high 24 of its 24 vCPUs may run on 8 CPUs of the host and no others; Let them run on at least as many CPUs of the host"},
	} {
		if got := judged(t, "nodes=2 cores=8 threads=16 memory=64GB", "a.xml", fmt.Sprintf(domain, c.pins, c.vcpus)); !strings.Contains(got, c.want) {
			t.Errorf("%d vCPUs %s: found %s, want %s", c.vcpus, c.pins, got, c.want)
		}
	}
}

// TestAddressBits: a VM has at most the address bits of its host's processor.
func TestAddressBits(t *testing.T) {
	host := strings.Replace(string(capabilities(t, "kvm01", "nodes=2 cores=8 threads=8 memory=64GB")), "<host>", "<host><cpu><maxphysaddr mode='emulate' bits='46'/></cpu>", 1)
	for bits, found := range map[int]bool{46: false, 47: true} {
		got := judged(t, host, "a.xml", fmt.Sprintf("<domain type='kvm'><name>a</name><memory unit='GiB'>4</memory><vcpu>4</vcpu><cpu mode='host-passthrough'><maxphysaddr mode='emulate' bits='%d'/></cpu></domain>", bits))
		if strings.Contains(got, fmt.Sprintf("K013 high a processor of %d address bits (maxphysaddr), and its host has 46: libvirt refuses it", bits)) != found {
			t.Errorf("%d bits: found %s", bits, got)
		}
	}
}
