// Package here measures the machine that it runs on as flags ask: for homenode measure, and for homenode-measure, which guests are given.
package here

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"example.org/homenode/internal/version"
	"example.org/homenode/measure/guest"
	"example.org/homenode/numa/unit"
	"example.org/homenode/source/machine"
	"example.org/homenode/source/measured"
	"example.org/homenode/source/text"
)

// Asked has the options for measuring this machine. The program sets the fields without a flag.
type Asked struct {
	guest.Options
	quick bool

	memory, cpus, nodes, paging string
}

// Register adds the flags about the method of measuring.
func (a *Asked) Register(fl *pflag.FlagSet) {
	fl.BoolVar(&a.quick, "quick", false, "measure for 5 seconds at most, instead of a minute")
	fl.DurationVar(&a.Time, "time", 0, "measure for this long at most: 20s")
	fl.StringVar(&a.Dir, "fsync", "", "also measure writes that reach the disk, in this folder")
	fl.BoolVar(&a.Loaded, "loaded", false, "also measure latency while the other vCPUs load memory, up to 2 s for each load")
	fl.BoolVar(&a.Force, "force", false, "measure on a busy machine, and say so in the result")
}

// Place adds the flags about the measured part of the guest.
func (a *Asked) Place(fl *pflag.FlagSet) {
	fl.StringVar(&a.memory, "memory", "", "memory to touch at most: 256MiB (default 512MiB, a quarter of what is available, half of what a control group has left)")
	fl.StringVar(&a.cpus, "cpus", "", "logical processors to measure: 0-3,8 (default all)")
	fl.StringVar(&a.nodes, "nodes", "", "nodes to measure: 0,1 (default all)")
	fl.StringVar(&a.paging, "huge", string(guest.PagingAuto), "huge pages: auto, yes, no")
	fl.StringVar(&a.Name, "name", "", "name of this guest in the result, as the inventory calls the VM")
}

// Read parses the flags; parts are the arguments.
func (a *Asked) Read(parts []string) error {
	a.Parts = nil
	for _, p := range parts {
		a.Parts = append(a.Parts, guest.Part(p))
	}
	a.Profile = measured.Default
	if a.quick {
		a.Profile = measured.Quick
	}
	if a.memory != "" {
		n, err := unit.ParseSize(a.memory)
		if err != nil || n < 1<<20 {
			return fmt.Errorf("--memory: found %q, want a size such as 256MiB, 1 MiB or more", a.memory)
		}
		a.Memory = int64(n)
	}
	var err error
	if a.CPUs, err = numbers("--cpus", a.cpus); err != nil {
		return err
	}
	if a.Nodes, err = numbers("--nodes", a.nodes); err != nil {
		return err
	}
	a.Paging = guest.Paging(a.paging)
	if !slices.Contains([]guest.Paging{guest.PagingAuto, guest.PagingHuge, guest.PagingNone}, a.Paging) {
		return fmt.Errorf("--huge: found %q, want auto, yes or no", a.paging)
	}
	if a.Time < 0 {
		return fmt.Errorf("--time: found %v, want a time such as 20s", a.Time)
	}
	return nil
}

// numbers parses a list such as 0-3,8.
func numbers(flag, s string) ([]int, error) {
	if s == "" {
		return nil, nil
	}
	const most = 1 << 16
	list, ok := text.Numbers(s, most, most)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("%s: found %q, want numbers such as 0-3,8", flag, s)
	}
	return list, nil
}

// Plan reads the facts of this machine and plans the measurement.
func (a *Asked) Plan(ctx context.Context) (*guest.Plan, error) {
	m, err := machine.Read(ctx)
	if err != nil {
		return nil, err
	}
	return guest.MakePlan(m, a.Options)
}

// Measure executes the plan and shows its progress on a terminal; nil shows none.
func Measure(ctx context.Context, plan *guest.Plan, terminal io.Writer) (*measured.Result, error) {
	if terminal != nil {
		plan.Options.Progress = func(p guest.Progress) { showProgress(terminal, p) }
	}
	r, err := guest.Run(ctx, plan)
	if err != nil {
		return nil, err
	}
	r.Homenode = version.String()
	return r, nil
}

// showProgress replaces the previous line.
func showProgress(w io.Writer, p guest.Progress) {
	if p.Finished {
		fmt.Fprint(w, "\r\033[K")
		return
	}
	fmt.Fprintf(w, "\r\033[K%3.0f %%  %s, %v left", 100*p.Done.Seconds()/max(p.Planned.Seconds(), 1e-9), p.Task, (p.Planned - p.Done).Round(time.Second))
}
