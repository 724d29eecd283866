//go:build !amd64

package cpuid

// Has reports whether the instruction exists.
const Has = false

// Leaf returns 0 for all without the instruction.
func Leaf(_, _ uint32) (eax, ebx, ecx, edx uint32) { return 0, 0, 0, 0 }
