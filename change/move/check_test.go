package move

import (
	"slices"
	"testing"

	"homenode/numa"
)

// good is a shape without faults; each call returns a new one.
func good() *Shape {
	return &Shape{Sockets: 2, Dies: 1, Cores: 2, Threads: 1, VCPUs: 4, Memory: 8 * numa.GiB,
		Cells: []Cell{{CPUs: []int{0, 1}, Memory: 4 * numa.GiB}, {CPUs: []int{2, 3}, Memory: 4 * numa.GiB}}}
}

// TestCheck checks that each fault is found, and nothing else.
func TestCheck(t *testing.T) {
	on := func(nodes []int, cpus map[int][]int) *Placement { return &Placement{Host: "kvm01", Nodes: nodes, CPUs: cpus} }
	for _, tt := range []struct {
		name  string
		spoil func(s *Shape)
		at    *Placement
		want  []Fault
	}{
		{"good", func(*Shape) {}, nil, nil},
		{"good and placed", func(*Shape) {}, on([]int{1, 0}, map[int][]int{0: {0, 1}, 1: {2, 3}}), nil},
		{"no cores", func(s *Shape) { s.Cores = 0 }, nil, []Fault{{"topology", "2 sockets, 1 dies, 0 cores and 1 threads: want 1 or more of each, and at most 16384 vCPUs"}}},
		{"too many at the start", func(s *Shape) { s.VCPUs = 5 }, nil, []Fault{{"topology", "5 vCPUs at the start, and a topology of 4"}}},
		{"no cell", func(s *Shape) { s.Cells = nil }, nil, []Fault{{"vcpus", "there is no cell"}}},
		{"a vCPU in no cell", func(s *Shape) { s.Cells[1].CPUs = []int{3} }, nil, []Fault{{"vcpus", "vCPUs 2 are in no cell"}}},
		{"a vCPU in two cells", func(s *Shape) { s.Cells[1].CPUs = []int{1, 2, 3} }, nil, []Fault{{"vcpus", "vCPU 1 is in cells 0 and 1"}}},
		{"a vCPU too many", func(s *Shape) { s.Cells[1].CPUs = []int{2, 3, 4} }, nil, []Fault{{"vcpus", "cell 1 has vCPU 4 of 4"}}},
		{"the list of the host", func(s *Shape) { s.Cells[0].CPUs, s.Cells[1].CPUs = []int{0, 2}, []int{1, 3} }, nil, []Fault{{"sockets", "socket 0 lies in cells 0 and 1, which are not its dies"}}},
		{"out of order", func(s *Shape) { s.Cells[0].CPUs = []int{1, 0} }, nil, []Fault{{"vcpus", "the vCPUs of cell 0 do not ascend"}}},
		{"less memory", func(s *Shape) { s.Cells[1].Memory = numa.GiB }, nil, []Fault{{"memory", "the cells have 5 GB, the VM has 8 GB"}}},
		{"no memory", func(s *Shape) { s.Cells[0].Memory, s.Cells[1].Memory = 0, 8*numa.GiB }, nil, []Fault{{"memory", "cell 0 has no memory"}}},
		{"parts of pages", func(s *Shape) { s.Page = 3 * numa.GiB }, nil, []Fault{{"pages", "the 4 GB of cell 0 are no whole pages of 3 GB"}, {"pages", "the 4 GB of cell 1 are no whole pages of 3 GB"}}},
		{"a cell of memory alone", func(s *Shape) { s.Cells[0] = Cell{Memory: 4 * numa.GiB}; s.Cells[1].CPUs = []int{0, 1, 2, 3} }, nil, []Fault{{"empty", "cell 0 has no vCPU"}}},
		{"one socket in two cells", func(s *Shape) { s.Sockets, s.Cores = 1, 4 }, nil, []Fault{{"sockets", "socket 0 lies in cells 0 and 1, which are not its dies"}}},
		{"one socket of two dies", func(s *Shape) { s.Sockets, s.Dies = 1, 2 }, nil, nil},
		{"dies beside the cells", func(s *Shape) { s.Sockets, s.Dies, s.Cores = 1, 4, 1 }, nil, []Fault{{"sockets", "socket 0 lies in cells 0 and 1, which are not its dies"}}},
		{"distance to itself", func(s *Shape) { s.Distance = [][]int{{10, 20}, {20, 11}} }, nil, []Fault{{"distance", "cell 1 is at 11 from cell 1: want 10 to itself, and 11 to 254 to others"}}},
		{"near others", func(s *Shape) { s.Distance = [][]int{{10, 10}, {20, 10}} }, nil, []Fault{{"distance", "cell 0 is at 10 from cell 1: want 10 to itself, and 11 to 254 to others"}}},
		{"a row too few", func(s *Shape) { s.Distance = [][]int{{10, 20}} }, nil, []Fault{{"distance", "1 rows, 2 distances from cell 0, and 2 cells"}}},
		{"a node too few", func(*Shape) {}, on([]int{0}, nil), []Fault{{"host", "1 nodes of kvm01 for 2 cells"}}},
		{"no such node", func(*Shape) {}, on([]int{0, 3}, map[int][]int{0: {0, 1}}), []Fault{{"host", "cell 1 is on node 3 of kvm01, which has no CPU"}}},
		{"a CPU of two nodes", func(*Shape) {}, on([]int{0, 1}, map[int][]int{0: {0, 1}, 1: {1, 2}}), []Fault{{"host", "CPUs 1 of kvm01 are of nodes 0 and 1"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := good()
			tt.spoil(s)
			if got := Check(s, tt.at, false); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	s := good()
	s.Cells[0], s.Cells[1].CPUs = Cell{Memory: 4 * numa.GiB}, []int{0, 1, 2, 3}
	if got := Check(s, nil, true); got != nil {
		t.Errorf("memory alone where it is allowed: %v", got)
	}
}

// FuzzArrange checks that sockets, dies, cores and threads are those of the vCPUs for any nodes, and that no socket lies in two of
// them that are not its dies.
func FuzzArrange(f *testing.F) {
	f.Add([]byte{12, 12}, 12, 1, true)
	f.Add([]byte{5, 4}, 9, 2, true)
	f.Add([]byte{4, 4, 2}, 1, 1, false)
	f.Add([]byte{8, 8}, 16, 2, true)
	f.Fuzz(func(t *testing.T, sizes []byte, perSocket, threads int, dies bool) {
		var cell []int
		s := Shape{Memory: numa.GiB}
		for _, n := range sizes {
			if n == 0 || len(s.Cells) == 16 {
				continue
			}
			c := Cell{Memory: numa.GiB}
			for range int(n)%40 + 1 {
				c.CPUs = append(c.CPUs, len(cell))
				cell = append(cell, len(s.Cells))
			}
			s.Cells = append(s.Cells, c)
		}
		if cell == nil {
			t.Skip()
		}
		s.Memory, s.VCPUs = numa.Bytes(len(s.Cells))*numa.GiB, len(cell)
		s.arrange(cell, perSocket, max(1, min(threads, 2)), dies)
		if faults := Check(&s, nil, false); faults != nil {
			t.Errorf("%v of %v: %s: %v", sizes, perSocket, s.Topology(), faults)
		}
		if !dies && s.Dies > 1 {
			t.Errorf("%d dies", s.Dies)
		}
	})
}

// TestDivide checks that no memory is lost, and that cells are whole units.
func TestDivide(t *testing.T) {
	for _, tt := range []struct {
		memory  numa.Bytes
		unit    numa.Bytes
		weights []int
		want    []numa.Bytes
	}{
		{8 * numa.GiB, numa.MiB, []int{1, 1}, []numa.Bytes{4 * numa.GiB, 4 * numa.GiB}},
		{9 * numa.GiB, numa.GiB, []int{1, 1}, []numa.Bytes{4 * numa.GiB, 5 * numa.GiB}},
		{1023 * numa.MiB, numa.MiB, []int{1, 1}, []numa.Bytes{511 * numa.MiB, 512 * numa.MiB}},
		{900 * numa.MiB, numa.MiB, []int{5, 4}, []numa.Bytes{500 * numa.MiB, 400 * numa.MiB}},
	} {
		if got := divide(tt.memory, tt.unit, tt.weights); !slices.Equal(got, tt.want) {
			t.Errorf("divide(%v, %v, %v) = %v, want %v", tt.memory, tt.unit, tt.weights, got, tt.want)
		}
	}
}

// TestSafeName checks that names of strangers become names of files and VMs, each once.
func TestSafeName(t *testing.T) {
	used := map[string]bool{}
	for _, tt := range []struct{ name, want string }{
		{"sql01", "sql01"}, {"SQL01", "sql01-2"}, {"sql 01", "sql-01"}, {"../../etc/passwd", "etc-passwd"}, {"", "vm"}, {"..", "vm-2"}, {"größe", "gr-e"},
		{"01db", "vm-01db"}, {"$(reboot)", "reboot"}, {"a\nb", "a-b"}, {"CON", "vm-con"}, {"nova-flavors", "nova-flavors"}, {"-x-", "x"},
		{"sql01-2", "sql01-2-2"},
		{"0123456789012345678901234567890123456789012345678901234567890123456789", "vm-01234567890123456789012345678901234567890123456789"},
	} {
		if got := safeName(tt.name, used); got != tt.want {
			t.Errorf("%q becomes %q, want %q", tt.name, got, tt.want)
		}
	}
}
