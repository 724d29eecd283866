package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/change/whatif"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/alike"
	"example.org/homenode/numa"
	"example.org/homenode/output/change"
	"example.org/homenode/rules"
	"example.org/homenode/source/open"
)

// Explain asks for the reasons of the topology of a VM, a host or a cluster, or for the facts that were parsed from a file.
type Explain struct {
	ask.Asked
	Args       []string `ask:"source,arg"`
	VM         string   `ask:"vm" group:"Subject" help:"this VM, where a name means several things; without a SOURCE a shape and words: '24x512GB hotAdd=on'"`
	Host       string   `ask:"host" help:"this host; without a SOURCE a shape and words: '2x16c/768GB' or '2x32c/1TB/snc2 llcCores=8'"`
	Cluster    string   `ask:"cluster" help:"this cluster"`
	Release    string   `ask:"release" default:"8.0U3" help:"release of the host that a shape describes"`
	On         string   `ask:"on" group:"Circumstances" help:"the VM on this host, or in this cluster, instead of the one it is on; a shape such as 2x32c/1TB adds a host"`
	Event      string   `ask:"event" default:"power-cycle" help:"what happens to the VM; for a cluster, power-cycle or vmotion"`
	From       string   `ask:"from-host" help:"host of its last power-on, for vmotion and resume (default: the one it is on)"`
	VCPUs      int      `ask:"vcpus" help:"with this number of vCPUs instead of its own"`
	ask.Choice `group:"Circumstances"`
	Log        bool `ask:"log" group:"Show" help:"the lines that vmware.log of the VM will hold, and nothing else"`
	EachHost   bool `ask:"each-host" group:"Show" help:"a cluster with a column for each host instead of each kind"`
	All        bool `ask:"all" group:"Show" help:"every VM of a cluster, each in a row of its own"`
	ask.Source `group:"Source"`
}

// Answer answers the question.
func (x *Explain) Answer(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	s, err := x.subject()
	if err != nil {
		return nil, err
	}
	if err := x.fits(s, false); err != nil {
		return nil, err
	}
	if s.kind == aFile {
		return x.file(ctx, e, s.sources[0])
	}
	options, err := x.Choice.Options(e)
	if err != nil {
		return nil, err
	}
	event, err := x.event()
	if err != nil {
		return nil, err
	}
	result, lacks, err := x.judge(ctx, e, s, event, options)
	if err != nil {
		return nil, err
	}
	if s.kind == named {
		if s.kind, err = kindOf(result, s.name); err != nil {
			return nil, err
		}
	}
	if err := x.fits(s, result.Fleet.Hypervisor == numa.KVM); err != nil {
		return nil, err
	}
	var r *ask.Reply
	switch s.kind {
	case aHost:
		r, err = hosts(e, result, s.name)
	case aCluster:
		r, err = x.clusters(result, s.name, event)
	default:
		r, err = x.vms(ctx, e, result, lacks, s.name, event)
	}
	return ask.Partly(r, err, x.Incomplete())
}

// event parses --event.
func (x *Explain) event() (vnuma.Event, error) {
	event, ok := vnuma.ParseEvent(x.Event)
	switch {
	case !ok:
		return event, ask.Wrong("event", fmt.Errorf("found %q, want one of %s", x.Event, strings.Join(vnuma.EventNames(), ", ")))
	case x.resized() && (x.VCPUs < 1 || x.VCPUs > numa.MaxVCPUs):
		return event, ask.Wrong("vcpus", fmt.Errorf("found %d, want 1 to %d", x.VCPUs, numa.MaxVCPUs))
	}
	return event, nil
}

// resized reports whether the question changes the number of vCPUs.
func (x *Explain) resized() bool { return x.Given("vcpus") }

// judge assesses the fleet of the subject, with its VMs on the host and of the size that the question names. It returns the shortages of that host.
func (x *Explain) judge(ctx context.Context, e *ask.Env, s subject, event vnuma.Event, o rules.Options) (r *rules.Result, lacks []string, err error) {
	var fleet *numa.Fleet
	switch {
	case s.kind == aShape:
		if fleet, err = shaped(x.VM, x.Host, x.Release); err == nil {
			err = x.State(fleet)
		}
	case x.resized() || x.On != "" && s.kind != aHost && s.kind != aCluster:
		fleet, err = x.ReadBy(ctx, e, o.Choices, !x.resized(), s.sources...)
	case e.Held == nil:
		fleet, err = x.ReadBy(ctx, e, o.Choices, true, s.sources...)
	default:
		r, _, err = x.Judged(ctx, e, true, o, s.sources...)
		return r, nil, err
	}
	if err != nil {
		return nil, nil, err
	}
	before := fleet
	if x.resized() || x.On != "" {
		asked := *fleet
		asked.VMs = slices.Clone(fleet.VMs)
		fleet = &asked
	}
	if x.resized() {
		vms, err := vmsNamed(fleet, s.name)
		if err != nil {
			vms = nil // it is a host or a cluster, for which --vcpus is refused
		}
		for _, vm := range vms {
			vm.VCPUs, vm.Observed = numa.ReadAt(x.VCPUs, "--vcpus"), nil
		}
	}
	if x.On != "" && fleet.Hypervisor != numa.KVM {
		if fleet, err = x.move(ctx, fleet, s.name, event, o.Choices); err != nil {
			return nil, nil, err
		}
	}
	if r, err = rules.Within(ctx, fleet, o, s.within(fleet)); err != nil || x.On == "" || fleet.Hypervisor == numa.KVM {
		return r, nil, err
	}
	now, err := rules.Within(ctx, before, o, map[string]bool{}) // predicted, not judged
	if err != nil {
		return nil, nil, err
	}
	return r, change.Shortages(whatif.Capacities(before, fleet, whatif.Idle(now), whatif.Idle(r))), nil
}

