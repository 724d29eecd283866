package guest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"example.org/homenode/measure/guest/bandwidth"
	"example.org/homenode/measure/guest/chase"
	"example.org/homenode/measure/guest/cpu"
	"example.org/homenode/measure/guest/pages"
	"example.org/homenode/source/measured"
)

// Measurement of cells: the order of the cells changes in each round, so that drift does not look like distance.
const (
	cellBytes   = 256 << 20
	cellRounds  = 5
	leastRounds = 2
	cellSamples = 5
	cellSample  = 4 * time.Millisecond
	cellMove    = 60 * time.Millisecond
	linkSecond  = 100 << 20 // bytes of a cycle that are touched and linked in a second, approximately
)

// A grid has the cells of a matrix: from a node with processors to a node with memory.
type grid struct {
	from, to []int
	cpus     [][]int // for each element of from
	bytes    int     // memory for each element of to
}

// grid returns the cells of this machine; without nodes it has none.
func (p *Plan) grid() grid {
	var g grid
	last, free := 0, int64(math.MaxInt64)
	for _, node := range p.Machine.Topology.Nodes {
		if !slices.Contains(p.Nodes, node.ID) || node.Size.Known() && node.Size.Value == 0 {
			continue // it has no memory
		}
		g.to = append(g.to, node.ID)
		if node.Free.Known() {
			free = min(free, int64(node.Free.Value)/4) // binding memory to a full node takes it from other processes
		}
	}
	for _, n := range p.Nodes {
		if cpus := p.onNode(n); len(cpus) > 0 {
			g.from, g.cpus = append(g.from, n), append(g.cpus, cpus)
			last = max(last, lastCache(p.Machine, cpus[0]))
		}
	}
	g.bytes = min(max(cellBytes, cachesOver*last), int(max(min(p.Memory.Bytes, free), tinyMemory)))
	if p.Options.quick() {
		g.bytes = min(g.bytes, max(cellBytes/4, 2*last))
	}
	return g
}

// noGrid records why there is no matrix.
func (p *Plan) noGrid(name string) {
	switch {
	case !p.Options.asks(Memory):
	case len(p.Nodes) == 0:
		p.miss(name, "the kernel knows no nodes", "")
	default:
		p.miss(name, "none of the measured logical processors is on a measured node", "--cpus and --nodes that belong together")
	}
}

func latencyTasks(p *Plan) []Task {
	g := p.grid()
	if len(g.from) == 0 || len(g.to) == 0 {
		p.noGrid("latency from node to node")
		return nil
	}
	cells := time.Duration(len(g.from) * len(g.to))
	d := cells*cellRounds*cellSamples*cellSample*3/2 + time.Duration(len(g.to)*g.bytes/linkSecond+1)*time.Second
	if p.Options.quick() {
		if len(g.to) == 1 {
			p.leave(Memory, "latency from node to node")
			return nil
		}
		d /= 3
	}
	return []Task{{Part: Memory, Name: "latency from node to node", CPUs: 1, Bytes: int64(g.bytes * g.together(p)), For: d, run: g.latency}}
}

// together returns the number of nodes whose memory is allocated at once: as many as the limit allows.
func (g *grid) together(p *Plan) int { return min(len(g.to), max(1, int(p.Memory.Bytes)/g.bytes)) }

// eachBatch allocates memory on some nodes at once, and calls f with it.
func (g *grid) eachBatch(ctx context.Context, r *run, placed *bool, huge *bool, f func(first int, memory []*pages.Memory) error) error {
	most := g.together(r.plan)
	for first := 0; first < len(g.to); first += most {
		if err := g.batch(ctx, r, first, min(first+most, len(g.to)), placed, huge, f); err != nil {
			return err
		}
	}
	return nil
}

func (g *grid) batch(ctx context.Context, r *run, first, end int, placed, huge *bool, f func(int, []*pages.Memory) error) (err error) {
	var memory []*pages.Memory
	defer func() {
		for _, m := range memory {
			err = errors.Join(err, m.Close())
		}
	}()
	for _, to := range g.to[first:end] {
		m, err := r.onNode(ctx, to, g.bytes, huge)
		if err != nil {
			return err
		}
		memory = append(memory, m)
		*placed = *placed && m.Doubt == ""
	}
	return f(first, memory)
}

// onNode allocates memory on a node, in huge pages if available; huge is the same for all cells.
func (r *run) onNode(ctx context.Context, node, bytes int, huge *bool) (*pages.Memory, error) {
	ask := pages.Ask{Bytes: bytes, Node: node, Processors: r.plan.onNode(node), Huge: *huge, Step: r.step}
	m, err := pages.Take(ctx, ask)
	if err == nil || !*huge || ctx.Err() != nil || r.plan.Options.Paging == PagingHuge {
		return m, err
	}
	*huge, ask.Huge = false, false
	return pages.Take(ctx, ask)
}

func pagesOf(huge bool) measured.Pages {
	if huge {
		return measured.Huge
	}
	return measured.Small
}

