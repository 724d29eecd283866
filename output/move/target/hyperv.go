package target

import (
	"bytes"
	"fmt"

	"example.org/homenode/change/move"
	"example.org/homenode/internal/words"
)

// hyperv writes a script for the PowerShell module Hyper-V. Its numbers are upper limits, which determine the nodes.
func hyperv(b *bytes.Buffer, m *move.Move) {
	s := m.Shape
	perSocket := max(1, len(s.Cells)/s.Sockets)
	largest := s.Cells[0].Memory
	for _, c := range s.Cells {
		largest = max(largest, c.Memory)
	}
	comment(b, head(m)...)
	comment(b, "Nothing of this ran in the tests of homenode: read Get-VMProcessor, Get-VMMemory and the guest afterwards. The VM must be off.")
	name := called(b, m)
	fmt.Fprintf(b, "param([string]$VMName = %s)\n$ErrorActionPreference = 'Stop'\n", words.PowerShell(name))
	fmt.Fprintf(b, "Set-VMProcessor -VMName $VMName -Count %d -MaximumCountPerNumaNode %d -MaximumCountPerNumaSocket %d -HwThreadCountPerCore %d\n", s.VCPUs, len(s.Cells[0].CPUs), perSocket, s.Threads)
	fmt.Fprintf(b, "Set-VMMemory -VMName $VMName -DynamicMemoryEnabled $false -StartupBytes %dMB -MaximumAmountPerNumaNodeBytes %dMB\n", mb(s.Memory), mb(largest))
}
