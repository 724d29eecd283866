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
)

// NewExplain returns the command.
func NewExplain() *cobra.Command {
	var (
		src             flags.Source
		out             flags.Output
		choose          flags.Choice
		config          flags.Config
		on, event, from string
		question        questionFlags
		logLines        bool
		vcpus           int
	)
	cmd := &cobra.Command{
		Use:   "explain SOURCE... VM | --vm SHAPE --host SHAPE",
		Short: "Explains the topology of one VM: every decision, the fact behind it and the rule",
		Long: `explain predicts one VM on one host and shows why it comes out so. Of a VM of KVM it shows what its definition states.

VM is a name, cluster/name or ID; a pattern such as 'sql*' explains the VMs that it names one after another. Events: ` + strings.Join(vnuma.EventNames(), ", ") + `.
With --vcpus the VM is predicted and judged as if it had that many vCPUs.

Without a SOURCE, --vm and --host take shapes: 24x512GB is 24 vCPUs and 512 GB, 2x16c/768GB two sockets of 16 cores and
768 GB. Every word that a scenario has for a VM is a flag then: hotAdd=on is --hot-add, latency=high is --latency high.

` + flags.SourceHelp,
		Example: `  homenode explain demo sql01
  homenode explain demo erp01 --on esx13 --event vmotion
  homenode explain --vm 24x512GB --host 2x16c/768GB --release 7.0U3 --hot-add
  homenode explain demo sql01 --vcpus 24
  homenode explain fleet.json sql01 --log`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			choices, err := choose.Choices()
			if err != nil {
				return err
			}
			if err := out.Check(cmd); err != nil {
				return err
			}
			options, err := config.Options(choices)
			if err != nil {
				return err
			}
			e, ok := vnuma.ParseEvent(event)
			if !ok {
				return fmt.Errorf("--event: found %q, want one of %s", event, strings.Join(vnuma.EventNames(), ", "))
			}
			resized := cmd.Flags().Changed("vcpus")
			if resized && (vcpus < 1 || vcpus > numa.MaxVCPUs) {
				return fmt.Errorf("--vcpus: found %d, want 1 to %d", vcpus, numa.MaxVCPUs)
			}
			if resized && !cmd.Flags().Changed("event") {
				e = vnuma.VCPUsChanged
			}
			src.KVM = !resized
			problems := map[string][]string{}
			var change func(*numa.Fleet, string) error
			if resized {
				change = func(fleet *numa.Fleet, name string) error {
					vms, err := vmsNamed(fleet, name)
					for _, vm := range vms {
						problems[vm.ID] = resize(vm, vcpus)
					}
					return err
				}
			}
			result, name, err := question.read(cmd, args, &src, options, change)
			if err != nil {
				return err
			}
			vms, err := vmsNamed(result.Fleet, name)
			if err != nil {
				return err
			}
			plain := out.Format == format.Names[0]
			kvm := result.Fleet.Hypervisor == numa.KVM
			if predicts := slices.DeleteFunc([]string{"on", "event", "from-host", "log"}, func(name string) bool { return !cmd.Flags().Changed(name) }); kvm && len(predicts) > 0 {
				return fmt.Errorf("--%s: the layout of a VM of KVM is stated, and predicted nowhere", predicts[0])
			}
			if len(vms) > 1 && !plain {
				return fmt.Errorf("--format %s explains one VM, and %q names %d: %s", out.Format, name, len(vms), flags.Some(namesOf(vms)))
			}
			var all []*answer.Answer
			var lines []string
			for _, vm := range vms {
				if kvm {
					v, err := statedVM(result, vm)
					if err != nil {
						return err
					}
					all = append(all, answers.ExplainStated(result, v))
					continue
				}
				x, err := explain(result, vm, on, from, e)
				if err != nil {
					return err
				}
				x.Problems = append(x.Problems, problems[vm.ID]...)
				all, lines = append(all, answers.Explain(x)), append(lines, x.LogLines...)
			}
			if logLines && plain {
				return out.Write(cmd, func(w io.Writer, _ bool) error {
					for _, line := range lines {
						if _, err := fmt.Fprintln(w, texttab.Clean(line)); err != nil {
							return err
						}
					}
					return nil
				})
			}
			return out.PrintJudged(cmd, format.Options{Details: true, FailOn: finding.Medium}, all...)
		},
	}
	src.Register(cmd)
	out.Register(cmd, format.Judged...)
	choose.Register(cmd)
	config.Register(cmd)
	question.Register(cmd)
	cmd.Flags().StringVar(&on, "on", "", "on this host instead of the one it is on")
	cmd.Flags().StringVar(&event, "event", vnuma.PowerCycle.String(), "what happens to the VM")
	cmd.Flags().IntVar(&vcpus, "vcpus", 0, "with this number of vCPUs instead of its own; the event is then vcpus-changed, unless --event says otherwise")
	cmd.Flags().StringVar(&from, "from-host", "", "host of its last power-on, for vmotion and resume (default: the one it is on)")
	cmd.Flags().BoolVar(&logLines, "log", false, "print the lines that vmware.log will hold, and nothing else")
	return cmd
}

// statedVM returns a VM of KVM as the rules saw it.
func statedVM(r *rules.Result, vm *numa.VM) (*rule.StatedVM, error) {
	i := slices.IndexFunc(r.Stated, func(v *rule.StatedVM) bool { return v.VM == vm })
	if i < 0 {
		return nil, unjudged(r, vm)
	}
	return r.Stated[i], nil
}

// resize gives the VM of the fleet another number of vCPUs. problems says what
// else would have to change with it.
func resize(vm *numa.VM, vcpus int) (problems []string) {
	vm.VCPUs = numa.ReadAt(vcpus, "--vcpus")
	if cps := vm.CoresPerSocket.Value; cps > 1 && vcpus%cps != 0 && !vm.AutoCoresPerSocket.Value {
		problems = append(problems, fmt.Sprintf("%d vCPUs do not divide into sockets of %d cores: vSphere wants other cores per socket with them", vcpus, cps))
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
		if len(fleet.FindHosts(name)) > 0 {
			return nil, fmt.Errorf("%q is a host: homenode topo draws it with its VMs", name)
		}
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
