package guest

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"example.org/homenode/measure/guest/chase"
	"example.org/homenode/measure/guest/cpu"
	"example.org/homenode/measure/guest/hidden"
	"example.org/homenode/measure/guest/pages"
)

// Probing of pages for hidden nodes. The comment of package hidden lists its requirements.
const (
	blockBytes   = 2 << 20
	freshPages   = 128 // maximum, each in its own block
	cachedPages  = 128 // maximum, of this program's file
	hiddenRounds = 16
	quickRounds  = hidden.LeastRounds
	leastLooking = 1050 * time.Millisecond // minimum of all rounds together: a burst of a neighbour's load must not cover them
)

// A scene is the vCPUs and pages of one node of the guest, or all of them if the guest sees at most one node.
type scene struct {
	node   int // of the guest, or pages.Anywhere
	cpus   []int
	memory []*pages.Memory
	at     []unsafe.Pointer
	pages  []hidden.Page
}

// scenes returns a scene for each node of the guest with measured logical processors, without pages.
func (p *Plan) scenes() (out []*scene) {
	if len(p.Machine.Topology.Nodes) > 1 {
		for _, n := range p.Nodes {
			if cpus := p.onNode(n); len(cpus) > 0 {
				out = append(out, &scene{node: n, cpus: cpus})
			}
		}
		return out
	}
	if len(p.CPUs) > 0 {
		out = append(out, &scene{node: pages.Anywhere, cpus: p.CPUs})
	}
	return out
}

func (s *scene) close() (err error) {
	for _, m := range s.memory {
		err = errors.Join(err, m.Close())
	}
	s.memory, s.at = nil, nil
	return err
}

// take allocates blocks of fresh pages that all vCPUs touch in turns: if there are two nodes of the host, both have some.
func (s *scene) take(ctx context.Context, blocks int, huge bool, step func(int) error, rng *rand.Rand) error {
	turns := s.cpus
	if len(turns) > blocks {
		turns = make([]int, blocks)
		for i := range turns {
			turns[i] = s.cpus[i*len(s.cpus)/blocks]
		}
	}
	for i, on := range turns {
		n := blocks / len(turns)
		if i < blocks%len(turns) {
			n++
		}
		var m *pages.Memory
		err := cpu.On(on, func() (err error) {
			m, err = pages.Take(ctx, pages.Ask{Bytes: n * blockBytes, Node: s.node, Processors: []int{on}, Huge: huge, Step: step})
			return err
		})
		if err != nil {
			return err
		}
		s.memory = append(s.memory, m)
		for b := range n {
			s.add(m, b*blockBytes+rng.IntN(blockBytes/chase.PageBytes)*chase.PageBytes, hidden.Fresh)
		}
	}
	return nil
}

// little touches one MiB of small pages, the amount that a small machine can spare.
func (s *scene) little(ctx context.Context, bytes int) error {
	m, err := pages.Take(ctx, pages.Ask{Bytes: bytes, Node: s.node, Processors: s.cpus})
	if err != nil {
		return err
	}
	s.memory = append(s.memory, m)
	for at := 0; at+chase.PageBytes <= len(m.Bytes) && len(s.at) < freshPages; at += chase.PageBytes {
		s.add(m, at, hidden.Fresh)
	}
	return nil
}

// cached adds pages from all over this program's own file, which have been in the page cache for a while. It is not an error if there are none.
func (s *scene) cached() {
	m, err := pages.Map("")
	if err != nil {
		return
	}
	s.memory = append(s.memory, m)
	size := os.Getpagesize()
	there, err := m.Resident()
	if err != nil {
		return
	}
	there = slices.DeleteFunc(there, func(page int) bool { return page*size+chase.PageBytes > len(m.Bytes) })
	var nodes []int
	if s.node != pages.Anywhere {
		touched := byte(0)
		for _, page := range there {
			touched += m.Bytes[page*size] // the kernel knows the node only of pages mapped by this process
		}
		runtime.KeepAlive(touched) // keeps the loads from being removed
		if nodes, err = m.Nodes(); err != nil {
			return
		}
		there = slices.DeleteFunc(there, func(page int) bool { return nodes[page] != s.node })
	}
	n := min(cachedPages, len(there))
	for i := range n {
		s.add(m, there[i*len(there)/n]*size, hidden.Cached)
	}
}

func (s *scene) add(m *pages.Memory, offset int, kind hidden.Kind) {
	// Blocks are distinguished by address: with small pages the kernel usually allocates neighbours from one block.
	p := unsafe.Pointer(&m.Bytes[offset])
	s.at = append(s.at, p)
	s.pages = append(s.pages, hidden.Page{Block: int64(uintptr(p) / blockBytes), Kind: kind})
}

// lookAt probes the pages of all scenes from all their vCPUs, in rounds spread over d.
func lookAt(ctx context.Context, scenes []*scene, rounds int, d time.Duration, rng *rand.Rand) ([]*hidden.Probes, error) {
	prober, err := chase.NewProber(chase.PageBytes, chase.PageLines, rng.Uint64())
	if err != nil {
		return nil, err
	}
	type block struct{ scene, vcpu int }
	out := make([]*hidden.Probes, len(scenes))
	orders := make([][][]int, len(scenes))
	blocks := 0
	for i, s := range scenes {
		out[i] = &hidden.Probes{CPUs: s.cpus, Pages: s.pages}
		orders[i] = hidden.Order(len(s.cpus), rounds, rng)
		blocks += len(s.cpus) * rounds
	}
	start, done := time.Now(), 0
	for round := range rounds {
		var todo []block
		for i, s := range scenes {
			p := out[i]
			p.NS = append(p.NS, make([][]float64, len(s.cpus)))
			p.At = append(p.At, make([]float64, len(s.cpus)))
			p.Core = append(p.Core, make([]float64, len(s.cpus)))
			for v := range s.cpus {
				p.NS[round][v] = make([]float64, len(s.at))
			}
			for _, v := range orders[i][round] {
				todo = append(todo, block{i, v})
			}
		}
		for _, b := range todo {
			due := start.Add(d * time.Duration(done) / time.Duration(blocks))
			done++
			if err := sleep(ctx, time.Until(due)); err != nil {
				return nil, err
			}
			s, p := scenes[b.scene], out[b.scene]
			order, ns := rng.Perm(len(s.at)), p.NS[round][b.vcpu]
			err := cpu.On(s.cpus[b.vcpu], func() error {
				p.At[round][b.vcpu] = time.Since(start).Seconds()
				if err := prober.Visit(ctx, s.at, order, ns); err != nil {
					return err
				}
				p.Core[round][b.vcpu] = prober.Overhead(s.at[order[0]])
				return nil
			})
			if err != nil {
				return nil, err
			}
			for i := range ns {
				ns[i] -= p.Core[round][b.vcpu]
			}
		}
	}
	return out, nil
}
