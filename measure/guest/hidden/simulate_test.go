package hidden

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"example.org/homenode/internal/stat"
)

// A recording is latencies of one node as a real machine measured them: by round, vCPU and page, in ns.
type recording struct {
	own   []float64 // of each page: its median over all, less that of all pages
	noise [][][]float64
}

// recorded reads testdata/<name>.gz: 16-bit words of a tenth of a nanosecond, for each round 2 vCPUs of 256 pages.
func recorded(t testing.TB, name string) *recording {
	t.Helper()
	f, err := os.Open("testdata/" + name + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	const pages = 256
	words := make([]uint16, len(b)/2)
	if err := binary.Read(bytes.NewReader(b), binary.LittleEndian, words); err != nil {
		t.Fatal(err)
	}
	rec := &recording{own: make([]float64, pages)}
	columns := make([][]float64, pages)
	var all []float64
	for len(words) > 0 {
		round := make([][]float64, 2)
		for v := range round {
			for i := range pages {
				x := float64(words[i]) / 10
				round[v] = append(round[v], x)
				columns[i] = append(columns[i], x)
				all = append(all, x)
			}
			words = words[pages:]
		}
		rec.noise = append(rec.noise, round)
	}
	level := stat.MedianOf(all)
	for i, c := range columns {
		rec.own[i] = stat.MedianOf(c) - level
	}
	for _, round := range rec.noise {
		for _, row := range round {
			for i := range row {
				row[i] -= rec.own[i]
			}
		}
	}
	return rec
}

// A world is one simulated guest and how it is measured.
type world struct {
	vcpus, pages, rounds int
	nodes                int     // with vCPUs; 1 for none hidden
	delta                float64 // ns
	share                float64 // of pages that are not on node 0
	far                  float64 // of pages on a node without vCPUs
	ownSpread            float64 // ns: what pages keep of their own beside the recording
	noise                func(s *sim)
	sequential           bool // against the contract: all rounds of one vCPU, then of the next
}

// A sim is a world that was drawn.
type sim struct {
	*Probes
	rng  *rand.Rand
	vcpu []int // node of each vCPU
	page []int // node of each page
}

// draw makes the probes of a world: recorded noise, plus delta where vCPU and page are on different nodes, plus what the noise of the
// world adds.
func (w *world) draw(rec *recording, rng *rand.Rand) *sim {
	s := &sim{Probes: &Probes{}, rng: rng}
	for v := range w.vcpus {
		s.CPUs = append(s.CPUs, v)
		s.vcpu = append(s.vcpu, v*w.nodes/w.vcpus)
	}
	s.page = make([]int, w.pages)
	away := rng.Perm(w.pages) // as many as the shares say, to the page
	for n, i := range away[:int(math.Round((w.far+(1-w.far)*w.share)*float64(w.pages)))] {
		s.page[i] = 1 + n%max(1, w.nodes-1)
		if float64(n) < w.far*float64(w.pages) {
			s.page[i] = w.nodes
		}
	}
	for i := range w.pages {
		kind := Fresh
		if i%2 == 1 {
			kind = Cached
		}
		s.Pages = append(s.Pages, Page{Block: int64(i), Kind: kind})
	}
	perm := rng.Perm(len(rec.own))
	own := make([]float64, w.pages)
	for i := range own {
		own[i] = rec.own[perm[i%len(perm)]] + w.ownSpread*rng.NormFloat64()
	}
	start := rng.IntN(len(rec.noise))
	offset, cpu := make([]int, w.vcpus), make([]int, w.vcpus)
	for v := range offset {
		offset[v], cpu[v] = rng.IntN(len(rec.noise)), rng.IntN(2)
	}
	order := Order(w.vcpus, w.rounds, rng)
	block := float64(w.pages) * 5e-6
	for r := range w.rounds {
		round, at, core := make([][]float64, w.vcpus), make([]float64, w.vcpus), make([]float64, w.vcpus)
		for turn, v := range order[r] {
			at[v] = (float64(r*w.vcpus + turn)) * block
			if w.sequential {
				at[v] = float64(v*w.rounds+r) * block
			}
			core[v] = 1.02 + 0.005*rng.NormFloat64()
			noise := rec.noise[(start+offset[v]+r)%len(rec.noise)][cpu[v]]
			shift := rng.IntN(len(noise))
			round[v] = make([]float64, w.pages)
			for i := range round[v] {
				x := noise[(perm[i%len(perm)]+shift)%len(noise)] + own[i]
				if s.vcpu[v] != s.page[i] {
					x += w.delta
				}
				round[v][i] = x
			}
		}
		s.NS, s.At, s.Core = append(s.NS, round), append(s.At, at), append(s.Core, core)
	}
	if w.noise != nil {
		w.noise(s)
	}
	return s
}

// each changes every latency.
func (s *sim) each(f func(r, v, i int, at, x float64) float64) {
	end := s.ends()
	for r := range s.NS {
		for v := range s.NS[r] {
			order := s.rng.Perm(len(s.Pages))
			for i, x := range s.NS[r][v] {
				at := (s.At[r][v] + float64(order[i])*5e-6) / end
				s.NS[r][v][i] = f(r, v, i, at, x)
			}
		}
	}
}

// ends returns when the last block ends, in seconds.
func (s *sim) ends() float64 {
	last := 0.0
	for _, at := range s.At {
		for _, x := range at {
			last = max(last, x)
		}
	}
	return last + float64(len(s.Pages))*5e-6
}

// Noise of other kinds than was recorded: the thresholds were chosen without it. That of the first list is no distance but may look like one.
var otherNoise = []struct {
	name string
	add  func(s *sim)
}{
	{"tails: 1 of 10 samples is up to 20 times too long", func(s *sim) {
		s.each(func(_, _, _ int, _, x float64) float64 {
			if s.rng.Float64() < 0.1 {
				return x * math.Exp(3*s.rng.Float64())
			}
			return x
		})
	}},
	{"Student's t of 2 degrees, 15 ns, on every sample", func(s *sim) {
		s.each(func(_, _, _ int, _, x float64) float64 {
			n := s.rng.NormFloat64()
			return x + 15*n/math.Sqrt(s.rng.ExpFloat64())
		})
	}},
	{"drift: 30 % more at the end", func(s *sim) {
		s.each(func(_, _, _ int, at, x float64) float64 { return x * (1 + 0.3*at) })
	}},
	{"waves: ± 20 %, 1 to 20 in the run", func(s *sim) {
		waves, phase := 1+19*s.rng.Float64(), 2*math.Pi*s.rng.Float64()
		s.each(func(_, _, _ int, at, x float64) float64 { return x * (1 + 0.2*math.Sin(2*math.Pi*waves*at+phase)) })
	}},
	{"bursts: 40 to 120 ns more on all vCPUs for a tenth of the time", func(s *sim) {
		from := make([]float64, 5)
		for i := range from {
			from[i] = s.rng.Float64()
		}
		more := 40 + 80*s.rng.Float64()
		s.each(func(_, _, _ int, at, x float64) float64 {
			for _, f := range from {
				if at >= f && at < f+0.02 {
					return x + more*s.rng.Float64()*2
				}
			}
			return x
		})
	}},
	{"neighbours: one block of ten has 40 ns more", func(s *sim) {
		slow := map[[2]int]bool{}
		for r := range s.NS {
			for v := range s.CPUs {
				slow[[2]int{r, v}] = s.rng.Float64() < 0.1
			}
		}
		s.each(func(r, v, _ int, _, x float64) float64 {
			if slow[[2]int{r, v}] {
				return x + 40
			}
			return x
		})
	}},
	{"clock: 25 % step in the run", func(s *sim) {
		when := s.rng.Float64()
		s.each(func(_, _, _ int, at, x float64) float64 {
			if at > when {
				return x * 1.25
			}
			return x
		})
	}},
	{"cores: each vCPU's clock differs by up to 20 %", func(s *sim) {
		clock := make([]float64, len(s.CPUs))
		for v := range clock {
			clock[v] = 0.8 + 0.4*s.rng.Float64()
			for r := range s.Core {
				s.Core[r][v] /= clock[v]
			}
		}
		s.each(func(_, v, _ int, _, x float64) float64 { return x + 25*(1/clock[v]-1) })
	}},
	{"missing: 2 of 10 latencies", func(s *sim) {
		s.each(func(_, _, _ int, _, x float64) float64 {
			if s.rng.Float64() < 0.2 {
				return math.NaN()
			}
			return x
		})
	}},
	{"channels: one of four has 18 ns more", func(s *sim) {
		slow := make([]bool, len(s.Pages))
		for i := range slow {
			slow[i] = s.rng.IntN(4) == 0
		}
		s.each(func(_, _, i int, _, x float64) float64 {
			if slow[i] {
				return x + 18
			}
			return x
		})
	}},
	{"quadrants: vCPUs and pages of one node ± 5 ns", func(s *sim) {
		quarter := make([]int, len(s.Pages))
		for i := range quarter {
			quarter[i] = s.rng.IntN(2)
		}
		s.each(func(_, v, i int, _, x float64) float64 {
			if quarter[i] != v%2 {
				return x + 10
			}
			return x
		})
	}},
}

// lookalikes are one node, or measured against the contract, and look like several. The answer may be "not known", but not one that
// says there are several.
var lookalikes = []struct {
	name string
	add  func(s *sim)
}{
	{"one vCPU beside a busy thread: 25 % slower", func(s *sim) {
		one := s.rng.IntN(len(s.CPUs))
		for r := range s.Core {
			s.Core[r][one] *= 1.25
		}
		s.each(func(_, v, _ int, _, x float64) float64 {
			if v == one {
				return x * 1.25
			}
			return x
		})
	}},
	{"hybrid: half of the cores 45 ns slower", func(s *sim) {
		for r := range s.Core {
			for v := range s.CPUs {
				if 2*v >= len(s.CPUs) {
					s.Core[r][v] *= 1.3
				}
			}
		}
		s.each(func(_, v, _ int, _, x float64) float64 {
			if 2*v >= len(s.CPUs) {
				return x + 45
			}
			return x
		})
	}},
	{"page cache 45 ns slower", func(s *sim) {
		s.each(func(_, _, i int, _, x float64) float64 {
			if s.Pages[i].Kind == Cached {
				return x + 45
			}
			return x
		})
	}},
	{"half of the vCPUs 45 ns slower in the second half", func(s *sim) {
		s.each(func(_, v, _ int, at, x float64) float64 {
			if 2*v >= len(s.CPUs) && at > 0.5 {
				return x + 45
			}
			return x
		})
	}},
}
