package cpuid

// Has reports whether there is the instruction.
const Has = true

// Leaf is the instruction.
func Leaf(leaf, sub uint32) (eax, ebx, ecx, edx uint32)
