//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/cmd/bench/contest"
	"example.org/homenode/internal/bounded"
	"example.org/homenode/measure/guest/bandwidth"
	"example.org/homenode/measure/guest/pages"
)

const (
	overL3      = 4    // size of the working set of all threads, in multiples of the L3 cache
	readShare   = 0.95 // target as a share of likwid-bench's bandwidth
	readFor     = 20 * time.Millisecond
	likwidBytes = 1e9 // amount that a run of likwid-bench reads, approximately: 20 to 50 ms
)

// reads measures the memory read bandwidth of homenode and likwid-bench in turns. Both count every byte of the cache
// lines that they pass; homenode loads 8 bytes of each, likwid-bench all. Both use small pages, and a separate part for
// each thread.
func reads(ctx context.Context, s *settings, _ *peer, w io.Writer) ([]goal, error) {
	if _, err := exec.LookPath(s.likwid); err != nil {
		_, err := fmt.Fprintln(w, "\nBandwidth is left out: there is no likwid-bench here (Debian: apt install likwid).")
		return nil, err
	}
	l3, err := cacheBytes()
	if err != nil {
		return nil, err
	}
	mb := (overL3*l3 + 1e6 - 1) / 1e6 // in units of 10⁶ bytes, as in likwid-bench
	t := contest.Table{Markdown: s.markdown}
	t.Row(append([]string{""}, cellNames("likwid-bench", "GB/s")...)...)
	var goals []goal
	for threads := 1; threads <= min(2, len(s.cpus)); threads++ {
		for _, kernel := range likwidKernels() {
			p, err := readPairs(ctx, s, kernel, threads, mb)
			if err != nil {
				return nil, err
			}
			name := fmt.Sprintf("%s, threads: %d", kernel, threads)
			t.Row(append([]string{name}, p.cells()...)...)
			_, middle, _ := p.ratios()
			goals = append(goals, ratioGoal("reading beside likwid-bench "+name, readShare, 0, middle))
		}
	}
	return goals, t.Write(w, fmt.Sprintf("Reading %d MB, small pages", mb))
}

// readPairs compares homenode on threads threads with one kernel of likwid-bench.
func readPairs(ctx context.Context, s *settings, kernel string, threads, mb int) (p *pairs, err error) {
	p = new(pairs)
	for turn := range s.rounds {
		s.calm.await()
		var own, other float64
		if turn%2 == 0 {
			if own, err = ownRead(ctx, s, threads, mb); err != nil {
				return nil, err
			}
		}
		if other, err = likwidRead(ctx, s, kernel, threads, mb); err != nil {
			return nil, err
		}
		if turn%2 != 0 {
			if own, err = ownRead(ctx, s, threads, mb); err != nil {
				return nil, err
			}
		}
		p.add(own, other)
	}
	return p, nil
}

// ownRead returns homenode's bandwidth in GB/s. The memory is newly allocated, as in likwid-bench.
func ownRead(ctx context.Context, s *settings, threads, mb int) (rate float64, err error) {
	m, err := pages.Take(ctx, pages.Ask{Bytes: mb * 1e6, Node: pages.Anywhere})
	if err != nil {
		return 0, err
	}
	defer func() { err = joinClose(err, m) }()
	var list []bandwidth.Thread
	part := mb * 1e6 / threads / 4096 * 4096
	for i := range threads {
		list = append(list, bandwidth.Thread{CPU: s.cpus[i], Memory: m.Bytes[i*part : (i+1)*part]})
	}
	rate, err = bandwidth.Move(ctx, bandwidth.Read, list, lineBytes, readFor)
	return rate / 1e9, err
}

// likwidRead returns likwid-bench's bandwidth in GB/s.
func likwidRead(ctx context.Context, s *settings, kernel string, threads, mb int) (float64, error) {
	out, err := exec.CommandContext(ctx, s.likwid, "-t", kernel, "-i", strconv.Itoa(max(1, likwidBytes/1e6/mb)),
		"-w", fmt.Sprintf("N:%dMB:%d", mb, threads)).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", s.likwid, err, out)
	}
	for line := range strings.Lines(string(out)) {
		if rest, ok := strings.CutPrefix(line, "MByte/s:"); ok {
			x, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			return x / 1e3, err
		}
	}
	return 0, errors.New(s.likwid + " says no MByte/s")
}

// likwidKernels returns the read kernels: with scalar loads, and with the widest loads of the processor.
func likwidKernels() []string {
	b, err := bounded.File("/proc/cpuinfo", 1<<24)
	switch {
	case err == nil && strings.Contains(string(b), " avx512f "):
		return []string{"load", "load_avx512"}
	case err == nil && strings.Contains(string(b), " avx "):
		return []string{"load", "load_avx"}
	}
	return []string{"load"}
}

// cacheBytes returns the size of the first processor's L3 cache according to the kernel.
func cacheBytes() (int, error) {
	b, err := bounded.File("/sys/devices/system/cpu/cpu0/cache/index3/size", 64)
	if err != nil {
		return 0, err
	}
	kb, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(string(b)), "K"))
	return kb << 10, err
}
