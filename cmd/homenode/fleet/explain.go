package fleet

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/esxi/vnuma"
	"homenode/internal/alike"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/output/answer"
	answers "homenode/output/fleet"
	"homenode/output/format"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
	verdict "homenode/rules/verdict/fleet"
	"homenode/source/open"
)

// explaining has the flags of explain.
type explaining struct {
	src    flags.Source
	out    flags.Output
	choose flags.Choice
	config flags.Config

	vm, host, cluster string // names of a SOURCE; without one, vm and host are shapes
	release           string
	on, event, from   string
	vcpus             int
	log               bool
	eachHost, all     bool
}

// NewExplain returns the command.
func NewExplain() *cobra.Command {
	var x explaining
	cmd := described("explain", &cobra.Command{
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := x.out.Check(cmd); err != nil {
				return err
			}
			s, err := x.subject(args)
			if err != nil {
				return err
			}
			if s.kind == aFile {
				return x.file(cmd, s.sources[0])
			}
			return x.explain(cmd, s)
		},
	})
	cmd.Long = strings.ReplaceAll(cmd.Long, "{EVENTS}", strings.Join(vnuma.EventNames(), ", "))
	flags.Group(cmd, "Subject", func(cmd *cobra.Command) {
		fl := cmd.Flags()
		fl.StringVar(&x.vm, "vm", "", "this VM, where a name means several things; without a SOURCE a shape and words: '24x512GB hotAdd=on'")
		fl.StringVar(&x.host, "host", "", "this host; without a SOURCE a shape and words: '2x16c/768GB' or '2x32c/1TB/snc2 llcCores=8'")
		fl.StringVar(&x.cluster, "cluster", "", "this cluster")
		fl.StringVar(&x.release, "release", "8.0U3", "release of the host, without a SOURCE")
	})
	flags.Group(cmd, "Circumstances", func(cmd *cobra.Command) {
		fl := cmd.Flags()
		fl.StringVar(&x.on, "on", "", "the VM on this host instead of the one it is on")
		fl.StringVar(&x.event, "event", vnuma.PowerCycle.String(), "what happens to the VM; for a cluster, power-cycle or vmotion")
		fl.StringVar(&x.from, "from-host", "", "host of its last power-on, for vmotion and resume (default: the one it is on)")
		fl.IntVar(&x.vcpus, "vcpus", 0, "with this number of vCPUs instead of its own; the event is then vcpus-changed, unless --event says otherwise")
	}, x.choose.Register, x.config.Register)
	flags.Group(cmd, "Show", func(cmd *cobra.Command) { x.out.Register(cmd, append(slices.Clone(format.Judged), "svg")...) }, func(cmd *cobra.Command) {
		fl := cmd.Flags()
		fl.BoolVar(&x.log, "log", false, "the lines that vmware.log of the VM will hold, and nothing else")
		fl.BoolVar(&x.eachHost, "each-host", false, "a cluster with a column for each host instead of each kind")
		fl.BoolVar(&x.all, "all", false, "every VM of a cluster, each in a row of its own")
	})
	flags.Group(cmd, "Source", x.src.Register)
	return cmd
}

// A kind is one of the things that explain explains.
type kind int

const (
	named    kind = iota // by the name: a VM, a host or a cluster
	aVM                  // or several, by a pattern
	aHost                // or one of each kind, without a name
	aCluster             // or all, without a name
	aFile
	aShape // a VM and a host that are in no SOURCE
)

// A subject is what is explained.
type subject struct {
	kind    kind
	sources []string
	name    string
}

// subject reads the arguments.
func (x *explaining) subject(args []string) (s subject, err error) {
	given := 0
	for _, one := range []subject{{aVM, args, x.vm}, {aHost, args, x.host}, {aCluster, args, x.cluster}} {
		if one.name != "" {
			s, given = one, given+1
		}
	}
	switch {
	case len(args) == 0 && x.vm != "" && x.host != "":
		return subject{kind: aShape, name: askedVM}, nil
	case len(args) == 0:
		return s, errors.New("want SOURCE and NAME, or a FILE, or --vm SHAPE and --host SHAPE: homenode explain --help")
	case given > 1:
		return s, errors.New("--vm, --host, --cluster: found several, want the one that is explained (--on names the host to explain a VM on)")
	case given == 1:
		return s, nil
	case len(args) > 1:
		return subject{named, args[:len(args)-1], args[len(args)-1]}, nil
	case args[0] == open.Demo || open.VCenter(args[0]) || strings.HasPrefix(args[0], "@"):
		return subject{kind: aHost, sources: args}, nil
	}
	return subject{kind: aFile, sources: args}, nil
}

