package machine

import (
	"encoding/binary"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

func treeOf(ar *txtar.Archive) fstest.MapFS {
	root := fstest.MapFS{}
	for _, f := range ar.Files {
		if fs.ValidPath(f.Name) {
			root[f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
	return root
}

// TestLinux reads recorded trees. What it expects was read by a person against the files of the tree.
func TestLinux(t *testing.T) {
	for _, name := range []string{"nodes", "container", "groups1", "bare", "arm64"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name+".txtar")
			ar, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			m, err := linux(treeOf(ar), nil)
			if err != nil {
				t.Fatal(err)
			}
			m.Identity.Architecture = "any"
			got, err := json.MarshalIndent(m, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			golden.Section(t, append(got, '\n'), path, "want")
		})
	}
}

func TestNoSysfs(t *testing.T) {
	_, err := linux(fstest.MapFS{}, nil)
	if err == nil || err.Error() != "/sys/devices/system/cpu: found no processors: want sysfs at /sys" {
		t.Errorf("got %v", err)
	}
}

func TestObservation(t *testing.T) {
	top := Topology{From: "/sys", Nodes: []Node{
		{ID: 0, CPUs: []int{0, 1}, Size: numa.ReadAt(2*numa.GiB, "meminfo")},
		{ID: 3, CPUs: []int{2}, Size: numa.ReadAt(numa.GiB, "meminfo")},
		{ID: 7, Size: numa.ReadAt(3*numa.GiB, "meminfo")},
	}, Processors: []Processor{
		{Number: 0, Online: true, Node: 0, Socket: 4}, {Number: 1, Online: true, Node: 0, Socket: 4}, {Number: 2, Online: true, Node: 3, Socket: 9},
	}}
	want := numa.Observation{
		By: numa.ByMeasure, At: "/sys",
		VPDs: numa.ReadAt([]int{0, 0, 1}, "/sys"), Sockets: numa.ReadAt([]int{0, 0, 1}, "/sys"),
		VPDCount: numa.ReadAt(3, "/sys"), SocketCount: numa.ReadAt(2, "/sys"),
		Slices: numa.ReadAt([]numa.Bytes{2 * numa.GiB, numa.GiB, 3 * numa.GiB}, "meminfo"),
	}
	if got := top.Observation(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	top.Processors[1].Online = false
	if got := top.Observation(); got.VPDs.Known() || got.Sockets.Known() || got.SocketCount.Known() || got.VPDCount.Value != 3 {
		t.Errorf("with a processor offline: %+v", got)
	}
}

// srat makes a table of memory entries: bytes and flags of each.
func srat(entries ...[2]uint64) []byte {
	table := append([]byte("SRAT"), make([]byte, 44)...)
	for _, e := range entries {
		entry := make([]byte, 40)
		entry[0], entry[1] = 1, 40
		binary.LittleEndian.PutUint64(entry[16:], e[0])
		binary.LittleEndian.PutUint32(entry[28:], uint32(e[1]))
		table = append(table, entry...)
	}
	return table
}

func TestHotPluggable(t *testing.T) {
	table := srat([2]uint64{5 << 30, 1}, [2]uint64{3 << 30, 3}, [2]uint64{2 << 30, 2}, [2]uint64{1 << 30, 3}, [2]uint64{1 << 60, 3})
	for _, tt := range []struct {
		table []byte
		want  numa.Bytes
	}{
		{table, 4 * numa.GiB},
		{slices.Concat(table[:48], []byte{0, 16}, make([]byte, 14), table[48:]), 4 * numa.GiB}, // a processor first
		{table[:48+40+40+39], 3 * numa.GiB},
		{slices.Concat(table[:48], []byte{1, 0}, table[48:]), 0},
		{[]byte("SRAT"), 0},
		{append([]byte("SLIT"), table[4:]...), 0},
	} {
		if got := hotPluggable(tt.table); got != tt.want {
			t.Errorf("%d bytes: got %v, want %v", len(tt.table), got, tt.want)
		}
	}
}

// unreadable is a tree of which one file may not be opened.
type unreadable struct {
	fs.FS
	name string
}

func (u unreadable) Open(name string) (fs.File, error) {
	if name == u.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return u.FS.Open(name)
}

func TestUnreadableSRAT(t *testing.T) {
	ar, err := txtar.ParseFile("testdata/nodes.txtar")
	if err != nil {
		t.Fatal(err)
	}
	root := treeOf(ar)
	m, err := linux(unreadable{root, sratFile}, nil)
	want := Missing{"memory hot add", "/sys/firmware/acpi/tables/SRAT: permission denied", "run as root"}
	if err != nil || !slices.Contains(m.Missing, want) {
		t.Errorf("got %v, %v", m.Missing, err)
	}
	root[sratFile] = &fstest.MapFile{Data: srat([2]uint64{8 << 30, 3})}
	m, err = linux(root, nil)
	if err != nil || m.Topology.HotAddMemory != 8*numa.GiB || slices.ContainsFunc(m.Missing, func(m Missing) bool { return m.Part == want.Part }) {
		t.Errorf("got %v, %v, %v", m.Topology.HotAddMemory, m.Missing, err)
	}
}

// FuzzLinux checks what holds of any tree: a reading refers to processors and nodes that are there.
func FuzzLinux(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		f.Fatal(err, "no trees")
	}
	for _, path := range paths {
		ar, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(txtar.Format(ar))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		m, err := linux(treeOf(txtar.Parse(data)), nil)
		if err != nil {
			return
		}
		last := -1
		for _, p := range m.Topology.Processors {
			if p.Number <= last || p.Number >= maxCPU || !p.Online && (p.Allowed || p.Core >= 0) {
				t.Fatalf("processor %+v behind %d", p, last)
			}
			last = p.Number
		}
		for _, n := range m.Topology.Nodes {
			if n.Size.Value < 0 || n.Distance != nil && len(n.Distance) != len(m.Topology.Nodes) {
				t.Fatalf("node %+v", n)
			}
		}
		for _, c := range m.Topology.Caches {
			if c.Level < 1 || c.Size < 0 || c.Line < 0 || len(c.CPUs) == 0 || strings.ContainsAny(c.Type, "\x1b\n") {
				t.Fatalf("cache %+v", c)
			}
		}
		if left := m.Limits.MemoryLeft; left.Known() && (left.Value < 0 || left.Value > 1<<60) {
			t.Fatalf("limits %+v", m.Limits)
		}
		m.Topology.Observation()
	})
}
