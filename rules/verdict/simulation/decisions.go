package simulation

import (
	"fmt"
	"slices"
	"time"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/internal/alike"
	"example.org/homenode/internal/glob"
	"example.org/homenode/internal/words"
)

// A Decision is a decision of the scheduler in the terms of the story.
type Decision struct {
	Time     time.Time `json:"time"`
	Host     string    `json:"host"`
	VM       string    `json:"vm,omitempty"`
	VMID     string    `json:"vmId,omitempty"`
	Client   *int      `json:"client,omitempty"`
	Decision string    `json:"decision"`
	From     *int      `json:"fromNode,omitempty"`
	To       *int      `json:"toNode,omitempty"`
	WithVM   string    `json:"withVM,omitempty"`   // with which a client was swapped
	FromHost string    `json:"fromHost,omitempty"` // previous host of a VM
	Why      string    `json:"why,omitempty"`
	Rules    []string  `json:"rules"`
}

// Decision converts a decision of the scheduler.
func (s *Judged) Decision(d *scheduler.Decision) Decision {
	number := func(n int) *int {
		if n < 0 {
			return nil
		}
		return &n
	}
	out := Decision{Time: s.Story.Start.Add(d.At), Host: s.hostName(d.Host), Client: number(d.Client), Decision: d.Kind.String(),
		From: number(d.From), To: number(d.To), Why: d.Why(s.Story.Fleet), Rules: append([]string{}, d.Kind.Rules()...)}
	if d.VM >= 0 {
		out.VM, out.VMID = s.VMs[d.VM].Name, s.VMs[d.VM].ID
	}
	if d.Other >= 0 {
		switch d.Kind {
		case scheduler.BalanceSwapped, scheduler.LocalitySwapped:
			out.WithVM = s.vmName(d.Other)
		case scheduler.MovedIn, scheduler.Restart:
			out.FromHost = s.hostName(d.Other)
		}
	}
	return out
}

// One returns the only VM of this name.
func (s *Judged) One(name string) (*VM, error) {
	switch found := s.Named(name); len(found) {
	case 0:
		for i := range s.Story.Fleet.Hosts {
			if s.hostName(i) == name {
				return nil, fmt.Errorf("%q is a host: --format svg draws hosts, else --vm takes a VM", name)
			}
		}
		return nil, s.unknown(name)
	case 1:
		return found[0], nil
	default:
		ids := words.Texts(found, func(v *VM) string { return v.ID })
		return nil, fmt.Errorf("%q could be each of %s", name, words.Few(ids))
	}
}

// Decisions returns the decisions that match both patterns, about VMs and on hosts, in the
// order of time; "" matches all.
func (s *Judged) Decisions(vm, host string) ([]*scheduler.Decision, error) {
	var vms []*VM
	if vm != "" {
		if vms = s.Named(vm); len(vms) == 0 {
			return nil, s.unknown(vm)
		}
	}
	hosts := glob.Patterns(nil)
	if host != "" {
		hosts = glob.Compile([]string{host}, glob.Domain)
		var names []string
		for i := range s.Story.Fleet.Hosts {
			names = append(names, s.hostName(i))
		}
		if !hosts.Match(names...) {
			return nil, fmt.Errorf("--vm: the story has no host %q%s", host, alike.After(host, names))
		}
	}
	return slices.DeleteFunc(s.About(vms...), func(d *scheduler.Decision) bool { return !hosts.Allow(s.hostName(d.Host)) }), nil
}

// About returns the decisions about these VMs, in the order of time; without arguments all.
func (s *Judged) About(vms ...*VM) []*scheduler.Decision {
	index := map[int]bool{}
	for _, v := range vms {
		index[v.Index] = true
	}
	out := []*scheduler.Decision{}
	for i := range s.Outcome.Decisions {
		d := &s.Outcome.Decisions[i]
		swapped := d.Kind == scheduler.BalanceSwapped || d.Kind == scheduler.LocalitySwapped
		if len(vms) == 0 || index[d.VM] || swapped && index[d.Other] {
			out = append(out, d)
		}
	}
	return out
}

// unknown returns the error for a name that no VM of the story has.
func (s *Judged) unknown(name string) error {
	names := words.Texts(s.VMs, func(v *VM) string { return v.Name })
	slices.Sort(names)
	return fmt.Errorf("the story has no VM %q%s", name, alike.After(name, slices.Compact(names)))
}

// Clients returns the number of clients of the VM in decisions.
func (s *Judged) Clients(v *VM) int {
	n := 0
	for i := range s.Outcome.Decisions {
		if d := &s.Outcome.Decisions[i]; d.VM == v.Index {
			n = max(n, d.Client+1)
		}
	}
	return n
}
