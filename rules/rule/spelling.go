package rule

import "homenode/numa"

// A Setting is a kind of setting that advice names.
type Setting int

// The settings.
const (
	Pins    Setting = iota // CPUs of the host for vCPUs
	Binding                // nodes of the host for memory
	Cells                  // nodes of the guest
	Sockets                // sockets and their cores
)

// spelling has the names of settings on platforms other than libvirt.
var spelling = map[string][4]string{
	"QEMU": {"taskset -pc for the thread of each vCPU (query-cpus-fast of QMP lists them)", "host-nodes and policy=bind of the memory backend",
		"-numa node with cpus and memdev for each, and a memory backend for each", "sockets and cores of -smp"},
	"Proxmox VE": {"affinity", "hostnodes and policy of numaN", "numa: 1, with a socket for each, or numa0, numa1 … with cpus and memory", "the settings sockets and cores"},
	"KubeVirt": {"dedicatedCpuPlacement", "numa.guestMappingPassthrough, with dedicatedCpuPlacement and huge pages",
		"numa.guestMappingPassthrough, with dedicatedCpuPlacement and huge pages", "sockets and cores of domain.cpu"},
}

// Spelt returns the name of a setting on the platform of a VM; "" for libvirt, whose elements the pages of the checks name.
func Spelt(s *numa.Stated, what Setting) string {
	if what == Pins && s.Platform == "Proxmox VE" && len(s.Cells) > 1 {
		return "pin the thread of each vCPU after the start, in a hookscript: Proxmox has one affinity for all threads of a VM"
	}
	return spelling[s.Platform][what]
}

// Spelt appends the names of the settings on the platform of the VM to advice.
func (p *StatedPass) Spelt(advice string, settings ...Setting) string {
	sep := ": "
	for _, what := range settings {
		if how := Spelt(p.VM.Stated, what); how != "" {
			advice, sep = advice+sep+how, "; "
		}
	}
	return advice
}
