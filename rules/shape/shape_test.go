package shape

import (
	"slices"
	"testing"

	"example.org/homenode/numa"
)

// good is a shape without faults; each call returns a new one.
func good() *numa.Shape {
	return &numa.Shape{Sockets: 2, Dies: 1, Cores: 2, Threads: 1, VCPUs: 4, Memory: 8 * numa.GiB,
		Cells: []numa.Cell{{CPUs: []int{0, 1}, Memory: 4 * numa.GiB}, {CPUs: []int{2, 3}, Memory: 4 * numa.GiB}}}
}

// TestCheck checks that each fault is found, and nothing else.
func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(s *numa.Shape)
		want  []Fault
	}{
		{"good", func(*numa.Shape) {}, nil},
		{"no cores", func(s *numa.Shape) { s.Cores = 0 }, []Fault{{"topology", "2 sockets, 1 dies, 0 cores and 1 threads: want 1 or more of each, and at most 16384 vCPUs"}}},
		{"too many at the start", func(s *numa.Shape) { s.VCPUs = 5 }, []Fault{{"topology", "5 vCPUs at the start, and a topology of 4"}}},
		{"no cell", func(s *numa.Shape) { s.Cells = nil }, []Fault{{"vcpus", "there is no cell"}}},
		{"a vCPU in no cell", func(s *numa.Shape) { s.Cells[1].CPUs = []int{3} }, []Fault{{"vcpus", "vCPU 2 is in no cell"}}},
		{"a vCPU in two cells", func(s *numa.Shape) { s.Cells[1].CPUs = []int{1, 2, 3} }, []Fault{{"vcpus", "vCPU 1 is in cells 0 and 1, which libvirt refuses"}}},
		{"a vCPU too many", func(s *numa.Shape) { s.Cells[1].CPUs = []int{2, 3, 4} }, []Fault{{"vcpus", "cell 1 has vCPU 4 of 4, which libvirt refuses"}}},
		{"many too many", func(s *numa.Shape) { s.Cells[1].CPUs = []int{0, 1, 2, 3, 4, 5, 6, 8} }, []Fault{{"vcpus", "cell 1 has vCPUs 4-6, 8 of 4, which libvirt refuses"}, {"vcpus", "vCPUs 0-1 are in cells 0 and 1, which libvirt refuses"}}},
		{"the list of the host", func(s *numa.Shape) { s.Cells[0].CPUs, s.Cells[1].CPUs = []int{0, 2}, []int{1, 3} }, []Fault{{"sockets", "socket 0 lies in cells 0 and 1, which are not its dies"}}},
		{"out of order", func(s *numa.Shape) { s.Cells[0].CPUs = []int{1, 0} }, []Fault{{"vcpus", "the vCPUs of cell 0 do not ascend"}}},
		{"less memory", func(s *numa.Shape) { s.Cells[1].Memory = numa.GiB }, []Fault{{"memory", "the cells have 5 GB, the VM has 8 GB"}}},
		{"no memory", func(s *numa.Shape) { s.Cells[0].Memory, s.Cells[1].Memory = 0, 8*numa.GiB }, []Fault{{"memory", "cell 0 has no memory"}}},
		{"parts of pages", func(s *numa.Shape) { s.Page = 3 * numa.GiB }, []Fault{{"pages", "the 4 GB of cell 0 are no whole pages of 3 GB"}, {"pages", "the 4 GB of cell 1 are no whole pages of 3 GB"}}},
		{"a cell of memory alone", func(s *numa.Shape) { s.Cells[0] = numa.Cell{Memory: 4 * numa.GiB}; s.Cells[1].CPUs = []int{0, 1, 2, 3} }, []Fault{{"empty", "cell 0 has no vCPU"}}},
		{"one socket in two cells", func(s *numa.Shape) { s.Sockets, s.Cores = 1, 4 }, []Fault{{"sockets", "socket 0 lies in cells 0 and 1, which are not its dies"}}},
		{"one socket of two dies", func(s *numa.Shape) { s.Sockets, s.Dies = 1, 2 }, nil},
		{"one socket of two clusters", func(s *numa.Shape) { s.Sockets, s.Cores, s.Sharing = 1, 4, 2 }, nil},
		{"clusters beside the cells", func(s *numa.Shape) { s.Sockets, s.Cores, s.Sharing = 1, 4, 4 }, []Fault{{"sockets", "socket 0 lies in cells 0 and 1, which are not its dies"}}},
		{"dies beside the cells", func(s *numa.Shape) { s.Sockets, s.Dies, s.Cores = 1, 4, 1 }, []Fault{{"sockets", "socket 0 lies in cells 0 and 1, which are not its dies"}}},
		{"distance to itself", func(s *numa.Shape) { s.Distance = [][]int{{10, 20}, {20, 11}} }, []Fault{{"distance", "cell 1 is at 11 from cell 1: want 10 to itself, and 11 to 255 to others"}}},
		{"near others", func(s *numa.Shape) { s.Distance = [][]int{{10, 10}, {20, 10}} }, []Fault{{"distance", "cell 0 is at 10 from cell 1: want 10 to itself, and 11 to 255 to others"}}},
		{"unreachable", func(s *numa.Shape) { s.Distance = [][]int{{10, 255}, {255, 10}} }, nil},
		{"beyond", func(s *numa.Shape) { s.Distance = [][]int{{10, 256}, {20, 10}} }, []Fault{{"distance", "cell 0 is at 256 from cell 1: want 10 to itself, and 11 to 255 to others"}}},
		{"a row too few", func(s *numa.Shape) { s.Distance = [][]int{{10, 20}} }, []Fault{{"distance", "1 rows, 2 distances from cell 0, and 2 cells"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := good()
			tt.spoil(s)
			if got := Check(s, false); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	s := good()
	s.Cells[0], s.Cells[1].CPUs = numa.Cell{Memory: 4 * numa.GiB}, []int{0, 1, 2, 3}
	if got := Check(s, true); got != nil {
		t.Errorf("memory alone where it is allowed: %v", got)
	}
}
