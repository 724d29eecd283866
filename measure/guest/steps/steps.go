// Package steps measures delays of a request beyond memory on this machine: system calls, thread switches, pipes and sockets, and writes
// that reach the disk; package request adds HTTP and remote procedure calls.
package steps

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"example.org/homenode/measure/guest/cpu"
)

// Options control a measurement.
type Options struct {
	// A and B are the logical processors of the two ends, equal if both run on one vCPU.
	A, B int
	// Pinned means that both ends are pinned there; otherwise the operating system places them.
	Pinned bool
	// Samples limits the number of samples, For the duration.
	Samples int
	For     time.Duration
	// Dir is the folder for written and synchronised files.
	Dir string
}

// A Step is one rung of the ladder.
type Step struct {
	Name  string // syscall, switch, pipe, unix, tcp, …
	About string // meaning of a sample
	// Ends means that two threads communicate, so their placement matters.
	Ends bool
	// Disk means that it writes into Options.Dir.
	Disk bool
	// Measure takes the samples, in ns each.
	Measure func(context.Context, *Options) ([]float64, error)
}

// All returns the steps without those of package request, fastest first.
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

// ErrNotHere is the error of a step without an equivalent on this operating system.
var ErrNotHere = errors.New("not measured on " + runtime.GOOS)

// Run returns the samples of a step, in ns, without the warm-up. It ends early, with the samples so far, when ctx ends or
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

// Loop collects samples of one until there are enough or ctx ends.
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

// batch collects samples of one, repeated n times for each sample because it is shorter than the clock's resolution.
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

// now returns the counter of this processor.
func now() uint64 { return cpu.Start() }

// since returns the time since a counter value, in ns.
func since(moment uint64) float64 { return cpu.NS(cpu.End() - moment) }