// explain judges the fleet and explains what the subject names in it.
func (x *explaining) explain(cmd *cobra.Command, s subject) error {
	choices, err := x.choose.Choices()
	if err != nil {
		return err
	}
	options, err := x.config.Options(choices)
	if err != nil {
		return err
	}
	event, ok := vnuma.ParseEvent(x.event)
	if !ok {
		return fmt.Errorf("--event: found %q, want one of %s", x.event, strings.Join(vnuma.EventNames(), ", "))
	}
	resized := cmd.Flags().Changed("vcpus")
	if resized && (x.vcpus < 1 || x.vcpus > numa.MaxVCPUs) {
		return fmt.Errorf("--vcpus: found %d, want 1 to %d", x.vcpus, numa.MaxVCPUs)
	}
	if resized && !cmd.Flags().Changed("event") {
		event = vnuma.VCPUsChanged
	}
	x.src.KVM = !resized
	var problems map[string][]string // of VMs that are resized, by ID
	var result *rules.Result
	switch {
	case s.kind == aShape:
		fleet, err := question(x.vm, x.host, x.release)
		if err == nil {
			err = x.src.State(fleet)
		}
		if err != nil {
			return err
		}
		if resized {
			problems = resize(fleet.FindVMs(askedVM), x.vcpus)
		}
		result = rules.Run(fleet, options)
	case resized:
		fleet, err := x.src.Read(cmd, s.sources...)
		if err != nil {
			return err
		}
		vms, err := vmsNamed(fleet, s.name)
		if err != nil {
			return err
		}
		problems = resize(vms, x.vcpus)
		result = rules.Run(fleet, options)
	default:
		if result, _, err = x.src.Judged(cmd, options, s.sources...); err != nil {
			return err
		}
	}
	if s.kind == named {
		if s.kind, err = kindOf(result, s.name); err != nil {
			return err
		}
	}
	if err := x.fits(cmd, s, result.Fleet.Hypervisor == numa.KVM); err != nil {
		return err
	}
	switch s.kind {
	case aHost:
		return x.hosts(cmd, result, s.name)
	case aCluster:
		return x.clusters(cmd, result, s.name, event)
	}
	return x.vms(cmd, result, s.name, event, problems)
}

// kindOf returns what a name means in a fleet.
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
	case found == nil && clusterNamed(r, name) != nil: // a standalone host that has another name too
		return aCluster, nil
	case found == nil:
		return is, fmt.Errorf("no VM, host or cluster is named %q%s", name, alike.After(name, slices.Concat(namesOfVMs(r.Fleet), namesOfHosts(r.Fleet), clusterTitles(r))))
	}
	return is, nil
}

// fits refuses flags that say nothing about the subject.
func (x *explaining) fits(cmd *cobra.Command, s subject, kvm bool) error {
	switch {
	case s.kind == aVM && kvm:
		return flags.Refuse(cmd, "the layout of a VM of KVM is stated, and predicted nowhere", "on", "event", "from-host", "log")
	case s.kind == aCluster && kvm:
		return errors.New("the layouts of VMs of KVM are stated, and predicted nowhere: name a VM or a host")
	case s.kind == aHost:
		return flags.Refuse(cmd, "a host is drawn as it is; name a VM", "on", "event", "from-host", "log", "vcpus", "each-host", "all")
	case s.kind == aCluster:
		return flags.Refuse(cmd, "it is for a VM", "on", "from-host", "log", "vcpus")
	}
	return flags.Refuse(cmd, "it is for a cluster", "each-host", "all")
}

