package target

import (
	"regexp"
	"strings"
	"testing"

	"homenode/change/move"
	"homenode/rules/rule"
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

// many returns the move of a VM of 256 vCPUs.
func many(t *testing.T) *move.Move {
	v := vmOf(t, "nodes=8 cores=32 memory=512GB", "vcpus=256 coresPerSocket=32 memory=4GB hw=20 firmware=efi iommu=on")
	return move.Make(v, move.PlatformOf("libvirt"), move.Options{})
}

// TestManyVCPUs checks that more vCPUs than 255 get a virtual IOMMU with extended interrupt mode, also in a domain of another tool.
func TestManyVCPUs(t *testing.T) {
	m := many(t)
	if m.Refused != nil {
		t.Fatalf("refused: %q", m.Refused)
	}
	own := string(Files([]*move.Move{m})[0].Data)
	foreign := "<domain type='kvm'>\n  <name>x</name>\n  <memory unit='GiB'>4</memory>\n  <vcpu>256</vcpu>\n  <features>\n    <acpi/>\n  </features>\n  <devices>\n    <disk/>\n    <iommu model='intel'/>\n  </devices>\n</domain>\n"
	p, err := Patch("x.xml", []byte(foreign), m)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"own": own, "patched": string(p.Data)} {
		for _, want := range []string{`<ioapic driver="qemu"`, `<iommu model="intel">`, `<driver intremap="on" eim="on"`} {
			if strings.Count(text, want) != 1 {
				t.Errorf("%s: want %s once in\n%s", name, want, text)
			}
		}
	}
	if again, err := Patch("x.xml", p.Data, m); err != nil || again.Changes != nil {
		t.Errorf("patched twice: %v, %q", err, again.Changes)
	}
	args := strings.Join(QEMU(m.Shape, nil, false), " ")
	if !strings.Contains(args, "-device intel-iommu,intremap=on,eim=on") {
		t.Errorf("arguments %s", args)
	}
}

// TestDedicated checks that hint-dedicated is with the mode of the CPU with which every libvirt takes it, and with no other.
func TestDedicated(t *testing.T) {
	m := moved(t, "latency", "libvirt", move.Options{At: at(9)})
	own := string(Files([]*move.Move{m})[0].Data)
	if !strings.Contains(own, "hint-dedicated") || !strings.Contains(own, `<cpu mode="host-passthrough">`) {
		t.Errorf("want hint-dedicated with host-passthrough:\n%s", own)
	}
	for mode, want := range map[string]bool{"host-passthrough": true, "host-model": false} {
		foreign := "<domain type='kvm'>\n  <name>x</name>\n  <memory unit='GiB'>1</memory>\n  <vcpu>16</vcpu>\n  <cpu mode='" + mode + "'/>\n</domain>\n"
		p, err := Patch("x.xml", []byte(foreign), m)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(p.Data), "hint-dedicated"); got != want {
			t.Errorf("%s: hint-dedicated %v, want %v:\n%s", mode, got, want, p.Data)
		}
	}
}
