package target

import (
	"bytes"
	"fmt"

	"example.org/homenode/change/move"
	"example.org/homenode/numa"
)

// kubevirt writes a VirtualMachine. The nodes of the guest depend on the CPUs that it gets.
func kubevirt(b *bytes.Buffer, m *move.Move) {
	s := m.Shape
	comment(b, head(m)...)
	if len(s.Cells) > 1 {
		comment(b, "The shape is not guaranteed: read lscpu in the guest. Its nodes follow from the CPUs that the kubelet gives it.")
	}
	line := func(depth int, text string, args ...any) {
		fmt.Fprintf(b, "%*s%s\n", depth*2, "", fmt.Sprintf(text, args...))
	}
	line(0, "apiVersion: kubevirt.io/v1")
	line(0, "kind: VirtualMachine")
	line(0, "metadata:")
	line(1, "name: %q", m.Name) // quoted, because true would not be a string
	line(0, "spec:")
	line(1, "runStrategy: Halted")
	line(1, "template:")
	line(2, "spec:")
	line(3, "domain:")
	line(4, "cpu:")
	line(5, "sockets: %d", s.VCPUs/s.PerSocket())
	line(5, "cores: %d", s.Cores)
	line(5, "threads: %d", s.Threads)
	line(5, "maxSockets: %d", s.Sockets) // the default is four times the sockets
	if move.AddressBits(s) > 0 {         // other models may have less than the memory needs
		line(5, "model: host-passthrough")
	}
	if m.Exclusive {
		line(5, "dedicatedCpuPlacement: true")
	}
	if m.VM.LatencyHigh() {
		line(5, "isolateEmulatorThread: true")
	}
	if len(s.Cells) > 1 {
		line(5, "numa:")
		line(6, "guestMappingPassthrough: {}")
	}
	line(4, "memory:")
	line(5, "guest: %dMi", mb(s.Memory))
	if s.Page > 0 {
		line(5, "hugepages:")
		line(6, "pageSize: %s", map[numa.Bytes]string{2 * numa.MiB: "2Mi", numa.GiB: "1Gi"}[s.Page])
	}
	line(4, "devices: {}")
}
