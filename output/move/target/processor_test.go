package target

import (
	"os/exec"
	"strings"
	"testing"

	"example.org/homenode/change/move"
	"example.org/homenode/rules/rule"
)

// large is a VM with more memory than the models of processors address.
func large(t testing.TB, to string, o move.Options) *move.Move {
	t.Helper()
	m := move.Make(vmOf(t, "nodes=2 cores=16 memory=4TB", "vcpus=16 coresPerSocket=8 memory=1200GB"), move.PlatformOf(to), o)
	m.Name = "vm-large"
	return m
}

// TestAddressBits: a domain of more memory than 40 bits address states its bits, once, and not with the CPU of the host; QEMU starts with as many.
func TestAddressBits(t *testing.T) {
	const want = `<maxphysaddr mode="emulate" bits="42">`
	m := large(t, "libvirt", move.Options{})
	text := string(Files([]*move.Move{m})[0].Data)
	if strings.Count(text, want) != 1 {
		t.Errorf("not once %s in %s", want, text)
	}
	small := moved(t, "2x12", "libvirt", move.Options{})
	if text := string(Files([]*move.Move{small})[0].Data); strings.Contains(text, "maxphysaddr") {
		t.Errorf("2 GB have address bits: %s", text)
	}
	own := large(t, "libvirt", move.Options{At: at(9)})
	own.Exclusive = true
	if text := string(Files([]*move.Move{own})[0].Data); strings.Contains(text, "maxphysaddr") {
		t.Errorf("the CPU of the host has address bits: %s", text)
	}
	program, err := exec.LookPath("qemu-system-x86_64")
	if err != nil {
		t.Skip("no qemu-system-x86_64")
	}
	for bits, starts := range map[string]bool{"": false, ",phys-bits=42": true} {
		cmd := exec.CommandContext(t.Context(), program, "-object", "memory-backend-ram,id=ram0,size=1200G,reserve=off", "-M", "q35,memory-backend=ram0", "-accel", "tcg", "-S", "-display", "none", "-nodefaults", "-cpu", "Skylake-Server"+bits, "-m", "1200G", "-qmp", "stdio")
		cmd.Stdin = strings.NewReader(`{"execute":"qmp_capabilities"}{"execute":"quit"}`)
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), "annot allocate memory") {
			t.Skipf("QEMU gets no 1200 GB here: %s", out)
		}
		if (err == nil) != starts {
			t.Errorf("QEMU with %q: %v, %s", bits, err, out)
		}
	}
}

// TestTopoext: with the CPU of the host, guests of AMD are shown threads and dies by a feature of the CPU.
func TestTopoext(t *testing.T) {
	const want = `<feature policy="require" name="topoext">`
	for _, tt := range []struct {
		shape, vendor string
		exclusive     bool
		want          bool
	}{{"dies", "AMD", true, true}, {"threads", "AMD", true, true}, {"dies", "AMD", false, false}, {"dies", "Intel", true, false}, {"dies", "", true, false}, {"2x12", "AMD", true, false}} {
		on := func(v *rule.VM) (*move.Placement, string) {
			p, why := at(9)(v)
			p.Vendor = tt.vendor
			return p, why
		}
		m := moved(t, tt.shape, "libvirt", move.Options{At: on})
		m.Exclusive = tt.exclusive
		text := string(Files([]*move.Move{m})[0].Data)
		if strings.Contains(text, want) != tt.want {
			t.Errorf("%+v: %s", tt, text)
		}
		said := strings.Contains(text, "topoext")
		if tt.vendor == "" && !tt.exclusive && said || tt.vendor == "Intel" && said {
			t.Errorf("%+v speaks of topoext: %s", tt, text)
		}
		args := moved(t, tt.shape, "qemu", move.Options{At: on})
		if text := string(Files([]*move.Move{args})[0].Data); strings.Contains(text, "-cpu host,topoext=on ...") != args.Topoext() {
			t.Errorf("%+v: %s", tt, text)
		}
	}
}

// TestNeeds: what has to be there before a VM starts is in the comments of its files, and what can be written is written.
func TestNeeds(t *testing.T) {
	const apic, bits = "vcpus=300 coresPerSocket=15 memory=4GB hw=21 firmware=efi iommu=on", "vcpus=16 coresPerSocket=8 memory=1200GB"
	for _, tt := range []struct{ to, vm, want, not string }{
		{"proxmox", bits, "It does not start without cpu: host, or phys-bits=42 behind the model of cpu.", ""},
		{"nova", bits, "--property hw:maxphysaddr_mode=emulate --property hw:maxphysaddr_bits=42", "not start"},
		{"kubevirt", bits, "model: host-passthrough", ""},
		{"libvirt", bits, `maxphysaddr mode="emulate" bits="42"`, "not start"},
		{"libvirt", apic, "It does not start without a QEMU whose machine type q35 has 300 vCPUs (1024 from 8.1, 4096 from 9.0).", ""},
		{"libvirt", strings.NewReplacer("300", "256", "=15", "=16").Replace(apic), `eim="on"`, "not start"},
		{"qemu", apic, "not start without a QEMU whose machine type q35 has 300 vCPUs", ""},
		{"proxmox", strings.Replace(apic, "=15", "=50", 1), "not start without a QEMU whose machine type q35 has 300 vCPUs", ""},
		{"kubevirt", apic, "not start without libvirt 10.10 or later in KubeVirt (1.4.0 has 10.5), which adds the virtual IOMMU that 300 vCPUs need.", ""},
		{"kubevirt", apic, "not start without huge pages of 2 MB that are reserved on the nodes of the host.", ""},
		{"nova", apic, "not start without an image of hw_machine_type=q35", ""},
		{"hyperv", "vcpus=65 coresPerSocket=65 memory=4GB", "not start without a VM of generation 2.", "240"},
		{"hyperv", "vcpus=256 coresPerSocket=256 memory=4GB", "without a guest that uses more than 240 vCPUs, which Windows Server 2016 and 2019 do not.", ""},
		{"hyperv", "vcpus=64 coresPerSocket=64 memory=4GB", "Set-VMProcessor", "not start"},
	} {
		host := "nodes=20 cores=16 memory=4TB"
		if strings.Contains(tt.vm, "coresPerSocket=5") || strings.Contains(tt.vm, "coresPerSocket=6") {
			host = "nodes=6 cores=70 memory=4TB"
		}
		m := move.Make(vmOf(t, host, tt.vm), move.PlatformOf(tt.to), move.Options{})
		if m.Refused != nil {
			t.Fatalf("%s: %q", tt.vm, m.Refused)
		}
		text := string(Files([]*move.Move{m})[0].Data)
		if !strings.Contains(text, tt.want) || tt.not != "" && strings.Contains(text, tt.not) {
			t.Errorf("%s of %s: no %q, or %q, in\n%s", tt.to, tt.vm, tt.want, tt.not, text)
		}
		for _, need := range m.Needs() {
			if !strings.Contains(text, need) {
				t.Errorf("%s of %s: %q is not in\n%s", tt.to, tt.vm, need, text)
			}
		}
	}
}
