package machine

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"example.org/homenode/numa"
)

// Relations of the records from GetLogicalProcessorInformationEx (winnt.h).
const (
	coreRelation      = 0
	nodeRelation      = 1
	cacheRelation     = 2
	socketRelation    = 3
	groupRelation     = 4
	dieRelation       = 5
	wholeNodeRelation = 6 // requests all groups of a node; the records have nodeRelation
)

// Offsets of the fields of a record on 64-bit Windows, in bytes.
const (
	relationAt, sizeAt = 0, 4 // of every record
	recordHead         = 8

	groupCountAt, masksAt = 8 + 22, 8 + 24 // of cores, nodes, sockets and dies; old Windows reports 0 groups of a node and has one
	maskSize              = 16             // a mask of 64 processors, the group, reserved
	nodeNumberAt          = 8

	cacheLevelAt, cacheLineAt, cacheSizeAt, cacheTypeAt = 8, 8 + 2, 8 + 4, 8 + 8
	cacheGroupCountAt, cacheMasksAt                     = 8 + 30, 8 + 32

	activeGroupsAt, groupsAt = 8 + 2, 8 + 24
	groupSize                = 48
	groupMost                = 0 // offset in a group of its largest number of processors

	perGroup = 64
)

var cacheTypes = []string{"unified", "instruction", "data", "trace"}

// A record is a record from GetLogicalProcessorInformationEx.
type record []byte

func (r record) u16(at int) int { return int(binary.LittleEndian.Uint16(r[at:])) }
func (r record) u32(at int) int { return int(binary.LittleEndian.Uint32(r[at:]) & (1<<31 - 1)) }

// eachRecord calls take with each record. A record with an implausible size ends the list with an error.
func eachRecord(b []byte, take func(relation int, r record) error) error {
	for at := 0; at < len(b); {
		r := record(b[at:])
		if len(r) < recordHead {
			return fmt.Errorf("byte %d: %d bytes left, want a record", at, len(r))
		}
		size := r.u32(sizeAt)
		if size < recordHead || size > len(r) {
			return fmt.Errorf("byte %d: found a record of %d bytes, want %d to %d", at, size, recordHead, len(r))
		}
		if err := take(r.u32(relationAt), r[:size]); err != nil {
			return fmt.Errorf("byte %d: %w", at, err)
		}
		at += size
	}
	return nil
}

