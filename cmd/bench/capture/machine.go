//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
)

// Host of the generated capture: four nodes of sixteen cores with two threads.
const (
	nodes        = 4
	pcpusPerNode = 32
	pcpus        = nodes * pcpusPerNode
	nodeMB       = 512 << 10
	firstGID     = 1_302_698 // of a VM; system groups have lower ones
	firstWorld   = 2_100_000
)

// A machine is one VM of the capture. Its NUMA counters follow from a few numbers, so that its
// locality visibly falls and recovers.
type machine struct {
	gid, world int
	name       string
	vcpus      int
	sizeMB     int
	homes      []int // several for a wide VM
	falls      bool  // its memory periodically becomes remote
	flaps      bool  // its home node changes repeatedly
	startsAt   int   // row of the first fall

	// Of the current row: hundredths of MB, a percentage, migrations since the previous row.
	local, remote int64
	percent       int64
	moved         int64
	homeText      string
}

// Duration of a fall in rows, from its beginning to the next one: down, low, back.
const (
	fallRows  = 40
	lowRows   = 120
	fallEvery = 600
	flapEvery = 10
)

// machines returns n VMs.
func machines(n int, rnd *rand.Rand) []machine {
	sizes := []int{2, 2, 4, 4, 2, 8, 4, 2, 16, 4}
	out := make([]machine, n)
	gid, world := firstGID, firstWorld
	for i := range out {
		m := &out[i]
		*m = machine{gid: gid, world: world, name: fmt.Sprintf("app-%03d", i), vcpus: sizes[i%len(sizes)],
			homes: []int{i % nodes}, falls: i%10 == 3, flaps: i%25 == 7, startsAt: 30 + 37*i%400}
		if i%40 == 20 {
			m.name, m.vcpus = fmt.Sprintf("sql-%03d", i), 40
			m.homes = []int{i / 40 % nodes, (i/40 + 1) % nodes}
			if m.homes[0] > m.homes[1] {
				m.homes[0], m.homes[1] = m.homes[1], m.homes[0]
			}
		}
		m.sizeMB = m.vcpus * 4096
		gid += 900 + rnd.IntN(400)
		world += 20 + m.vcpus
	}
	return out
}

// at sets the NUMA counters for a row.
func (m *machine) at(row int) {
	m.moved = 0
	home := m.homes[0]
	far := int64(0) // hundredths of a percent
	if m.falls && row >= m.startsAt {
		switch k := (row - m.startsAt) % fallEvery; {
		case k < fallRows:
			far = 5500 * int64(k) / fallRows
		case k < fallRows+lowRows:
			far = 5500
		case k < 2*fallRows+lowRows:
			far = 5500 * int64(2*fallRows+lowRows-k) / fallRows
		}
	}
	if m.flaps {
		home = (home + row/flapEvery%2) % nodes
		if row > 0 && row%flapEvery == 0 {
			m.moved = 1
		}
		far = 400 * int64(row%flapEvery)
	}
	if len(m.homes) > 1 {
		far = 300
	}
	all := int64(m.sizeMB) * 100
	m.remote = all * far / 10_000
	m.local = all - m.remote
	m.percent = m.local * 100 / all
	m.homeText = fmt.Sprint(home)
	if len(m.homes) > 1 {
		m.homeText = fmt.Sprintf("%d,%d", m.homes[0], m.homes[1])
	}
}
