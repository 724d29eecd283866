package cpuid

import "testing"

func TestLeaf(t *testing.T) {
	last, b, c, d := Leaf(0, 0)
	if !Has {
		if last|b|c|d != 0 {
			t.Errorf("without the instruction: %x %x %x %x", last, b, c, d)
		}
		return
	}
	_, _, _, features := Leaf(1, 0)
	const sse2 = 1 << 26 // which Go requires
	if last < 1 || b|c|d == 0 || features&sse2 == 0 {
		t.Errorf("leaf 0: %x %x %x %x; leaf 1: %x", last, b, c, d, features)
	}
	if _, cores, _, _ := Leaf(0xb, 0); last >= 0xb {
		if _, packages, _, _ := Leaf(0xb, 1); packages < cores {
			t.Errorf("leaf 11: %d threads of a core, %d of a package", cores, packages)
		}
	}
}
