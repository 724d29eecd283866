//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"homenode/measure/guest/chase"
	"homenode/measure/guest/cpu"
	"homenode/measure/guest/pages"
)

// multiRounds is in how many rounds multichase takes part: a process of it takes more than a second.
const multiRounds = 5

// multiTurn runs homenode's chase, then multichase, which says the best of its samples of half a second, then homenode's again: of
// homenode the best sample counts, too. The order of its lines is its own: random over the whole
// working set, as homenode's.
func multiTurn(ctx context.Context, s *settings, cycle *chase.Cycle, huge bool, size int, p *pairs) error {
	best := 0.0
	own := func() error {
		return cpu.On(s.cpus[0], func() error {
			if err := cycle.Warm(ctx); err != nil {
				return err
			}
			for range samples {
				if ns := cycle.Walk(1 << 15); best == 0 || ns < best {
					best = ns
				}
			}
			return nil
		})
	}
	if err := own(); err != nil {
		return err
	}
	bytes := strconv.Itoa(size)
	args := []string{"-s", strconv.Itoa(lineBytes), "-m", bytes, "-T", bytes, "-n", "2"}
	if huge {
		args = append(args, "-H")
	}
	out, err := exec.CommandContext(ctx, filepath.Join(s.multichase, "multichase"), args...).Output()
	if err != nil {
		return fmt.Errorf("multichase: %w", err)
	}
	other, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		return fmt.Errorf("multichase: %w", err)
	}
	if err := own(); err != nil {
		return err
	}
	p.add(best, other)
	return nil
}

// joinClose gives memory back.
func joinClose(err error, m *pages.Memory) error { return errors.Join(err, m.Close()) }