// within returns the clusters and standalone hosts of the VMs and hosts with the name; nil if they cannot be determined.
func (s subject) within(f *numa.Fleet) map[string]bool {
	if s.kind == aCluster || s.name == "" {
		return nil
	}
	in := map[string]bool{}
	add := func(h *numa.Host) { in[cmp.Or(h.Cluster, h.ID)] = true }
	hosts := f.FindHosts(s.name)
	for _, h := range hosts {
		add(h)
	}
	vms, err := vmsNamed(f, s.name)
	switch {
	case err != nil && len(hosts) == 0:
		return nil
	case err != nil:
		return in
	}
	home := f.HostsByID()
	for _, v := range vms {
		if h := home[v.Host]; h != nil {
			add(h)
		} else {
			in[v.Cluster] = true
		}
	}
	return in
}

// A kind is the type of a subject.
type kind int

const (
	named    kind = iota // a VM, host or cluster with this name
	aVM                  // or several, by pattern
	aHost                // or, without a name, one of each kind
	aCluster             // or, without a name, all
	aFile
	aShape // a VM and a host without a SOURCE
)

// A subject is the object that is explained.
type subject struct {
	kind    kind
	sources []string
	name    string
}

// subject parses the arguments.
func (x *Explain) subject() (s subject, err error) {
	args, given := x.Args, 0
	for _, one := range []subject{{aVM, args, x.VM}, {aHost, args, x.Host}, {aCluster, args, x.Cluster}} {
		if one.name != "" {
			s, given = one, given+1
		}
	}
	switch {
	case len(args) == 0 && x.VM != "" && x.Host != "":
		return subject{kind: aShape, name: askedVM}, nil
	case len(args) == 0:
		return s, cmp.Or(hostAlone(x.Host), errors.New("want SOURCE and NAME, or a FILE, or --vm SHAPE and --host SHAPE: homenode explain --help"))
	case given > 1:
		return s, errors.New("--vm, --host, --cluster: found several, want the one that is explained (--on names the host to explain a VM on)")
	case given == 1 && len(args) > 1 && isName(args[len(args)-1]):
		return s, fmt.Errorf("%s: found a name as well as --vm, --host or --cluster: leave one out; --on NAME explains a VM on another host or cluster", args[len(args)-1])
	case given == 1:
		return s, nil
	case len(args) > 1:
		return subject{named, args[:len(args)-1], args[len(args)-1]}, nil
	case args[0] == open.Demo || open.VCenter(args[0]) || strings.HasPrefix(args[0], "@"):
		return subject{kind: aHost, sources: args}, nil
	}
	return subject{kind: aFile, sources: args}, nil
}

// isName reports whether an argument is the name of an object instead of a SOURCE.
func isName(arg string) bool {
	if arg == open.Demo || open.VCenter(arg) || strings.ContainsAny(arg, `./\:@`) {
		return false
	}
	_, err := os.Stat(arg)
	return errors.Is(err, fs.ErrNotExist)
}

// kindOf returns the kind of the object with a name.
func kindOf(r *rules.Result, name string) (kind, error) {
	var found []string
	var is kind
	take := func(k kind, flag string) { found, is = append(found, flag), k }
	if c := clusterNamed(r, name); c != nil && c.Name != "" {
		take(aCluster, "--cluster")
	}
	if len(r.Fleet.FindHosts(name)) > 0 {
		take(aHost, "--host")
	}
	if len(r.Fleet.FindVMs(name)) > 0 || found == nil && strings.ContainsAny(name, "*?[") {
		take(aVM, "--vm")
	}
	switch {
	case len(found) > 1:
		return is, fmt.Errorf("%q means several things: instead of the name say %s=%s", name, strings.Join(found, "="+name+" or "), name)
	case found == nil && clusterNamed(r, name) != nil: // a standalone host with another name
		return aCluster, nil
	case found == nil:
		return is, fmt.Errorf("no VM, host or cluster is named %q%s", name, alike.After(name, slices.Concat(namesOfVMs(r.Fleet), namesOfHosts(r.Fleet), clusterTitles(r))))
	}
	return is, nil
}

// fits rejects fields that do not apply to the subject.
func (x *Explain) fits(s subject, kvm bool) error {
	switch {
	case s.kind == named:
		return nil // not known yet
	case s.kind == aFile:
		return x.Refuse("a file is shown as it is; name a VM of it", "on", "event", "from-host", "log", "vcpus", "each-host", "all")
	case s.kind == aVM && kvm:
		return x.Refuse("the layout of a VM of KVM is stated, and predicted nowhere", "on", "event", "from-host", "log")
	case s.kind == aCluster && kvm:
		return errors.New("the layouts of VMs of KVM are stated, and predicted nowhere: name a VM or a host")
	case s.kind == aHost:
		return x.Refuse("a host is drawn as it is; name a VM", "on", "event", "from-host", "log", "vcpus", "each-host", "all")
	case s.kind == aCluster:
		return x.Refuse("it is for a VM", "on", "from-host", "log", "vcpus")
	}
	return x.Refuse("it is for a cluster", "each-host", "all")
}
