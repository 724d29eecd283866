package guest

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"example.org/homenode/numa"
)

// samples are public outputs that may lie beside the checkout; they are not part
// of the project.
var samples = filepath.Join("..", "..", "..", "shared", "samples")

func repeat(counts ...int) []int {
	var out []int
	for i, n := range counts {
		out = append(out, slices.Repeat([]int{i}, n)...)
	}
	return out
}

func TestSamples(t *testing.T) {
	if _, err := os.Stat(samples); err != nil {
		t.Skip("no samples beside the checkout")
	}
	mb := func(n ...numa.Bytes) []numa.Bytes {
		for i := range n {
			n[i] *= numa.MiB
		}
		return n
	}
	epyc := slices.Repeat(repeat(6, 6, 6, 6, 6, 6, 6, 6), 2)
	epycSockets := slices.Repeat(repeat(24, 24), 2)
	fourNodes := slices.Repeat([]int{0, 1, 2, 3}, 22)
	ccx := slices.Repeat([]int{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}, 2)
	for _, tt := range []struct {
		folder, file string
		want         []seen
	}{
		{"lscpu", "lscpu_J_xeon6430_2nodes.json", []seen{{LscpuJSON, "", ":1", repeat(32, 32), nil, 2, 2, nil}}},
		{"lscpu", "lscpu_e_xeon6430_2nodes.txt", []seen{{LscpuColumns, "", ":1", repeat(32, 32), repeat(32, 32), 2, 2, nil}}},
		{"lscpu", "lscpu_xeon6430_hierarchical_2.37.txt", []seen{{Lscpu, "", ":1", repeat(32, 32), nil, 2, 2, nil}}},
		{"lscpu", "lscpu_epyc7451_8nodes_text_and_parsable.txt", []seen{
			{Lscpu, "", ":1", epyc, nil, 8, 2, nil},
			{LscpuParse, "", ":40", epyc, epycSockets, 8, 2, nil},
			{LscpuParse, "", ":141", epyc, epycSockets, 8, 2, nil}}},
		{"numactl", "numactl_H_2nodes_xeon6430.txt", []seen{{Numactl, "", ":1", repeat(32, 32), nil, 2, 0, mb(257602, 258038)}}},
		{"numactl", "numactl_H_4nodes_e5-4669v4.txt", []seen{{Numactl, "", ":1", fourNodes, nil, 4, 0, mb(515920, 516045, 516084, 516076)}}},
		{"coreinfo", "coreinfo_24lp_4nodes_with_cost.txt", []seen{{Coreinfo, "", ":1", ccx, repeat(24), 4, 1, nil}}},
		{"coreinfo", "coreinfo_n_multigroup_2x36.txt", []seen{{Coreinfo, "", ":1", repeat(36, 36), nil, 2, 0, nil}}},
		{"coreinfo", "coreinfo_vm_10vcpu_1node.txt", []seen{{Coreinfo, "", ":1", repeat(10), repeat(1, 1, 1, 1, 1, 1, 1, 1, 1, 1), 1, 10, nil}}},
		{"coreinfo", "coreinfo_vm_12vcpu_2nodes.txt", []seen{{Coreinfo, "", ":1", repeat(6, 6), repeat(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), 2, 12, nil}}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			views := readFile(t, samples, tt.folder, tt.file)
			for i := range tt.want {
				tt.want[i].at = tt.file + tt.want[i].at
			}
			checkSeen(t, views, tt.want)
			checkWarnings(t, views)
		})
	}
}

func TestSampleDetails(t *testing.T) {
	if _, err := os.Stat(samples); err != nil {
		t.Skip("no samples beside the checkout")
	}
	v := readFile(t, samples, "coreinfo", "coreinfo_24lp_4nodes_with_cost.txt")[0]
	if want := [][]float64{{1.4, 1.2, 1.1, 1.2}, {1.1, 1.1, 1.3, 1.1}, {1, 1.1, 1, 1.2}, {1.1, 1.2, 1.2, 1.2}}; !reflect.DeepEqual(v.Cost, want) {
		t.Errorf("cost %v, want %v", v.Cost, want)
	}
	// Sixteen cores of which eight are hyperthreaded. Two caches of three are shown
	// as one of two and one of one: that is what the tool printed.
	cores, _ := v.vector(func(c CPU) int { return c.Core })
	if want := []int{0, 0, 1, 2, 3, 3, 4, 4, 5, 6, 7, 7, 8, 8, 9, 10, 11, 11, 12, 12, 13, 14, 15, 15}; !slices.Equal(cores, want) {
		t.Errorf("cores %v, want %v", cores, want)
	}
	caches, _ := v.vector(func(c CPU) int { return c.LLC })
	if want := repeat(3, 3, 2, 1, 3, 3, 1, 2, 3, 3); !slices.Equal(caches, want) {
		t.Errorf("last-level caches %v, want %v", caches, want)
	}
	v = readFile(t, samples, "numactl", "numactl_H_4nodes_e5-4669v4.txt")[0]
	if want := [][]int{{10, 21, 31, 21}, {21, 10, 21, 31}, {31, 21, 10, 21}, {21, 31, 21, 10}}; !reflect.DeepEqual(v.Distance, want) {
		t.Errorf("distances %v, want %v", v.Distance, want)
	}
	if free := v.Nodes[3].Free.Value; free != 514513*numa.MiB {
		t.Errorf("free memory of node 3: %v", free)
	}
	v = readFile(t, samples, "lscpu", "lscpu_xeon6430_hierarchical_2.37.txt")[0]
	if v.CPUCount.Value != 64 || v.CoresPerSocket.Value != 32 || v.ThreadsPerCore.Value != 1 || v.Model.Value != "Intel(R) Xeon(R) Gold 6430" || v.Hypervisor.Known() {
		t.Errorf("%+v", v)
	}
}