// vms explains the VMs that a name or a pattern names.
func (x *explaining) vms(cmd *cobra.Command, result *rules.Result, name string, event vnuma.Event, problems map[string][]string) error {
	vms, err := vmsNamed(result.Fleet, name)
	if err != nil {
		return err
	}
	plain := x.out.Format == format.Names[0]
	if len(vms) > 1 && !plain {
		return fmt.Errorf("--format %s explains one VM, and %q names %d: %s", x.out.Format, name, len(vms), flags.Some(namesOf(vms)))
	}
	var all []*answer.Answer
	var lines []string
	for _, vm := range vms {
		if result.Fleet.Hypervisor == numa.KVM {
			v, err := statedVM(result, vm)
			if err != nil {
				return err
			}
			all = append(all, answers.ExplainStated(result, v))
			continue
		}
		one, err := explain(result, vm, x.on, x.from, event)
		if err != nil {
			return err
		}
		one.Problems = append(one.Problems, problems[vm.ID]...)
		all, lines = append(all, answers.Explain(one)), append(lines, one.LogLines...)
	}
	if x.log && plain {
		return x.out.Write(cmd, func(w io.Writer, _ bool) error {
			for _, line := range lines {
				if _, err := fmt.Fprintln(w, texttab.Clean(line)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return x.out.PrintJudged(cmd, format.Options{Details: true, FailOn: finding.Medium}, all...)
}

// statedVM returns a VM of KVM as the rules saw it.
func statedVM(r *rules.Result, vm *numa.VM) (*rule.StatedVM, error) {
	i := slices.IndexFunc(r.Stated, func(v *rule.StatedVM) bool { return v.VM == vm })
	if i < 0 {
		return nil, unjudged(r, vm)
	}
	return r.Stated[i], nil
}

// resize gives the VMs of a fleet another number of vCPUs. It returns what else would have to change with it, by ID.
func resize(vms []*numa.VM, vcpus int) map[string][]string {
	problems := map[string][]string{}
	for _, vm := range vms {
		vm.VCPUs = numa.ReadAt(vcpus, "--vcpus")
		if cps := vm.CoresPerSocket.Value; cps > 1 && vcpus%cps != 0 && !vm.AutoCoresPerSocket.Value {
			problems[vm.ID] = []string{fmt.Sprintf("%d vCPUs do not divide into sockets of %d cores: vSphere wants other cores per socket with them", vcpus, cps)}
		}
	}
	return problems
}

// explain finds the hosts and predicts.
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
	return verdict.Explain(result, v, on, c)
}

// vmsNamed returns the VMs that a name or a pattern names, in the order of the fleet.
func vmsNamed(fleet *numa.Fleet, name string) ([]*numa.VM, error) {
	if !strings.ContainsAny(name, "*?[") || len(fleet.FindVMs(name)) > 0 {
		vm, err := oneVM(fleet, name)
		return []*numa.VM{vm}, err
	}
	if _, err := path.Match(name, ""); err != nil {
		return nil, fmt.Errorf("found pattern %q: %w", name, err)
	}
	var found []*numa.VM
	for i := range fleet.VMs {
		v := &fleet.VMs[i]
		alone, _ := path.Match(strings.ToLower(name), strings.ToLower(v.Name)) // a good pattern
		below, _ := path.Match(strings.ToLower(name), strings.ToLower(fleet.ClusterName(v.Cluster)+"/"+v.Name))
		if (alone || below) && !v.Template.Or(false) {
			found = append(found, v)
		}
	}
	if found == nil {
		return nil, fmt.Errorf("no VM is named %q", name)
	}
	return found, nil
}

// namesOf returns the names of the VMs.
func namesOf(vms []*numa.VM) (names []string) {
	for _, v := range vms {
		names = append(names, texttab.Clean(v.Name))
	}
	return names
}

// oneVM returns the VM with this name; the error lists what to choose from when
// there are several, and what looks alike when there is none.
func oneVM(fleet *numa.Fleet, name string) (*numa.VM, error) {
	found := fleet.FindVMs(name)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, fmt.Errorf("no VM is named %q%s", name, alike.After(name, namesOfVMs(fleet)))
	}
	var names []string
	for _, v := range found {
		if fleet.Hypervisor == numa.KVM {
			names = append(names, texttab.Clean(v.ID))
			continue
		}
		cluster := "standalone"
		if v.Cluster != "" {
			cluster = fleet.ClusterName(v.Cluster)
		}
		names = append(names, texttab.Clean(fmt.Sprintf("%s (%s)", v.ID, cluster)))
	}
	above := "CLUSTER"
	if fleet.Hypervisor == numa.KVM {
		above = "HOST"
	}
	return nil, fmt.Errorf("%d VMs are named %q: use %s/NAME or an ID: %s", len(found), name, above, strings.Join(names, ", "))
}

// oneHost returns the host with this name.
func oneHost(fleet *numa.Fleet, name string) (*numa.Host, error) {
	switch found := fleet.FindHosts(name); len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, fmt.Errorf("no host is named %q%s", name, alike.After(name, namesOfHosts(fleet)))
	default:
		return nil, fmt.Errorf("%d hosts are named %q: use an ID", len(found), name)
	}
}

func namesOfVMs(f *numa.Fleet) []string {
	names := make([]string, len(f.VMs))
	for i := range f.VMs {
		names[i] = texttab.Clean(f.VMs[i].Name)
	}
	return names
}

func namesOfHosts(f *numa.Fleet) []string {
	names := make([]string, len(f.Hosts))
	for i := range f.Hosts {
		names[i] = texttab.Clean(f.Hosts[i].Name)
	}
	return names
}

// unjudged returns why the VM was left out. Hosts and problems with settings have
// notes too, and VMs of one line or export share a place; the reason comes last.
func unjudged(r *rules.Result, vm *numa.VM) error {
	if vm.Template.Or(false) {
		return fmt.Errorf("VM %s: a template does not run", texttab.Clean(vm.Name))
	}
	for _, n := range slices.Backward(r.Unjudged) {
		if n.At == vm.At && strings.HasPrefix(n.Text, "VM "+vm.Name+":") {
			return errors.New(texttab.Clean(n.String()))
		}
	}
	return fmt.Errorf("VM %s: not judged", texttab.Clean(vm.Name))
}

// hostFor returns the host to predict on: the named one, the VM's own, or the
// first of its cluster.
func hostFor(fleet *numa.Fleet, v *rule.VM, name string) (*numa.Host, error) {
	switch {
	case name != "":
		return oneHost(fleet, name)
	case v.Home != nil:
		return v.Host, nil
	}
	return v.On[0].Kind.Hosts[0], nil
}

// lastHost returns the host of the last power-on, when the event makes it count.
func lastHost(fleet *numa.Fleet, v *rule.VM, on *numa.Host, name string, e vnuma.Event) (*vnuma.Machine, error) {
	if !slices.Contains([]vnuma.Event{vnuma.VMotionIn, vnuma.Resume, vnuma.Reboot}, e) {
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
