// Package size has an architect's questions about capacity.
package size

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/words"

	"example.org/homenode/ask"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/size"
)

// mostVMs is the number of VMs that can be read in a moment. They are not assessed.
const mostVMs = 200_000

// Entries lists the questions in display order.
var Entries = []*ask.Entry{
	{Name: "size fit", Lead: "How many hosts VMs need, or how many VMs fit.", Example: "vm=24x192GB*40&hosts=2x32c/1TB,2x48c/1.5TB,2x64c/2TB", Title: "VMs that fit hosts", New: func() ask.Question { return &Fit{} }, Budget: ask.Budget{Steps: 20_000}},
	{Name: "size io", Lead: "CPU cost of the I/O of a workload.", Example: "iops=100k&block=32k", Title: "CPU of I/O", New: func() ask.Question { return &IO{} }, Budget: ask.Budget{Steps: mostVMs}},
	{Name: "size latency", Lead: "How long each step of a request waits.", Example: "core=3.0GHz&calls=20", Title: "Latency", New: func() ask.Question { return &Latency{} }, Budget: ask.Budget{Steps: 1}},
	{Name: "size speed", Lead: "Effect of the vCPU speed of an organization VDC.", Example: "vcpu-speed=1GHz&vm=8x64GB&host=2x18c/1TB@3GHz", Title: "vCPU speed", New: func() ask.Question { return &Speed{} }, Budget: ask.Budget{Steps: mostVMs}},
	{Name: "size dump", Lead: "How large the core dump file is, and what it leaves of a boot device.", Example: "ram=1.5TB&boot=32GB", Title: "Core dump", New: func() ask.Question { return &Dump{} }, Budget: ask.Budget{Steps: mostVMs}},
	{Name: "size pages", Lead: "Memory that page sharing saves.", Example: "memory=1.5TB", Title: "Page sharing", New: func() ask.Question { return &Pages{} }, Budget: ask.Budget{Steps: 1}},
	{Name: "size upgrade", Lead: "Which VMs change with another release, and what to set first.", Example: "source=SOURCE&release=9.0", Title: "Upgrade", Configured: true, New: func() ask.Question { return &Upgrade{} }, Budget: ask.Budget{Steps: 20_000}},
	{Name: "size rightsize", Title: "Right size", New: func() ask.Question { return &RightSize{} }},
	{Name: "size calibrate", Title: "Calibrate", New: func() ask.Question { return &Calibrate{} }},
}

// answered returns the reply of one answer.
func answered(a *answer.Answer, err error) (*ask.Reply, error) {
	if err == nil {
		a.Version = 2 // 1 had sentences as notes
	}
	return ask.Answered(a, err)
}

// Published makes a question show the published figures beside those of the model.
type Published struct {
	Show bool `ask:"published" help:"show the published figures beside the results of the model"`
}

// or returns the published figures, which accept no other fields, or the answer.
func (p *Published) or(q ask.Question, command string, checks func() []unit.Check, asked func() (*answer.Answer, error)) (*ask.Reply, error) {
	if !p.Show {
		return answered(asked())
	}
	for _, f := range ask.Fields(q) {
		switch {
		case f.Argument && len(f.Values()) > 0:
			return nil, fmt.Errorf("--published: not with %s: it prints what was published, and asks nothing", f.Values()[0])
		case f.Given() && f.Name != "published":
			return nil, fmt.Errorf("--published: not with --%s: it prints what was published, and asks nothing", f.Name)
		}
	}
	return answered(size.Published(command, checks()), nil)
}

// checkHosts returns the core frequency of identical hosts; 0 if it is not given.
func checkHosts(a *ask.Asked, hosts, cores int, frequency string) (core unit.Hz, err error) {
	return core, cmp.Or(count(a, "host-count", hosts, 100_000), count(a, "host-cores", cores, 100_000), ask.Set("core", frequency, &core, unit.ParseHz))
}

// count checks a field that is a count, if it was given.
func count(a *ask.Asked, field string, n, most int) error {
	if a.Given(field) && (n < 1 || n > most) {
		return ask.Wrong(field, fmt.Errorf("found %d, want 1 to %s", n, unit.Grouped(float64(most), 0)))
	}
	return nil
}

// memory parses a size of memory or a disk. The example in its error is a memory size, not a block
// size.
func memory(text string) (numa.Bytes, error) {
	v, err := unit.ParseSize(text)
	if err != nil {
		return 0, fmt.Errorf("found %q, want a size such as 512GB or 1.5TB", text)
	}
	return v, nil
}

// release parses a release that has a model.
func release(text string) (numa.Release, error) {
	r, err := numa.ParseRelease(text)
	if err == nil && !slices.Contains(numa.Modelled, r.Base()) {
		names := words.Texts(numa.Modelled, func(known numa.Release) string { return known.String() })
		err = fmt.Errorf("found %s, want one of %s", r, strings.Join(names, ", "))
	}
	return r, err
}

// figure returns a parser of a share given by flag. The figure has the user as its source.
func figure(flag string) func(string) (unit.Figure[unit.Share], error) {
	return func(text string) (unit.Figure[unit.Share], error) {
		share, err := unit.ParsePercent(text)
		return unit.Exactly(share, unit.Given, "--"+flag, ""), err
	}
}
