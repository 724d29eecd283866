package move

import (
	"slices"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules/shape"
)

// good is a shape without faults; each call returns a new one.
func good() *Shape {
	return &Shape{Sockets: 2, Dies: 1, Cores: 2, Threads: 1, VCPUs: 4, Memory: 8 * numa.GiB,
		Cells: []Cell{{CPUs: []int{0, 1}, Memory: 4 * numa.GiB}, {CPUs: []int{2, 3}, Memory: 4 * numa.GiB}}}
}

// TestCheck checks that a wrong placement is found; package shape tests what is checked of shapes.
func TestCheck(t *testing.T) {
	on := func(nodes []int, cpus map[int][]int) *Placement {
		return &Placement{Host: "kvm01", Nodes: nodes, CPUs: cpus}
	}
	for _, tt := range []struct {
		name string
		at   *Placement
		want string
	}{
		{"good and placed", on([]int{1, 0}, map[int][]int{0: {0, 1}, 1: {2, 3}}), ""},
		{"a node too few", on([]int{0}, nil), "1 nodes of kvm01 for 2 cells"},
		{"no such node", on([]int{0, 3}, map[int][]int{0: {0, 1}}), "cell 1 is on node 3 of kvm01, which has no CPU"},
		{"a CPU of two nodes", on([]int{0, 1}, map[int][]int{0: {0, 1}, 1: {1, 2}}), "CPUs 1 of kvm01 are of nodes 0 and 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var want []Fault
			if tt.want != "" {
				want = []Fault{{Check: shape.Host, Text: tt.want}}
			}
			if got := Check(good(), tt.at, false); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
	s := good()
	s.Cells[1].Memory = numa.GiB
	if got := Check(s, nil, false); len(got) != 1 || got[0].Check != shape.Memory {
		t.Errorf("less memory: %v", got)
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
			t.Skip("no cell")
		}
		s.Memory, s.VCPUs = numa.Bytes(len(s.Cells))*numa.GiB, len(cell)
		arrange(&s, cell, perSocket, max(1, min(threads, 2)), dies)
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

// TestSocketsOfOneCore: a socket that lies in two nodes does not become one for each vCPU where a larger one lies in a node.
func TestSocketsOfOneCore(t *testing.T) {
	for _, tt := range []struct {
		sizes     []int
		perSocket int
		dies      bool
		want      string
	}{
		{[]int{5, 5}, 2, true, "2 sockets of 5 cores"},
		{[]int{5, 5}, 2, false, "2 sockets of 5 cores"},
		{[]int{7}, 2, true, "1 socket of 7 cores"},
		{[]int{7, 7}, 4, false, "2 sockets of 7 cores"},
		{[]int{4, 4}, 3, true, "2 sockets of 4 cores"},
		{[]int{6, 6}, 4, true, "6 sockets of 2 cores"},
		{[]int{5, 4}, 3, true, "9 sockets of 1 core"},
		{[]int{1, 1}, 2, true, "1 socket of 2 dies of 1 core"},
		{[]int{8, 8}, 16, false, "2 sockets of 8 cores"},
	} {
		var cell []int
		for i, n := range tt.sizes {
			cell = append(cell, slices.Repeat([]int{i}, n)...)
		}
		s := Shape{VCPUs: len(cell)}
		arrange(&s, cell, tt.perSocket, 1, tt.dies)
		if got := s.Topology(); got != tt.want {
			t.Errorf("%v, sockets of %d, dies %v: found %s, want %s", tt.sizes, tt.perSocket, tt.dies, got, tt.want)
		}
	}
}
