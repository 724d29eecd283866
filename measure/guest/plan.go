package guest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/source/machine"
	"example.org/homenode/source/measured"
)

// A Plan describes a run: MakePlan creates it, Run executes it.
type Plan struct {
	Options Options          `json:"-"`
	Machine *machine.Machine `json:"-"`
	CPUs    []int            `json:"cpus"`  // logical processors to pin to
	Nodes   []int            `json:"nodes"` // nodes whose memory is measured; empty if the kernel knows none
	Memory  MemoryCap        `json:"memory"`
	Tasks   []Task           `json:"tasks"`
	// Missing are requested parts that cannot run here.
	Missing []machine.Missing `json:"missing,omitempty"`
}

// A Task is one step of a run.
type Task struct {
	Part  Part          `json:"part"`
	Name  string        `json:"name"`
	CPUs  int           `json:"cpus"`  // logical processors that are busy at once
	Bytes int64         `json:"bytes"` // memory that it touches
	For   time.Duration `json:"nanoseconds"`

	run func(context.Context, *run, time.Duration) error // with its duration
}

// Total returns the duration of all tasks together.
func (p *Plan) Total() (d time.Duration) {
	for _, t := range p.Tasks {
		d += t.For
	}
	return d
}

// Touched returns the maximum memory that is touched at once, in bytes.
func (p *Plan) Touched() (most int64) {
	for _, t := range p.Tasks {
		most = max(most, t.Bytes)
	}
	return most
}

// Time limits of the profiles, including the load measurement.
const (
	quickTime   = 5 * time.Second
	defaultTime = 60 * time.Second
)

// MakePlan returns the plan of a run on the machine m. The error names an impossible option.
func MakePlan(m *machine.Machine, o Options) (*Plan, error) {
	p := &Plan{Options: o, Machine: m, Memory: capOf(o.Memory, &m.Limits)}
	if p.Options.Profile == "" {
		p.Options.Profile = measured.Default
	}
	if o.Memory < 0 || o.Time < 0 {
		return nil, errors.New("found a negative memory or time")
	}
	if err := p.choose(); err != nil {
		return nil, err
	}
	emulated := m.Identity.Emulated.Known() && m.Identity.Emulated.Value
	for _, t := range allTasks(p) {
		switch {
		case !o.asks(t.Part):
		case emulated:
			p.miss(t.Name, "the processor is emulated by software, whose times mean nothing: "+m.Identity.Emulated.Origin.Where, "")
		case t.Bytes > p.Memory.Bytes || p.Memory.small() && t.Bytes > tinyMemory:
			p.miss(t.Name, fmt.Sprintf("%v may be touched; with less than %v nothing but %v for hidden nodes is", p.Memory, numa.Bytes(leastMemory), numa.Bytes(tinyMemory)), "--memory, or a control group, that allows more")
		default:
			p.Tasks = append(p.Tasks, t)
		}
	}
	p.fit()
	return p, nil
}

// choose selects the logical processors and nodes to measure.
func (p *Plan) choose() error {
	allowed := []int{}
	for _, c := range p.Machine.Topology.Processors {
		if c.Online && c.Allowed {
			allowed = append(allowed, c.Number)
		}
	}
	nodes := []int{}
	for _, n := range p.Machine.Topology.Nodes {
		if len(p.Machine.Limits.Nodes) == 0 || slices.Contains(p.Machine.Limits.Nodes, n.ID) {
			nodes = append(nodes, n.ID)
		}
	}
	var err error
	if p.CPUs, err = among("--cpus", "logical processor", allowed, p.Options.CPUs); err != nil {
		return err
	}
	p.Nodes, err = among("--nodes", "node", nodes, p.Options.Nodes)
	return err
}

// among returns the requested numbers if all exist; all of them if none were requested.
func among(flag, noun string, there, asked []int) ([]int, error) {
	if len(asked) == 0 {
		return there, nil
	}
	asked = slices.Compact(slices.Sorted(slices.Values(asked)))
	for _, n := range asked {
		if !slices.Contains(there, n) {
			return nil, fmt.Errorf("%s: found %d, which is no %s that this process may use: %v", flag, n, noun, there)
		}
	}
	return asked, nil
}

func (p *Plan) miss(part, reason, remedy string) {
	p.Missing = append(p.Missing, machine.Missing{Part: part, Reason: reason, Remedy: remedy})
}

// limit returns the maximum total duration of the tasks.
func (p *Plan) limit() time.Duration {
	switch {
	case p.Options.Time > 0:
		return p.Options.Time
	case p.Options.quick():
		return quickTime - looksFor/4
	}
	return defaultTime - looksFor
}

// fit shortens the tasks to the time limit.
func (p *Plan) fit() {
	limit := p.limit()
	if total := p.Total(); total > limit {
		for i := range p.Tasks {
			p.Tasks[i].For = time.Duration(float64(p.Tasks[i].For) * float64(limit) / float64(total))
		}
	}
}
