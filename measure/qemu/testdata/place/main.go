// Place allocates memory on each NUMA node, and once more without a node from a thread on a processor of each node. It
// prints the location reported by the system: by page, and by the growth of private memory of each node. Free memory
// would be misleading: the kernel frees some of its own at any time.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.org/homenode/measure/guest/cpu"
	"example.org/homenode/measure/guest/pages"
	"example.org/homenode/source/machine"
)

// A Place is one allocation.
type Place struct {
	Node  int // requested, or that of the processor
	First bool
	Doubt string
	Pages map[int]int   // number by node
	More  map[int]int64 // bytes of private memory, by node
}

const size = 24 << 20

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	m, err := machine.Read(context.Background())
	if err != nil {
		return err
	}
	var places []Place
	for _, n := range m.Topology.Nodes {
		p, err := place(n.ID, false)
		if err != nil {
			return err
		}
		places = append(places, p)
		if n.MemoryOnly {
			continue
		}
		if err := cpu.On(n.CPUs[0], func() error { p, err = place(n.ID, true); return err }); err != nil {
			return err
		}
		places = append(places, p)
	}
	return json.NewEncoder(os.Stdout).Encode(places)
}

func place(node int, first bool) (p Place, err error) {
	before, err := private()
	if err != nil {
		return p, err
	}
	ask := pages.Ask{Bytes: size, Node: node}
	if first {
		ask.Node = pages.Anywhere
	}
	memory, err := pages.Take(context.Background(), ask)
	if err != nil {
		return p, err
	}
	after, err := private()
	if err != nil {
		return p, err
	}
	p = Place{Node: node, First: first, Doubt: memory.Doubt, Pages: map[int]int{}, More: map[int]int64{}}
	on, err := memory.Nodes()
	if err != nil {
		return p, err
	}
	for _, n := range on {
		p.Pages[n]++
	}
	for n, bytes := range after {
		p.More[n] = bytes - before[n]
	}
	return p, nil // the memory stays allocated until the end: freed memory is only counted later
}

// private returns the bytes of private memory on each node.
func private() (map[int]int64, error) {
	files, err := filepath.Glob("/sys/devices/system/node/node[0-9]*/meminfo")
	if err != nil {
		return nil, err
	}
	on := map[int]int64{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			var node int
			var kb int64
			if n, _ := fmt.Sscanf(line, "Node %d AnonPages: %d kB", &node, &kb); n == 2 {
				on[node] = kb << 10
			}
		}
	}
	return on, nil
}
