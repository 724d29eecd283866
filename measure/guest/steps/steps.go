// Package steps measures what a request waits for beyond memory, on this machine: the system
// call, the switch of threads, pipes and sockets, and writes that reach the disk; package request
// has HTTP and remote procedure calls.
package steps

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"homenode/measure/guest/cpu"
)

// Options say what is measured and where.
type Options struct {
	// A and B are the logical processors that the two ends run on, the same one for both ends on one vCPU.
	A, B int
	// Pinned says that both ends are kept there; else the operating system places them.
	Pinned bool
	// Samples is how many are taken at most, For how long at most.
	Samples int
	For     time.Duration
	// Dir is where files are written and synchronised.
	Dir string
}

// A Step is one rung.
type Step struct {
	Name  string // syscall, switch, pipe, unix, tcp, …
	About string // what one sample is
	// Ends says that two threads talk: where they run matters.
	Ends bool
	// Disk says that it writes into Options.Dir.
	Disk bool
	// Measure takes the samples, in ns each.
	Measure func(context.Context, *Options) ([]float64, error)
}

// All returns the steps without those of package request, the fastest first.
func All() []Step {
	return []Step{
		{Name: "syscall", About: syscallAbout, Measure: systemCall},
		{Name: "pread", About: "reads 4 KiB of a file that is in the page cache", Measure: cachedRead},
		{Name: "channel", About: "a value through a Go channel to another goroutine and back, ÷ 2: Go's own scheduler", Measure: channel},
		{Name: "pipe", About: "a byte through a pipe to another thread and back, ÷ 2: a switch of threads, or the wake-up of another vCPU", Ends: true, Measure: pipe},
		{Name: "unix", About: "a byte over a Unix socket and back: a round trip", Ends: true, Measure: unixSocket},
		{Name: "tcp", About: "a byte over TCP on loopback and back, without delay: a round trip", Ends: true, Measure: tcp},
		{Name: "connect", About: "TCP connection on loopback: opened, accepted and closed", Measure: connect},
		{Name: "write+fdatasync", About: "4 KiB written and synchronised, without the times of the file", Disk: true, Measure: dataSync},
		{Name: "fsync", About: "4 KiB written and synchronised", Disk: true, Measure: fileSync},
	}
}

// ErrNotHere is the error of a step that this operating system has no equal of.
var ErrNotHere = errors.New("not measured on " + runtime.GOOS)

// Run returns the samples of a step, in ns each, less those of the warm-up. It ends early, with what it has, when ctx ends or
// Options.For has passed.
func (s *Step) Run(ctx context.Context, o Options) ([]float64, error) {
	if o.Samples <= 0 {
		o.Samples = 10_000
	}
	if o.For <= 0 {
		o.For = 300 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, o.For)
	defer cancel()
	samples, err := s.Measure(ctx, &o)
	if errors.Is(err, context.DeadlineExceeded) && len(samples) > 0 {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	const least = 20
	warm := len(samples) / 20
	if samples = samples[warm:]; len(samples) < least {
		return nil, fmt.Errorf("%s: took %d samples in %v, want %d or more", s.Name, len(samples), o.For, least)
	}
	return samples, nil
}

// Loop takes samples of one until there are enough or ctx ends.
func Loop(ctx context.Context, o *Options, one func() error) ([]float64, error) {
	out := make([]float64, 0, min(o.Samples, 1<<16))
	for len(out) < o.Samples && ctx.Err() == nil {
		at := now()
		if err := one(); err != nil {
			return out, err
		}
		out = append(out, since(at))
	}
	return out, ctx.Err()
}

// batch takes samples of one, which is repeated n times for each since it is shorter than what a clock can tell.
func batch(ctx context.Context, o *Options, n int, one func() error) ([]float64, error) {
	out, err := Loop(ctx, o, func() error {
		for range n {
			if err := one(); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range out {
		out[i] /= float64(n)
	}
	return out, err
}

// now is a moment of the counter of this processor.
func now() uint64 { return cpu.Start() }

// since returns how long ago a moment was, in ns.
func since(moment uint64) float64 { return cpu.NS(cpu.End() - moment) }
