package size

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/internal/alike"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	show "example.org/homenode/output/size/rightsize"
	"example.org/homenode/rules"
	"example.org/homenode/size/rightsize"
)

// RightSize asks how many vCPUs and how much memory VMs need according to recordings.
type RightSize struct {
	ask.Asked
	Files      []string `ask:"file,arg,need"`
	Inventory  []string `ask:"fleet" help:"SOURCE of the inventory, as assess reads it: nodes of the hosts, settings of the VMs"`
	VM         string   `ask:"vm" help:"this VM alone"`
	Percentile string   `ask:"percentile" default:"99" help:"percent of the time in which the demand is met; 100 is the peak"`
	Headroom   string   `ask:"headroom" default:"20%" help:"vCPUs above that demand, in percent of it"`
	Least      string   `ask:"least" default:"24h" help:"shortest observed time by which a VM is judged: 90m, 24h, 7d"`
	Node       string   `ask:"node" help:"cores and memory of a NUMA node, for hosts that the inventory does not know: 16c/256GB"`
	Details    bool     `ask:"details" help:"all VMs, with what to set and their memory"`
	ask.Captures
	ask.Source `only:"nodes-per-socket assume-host"`
}

// Answer answers the question.
func (f *RightSize) Answer(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	r, err := answered(f.answer(ctx, e))
	return ask.Partly(r, err, f.Captures.Incomplete(), f.Source.Incomplete())
}

func (f *RightSize) answer(ctx context.Context, e *ask.Env) (*answer.Answer, error) {
	var node *rightsize.Node
	o, err := f.options()
	err = cmp.Or(f.Check(f.Files), err, ask.Set("node", f.Node, &node, rightsize.ParseNode))
	if err != nil {
		return nil, err
	}
	var inventory *rules.Result
	if len(f.Inventory) > 0 {
		fleet, err := f.Source.Read(ctx, e, f.Inventory...)
		if err != nil {
			return nil, err
		}
		if inventory, err = rules.RunContext(ctx, fleet, rules.Options{}); err != nil {
			return nil, err
		}
	}
	count := rules.CaptureOptions(nil)
	count.Needs = true
	recordings, notes, err := f.Captures.Read(ctx, e, f.Files, count, inventory)
	if err != nil {
		return nil, err
	}
	w := rules.Watch(recordings, inventory, rules.Options{})
	vms, err := f.chosen(rightsize.Recorded(w, inventory, node))
	if err != nil {
		return nil, err
	}
	options := show.Options{
		Details: f.Details || f.VM != "", Node: f.Node, Fleet: strings.Join(f.Inventory, ", "), Files: strings.Join(f.Files, ", "), Notes: append(notes, w.Notes...),
		Words: words.Command(f.Words(f.Files, rightSizeAnswerFlags...)...), Given: f.GivenOf("percentile", "headroom", "least"),
	}
	if f.VM == "" {
		options.Unseen = rightsize.Unseen(w, inventory)
	}
	judged, err := rightsize.All(ctx, vms, o)
	if err != nil {
		return nil, err
	}
	changes, err := rightsize.Changes(ctx, vms, o)
	return show.Answer(judged, changes, options), err
}

// rightSizeAnswerFlags are the flags that affect the results of rightsize.
var rightSizeAnswerFlags = append([]string{"vm", "percentile", "headroom", "least", "node"}, ask.AnswerNames...)

// options parses --percentile, --headroom and --least.
func (f *RightSize) options() (o rightsize.Options, err error) {
	percentile := func(text string) (unit.Share, error) {
		p, err := rightsize.ParsePercentage(text)
		if err == nil && !(p > 0 && p <= 1) {
			err = fmt.Errorf("found %q, want more than 0 and at most 100", text)
		}
		return p, err
	}
	err = cmp.Or(ask.Set("percentile", f.Percentile, &o.Percentile, percentile), ask.Set("headroom", f.Headroom, &o.Headroom, rightsize.ParsePercentage),
		ask.Set("least", f.Least, &o.Least, rightsize.ParseSpan))
	if err == nil {
		if err = o.Check(); err != nil {
			err = errors.New("--" + err.Error())
		}
	}
	return o, err
}

// chosen returns the VM of --vm, or all.
func (f *RightSize) chosen(all []*rightsize.VM) ([]*rightsize.VM, error) {
	if f.VM == "" {
		return all, nil
	}
	var out []*rightsize.VM
	var names []string
	for _, v := range all {
		if strings.EqualFold(v.Name, f.VM) {
			out = append(out, v)
		}
		names = append(names, v.Name)
	}
	if out == nil {
		return nil, fmt.Errorf("--vm: found no VM %s among %s%s", f.VM, words.Plural(len(all), "recorded VM"), alike.After(f.VM, names))
	}
	return out, nil
}