// newMatrix returns a matrix without values.
func (g *grid) newMatrix(unit string) *measured.Matrix {
	m := &measured.Matrix{Unit: unit, From: g.from, To: g.to, Bytes: int64(g.bytes), Placed: true}
	for range g.from {
		m.Cells = append(m.Cells, make([]measured.Cell, len(g.to)))
	}
	return m
}

func (g grid) latency(ctx context.Context, r *run, d time.Duration) error {
	m, err := g.cells(ctx, r, d, "ns", func(memory []*pages.Memory, b *breather) (sampler, error) {
		cycles := make([]*chase.Cycle, len(memory))
		for j, mem := range memory {
			var err error
			if cycles[j], err = chase.Link(ctx, mem.Bytes, cpu.LineBytes(), uint64(j+1), func() error { return b.breathe(ctx) }); err != nil {
				return nil, err
			}
		}
		return func(i, j int, to []float64) (out []float64, err error) {
			err = cpu.On(g.cpus[i][0], func() (err error) {
				cycles[j].Walk(1 << 12)
				out, err = cycles[j].Sample(ctx, to, cellSamples, cellSample)
				return err
			})
			return out, err
		}, nil
	})
	r.out.Latency = m
	return err
}

// A sampler appends samples of the access from the node at i to the memory at j of a batch.
type sampler func(i, j int, to []float64) ([]float64, error)

// cells measures each cell of a matrix in several rounds, for about d. It returns nil without samples. prepare returns the sampler for a batch of memory.
func (g grid) cells(ctx context.Context, r *run, d time.Duration, unit string, prepare func([]*pages.Memory, *breather) (sampler, error)) (*measured.Matrix, error) {
	m := g.newMatrix(unit)
	huge := r.plan.Options.Paging != PagingNone
	samples := make([][][]float64, len(g.from))
	for i := range samples {
		samples[i] = make([][]float64, len(g.to))
	}
	var b breather
	start := time.Now()
	err := g.eachBatch(ctx, r, &m.Placed, &huge, func(first int, memory []*pages.Memory) error {
		sample, err := prepare(memory, &b)
		if err != nil {
			return err
		}
		for round := range cellRounds {
			if round >= leastRounds && time.Since(start) > d {
				break // fewer rounds if memory is slow
			}
			for _, cell := range rand.Perm(len(g.from) * len(memory)) {
				i, j := cell/len(memory), cell%len(memory)
				if err := b.breathe(ctx); err != nil {
					return err
				}
				if samples[i][first+j], err = sample(i, j, samples[i][first+j]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	m.Pages = pagesOf(huge)
	if !r.fill(m, samples) {
		m = nil
	}
	return m, err
}

// fill copies the measured cells into the matrix, and reports whether there are any.
func (r *run) fill(m *measured.Matrix, samples [][][]float64) (some bool) {
	for i, row := range samples {
		for j, cell := range row {
			if s, ok := r.stats(cell); ok {
				m.Cells[i][j].Stats, some = &s, true
			}
		}
	}
	return some
}

func bandwidthTasks(p *Plan) (out []Task) {
	g := p.grid()
	names := []string{"bandwidth from node to node", "bandwidth by threads"}
	if p.Options.quick() {
		for _, name := range names {
			p.leave(Memory, name)
		}
		p.leave(Memory, "latency under load")
		return nil
	}
	if len(g.from) == 0 {
		p.noGrid(names[0])
	} else {
		cells := len(g.from) * len(g.to)
		d := time.Duration(cells*cellRounds)*cellMove*3/2 + time.Duration(len(g.to)*g.bytes/linkSecond/4+1)*time.Second
		out = append(out, Task{Part: Memory, Name: names[0], CPUs: len(p.spare(p.CPUs)), Bytes: int64(g.bytes * g.together(p)), For: d, run: g.bandwidth})
	}
	return append(append(out, threadTasks(p)...), loadedTasks(p)...)
}

// threadsOn divides memory among threads on some processors; if there are many processors, only the first ones, so that
// each has enough.
func threadsOn(cpus []int, b []byte) (out []bandwidth.Thread) {
	cpus = cpus[:min(len(cpus), max(1, len(b)/bandwidth.Smallest))]
	part := len(b) / len(cpus) &^ 4095
	for i, c := range cpus {
		out = append(out, bandwidth.Thread{CPU: c, Memory: b[i*part : (i+1)*part]})
	}
	return out
}

func (g grid) bandwidth(ctx context.Context, r *run, d time.Duration) error {
	m, err := g.cells(ctx, r, d, "MB/s", func(memory []*pages.Memory, _ *breather) (sampler, error) {
		return func(i, j int, to []float64) ([]float64, error) {
			rate, err := bandwidth.Move(ctx, bandwidth.Read, threadsOn(r.plan.spare(g.cpus[i]), memory[j].Bytes), cpu.LineBytes(), cellMove)
			if err != nil {
				return to, err
			}
			return append(to, rate/1e6), nil
		}, nil
	})
	r.out.Bandwidth = m
	return err
}
