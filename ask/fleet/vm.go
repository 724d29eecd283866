package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/change/whatif"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/alike"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	answers "example.org/homenode/output/fleet"
	"example.org/homenode/output/format"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	verdict "example.org/homenode/rules/verdict/fleet"
	"example.org/homenode/size/fit"
)

// vms explains the VMs that match a name or pattern, after the shortages of their host.
func (x *Explain) vms(ctx context.Context, e *ask.Env, result *rules.Result, lacks []string, name string, event vnuma.Event) (*ask.Reply, error) {
	vms, err := vmsNamed(result.Fleet, name)
	if err != nil {
		return nil, err
	}
	plain := e.Form == "" || e.Form == format.Names[0]
	if len(vms) > 1 && !plain {
		return nil, fmt.Errorf("--format %s explains one VM, and %q names %d: %s", e.Form, name, len(vms), words.Few(namesOf(vms)))
	}
	r := &ask.Reply{Form: format.Options{Details: true, FailOn: finding.Medium}}
	lines := []string{}
	for _, vm := range vms {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if result.Fleet.Hypervisor == numa.KVM {
			v, err := statedVM(result, vm)
			if err != nil {
				return nil, err
			}
			r.Answers = append(r.Answers, answers.ExplainStated(result, v))
			continue
		}
		one, err := explain(result, vm, x.On, x.From, event)
		if err != nil {
			return nil, err
		}
		a := answers.Explain(one)
		a.Verdict = slices.Concat(lacks, a.Verdict)
		r.Answers, lines = append(r.Answers, a), append(lines, one.LogLines...)
	}
	if x.Log && plain {
		r.Lines = lines
	}
	return r, nil
}

// statedVM returns the rules' view of a KVM domain.
func statedVM(r *rules.Result, vm *numa.VM) (*rule.StatedVM, error) {
	i := slices.IndexFunc(r.Stated, func(v *rule.StatedVM) bool { return v.VM == vm })
	if i < 0 {
		return nil, unjudged(r, vm)
	}
	return r.Stated[i], nil
}

// move returns the fleet with the VMs of this name on the host of --on, which is added if it is a shape. A VM with a device of its host stays, and so does
// each VM if the event looks at the host of the last power-on.
func (x *Explain) move(ctx context.Context, fleet *numa.Fleet, name string, event vnuma.Event, choices vnuma.Choices) (*numa.Fleet, error) {
	if shape, err := fit.ParseType(x.On, numa.ESXi80); err == nil && len(fleet.FindHosts(x.On)) == 0 {
		change, err := whatif.AddShapeAt("--on", 1, x.On, shape.Host, fmt.Sprintf("name=%s cluster=none release=%s", shape.Name, x.Release))
		if err != nil {
			return nil, err
		}
		if fleet, _, err = whatif.Apply(ctx, fleet, []whatif.Change{change}, choices); err != nil {
			return nil, err
		}
		x.On = shape.Name
	}
	on, err := oneHost(fleet, x.On)
	if err != nil && slices.ContainsFunc(fleet.Clusters, func(c numa.Cluster) bool { return strings.EqualFold(c.Name, x.On) }) {
		if slices.Contains(backward, event) {
			return nil, fmt.Errorf("--on %s: the event %s looks at a host: name one of the cluster", x.On, event)
		}
		for _, c := range fleet.Clusters {
			if strings.EqualFold(c.Name, x.On) {
				on, err, x.On = &numa.Host{Cluster: c.ID}, nil, "" // hostFor takes its most frequent kind of host
				break
			}
		}
	}
	if err != nil && len(fleet.FindHosts(x.On)) == 0 {
		names := append(namesOfHosts(fleet), words.Texts(fleet.Clusters, func(c numa.Cluster) string { return texttab.Clean(c.Name) })...)
		err = fmt.Errorf("no host or cluster is named %q%s", x.On, alike.After(x.On, names))
	}
	if err != nil || slices.Contains(backward, event) {
		return fleet, err
	}
	vms, err := vmsNamed(fleet, name)
	if err != nil {
		return fleet, nil // it is a host or a cluster, for which --on is refused
	}
	for _, vm := range vms {
		if vm.Host != on.ID && vm.Tied() == nil {
			vm.Host, vm.Cluster, vm.Observed = on.ID, on.Cluster, nil
			if vm.Power.Value == numa.PoweredOn { // it does not run there
				vm.Power = numa.Fact[numa.PowerState]{}
			}
		}
	}
	return fleet, nil
}

// backward are the events that depend on the host of the last power-on.
var backward = []vnuma.Event{vnuma.VMotionIn, vnuma.Resume, vnuma.Reboot}

// explain determines the hosts and predicts the topology.
func explain(result *rules.Result, vm *numa.VM, hostName, fromName string, event vnuma.Event) (*verdict.Explanation, error) {
	fleet := result.Fleet
	v := judged(result, vm)
	if v == nil {
		return nil, unjudged(result, vm)
	}
	on, err := hostFor(fleet, v, hostName)
	if err != nil {
		return nil, err
	}
	c := vnuma.Case{Event: event, Choices: result.Choices}
	if c.From, err = lastHost(fleet, v, on, fromName, event); err != nil {
		return nil, err
	}
	x, err := verdict.Explain(result, v, on, c)
	if err == nil && hostName != "" && x.Layout.Refused.Any() { // nothing else is true of it there
		x.Plan, x.Findings = nil, slices.DeleteFunc(x.Findings, func(f finding.Finding) bool { return !x.Rule(f.Rule).Refused })
	}
	return x, err
}

// judged returns the rules' view of a VM; nil if the assessment skipped it.
func judged(r *rules.Result, vm *numa.VM) *rule.VM {
	for _, c := range r.Clusters {
		for _, v := range slices.Concat(c.VMs, c.Templates) {
			if v.VM == vm {
				return v
			}
		}
	}
	return nil
}

// unjudged returns the reason why the assessment skipped the VM. It is the last note with the place of the VM: hosts
// and invalid settings also have notes, and the VMs of one line or export share a place.
func unjudged(r *rules.Result, vm *numa.VM) error {
	for _, n := range slices.Backward(r.Unjudged) {
		if n.At == vm.At && strings.HasPrefix(n.Text, "VM "+vm.Name+":") {
			return errors.New(texttab.Clean(n.String()))
		}
	}
	return fmt.Errorf("VM %s: not judged", texttab.Clean(vm.Name))
}

// hostFor returns the host for the prediction: the named host, the VM's own host, or the first of its cluster.
func hostFor(fleet *numa.Fleet, v *rule.VM, name string) (*numa.Host, error) {
	switch {
	case name != "":
		return oneHost(fleet, name)
	case v.Home != nil:
		return v.Host, nil
	}
	return v.On[0].Kind.Hosts[0], nil
}

// lastHost returns the host of the last power-on, if the event depends on it.
func lastHost(fleet *numa.Fleet, v *rule.VM, on *numa.Host, name string, e vnuma.Event) (*vnuma.Machine, error) {
	if !slices.Contains(backward, e) {
		if name != "" {
			return nil, fmt.Errorf("--from-host: the event %s does not look at the last host", e)
		}
		return nil, nil
	}
	h := v.Host
	if name != "" {
		var err error
		if h, err = oneHost(fleet, name); err != nil {
			return nil, err
		}
	}
	if h == nil || h == on {
		return nil, nil
	}
	m, err := vnuma.NewMachine(h)
	return &m, err
}
