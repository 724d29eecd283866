package move

import (
	"regexp"
	"strings"
	"testing"
)

// TestPlatform checks what a page says of one platform: each word is in the item of that kind, once, or there is none.
func TestPlatform(t *testing.T) {
	const small, wide, high = "vcpus=8 coresPerSocket=8 memory=64GB", "vcpus=24 coresPerSocket=12 memory=64GB", " latency=high reserveAll=on cpuReservation=20000"
	for _, tt := range []struct {
		to, vm string
		kind   Kind
		item   string // what it is about
		want   string // in what it becomes and why
	}{
		{"ahv", small + high, Lost, "a CPU for each vCPU", "hard pinning takes the first cores of the host"},
		{"nova", small + high, Changed, "a CPU for each vCPU", "isolate, which asks for hosts without SMT"},
		{"nova", small, Changed, "home node", "a node of the host for each node of the guest, which the platform chooses: fixed when it starts"},
		{"nova", wide, Changed, "home node", "which the platform chooses"},
		{"nova", wide + " hotAdd=on", Lost, "home node", "no node is asked for"}, // one node, on two clients
		{"nova", small + " cpuAffinity=0-7", Lost, "home node", "no node is asked for"},
		{"nova", "vcpus=8 coresPerSocket=8 memory=300GB", Lost, "home node", "no node is asked for"}, // more than a node has
		{"ahv", wide + " latency=high reserveAll=on cpuReservation=60000 hotAdd=on", Lost, "home node", "no node is asked for"},
		{"nova", wide + " latency=high reserveAll=on cpuReservation=60000 hotAdd=on", Changed, "home node", "which the platform chooses"}, // dedicated CPUs are of nodes
		{"ahv", small, Changed, "home node", "which the platform chooses"},
		{"hyperv", small + " cpuReservation=1000", Lost, "CPU reservation", "Set-VMProcessor -Reserve takes percent"},
		{"hyperv", wide, Changed, "sockets and cores", "2 sockets of 12 cores, if the platform makes them so: derived from the nodes of a socket"},
		{"kubevirt", wide + " hotAdd=on vnumaHotAdd=on cpuid.maxVCPUs=48", Lost, "CPU hot add", "guestMappingPassthrough makes nodes of the vCPUs that are there at the start"},
		{"kubevirt", small + " hotAdd=on cpuid.maxVCPUs=16", Carried, "CPU hot add", "8 of 16 vCPUs at the start"},
		{"kubevirt", small + " memoryHotAdd=on", Lost, "memory hot add", "not written: memory.maxGuest"},
		{"kubevirt", wide + " memoryHotAdd=on", Lost, "memory hot add", "refused together with guestMappingPassthrough"},
		{"kubevirt", wide, Changed, "distances", "none is stated: the guest sees 20"},
		{"kubevirt", small, Lost, "home node", "the kubelet chooses"},
	} {
		t.Run(tt.to+" "+tt.item, func(t *testing.T) {
			m := Make(vm(t, host+"vm vm host=esx01 "+tt.vm+"\n"), PlatformOf(tt.to), Options{Shape: Same})
			var of []Item
			for _, i := range m.Items {
				if i.What == tt.item {
					of = append(of, i)
				}
			}
			if len(of) != 1 || of[0].Kind != tt.kind || !strings.Contains(of[0].Then+": "+of[0].Why, tt.want) {
				t.Errorf("%+v, want one that is %s: %s", of, tt.kind, tt.want)
			}
		})
	}
}

// TestLinux checks that what Linux does is told of platforms that run it, and of them alone.
func TestLinux(t *testing.T) {
	v := vm(t, "release 8.0U3\ncluster c\nhost esx01 nodes=2 cores=16 memory=512GB mhz=2500 evc=intel-skylake\nhost esx02 nodes=4 cores=8 memory=512GB\n"+
		"vm vm host=esx01 vcpus=24 coresPerSocket=24 memory=64GB hotAdd=on memoryHotAdd=on reserveAll=on cpuReservation=1000 cpuLimit=2000 pci=3b:00.0 numa.vcpu.preferHT=TRUE\n")
	facts := regexp.MustCompile(`Linux|control group|transparent huge|huge pages|DIMM|expander|QEMU|kernel|Nova`)
	for _, p := range Platforms {
		m := Make(v, p, Options{})
		said := 0
		for _, i := range m.Items {
			text := i.Then + ": " + i.Why
			if facts.MatchString(text) && i.Kind != Carried {
				said++
				if p.kernel != &linux {
					t.Errorf("%s: %s: %s", p.Name, i.What, text)
				}
			}
		}
		if len(m.Of(Lost)) < 8 || p.kernel == &linux && said < 5 {
			t.Errorf("%s: %d items of %d: %q", p.Name, said, len(m.Items), m.Refused)
		}
	}
}
