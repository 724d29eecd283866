package target

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/move"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
	"example.org/homenode/source/scenario"
)

// unnumbered is a host that states no numbers of CPUs.
func unnumbered(v *rule.VM) (*move.Placement, string) {
	p, why := at(9)(v)
	p.CPUs = nil
	return p, why
}

// TestBound checks that no file binds memory without the vCPUs, and that each one that binds memory says how vCPUs are bound.
func TestBound(t *testing.T) {
	memory := regexp.MustCompile(`numatune|memnode|hostnodes|host-nodes|policy=`)
	cpus := regexp.MustCompile(`vcpupin|cpuset=|affinity:|--affinity|taskset`)
	for _, name := range []string{"2x12", "flat"} {
		for _, to := range []string{"libvirt", "qemu", "proxmox"} {
			for _, f := range Files([]*move.Move{moved(t, name, to, move.Options{At: unnumbered})}) {
				if found := memory.FindString(string(f.Data)); found != "" {
					t.Errorf("%s binds memory without vCPUs: %s", f.Name, found)
				}
			}
			for _, f := range Files([]*move.Move{moved(t, name, to, move.Options{At: at(9)})}) {
				if !memory.Match(f.Data) || !cpus.Match(f.Data) {
					t.Errorf("%s binds not both memory and vCPUs:\n%s", f.Name, f.Data)
				}
			}
		}
	}
	if m := moved(t, "pages", "proxmox", move.Options{At: unnumbered}); len(m.Refused) != 1 || !strings.Contains(m.Refused[0], "virsh capabilities") {
		t.Errorf("Proxmox binds huge pages to nodes: want it refused without the numbers of CPUs, found %q", m.Refused)
	}
	m := moved(t, "flat", "libvirt", move.Options{At: unnumbered})
	for _, i := range m.Of(move.Lost) {
		if i.What == "home node" && strings.Contains(i.Then, "node 9 of kvm01") && strings.Contains(i.Why, "virsh capabilities") {
			return
		}
	}
	t.Errorf("the home node is not lost, with the reason: %+v", m.Items)
}

// TestStrict checks that memory that comes from one node alone is allocated before the guest starts: else the VM would start on a node
// without room, and be killed later.
func TestStrict(t *testing.T) {
	strict := regexp.MustCompile(`mode="strict"|policy=bind`)
	before := regexp.MustCompile(`<hugepages>|<allocation mode="immediate">|prealloc=on|hugepages: `)
	found := 0
	for _, s := range shapes {
		for _, to := range []string{"libvirt", "qemu", "proxmox"} {
			m := moved(t, s.name, to, move.Options{At: at(9)})
			for _, f := range Files([]*move.Move{m}) {
				if strings.HasSuffix(f.Name, ".sh") || !strict.Match(f.Data) {
					continue
				}
				if found++; !before.Match(f.Data) {
					t.Errorf("%s is bound strictly, and its memory is not allocated at the start:\n%s", f.Name, f.Data)
				}
			}
		}
	}
	if found < 4 {
		t.Errorf("%d files are bound strictly: too few", found)
	}
}

// TestStrictOfLatencyHigh: the memory of a VM of latency sensitivity High is on its nodes alone, on the platforms that can allocate it at the
// start; on Proxmox only huge pages are.
func TestStrictOfLatencyHigh(t *testing.T) {
	for to, want := range map[string]string{"libvirt": `mode="strict"`, "qemu": "prealloc=on,host-nodes=9,policy=bind", "proxmox": "policy=preferred"} {
		m := moved(t, "latency", to, move.Options{At: at(9)})
		if m.Refused != nil {
			t.Fatalf("%s: %q", to, m.Refused)
		}
		if text := string(Files([]*move.Move{m})[0].Data); !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("%s: want %s in\n%s", to, want, text)
		}
	}
}

// many returns the move of a VM of 256 vCPUs to a platform.
func many(t *testing.T, to string) *move.Move {
	v := vmOf(t, "nodes=8 cores=32 memory=512GB", "vcpus=256 coresPerSocket=32 memory=4GB hw=20 firmware=efi iommu=on")
	return move.Make(v, move.PlatformOf(to), move.Options{})
}

// TestManyVCPUs checks that more vCPUs than 255 get a virtual IOMMU with extended interrupt mode.
func TestManyVCPUs(t *testing.T) {
	m := many(t, "libvirt")
	if m.Refused != nil {
		t.Fatalf("refused: %q", m.Refused)
	}
	own := string(Files([]*move.Move{m})[0].Data)
	for _, want := range []string{`<ioapic driver="qemu"`, `<iommu model="intel">`, `<driver intremap="on" eim="on"`} {
		if strings.Count(own, want) != 1 {
			t.Errorf("want %s once in\n%s", want, own)
		}
	}
	args := strings.Join(QEMU(m.Shape, nil, false), " ")
	if !strings.Contains(args, "-device intel-iommu,intremap=on,eim=on") {
		t.Errorf("arguments %s", args)
	}
}

