package flags

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"homenode/numa"
	"homenode/output/answer"
	"homenode/rules"
	"homenode/rules/policy"
)

// A Held is a command that a page runs: it reads a fleet that this process holds instead of a SOURCE, and its
// answers are taken instead of printed.
type Held struct {
	Source  string               // the only SOURCE that there is
	Result  *rules.Result        // of judging it; shared: a command that changes the fleet takes a copy
	Bare    func() *rules.Result // the judgement that a what-if stands beside; nil for none
	Ticks   string               // where what was seen of VMs that ticks are judged of says that it was read, as rules.Options has it; "" for none
	Policy  *policy.Policy       // of the server: it stands for --config; nil for none
	Answers []*answer.Answer     // what the command answered
}

type heldKey struct{}

// Holding returns a context in which commands ask what is held.
func Holding(ctx context.Context, h *Held) context.Context {
	return context.WithValue(ctx, heldKey{}, h)
}

// heldFleet returns what a command that a page asks reads instead of a SOURCE; nil for a command that a person runs.
func heldFleet(cmd *cobra.Command) *Held {
	if cmd == nil || cmd.Context() == nil {
		return nil
	}
	h, _ := cmd.Context().Value(heldKey{}).(*Held)
	return h
}

// OfPage reports whether a page asks, which wants an answer within seconds.
func OfPage(cmd *cobra.Command) bool { return heldFleet(cmd) != nil }

// fleet returns a copy of the fleet that is held: hosts, VMs and lists are its own, values inside facts are never
// written in place.
func (h *Held) fleet(sources []string) (*numa.Fleet, error) {
	if err := h.allow(sources); err != nil {
		return nil, err
	}
	out := *h.Result.Fleet
	out.Clusters, out.Hosts, out.VMs, out.Notes = slices.Clone(out.Clusters), slices.Clone(out.Hosts), slices.Clone(out.VMs), slices.Clone(out.Notes)
	return &out, nil
}

// allow refuses every SOURCE but the one that is held.
func (h *Held) allow(sources []string) error {
	if h.Result == nil {
		return errors.New("no fleet is known")
	}
	for _, s := range sources {
		if s != h.Source {
			return fmt.Errorf("%q: a page asks about the fleet that is shown alone", s)
		}
	}
	return nil
}

// Judged reads the fleet that the SOURCE arguments name and judges it; read is how long reading took. Nothing of the
// result may be changed: pages share it.
func (f *Source) Judged(cmd *cobra.Command, o rules.Options, sources ...string) (r *rules.Result, read time.Duration, err error) {
	if h := heldFleet(cmd); h != nil {
		if err := h.allow(sources); err != nil {
			return nil, 0, err
		}
		if h.Result.Choices == o.Choices {
			return h.Result, 0, nil
		}
	}
	start := time.Now()
	fleet, err := f.Read(cmd, sources...)
	if err != nil {
		return nil, 0, err
	}
	read = time.Since(start)
	return rules.Run(fleet, o), read, nil
}
