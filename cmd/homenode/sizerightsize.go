package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/capture"
	"homenode/esxi/vnuma"
	"homenode/internal/alike"
	"homenode/numa"
	"homenode/numa/unit"
	show "homenode/output/size/rightsize"
	"homenode/rules"
	"homenode/rules/rule"
	"homenode/size/rightsize"
)

// rightSizeFlags are the flags of size rightsize.
type rightSizeFlags struct {
	size       sizeFlags
	in         captureFlags // a few of them
	src        sourceFlags
	fleet      []string
	vm         string
	percentile string
	headroom   string
	least      string
	node       string
	details    bool
}

func newSizeRightSize() *cobra.Command {
	var f rightSizeFlags
	cmd := &cobra.Command{
		Use:   "rightsize FILE...",
		Short: "Which VMs have too many vCPUs or too few, and what size suits their NUMA nodes",
		Long: `rightsize reads captures, as homenode capture does, and suggests for each VM a number of vCPUs that holds its
demand (run + ready) for a percentile of the time with headroom, and that suits the NUMA nodes of its hosts: one that
fits a node, or else an even count that divides over as few nodes as possible into equal clients. Memory is given as a
range, as the host only sees what was touched lately.

With --fleet the inventory tells the nodes of the hosts, and what each VM looks like before and after; --node states the
nodes of hosts that it does not know. VMs that were seen for less than --least are not judged.`,
		Example: `  homenode size rightsize demo --fleet demo --least 3h
  homenode size rightsize week/ --fleet https://vc01.example.com --percentile 99.5
  homenode size rightsize esx07.csv --node 16c/256GB --vm sql01`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.fleet, "fleet", nil, "SOURCE of the inventory, as assess reads it: nodes of the hosts, settings of the VMs")
	fl.StringVar(&f.vm, "vm", "", "this VM alone")
	fl.StringVar(&f.percentile, "percentile", "99", "percent of the time in which the demand is met; 100 is the peak")
	fl.StringVar(&f.headroom, "headroom", "20%", "vCPUs above that demand, in percent of it")
	fl.StringVar(&f.least, "least", "24h", "shortest observed time by which a VM is judged: 90m, 24h, 7d")
	fl.StringVar(&f.node, "node", "", "cores and memory of a NUMA node, for hosts that the inventory does not know: 16c/256GB")
	fl.BoolVar(&f.details, "details", false, "all VMs, with what to set and their memory")
	fl.StringVar(&f.in.host, "host", "", "name of the host, for files that call it localhost or do not name it")
	fl.StringVar(&f.in.from, "from", "", "leave out what was before this time: '2026-11-03 02:00' in UTC, or RFC 3339")
	fl.StringVar(&f.in.to, "to", "", "leave out what was after this time")
	f.src.register(cmd)
	f.size.register(cmd)
	return cmd
}

func (f *rightSizeFlags) run(cmd *cobra.Command, args []string) error {
	if err := cmp.Or(f.size.check(), f.in.check(args, false)); err != nil {
		return err
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	node, err := parseNode(f.node)
	if err != nil {
		return fmt.Errorf("--node: %w", err)
	}
	var inventory *rules.Result
	if len(f.fleet) > 0 {
		fleet, err := f.src.read(cmd, f.fleet...)
		if err != nil {
			return err
		}
		inventory = rules.Run(fleet, rules.Options{})
	}
	count := rules.CaptureOptions(nil)
	count.Needs = true
	recordings, notes, err := f.in.read(cmd, args, count, inventory)
	if err != nil {
		return err
	}
	w := rules.Watch(recordings, inventory, rules.Options{})
	vms, err := f.chosen(recordedVMs(w, inventory, node))
	if err != nil {
		return err
	}
	options := show.Options{
		Details: f.details || f.vm != "", Node: f.node, Fleet: strings.Join(f.fleet, ", "), Files: strings.Join(args, ", "), Notes: append(notes, w.Notes...),
		Words: strings.Join(quoted(typedWords(cmd, args, rightSizeAnswerFlags)), " "), Given: map[string]bool{},
	}
	if f.vm == "" {
		options.Unseen = unseen(w, inventory)
	}
	for _, name := range []string{"percentile", "headroom", "least"} {
		options.Given[name] = cmd.Flags().Changed(name)
	}
	if err := f.size.write(cmd, show.Answer(rightsize.All(vms, *o), changes(vms, *o), options)); err != nil {
		return err
	}
	return cmp.Or(f.in.incomplete(), f.src.incomplete())
}

// rightSizeAnswerFlags are those that change what rightsize finds.
var rightSizeAnswerFlags = append([]string{"vm", "percentile", "headroom", "least", "node"}, answerFlags...)

func quoted(words []string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		if strings.ContainsAny(w, " '\"$*?;&|<>()") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return out
}

// options reads --percentile, --headroom and --least.
func (f *rightSizeFlags) options() (*rightsize.Options, error) {
	p, err := percentage(f.percentile)
	if err == nil && !(p > 0 && p <= 1) {
		err = fmt.Errorf("found %q, want more than 0 and at most 100", f.percentile)
	}
	if err != nil {
		return nil, fmt.Errorf("--percentile: %w", err)
	}
	h, err := percentage(f.headroom)
	if err != nil {
		return nil, fmt.Errorf("--headroom: %w", err)
	}
	least, err := span(f.least)
	if err != nil {
		return nil, fmt.Errorf("--least: %w", err)
	}
	o := &rightsize.Options{Percentile: p, Headroom: h, Least: least}
	if err := o.Check(); err != nil {
		return nil, errors.New("--" + err.Error())
	}
	return o, nil
}

// span reads a time as time.ParseDuration does, and days: 7d.
func span(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n >= 0 && n <= 36500 {
			return time.Duration(n * 24 * float64(time.Hour)), nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("found %q, want a time such as 90m, 24h or 7d", s)
	}
	return d, nil
}

// percentage reads "20" or "20%", without a limit above: a headroom may be 150 %.
func percentage(s string) (unit.Share, error) {
	number := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "%"))
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0, fmt.Errorf("found %q, want a percentage such as 99 or 20%%", s)
	}
	if v > 0 && v < 1 && number == strings.TrimSpace(s) {
		return 0, fmt.Errorf("found %q: want %g for %g %%, or %s%% if it is less than one", s, 100*v, 100*v, number)
	}
	return unit.Share(v / 100), nil
}

