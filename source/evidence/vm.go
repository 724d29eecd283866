package evidence

import (
	"fmt"
	"strings"

	"homenode/numa"
	"homenode/source/vmxlog"
)

// log adds the VMs of a vmware.log; false when none of them is in the fleet.
func (j *joiner) log(p *Piece, l *vmxlog.Log) bool {
	joined := false
	vms := l.VMs()
	for i := range vms {
		if j.vm(p, &vms[i], l.File().Format) {
			joined = true
		}
	}
	if len(vms) == 0 {
		j.note(l.File().Name, "%s says nothing about a VM", l.File().Format)
	}
	return joined
}

// vm adds what a log or .vmx holds of a VM: what was seen, and the settings that the
// inventory lacks.
func (j *joiner) vm(p *Piece, from *numa.VM, format string) bool {
	to := j.byUUID(p, from.UUID)
	if to == nil {
		to = j.owner(p, from.At, format, from.Name)
	}
	if to == nil {
		return false
	}
	for _, o := range from.Observed {
		j.see(to, o)
	}
	if taken := lacking(&to.Config, &from.Config, from.At); len(taken) > 0 {
		j.note(to.At, "VM %s: taken from %s, for the inventory does not state it: %s", to.Name, from.At, strings.Join(taken, ", "))
	}
	return true
}

// byUUID returns the VM with this UUID, in whatever form it is written.
func (j *joiner) byUUID(p *Piece, uuid string) *numa.VM {
	plain := func(s string) string {
		return strings.ToLower(strings.Map(func(r rune) rune {
			if strings.ContainsRune("0123456789abcdefABCDEF", r) {
				return r
			}
			return -1
		}, s))
	}
	want := plain(uuid)
	if len(want) != 32 || p.VM != "" {
		return nil
	}
	for i := range j.fleet.VMs {
		if plain(j.fleet.VMs[i].UUID) == want {
			return &j.fleet.VMs[i]
		}
	}
	return nil
}

// lacking fills the unknown facts of to that decide the topology, and names them.
func lacking(to, from *numa.Config, at string) []string {
	var taken []string
	take(&taken, "virtual hardware", &to.Hardware, from.Hardware, at)
	take(&taken, "cores per socket", &to.CoresPerSocket, from.CoresPerSocket, at)
	take(&taken, "CPU hot add", &to.CPUHotAdd, from.CPUHotAdd, at)
	take(&taken, "memory hot add", &to.MemoryHotAdd, from.MemoryHotAdd, at)
	take(&taken, "vNUMA on hot add", &to.VNUMAHotAdd, from.VNUMAHotAdd, at)
	take(&taken, "CPU affinity", &to.CPUAffinity, from.CPUAffinity, at)
	take(&taken, "memory affinity", &to.MemoryAffinity, from.MemoryAffinity, at)
	take(&taken, "latency sensitivity", &to.LatencySensitivity, from.LatencySensitivity, at)
	take(&taken, "guest OS", &to.GuestOS, from.GuestOS, at)
	take(&taken, "advanced settings", &to.Settings, from.Settings, at)
	return taken
}

// take fills f from a fact that another file read, whose place becomes absolute.
func take[T any](taken *[]string, name string, f *numa.Fact[T], from numa.Fact[T], at string) {
	if f.Known() || from.Origin.Kind != numa.Read {
		return
	}
	*f = from
	if !strings.Contains(from.Origin.Where, at) {
		f.Origin.Where = fmt.Sprintf("%s, %s", at, from.Origin.Where)
	}
	*taken = append(*taken, name)
}
