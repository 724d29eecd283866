package rule

import (
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario"
)

// TestSpoken writes layouts in short form and in words, and explains the short form.
func TestSpoken(t *testing.T) {
	for _, tt := range []struct{ vm, short, spoken, legend string }{
		{"vcpus=8 memory=16GB", "1×8", "1 client (8 vCPU)", "2×16: 2 clients of 16 vCPU."},
		{"vcpus=32 memory=64GB hotAdd=on", "2×16 blind +50 %", "2 clients (2 × 16 vCPU), the guest sees 1 node, 50 % of its memory remote",
			"2×16: 2 clients of 16 vCPU; blind: the guest sees 1 node; +50 %: memory on another node."},
		{"vcpus=32 memory=64GB", "2×16", "2 clients (2 × 16 vCPU)", "2×16: 2 clients of 16 vCPU."},
		{"vcpus=8 memory=16GB cpuAffinity=0-7", "1×8 no home", "1 client (8 vCPU), no home node", "2×16: 2 clients of 16 vCPU; no home: not placed on a node."},
	} {
		f, err := scenario.Read("test", []byte("release 7.0U3\nhost h nodes=2 cores=18 memory=512GB\nvm v host=h "+tt.vm+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		g, _, err := vnuma.NewGuest(&f.VMs[0])
		if err != nil {
			t.Fatal(err)
		}
		m, err := vnuma.NewMachine(&f.Hosts[0])
		if err != nil {
			t.Fatal(err)
		}
		l := vnuma.Predict(&g, &m, &vnuma.Case{})
		if short, spoken := Short(&l), Spoken(&l); short != tt.short || spoken != tt.spoken || ShortLegend(short) != tt.legend {
			t.Errorf("%s: %q, %q, %q; want %q, %q, %q", tt.vm, short, spoken, ShortLegend(short), tt.short, tt.spoken, tt.legend)
		}
	}
	if got := ShortLegend("", "see the notes", numa.ESXi80.String()); got != "" {
		t.Errorf("%q of texts without a layout", got)
	}
}