// cpus returns the processors of the masks of a record, ascending.
func (r record) cpus(countAt, masksAt int) ([]int, error) {
	if len(r) < masksAt {
		return nil, fmt.Errorf("a record of %d bytes has no masks, want %d bytes", len(r), masksAt+maskSize)
	}
	n := max(r.u16(countAt), 1)
	if len(r) < masksAt+n*maskSize {
		return nil, fmt.Errorf("a record of %d bytes is cut short, want %d masks", len(r), n)
	}
	list := []int{}
	for i := range n {
		mask := binary.LittleEndian.Uint64(r[masksAt+i*maskSize:])
		group := r.u16(masksAt + i*maskSize + 8)
		if group >= maxCPU/perGroup {
			return nil, fmt.Errorf("found group %d, want less than %d", group, maxCPU/perGroup)
		}
		for ; mask != 0; mask &= mask - 1 {
			list = append(list, perGroup*group+bits.TrailingZeros64(mask))
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// byRecords sets the topology from records of GetLogicalProcessorInformationEx: those of RelationAll
// followed by those of RelationNumaNodeEx, the only ones with all groups of a node. Sockets and dies are
// numbered in the order of the records.
func (t *Topology) byRecords(b []byte) error {
	var cores, sockets, dies [][]int
	nodes := map[int][]int{}
	t.Nodes, t.Caches = []Node{}, []Cache{}
	err := eachRecord(b, func(relation int, r record) error {
		var into *[][]int
		switch relation {
		case coreRelation:
			into = &cores
		case socketRelation:
			into = &sockets
		case dieRelation:
			into = &dies
		case cacheRelation:
			return t.cacheRecord(r)
		case groupRelation:
			return t.groupRecord(r)
		}
		if into == nil && relation != nodeRelation && relation != wholeNodeRelation {
			return nil // of a later Windows
		}
		cpus, err := r.cpus(groupCountAt, masksAt)
		switch {
		case err != nil:
			return err
		case into != nil:
			*into = append(*into, cpus)
		case r.u32(nodeNumberAt) >= maxNode:
			return fmt.Errorf("found node %d, want less than %d", r.u32(nodeNumberAt), maxNode)
		default:
			id := r.u32(nodeNumberAt)
			nodes[id] = append(nodes[id], cpus...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !t.coresAre(cores) {
		return fmt.Errorf("found no record of a core in %d bytes", len(b))
	}
	t.assign(sockets, func(p *Processor) *int { return &p.Socket })
	t.assign(dies, func(p *Processor) *int { return &p.Die })
	t.nodesAre(nodes)
	sortCaches(t.Caches)
	t.count()
	return nil
}

// coresAre creates the processors from the processor numbers of each core; false without any.
func (t *Topology) coresAre(cores [][]int) bool {
	for i, threads := range byFirst(cores) {
		for _, n := range threads {
			t.Processors = append(t.Processors, Processor{Number: n, Online: true, Node: -1, Socket: -1, Die: -1, Core: i, Threads: threads})
		}
	}
	slices.SortStableFunc(t.Processors, func(a, b Processor) int { return a.Number - b.Number })
	t.Processors = slices.CompactFunc(t.Processors, func(a, b Processor) bool { return a.Number == b.Number })
	t.Possible = max(t.Possible, len(t.Processors))
	return len(t.Processors) > 0
}

// nodesAre creates the nodes from the processor numbers of each.
func (t *Topology) nodesAre(nodes map[int][]int) {
	for id, cpus := range nodes {
		slices.Sort(cpus)
		t.Nodes = append(t.Nodes, Node{ID: id, CPUs: slices.Compact(cpus)})
	}
	slices.SortFunc(t.Nodes, func(a, b Node) int { return a.ID - b.ID })
	for _, n := range t.Nodes {
		for _, cpu := range n.CPUs {
			if p := t.processor(cpu); p != nil && p.Node < 0 {
				p.Node = n.ID
			}
		}
	}
}

// byFirst sorts lists by their first processors, without empty ones.
func byFirst(lists [][]int) [][]int {
	lists = slices.DeleteFunc(slices.Clone(lists), func(l []int) bool { return len(l) == 0 })
	slices.SortStableFunc(lists, slices.Compare)
	return lists
}

// assign writes the number of each list to its processors.
func (t *Topology) assign(lists [][]int, field func(*Processor) *int) {
	for i, cpus := range lists {
		for _, cpu := range cpus {
			if p := t.processor(cpu); p != nil && *field(p) < 0 {
				*field(p) = i
			}
		}
	}
}

func (t *Topology) cacheRecord(r record) error {
	cpus, err := r.cpus(cacheGroupCountAt, cacheMasksAt)
	if err != nil {
		return err
	}
	c := Cache{Level: int(r[cacheLevelAt]), Line: r.u16(cacheLineAt), Size: numa.Bytes(binary.LittleEndian.Uint32(r[cacheSizeAt:])), CPUs: cpus}
	if kind := r.u32(cacheTypeAt); kind < len(cacheTypes) {
		c.Type = cacheTypes[kind]
	}
	if c.Level > 0 && len(cpus) > 0 {
		t.Caches = append(t.Caches, c)
	}
	return nil
}

// groupRecord adds up the maximum processors of the groups.
func (t *Topology) groupRecord(r record) error {
	if len(r) < groupsAt {
		return fmt.Errorf("a record of %d bytes has no groups, want %d bytes", len(r), groupsAt+groupSize)
	}
	n := r.u16(activeGroupsAt)
	if len(r) < groupsAt+n*groupSize {
		return fmt.Errorf("a record of %d bytes is cut short, want %d groups", len(r), n)
	}
	for i := range n {
		t.Possible += int(r[groupsAt+i*groupSize+groupMost])
	}
	return nil
}

// addMemory adds the free memory of each node, by ID, and the nodes with memory but no processors.
func (t *Topology) addMemory(free []numa.Fact[numa.Bytes]) {
	for id, bytes := range free {
		i, found := slices.BinarySearchFunc(t.Nodes, id, func(n Node, id int) int { return n.ID - id })
		if !found && bytes.Value > 0 {
			t.Nodes = slices.Insert(t.Nodes, i, Node{ID: id, CPUs: []int{}})
			found = true
		}
		if found {
			t.Nodes[i].Free = bytes
			t.Nodes[i].MemoryOnly = len(t.Nodes[i].CPUs) == 0 && bytes.Value > 0
		}
	}
}
