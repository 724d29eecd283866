package topo

import (
	"homenode/esxi/vnuma"
	"homenode/internal/words"
	"homenode/rules/verdict/matrix"
)

// MatrixCaption says how to read the matrix and what it rests on, one sentence a line.
func MatrixCaption(m *matrix.Matrix) []string {
	event := "after a power cycle on that host"
	if m.Event == vnuma.VMotionIn {
		event = "after vMotion to that host: the guest keeps its nodes"
	}
	return []string{
		"Each cell: the VM alone " + event + ". Predicted, not observed.",
		"● home, = the same as at home, ▼ worse, ▲ better, ≠ other, – its virtual hardware is too new.",
		"2×16: 2 clients of 16 vCPU; blind: the guest sees 1 node; sees: other nodes than clients; +50 %: memory on another node.",
	}
}

// LeftOut says which VMs have no row; "" when all have.
func LeftOut(m *matrix.Matrix) string {
	if m.Same == 0 {
		return ""
	}
	return "Left out: " + words.Plural(m.Same, "VM") + " of one client, the same on every host (--all)."
}
