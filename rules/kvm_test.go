package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"homenode/rules"
	"homenode/source/kvm"
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
