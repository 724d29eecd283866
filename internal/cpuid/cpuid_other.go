//go:build !amd64

package cpuid

// Has reports whether there is the instruction.
const Has = false

// Leaf is the instruction; all 0 without it.
func Leaf(_, _ uint32) (eax, ebx, ecx, edx uint32) { return 0, 0, 0, 0 }
