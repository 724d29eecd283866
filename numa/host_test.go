package numa

import "testing"

// TestCacheCores: AMD names how many cores a core complex of each model has at most:
// Zen 1 and 2 four, Zen 3 to 5 eight, Zen 5c sixteen.
func TestCacheCores(t *testing.T) {
	for _, tt := range []struct {
		cpu  string
		want int
	}{
		{"AMD EPYC 7601 32-Core Processor", 4},
		{"AMD EPYC 7F72 24-Core Processor", 4},
		{"AMD EPYC 7763 64-Core Processor", 8},
		{"AMD EPYC 8534P 64-Core Processor", 8},
		{"AMD EPYC 9754 128-Core Processor", 8}, // Bergamo has two complexes of eight a die
		{"AMD EPYC 9655P 96-Core Processor", 8},
		{"AMD EPYC 9745 128-Core Processor", 16},
		{"AMD EPYC 9965 192-Core Processor", 16},
		{"Intel(R) Xeon(R) Platinum 8480+", 0},
		{"", 0},
	} {
		h := Host{CPUModel: ReadAt(tt.cpu, "cpu")}
		if got := h.CacheCores(); got.Value != tt.want || got.Known() != (tt.want > 0) {
			t.Errorf("%s: %d cores (%v)", tt.cpu, got.Value, got.Origin)
		}
		h.LLCCores = ReadAt(6, "llcCores")
		if got := h.CacheCores(); got.Value != 6 {
			t.Errorf("%s: %d cores instead of the stated 6", tt.cpu, got.Value)
		}
	}
}

// TestProcessors: which processors share memory over a bus, and which have several dies with memory of their own.
func TestProcessors(t *testing.T) {
	for _, tt := range []struct {
		model string
		bus   bool
		dies  int
	}{
		{"Intel(R) Xeon(R) CPU            5160  @ 3.00GHz", true, 1},
		{"Intel(R) Xeon(R) CPU           E5345  @ 2.33GHz", true, 1},
		{"Intel(R) Xeon(R) CPU           X5460  @ 3.16GHz", true, 1},
		{"Intel(R) Xeon(R) CPU           E7340  @ 2.40GHz", true, 1},
		{"Intel(R) Xeon(R) CPU           X7460  @ 2.66GHz", true, 1},
		{"Intel(R) Xeon(TM) CPU 3.20GHz", true, 1},
		{"Intel(R) Xeon(R) CPU           E5540  @ 2.53GHz", false, 1},
		{"Intel(R) Xeon(R) CPU           X5650  @ 2.67GHz", false, 1},
		{"Intel(R) Xeon(R) CPU           X7560  @ 2.27GHz", false, 1},
		{"Intel(R) Xeon(R) CPU E7- 4870  @ 2.40GHz", false, 1},
		{"Intel(R) Xeon(R) CPU E5-2690 v2 @ 3.00GHz", false, 1},
		{"Intel(R) Xeon(R) Gold 5118 CPU @ 2.30GHz", false, 1},
		{"Intel(R) Xeon(R) Gold 5218 CPU @ 2.30GHz", false, 1},
		{"INTEL(R) XEON(R) PLATINUM 8568Y+", false, 1},
		{"AMD Opteron(tm) Processor 6174", false, 2},
		{"AMD Opteron(TM) Processor 6276", false, 2},
		{"AMD Opteron(tm) Processor 6380", false, 2},
		{"Six-Core AMD Opteron(tm) Processor 8435", false, 1},
		{"AMD Opteron(tm) Processor 4184", false, 1},
		{"AMD EPYC 7601 32-Core Processor", false, 4},
		{"Intel(R) Xeon(R) Platinum 9242 CPU @ 2.30GHz", false, 2},
		{"Intel(R) Xeon(R) Platinum 8280 CPU @ 2.70GHz", false, 1},
		{"AMD EPYC 7401P 24-Core Processor", false, 4},
		{"AMD EPYC 7542 32-Core Processor", false, 1},
		{"AMD EPYC 9374F 32-Core Processor", false, 1},
		{"", false, 1},
	} {
		h := Host{CPUModel: ReadAt(tt.model, "cpu"), Packages: ReadAt(2, "packages"), Cores: ReadAt(16, "cores"), Memory: ReadAt(64*GiB, "memory")}
		if h.FrontSideBus() != tt.bus || h.Dies() != tt.dies {
			t.Errorf("%q: on a bus %v, %d dies; want %v, %d", tt.model, h.FrontSideBus(), h.Dies(), tt.bus, tt.dies)
		}
		want := 2 * tt.dies
		if tt.bus {
			want = 1
		}
		h.Nodes = h.PackageNodes(8, "a test")
		cores, memory := 0, Bytes(0)
		for _, n := range h.Nodes.Value {
			cores, memory = cores+n.Cores, memory+n.Memory.Value
		}
		if len(h.Nodes.Value) != want || cores != 16 || memory != 64*GiB || h.Hidden() != 0 {
			t.Errorf("%q: %d nodes with %d cores and %s, %d packages hidden; want %d nodes with 16 cores and 64 GB, none hidden", tt.model, len(h.Nodes.Value), cores, memory, h.Hidden(), want)
		}
	}
}

// TestChassis has processors on a front-side bus in hosts of one chassis and of several, which are nodes.
func TestChassis(t *testing.T) {
	for _, tt := range []struct {
		model    string
		packages int
		cpu      string
		chassis  int
	}{
		{"IBM System x3950 M2 -[71415SG]-", 8, "Intel(R) Xeon(R) CPU X7460 @ 2.66GHz", 2},
		{"IBM System x3950 M2 -[7141]-", 4, "Intel(R) Xeon(R) CPU X7460 @ 2.66GHz", 1},
		{"IBM x3950-[88786RU]-", 16, "Intel(R) Xeon(TM) CPU 3.50GHz", 4},
		{"eserver xSeries 445 -[88704RX]-", 8, "Intel(R) Xeon(TM) MP CPU 2.80GHz", 2},
		{"IBM xSeries 460", 8, "Intel(R) Xeon(TM) CPU 3.66GHz", 2},
		{"PowerEdge R900", 8, "Intel(R) Xeon(R) CPU X7460 @ 2.66GHz", 1},
		{"System x3950 X5 -[7145]-", 8, "Intel(R) Xeon(R) CPU X7560 @ 2.27GHz", 1},
		{"System x3950 X6", 8, "Intel(R) Xeon(R) CPU E7-8890 v3 @ 2.50GHz", 1},
	} {
		h := Host{Model: ReadAt(tt.model, "model"), CPUModel: ReadAt(tt.cpu, "cpu"), Packages: ReadAt(tt.packages, "packages"), Nodes: ReadAt([]Node{{Cores: 8}}, "nodes")}
		bus := tt.chassis == 1 && tt.cpu != "Intel(R) Xeon(R) CPU X7560 @ 2.27GHz" && tt.cpu != "Intel(R) Xeon(R) CPU E7-8890 v3 @ 2.50GHz"
		if h.Chassis() != tt.chassis || h.FrontSideBus() != bus {
			t.Errorf("%s of %d: %d chassis, on one bus %v", tt.model, tt.packages, h.Chassis(), h.FrontSideBus())
		}
		if tt.chassis > 1 && (h.Hidden() != tt.chassis || len(h.PackageNodes(6, "a test").Value) != tt.chassis || h.Dropped(ESXi80+3) == "") {
			t.Errorf("%s: %d chassis hidden, %d nodes, dropped %q", tt.model, h.Hidden(), len(h.PackageNodes(6, "a test").Value), h.Dropped(ESXi80+3))
		}
	}
}