// TestManyOfOthers checks what more vCPUs than 255 get on the other platforms, and what the page says of it.
func TestManyOfOthers(t *testing.T) {
	for _, tt := range []struct{ to, file, written, said string }{
		{"proxmox", "vm.proxmox.conf", "\nmachine: q35,viommu=intel\n", "machine: q35,viommu=intel, which did not run here"},
		{"proxmox", "vm.proxmox.sh", "--machine q35,viommu=intel ", "i440fx, does not start 256 vCPUs: it has at most 255"},
		{"nova", "nova-flavors.sh", "--property hw:viommu_model=intel ", "hw:viommu_model=intel of the flavor"},
		{"nova", "nova-flavors.sh", "openstack image set --property hw_machine_type=q35 IMAGE", "hw_machine_type=q35, which only the image can have"},
		{"hyperv", "vm.hyperv.ps1", "-Count 256 ", "a VM of generation 1 has not: at most 64"},
		{"ahv", "vm.ahv.sh", "num_vcpus=8 num_cores_per_vcpu=32 ", ""},
	} {
		m := many(t, tt.to)
		files := Files([]*move.Move{m})
		i := slices.IndexFunc(files, func(f File) bool { return f.Name == tt.file })
		if i < 0 || !strings.Contains(string(files[i].Data), tt.written) {
			t.Errorf("%s: want %q in %s of %+v", tt.to, tt.written, tt.file, files)
		}
		said := ""
		for _, item := range m.Items {
			said += item.Then + "\n" + item.Why + "\n"
		}
		if !strings.Contains(said, tt.said) {
			t.Errorf("%s: want %q in %s", tt.to, tt.said, said)
		}
	}
}

// TestTwins checks that VMs of one name get scripts for names of their own, and that both the script and the page say so.
func TestTwins(t *testing.T) {
	f, err := scenario.Read("shape", []byte("release 8.0U3\nhost esx01 mhz=2500 nodes=2 cores=8 memory=64GB\nhost esx02 mhz=2500 nodes=2 cores=8 memory=64GB\n"+
		"vm twin host=esx01 vcpus=4 memory=4GB\nvm other host=esx02 vcpus=4 memory=4GB\nvm true host=esx02 vcpus=4 memory=4GB\n"))
	if err != nil {
		t.Fatal(err)
	}
	f.VMs[1].Name = "Twin"
	moves, err := move.Fleet(t.Context(), rules.Run(f, rules.Options{}), []*move.Platform{move.PlatformOf("hyperv"), move.PlatformOf("ahv"), move.PlatformOf("kubevirt")}, move.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range Files(moves) {
		got[f.Name] = string(f.Data)
	}
	for name, want := range map[string]string{
		"twin.hyperv.ps1": "[string]$VMName = 'twin')", "twin-2.hyperv.ps1": "[string]$VMName = 'twin-2')", "twin.ahv.sh": "|| vm=twin\n", "twin-2.ahv.sh": "|| vm=twin-2\n",
		"true.hyperv.ps1": "[string]$VMName = 'true')", "true.kubevirt.yaml": "  name: \"true\"\n",
	} {
		if !strings.Contains(got[name], want) {
			t.Errorf("%s: want %q in %s", name, want, got[name])
		}
		if twin := strings.HasPrefix(name, "twin"); twin != strings.Contains(got[name], "Several VMs have the name") {
			t.Errorf("%s says that it has a twin: want %v in %s", name, twin, got[name])
		}
	}
	for _, m := range moves {
		if said := slices.ContainsFunc(m.Items, func(i move.Item) bool { return i.What == "name" && i.Then == m.Name }); said != (m.Title != "true") {
			t.Errorf("the page of %s says what becomes of its name: %v", m.Name, said)
		}
	}
}

// TestDedicated checks that hint-dedicated is with the mode of the CPU with which every libvirt takes it, and with no other.
func TestDedicated(t *testing.T) {
	m := moved(t, "latency", "libvirt", move.Options{At: at(9)})
	own := string(Files([]*move.Move{m})[0].Data)
	if !strings.Contains(own, "hint-dedicated") || !strings.Contains(own, `<cpu mode="host-passthrough">`) {
		t.Errorf("want hint-dedicated with host-passthrough:\n%s", own)
	}
}
