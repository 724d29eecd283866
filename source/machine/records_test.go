package machine

import (
	"encoding/binary"
	"reflect"
	"slices"
	"testing"

	"example.org/homenode/numa"
)

// A mask is 64 processors of a group, as the records have it.
type mask struct {
	bits  uint64
	group uint16
}

// recordOf writes a record with masks behind head bytes that begin with body.
func recordOf(relation uint32, body []byte, head int, masks ...mask) []byte {
	b := binary.LittleEndian.AppendUint32(nil, relation)
	b = binary.LittleEndian.AppendUint32(b, uint32(recordHead+head+len(masks)*maskSize))
	b = append(b, body...)
	b = append(b, make([]byte, recordHead+head-len(b))...)
	binary.LittleEndian.PutUint16(b[recordHead+head-2:], uint16(len(masks)))
	for _, m := range masks {
		b = binary.LittleEndian.AppendUint64(b, m.bits)
		b = binary.LittleEndian.AppendUint16(b, m.group)
		b = append(b, make([]byte, 6)...)
	}
	return b
}

func coreOf(m ...mask) []byte   { return recordOf(coreRelation, nil, 24, m...) }
func socketOf(m ...mask) []byte { return recordOf(socketRelation, nil, 24, m...) }
func dieOf(m ...mask) []byte    { return recordOf(dieRelation, nil, 24, m...) }
func nodeOf(relation uint32, id byte, m ...mask) []byte {
	return recordOf(relation, []byte{id}, 24, m...)
}

// oldNode is a node of Windows before Server 2022, which counts no groups.
func oldNode(id byte, m mask) []byte {
	b := nodeOf(nodeRelation, id, m)
	binary.LittleEndian.PutUint16(b[groupCountAt:], 0)
	return b
}

func cacheOf(level byte, kind uint32, size uint32, m ...mask) []byte {
	body := []byte{level, 16, 64, 0}
	body = binary.LittleEndian.AppendUint32(body, size)
	body = binary.LittleEndian.AppendUint32(body, kind)
	return recordOf(cacheRelation, body, 32, m...)
}

// groupsOf is the groups: how many processors each can have and has.
func groupsOf(sizes ...[2]byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, groupRelation)
	b = binary.LittleEndian.AppendUint32(b, uint32(recordHead+24+len(sizes)*groupSize))
	b = append(b, byte(len(sizes)), 0, byte(len(sizes)), 0)
	b = append(b, make([]byte, 20)...)
	for _, s := range sizes {
		b = append(b, s[0], s[1])
		b = append(b, make([]byte, groupSize-2)...)
	}
	return b
}

// wideGuest is 80 processors in two groups of 40, in two sockets; the first node has 48, eight of them in the other group.
func wideGuest() []byte {
	const all40 = 1<<40 - 1
	var b [][]byte
	for g := range uint16(2) {
		for i := range 20 {
			b = append(b, coreOf(mask{3 << (2 * i), g}))
		}
	}
	b = append(b,
		nodeOf(nodeRelation, 0, mask{all40, 0}), nodeOf(nodeRelation, 1, mask{all40 &^ 0xff, 1}),
		socketOf(mask{all40, 0}, mask{0xff, 1}), socketOf(mask{all40 &^ 0xff, 1}),
		dieOf(mask{all40, 0}), dieOf(mask{0xff, 1}), dieOf(mask{all40 &^ 0xff, 1}),
		cacheOf(3, 0, 32<<20, mask{all40, 0}, mask{0xff, 1}), cacheOf(1, 2, 48<<10, mask{3, 0}),
		groupsOf([2]byte{64, 40}, [2]byte{40, 40}),
		recordOf(99, nil, 24),
		nodeOf(nodeRelation, 0, mask{all40, 0}, mask{0xff, 1}), nodeOf(wholeNodeRelation, 1, mask{all40 &^ 0xff, 1}))
	return slices.Concat(b...)
}

func span(from, to int) []int {
	var list []int
	for n := from; n <= to; n++ {
		list = append(list, n)
	}
	return list
}

func TestRecords(t *testing.T) {
	var top Topology
	if err := top.byRecords(wideGuest()); err != nil {
		t.Fatal(err)
	}
	if len(top.Processors) != 80 || top.Possible != 104 || top.Sockets != 2 || top.Cores != 40 || top.ThreadsPerCore != 2 {
		t.Errorf("%d processors of %d, %d sockets, %d cores of %d threads", len(top.Processors), top.Possible, top.Sockets, top.Cores, top.ThreadsPerCore)
	}
	first := slices.Concat(span(0, 39), span(64, 71))
	wantNodes := []Node{{ID: 0, CPUs: first}, {ID: 1, CPUs: span(72, 103)}}
	if !reflect.DeepEqual(top.Nodes, wantNodes) {
		t.Errorf("nodes %+v, want %+v", top.Nodes, wantNodes)
	}
	for number, want := range map[int]Processor{
		1:  {1, true, false, 0, 0, 0, 0, []int{0, 1}},
		71: {71, true, false, 0, 0, 1, 23, []int{70, 71}},
		72: {72, true, false, 1, 1, 2, 24, []int{72, 73}},
	} {
		if got := top.processor(number); got == nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("processor %d: %+v, want %+v", number, got, want)
		}
	}
	wantCaches := []Cache{{1, "data", 48 * numa.KiB, 64, []int{0, 1}}, {3, "unified", 32 * numa.MiB, 64, first}}
	if !reflect.DeepEqual(top.Caches, wantCaches) {
		t.Errorf("caches %+v, want %+v", top.Caches, wantCaches)
	}
	o := top.Observation()
	if len(o.VPDs.Value) != 80 || o.VPDs.Value[47] != 0 || o.VPDs.Value[48] != 1 || o.SocketCount.Value != 2 {
		t.Errorf("observation %+v", o)
	}
}

