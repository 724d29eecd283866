//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"example.org/homenode/measure/guest/chase"
	"example.org/homenode/measure/guest/cpu"
	"example.org/homenode/measure/guest/pages"
)

// multiRounds is the number of rounds with multichase, whose process runs for more than a second.
const multiRounds = 5

// multiSamples is the number of half-second samples of each side. The best one counts, because multichase reports no other.
const multiSamples = 5

// multiTurn measures homenode's chase and multichase in the same way: newly allocated memory, one random cycle over the whole
// working set, one pass to warm the caches, and the best of some half-second samples on the same processor.
func multiTurn(ctx context.Context, s *settings, ownFirst, huge bool, size int, p *pairs) error {
	var ns [2]float64
	turn := []func() error{
		func() (err error) { ns[0], err = ownBest(ctx, s, huge, size); return err },
		func() (err error) { ns[1], err = multiBest(ctx, s, huge, size); return err },
	}
	if !ownFirst {
		turn[0], turn[1] = turn[1], turn[0]
	}
	for _, run := range turn {
		if err := run(); err != nil {
			return err
		}
	}
	p.add(ns[0], ns[1])
	return nil
}

func ownBest(ctx context.Context, s *settings, huge bool, size int) (best float64, err error) {
	m, err := pages.Take(ctx, pages.Ask{Bytes: max(size, hugeBytes), Node: pages.Anywhere, Huge: huge})
	if err != nil {
		return 0, err
	}
	defer func() { err = joinClose(err, m) }()
	cycle, err := chase.Link(ctx, m.Bytes[:size], lineBytes, rand.Uint64(), nil)
	if err != nil {
		return 0, err
	}
	err = cpu.On(s.cpus[0], func() error {
		if err := cycle.Warm(ctx); err != nil {
			return err
		}
		best = math.Inf(1)
		for range multiSamples {
			best = min(best, cycle.Walk(int(0.5e9/cycle.Walk(1<<16))))
		}
		return nil
	})
	return best, err
}

func multiBest(ctx context.Context, s *settings, huge bool, size int) (ns float64, err error) {
	bytes := strconv.Itoa(size)
	args := []string{"-s", strconv.Itoa(lineBytes), "-m", bytes, "-T", bytes, "-n", strconv.Itoa(multiSamples)}
	if huge {
		args = append(args, "-H")
	}
	// A process inherits the CPU affinity of the thread that starts it; multichase runs on the first CPU.
	var out []byte
	if err := cpu.On(s.cpus[0], func() (err error) {
		out, err = exec.CommandContext(ctx, filepath.Join(s.multichase, "multichase"), args...).Output()
		return err
	}); err != nil {
		return 0, fmt.Errorf("multichase: %w", err)
	}
	if ns, err = strconv.ParseFloat(strings.TrimSpace(string(out)), 64); err != nil {
		return 0, fmt.Errorf("multichase: %w", err)
	}
	return ns, nil
}

// joinClose frees memory and joins the errors.
func joinClose(err error, m *pages.Memory) error { return errors.Join(err, m.Close()) }
