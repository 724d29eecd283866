package numa

import "fmt"

// An Impossible is what a configuration says and vSphere lets nobody set.
type Impossible struct {
	Text string
	By   []EditKind // the edits that vSphere refuses with it
	Cure Edit       // takes it away
}

// Impossible returns what the configuration says and vSphere lets nobody set (vSphere Virtual Machine Administration: allocate memory
// resources, GUID-49D7217C; configure processor scheduling affinity; for the CPU the API's reservation and limit of an allocation). Less
// memory is not refused: vSphere lowers the reservation with it.
func (c *Config) Impossible() (out []Impossible) {
	if most, has := c.CPULimit.Value, c.CPUReservation.Value; c.CPULimit.Known() && most > 0 && has > most {
		out = append(out, Impossible{fmt.Sprintf("the CPU reservation of %d MHz is above the CPU limit of %d MHz", has, most),
			[]EditKind{EditCPUReservation}, EditCPUReservation.To(most)})
	}
	if most, has := c.Memory.Value, c.MemoryReservation.Value; c.Memory.Known() && has > most {
		out = append(out, Impossible{fmt.Sprintf("the memory reservation of %s is above the memory of the VM, %s", has, most),
			[]EditKind{EditMemoryReservation}, EditMemoryReservation.To(int(most / MiB))})
	}
	if has := len(c.CPUAffinity.Value); c.VCPUs.Known() && has > 0 && has < c.VCPUs.Value {
		out = append(out, Impossible{fmt.Sprintf("the CPU affinity has %d PCPUs, fewer than the %d vCPUs", has, c.VCPUs.Value),
			[]EditKind{EditCPUAffinity, EditVCPUs}, Edit{Kind: EditCPUAffinity, To: Is("")}})
	}
	return out
}