func TestOldRecords(t *testing.T) {
	var top Topology
	err := top.byRecords(slices.Concat(coreOf(mask{1, 0}), coreOf(mask{2, 0}), oldNode(0, mask{1, 0}), oldNode(2, mask{2, 0})))
	want := []Node{{ID: 0, CPUs: []int{0}}, {ID: 2, CPUs: []int{1}}}
	if err != nil || !reflect.DeepEqual(top.Nodes, want) || top.Sockets != 0 || top.Possible != 2 {
		t.Errorf("got %+v, %v", top, err)
	}
}

func TestAddMemory(t *testing.T) {
	top := Topology{Nodes: []Node{{ID: 0, CPUs: []int{0}}, {ID: 2, CPUs: []int{}}}}
	gib := numa.ReadAt(numa.GiB, "here")
	top.addMemory([]numa.Fact[numa.Bytes]{gib, {}, gib, gib})
	want := []Node{{ID: 0, CPUs: []int{0}, Free: gib}, {ID: 2, CPUs: []int{}, MemoryOnly: true, Free: gib}, {ID: 3, CPUs: []int{}, MemoryOnly: true, Free: gib}}
	if !reflect.DeepEqual(top.Nodes, want) {
		t.Errorf("got %+v, want %+v", top.Nodes, want)
	}
}

func TestDamagedRecords(t *testing.T) {
	whole := coreOf(mask{1, 0})
	changed := func(at int, b byte) []byte {
		c := slices.Clone(whole)
		c[at] = b
		return c
	}
	for want, b := range map[string][]byte{
		"found no record of a core in 0 bytes":                     nil,
		"byte 48: 3 bytes left, want a record":                     append(slices.Clone(whole), 0, 0, 0),
		"byte 0: found a record of 0 bytes, want 8 to 48":          changed(sizeAt, 0),
		"byte 0: found a record of 48 bytes, want 8 to 47":         whole[:47],
		"byte 0: a record of 48 bytes is cut short, want 2 masks":  changed(groupCountAt, 2),
		"byte 0: a record of 20 bytes has no masks, want 48 bytes": changed(sizeAt, 20)[:20],
		"byte 0: found group 255, want less than 128":              changed(masksAt+8, 255),
		"byte 0: a record of 80 bytes is cut short, want 2 groups": func() []byte { b := groupsOf([2]byte{1, 1}); b[activeGroupsAt] = 2; return b }(),
		"byte 48: found node 1027, want less than 1024": func() []byte {
			b := nodeOf(nodeRelation, 3, mask{1, 0})
			b[nodeNumberAt+1] = 4
			return append(slices.Clone(whole), b...)
		}(),
		"byte 0: a record of 12 bytes has no masks, want 56 bytes":  {cacheRelation, 0, 0, 0, 12, 0, 0, 0, 1, 1, 1, 1},
		"byte 0: a record of 12 bytes has no groups, want 80 bytes": {groupRelation, 0, 0, 0, 12, 0, 0, 0, 1, 1, 1, 1},
	} {
		var top Topology
		if err := top.byRecords(b); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func FuzzRecords(f *testing.F) {
	f.Add(wideGuest())
	f.Add(slices.Concat(coreOf(mask{1, 0}), oldNode(0, mask{1, 0}), cacheOf(1, 7, 0, mask{1, 0}), groupsOf([2]byte{1, 1})))
	f.Fuzz(func(t *testing.T, b []byte) {
		var top Topology
		if len(b) > 1<<16 || top.byRecords(b) != nil {
			return
		}
		last := -1
		for _, p := range top.Processors {
			if p.Number <= last || p.Number >= maxCPU || p.Core < 0 || p.Core >= len(top.Processors) {
				t.Fatalf("processor %+v behind %d", p, last)
			}
			last = p.Number
		}
		for _, n := range top.Nodes {
			if !slices.IsSorted(n.CPUs) || n.ID >= maxNode {
				t.Fatalf("node %+v", n)
			}
		}
		for _, c := range top.Caches {
			if len(c.CPUs) == 0 || c.Level == 0 {
				t.Fatalf("cache %+v", c)
			}
		}
		top.Observation()
	})
}
