package cpuid

// Has reports whether the instruction exists.
const Has = true

// Leaf executes the instruction.
func Leaf(leaf, sub uint32) (eax, ebx, ecx, edx uint32)
