package size

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/internal/alike"
	"homenode/internal/words"
	"homenode/numa/unit"
	"homenode/output/answer"
	show "homenode/output/size/rightsize"
	"homenode/rules"
	"homenode/rules/rule"
	"homenode/size/rightsize"
)

// rightSizeFlags are the flags of size rightsize.
type rightSizeFlags struct {
	common
	fleet                                 []string
	vm, percentile, headroom, least, node string
	details                               bool
}

func newRightSize() *cobra.Command {
	var f rightSizeFlags
	cmd := f.command("rightsize", cobra.MinimumNArgs(1), f.answer)
	fl := cmd.Flags()
	fl.StringArrayVar(&f.fleet, "fleet", nil, "SOURCE of the inventory, as assess reads it: nodes of the hosts, settings of the VMs")
	fl.StringVar(&f.vm, "vm", "", "this VM alone")
	fl.StringVar(&f.percentile, "percentile", "99", "percent of the time in which the demand is met; 100 is the peak")
	fl.StringVar(&f.headroom, "headroom", "20%", "vCPUs above that demand, in percent of it")
	fl.StringVar(&f.least, "least", "24h", "shortest observed time by which a VM is judged: 90m, 24h, 7d")
	fl.StringVar(&f.node, "node", "", "cores and memory of a NUMA node, for hosts that the inventory does not know: 16c/256GB")
	fl.BoolVar(&f.details, "details", false, "all VMs, with what to set and their memory")
	f.in.RegisterPart(cmd)
	f.src.RegisterOnly(cmd, flags.SourceShapes...)
	return cmd
}

func (f *rightSizeFlags) answer(cmd *cobra.Command, args []string) (*answer.Answer, error) {
	var node *rightsize.Node
	o, err := f.options()
	err = cmp.Or(f.in.Check(args), err, flags.Set("node", f.node, &node, rightsize.ParseNode))
	if err != nil {
		return nil, err
	}
	var inventory *rules.Result
	if len(f.fleet) > 0 {
		fleet, err := f.src.Read(cmd, f.fleet...)
		if err != nil {
			return nil, err
		}
		inventory = rules.Run(fleet, rules.Options{})
	}
	count := rules.CaptureOptions(nil)
	count.Needs = true
	recordings, notes, err := f.in.Read(cmd, args, count, inventory)
	if err != nil {
		return nil, err
	}
	w := rules.Watch(recordings, inventory, rules.Options{})
	vms, err := f.chosen(rightsize.Recorded(w, inventory, node))
	if err != nil {
		return nil, err
	}
	options := show.Options{
		Details: f.details || f.vm != "", Node: f.node, Fleet: strings.Join(f.fleet, ", "), Files: strings.Join(args, ", "), Notes: append(notes, w.Notes...),
		Words: words.Command(flags.Typed(cmd, args, rightSizeAnswerFlags)...), Given: flags.Given(cmd, "percentile", "headroom", "least"),
	}
	if f.vm == "" {
		options.Unseen = rightsize.Unseen(w, inventory)
	}
	return show.Answer(rightsize.All(vms, o), rightsize.Changes(vms, o), options), nil
}

// rightSizeAnswerFlags are those that change what rightsize finds.
var rightSizeAnswerFlags = append([]string{"vm", "percentile", "headroom", "least", "node"}, flags.Answer...)

// options reads --percentile, --headroom and --least.
func (f *rightSizeFlags) options() (o rightsize.Options, err error) {
	percentile := func(text string) (unit.Share, error) {
		p, err := rightsize.ParsePercentage(text)
		if err == nil && !(p > 0 && p <= 1) {
			err = fmt.Errorf("found %q, want more than 0 and at most 100", text)
		}
		return p, err
	}
	err = cmp.Or(flags.Set("percentile", f.percentile, &o.Percentile, percentile), flags.Set("headroom", f.headroom, &o.Headroom, rightsize.ParsePercentage),
		flags.Set("least", f.least, &o.Least, rightsize.ParseSpan))
	if err == nil {
		if err = o.Check(); err != nil {
			err = errors.New("--" + err.Error())
		}
	}
	return o, err
}

// chosen returns the VM of --vm, or all.
func (f *rightSizeFlags) chosen(all []*rightsize.VM) ([]*rightsize.VM, error) {
	if f.vm == "" {
		return all, nil
	}
	var out []*rightsize.VM
	var names []string
	for _, v := range all {
		if strings.EqualFold(v.Name, f.vm) {
			out = append(out, v)
		}
		names = append(names, v.Name)
	}
	if out == nil {
		text := fmt.Sprintf("--vm: found no VM %s among %s", f.vm, rule.Plural(len(all), "recorded VM"))
		if near := alike.Names(f.vm, names); near != nil {
			text += "; alike: " + strings.Join(near, ", ")
		}
		return nil, errors.New(text)
	}
	return out, nil
}
