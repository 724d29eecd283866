package target

import (
	"bytes"
	"fmt"
	"strings"

	"example.org/homenode/change/move"
	"example.org/homenode/numa"
)

// qemu writes QEMU arguments, one option per line. No value has a space, so a shell needs no quotes.
func qemu(b *bytes.Buffer, m *move.Move) {
	comment(b, head(m)...)
	at, bind := m.Binding(), ""
	if at != nil {
		all, _ := at.All()
		bind = "taskset -c " + ranges(all, ",") + " "
	}
	cpu := "host"
	if m.Topoext() {
		cpu += ",topoext=on"
	} else if (m.Shape.Threads > 1 || m.Shape.Dies > 1) && (m.At == nil || m.At.Vendor == "") {
		comment(b, "On AMD use -cpu host,topoext=on: else the guest sees no threads, and one cache for the dies of a socket.")
	}
	comment(b, fmt.Sprintf("Use: %sqemu-system-x86_64 -machine q35 -accel kvm -cpu %s ... $(sed '/^#/d' %s.qemu.args)", bind, cpu, m.Name))
	if at != nil && len(m.Shape.Cells) > 1 {
		comment(b, "The memory is bound, so bind each vCPU after the start, by its thread-id (query-cpus-fast of QMP):")
		for i, c := range m.Shape.Cells {
			if len(c.CPUs) > 0 {
				comment(b, fmt.Sprintf("  taskset -pc %s THREAD-ID, of vCPUs %s", ranges(at.HostCPUs(i), ","), ranges(c.CPUs, ",")))
			}
		}
	}
	args := QEMU(m.Shape, at, m.Strict)
	for i := 0; i < len(args); i += 2 {
		b.WriteString(args[i] + " " + args[i+1] + "\n")
	}
}

// QEMU returns the arguments for a guest with this shape: options and values alternate. at can be nil.
func QEMU(s *move.Shape, at *move.Placement, strict bool) []string {
	smp := fmt.Sprintf("%d,maxcpus=%d,sockets=%d,dies=%d,cores=%d,threads=%d", s.VCPUs, s.Most(), s.Sockets, s.Dies, s.Cores, s.Threads)
	args := []string{"-m", fmt.Sprintf("%dM", mb(s.Memory)), "-smp", smp}
	if s.Most() > move.FewAPICs {
		args = append(args, "-machine", "kernel-irqchip=split", "-device", "intel-iommu,intremap=on,eim=on")
	}
	if len(s.Cells) == 1 {
		if at != nil || s.Page > 0 {
			args = append(args, "-object", backend(s, 0, at, strict), "-machine", "memory-backend=ram0")
		}
		return args
	}
	for i, c := range s.Cells {
		node := fmt.Sprintf("node,nodeid=%d", i)
		if len(c.CPUs) > 0 { // commas are invalid within cpus=: each range has its own option
			node += ",cpus=" + ranges(c.CPUs, ",cpus=")
		}
		args = append(args, "-object", backend(s, i, at, strict), "-numa", fmt.Sprintf("%s,memdev=ram%d", node, i))
	}
	for i, row := range s.Distance {
		for j, d := range row {
			args = append(args, "-numa", fmt.Sprintf("dist,src=%d,dst=%d,val=%d", i, j, d))
		}
	}
	return args
}

// backend returns the memory backend of a cell.
func backend(s *move.Shape, cell int, at *move.Placement, strict bool) string {
	kind, more := "ram", ""
	if s.Page > 0 {
		kind, more = "memfd", fmt.Sprintf(",hugetlb=on,hugetlbsize=%dM,prealloc=on", s.Page/numa.MiB)
	}
	if at != nil {
		policy := "preferred"
		if strict {
			policy = "bind"
			if s.Page == 0 { // preallocate: a later allocation on a full node would kill the guest
				more += ",prealloc=on"
			}
		}
		more += fmt.Sprintf(",host-nodes=%d,policy=%s", at.Nodes[cell], policy)
	}
	return strings.Join([]string{"memory-backend-" + kind, fmt.Sprintf("id=ram%d", cell), fmt.Sprintf("size=%dM", mb(s.Cells[cell].Memory))}, ",") + more
}