// A nodeSize is what --node states.
type nodeSize struct {
	cores  int
	memory numa.Bytes // 0 when it does not say
}

// parseNode reads 16c/256GB or 16c; nil for nothing.
func parseNode(s string) (*nodeSize, error) {
	if s == "" {
		return nil, nil
	}
	wrong := fmt.Errorf("found %q, want cores and memory of a node such as 16c/256GB, or its cores alone: 16c", s)
	cores, memory, has := strings.Cut(s, "/")
	number, ok := strings.CutSuffix(strings.ToLower(strings.TrimSpace(cores)), "c")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 || n > numa.MaxCoresPerNode {
		return nil, wrong
	}
	node := &nodeSize{cores: n}
	if has {
		if node.memory, err = unit.ParseSize(memory); err != nil || node.memory < numa.GiB || node.memory > numa.MaxHostMemory {
			return nil, wrong
		}
	}
	return node, nil
}

// machine returns a host of such nodes, as many as the recording has.
func (n *nodeSize) machine(rec *capture.Recording) (vnuma.Machine, error) {
	const why = "--node"
	h := numa.Host{Name: rec.Host, At: why, Release: numa.AssumedFor(numa.Modelled[len(numa.Modelled)-1], "the newest: "+why)}
	nodes := make([]numa.Node, max(1, len(rec.Nodes)))
	for i := range nodes {
		nodes[i] = numa.Node{ID: i, Package: -1, Cores: n.cores, Threads: n.cores}
		memory := n.memory
		if memory == 0 && i < len(rec.Nodes) {
			memory = rec.Nodes[i].Total
		}
		if memory > 0 {
			nodes[i].Memory = numa.AssumedFor(memory, why)
		}
	}
	h.Nodes = numa.AssumedFor(nodes, why)
	return vnuma.NewMachine(&h)
}

// recordedVMs puts together what is known of each recorded VM.
func recordedVMs(w *rules.Watched, inventory *rules.Result, node *nodeSize) (out []*rightsize.VM) {
	for _, s := range rightsize.See(w.Recordings, func(host string) string {
		h := machineOf(inventory, host)
		if h == nil {
			return ""
		}
		return cmp.Or(h.Cluster, h.ID)
	}) {
		v := &rightsize.VM{Seen: s}
		out = append(out, v)
		if known := w.Joined[s.Last]; known != nil {
			v.Config, v.Guest, v.Machines = known.VM, known.Guest, known.Machines()
			if inventory != nil {
				v.Cluster = inventory.Fleet.ClusterName(known.Cluster)
			}
			continue
		}
		if s.VCPUs == 0 {
			continue
		}
		bare := numa.VM{Name: s.Name, Config: numa.Config{VCPUs: numa.ReadAt(s.VCPUs, "capture")}}
		if s.Size > 0 {
			bare.Memory = numa.ReadAt(s.Size, "capture")
		}
		v.Guest, _, _ = vnuma.NewGuest(&bare) // it has vCPUs
		if host := machineOf(inventory, s.Host); host != nil {
			if m, err := vnuma.NewMachine(host); err == nil {
				v.Machines = []vnuma.Machine{m}
			}
		} else if node != nil {
			if m, err := node.machine(s.Rec); err == nil {
				v.Machines = []vnuma.Machine{m}
			}
		}
	}
	return out
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

// unseen counts the VMs of the inventory that run on a recorded host and were not recorded.
func unseen(w *rules.Watched, inventory *rules.Result) (n int) {
	if inventory == nil {
		return 0
	}
	seen := map[*rule.VM]bool{}
	for _, v := range w.Joined {
		seen[v] = true
	}
	for _, rec := range w.Recordings {
		host := machineOf(inventory, rec.Host)
		for _, c := range inventory.Clusters {
			for _, v := range c.VMs {
				if host != nil && v.Host == host && !seen[v] && v.Power.Or(numa.PoweredOn) == numa.PoweredOn {
					n++
				}
			}
		}
	}
	return n
}

// changes judges again by other options.
func changes(vms []*rightsize.VM, o rightsize.Options) (out []show.Change) {
	for _, c := range []struct {
		text string
		o    rightsize.Options
	}{
		{"demand met 95 % of the time", rightsize.Options{Percentile: 0.95, Headroom: o.Headroom, Least: o.Least}},
		{"demand met at its peak (100 %)", rightsize.Options{Percentile: 1, Headroom: o.Headroom, Least: o.Least}},
		{"headroom 0 %", rightsize.Options{Percentile: o.Percentile, Headroom: 0, Least: o.Least}},
		{"headroom 40 %", rightsize.Options{Percentile: o.Percentile, Headroom: 0.4, Least: o.Least}},
	} {
		if c.o != o {
			out = append(out, show.Change{If: c.text, R: rightsize.All(vms, c.o)})
		}
	}
	return out
}
