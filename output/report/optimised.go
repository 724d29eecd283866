package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"homenode/change/optimise"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/rules/rule"
	"homenode/rules/simulate"
)

// An Optimised is a proposal with what it is about.
type Optimised struct {
	Source   string // as the user typed it
	Cluster  string // its name
	Problem  *optimise.Problem
	Proposal *optimise.Proposal
	Notes    []numa.Note
	Fleet    *numa.Fleet // that the problem is made of
	Length   string      // of the runs
	// EventsLeftOut are events of the story that are no part of the runs, Off the VMs of the
	// hosts that are off at the start and not counted: how many.
	EventsLeftOut, Off int
	// Before and After are runs of the same loads without and with the proposal, each VM
	// powered on where it then is; nil without a run.
	Before, After *simulate.Result
}

// An optimisedStep is one step for people and programs.
type optimisedStep struct {
	Step   int            `json:"step"`
	VM     string         `json:"vm"`
	What   string         `json:"what"` // vMotion or power cycle
	From   string         `json:"from,omitempty"`
	To     string         `json:"to"`
	Change []string       `json:"change,omitempty"`
	Why    string         `json:"why"`
	After  optimisedScore `json:"after"`
	// Temporary moves make room and are followed by another of the VM.
	Temporary bool `json:"temporary,omitempty"`
}

type optimisedScore struct {
	RemoteMiB  int64   `json:"remoteMiB"`
	FarMiB     int64   `json:"farMiB"`
	CoresShort float64 `json:"coresShort"`
	Moves      int64   `json:"moves"`
	Cycles     int64   `json:"powerCycles"`
	Broken     int64   `json:"broken"`
	Total      int64   `json:"total"`
}

func scoreOf(s optimise.Score) optimisedScore {
	return optimisedScore{s.Remote, s.Far, float64(s.Ready) / 10000, s.Moves, s.Cycles, s.Broken, s.Total}
}

func (o *Optimised) steps() []optimisedStep {
	out := make([]optimisedStep, len(o.Proposal.Steps))
	for i, s := range o.Proposal.Steps {
		out[i] = optimisedStep{
			Step: i + 1, VM: o.Problem.VMs[s.VM].Name, What: "vMotion", From: o.Problem.Hosts[s.From].Name, To: o.Problem.Hosts[s.To].Name,
			Why: s.Why, After: scoreOf(s.After), Temporary: s.Temporary,
		}
		if s.Shape < 0 {
			continue
		}
		out[i].What, out[i].From = "power cycle", ""
		shape := o.Problem.VMs[s.VM].Shapes[s.Shape]
		for j := range o.Fleet.VMs {
			if v := &o.Fleet.VMs[j]; v.ID == o.Problem.VMs[s.VM].ID {
				out[i].Change = edited(&v.Config, optimise.Edited(v, shape.Edit, shape.Nodes))
			}
		}
	}
	return out
}

// edited says what differs between two configurations.
func edited(a *numa.Config, b numa.Config) (out []string) {
	change := func(name, from, to string) {
		if from != to {
			out = append(out, fmt.Sprintf("%s %s → %s", name, cmp.Or(from, "unset"), cmp.Or(to, "unset")))
		}
	}
	change("vCPUs", strconv.Itoa(a.VCPUs.Value), strconv.Itoa(b.VCPUs.Value))
	change("cores per socket", cps(a), cps(&b))
	change("CPU hot add", onOff(a.CPUHotAdd.Value), onOff(b.CPUHotAdd.Value))
	change("virtual hardware", strconv.Itoa(a.Hardware.Value), strconv.Itoa(b.Hardware.Value))
	var keys []string
	for _, s := range slices.Concat(a.Settings.Value, b.Settings.Value) {
		if !slices.Contains(keys, s.Key) {
			keys = append(keys, s.Key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		from, _ := a.Settings.Value.Lookup(key)
		to, _ := b.Settings.Value.Lookup(key)
		change(key, from, to)
	}
	return out
}

func cps(c *numa.Config) string {
	if c.AutoCoresPerSocket.Value {
		return "automatic"
	}
	return strconv.Itoa(c.CoresPerSocket.Value)
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// A ran is what a run came to, over all VMs and time.
type ran struct {
	Locality float64 `json:"locality"` // N%L over all memory, as a share
	Far      float64 `json:"far"`      // memory that is not on the node of its client
	Ready    float64 `json:"ready"`    // of the CPU time asked for
	CoStop   float64 `json:"coStop"`
	Swapped  float64 `json:"swapped"` // of all memory
	Speed    float64 `json:"speed"`   // mean performance index, weighted by vCPUs
	Findings int     `json:"findings"`
}

func ranOf(r *simulate.Result) (out ran) {
	var local, remote, far, swapped, demand, ready, coStop float64
	var speed, weight float64
	for i, v := range r.Outcome.VMs {
		local, remote, far, swapped = local+float64(v.Local), remote+float64(v.Remote), far+float64(v.Far), swapped+float64(v.Swapped)
		demand, ready, coStop = demand+float64(v.Demand), ready+float64(v.Ready), coStop+float64(v.CoStop)
		if s := &r.Speeds[i]; s.Known() {
			n := float64(r.Story.Fleet.VMs[i].VCPUs.Value)
			speed, weight = speed+float64(s.Mean*n), weight+n
		}
	}
	part := func(x, of float64) float64 {
		if of == 0 {
			return 0
		}
		return x / of
	}
	out = ran{part(local, local+remote), part(far, local+remote), part(ready, demand), part(coStop, demand),
		part(swapped, local+remote+swapped), part(speed, weight), len(r.Watched.Findings)}
	if local+remote == 0 { // no VM is NUMA-managed
		out.Locality = 0
	}
	return out
}

// OptimisedText writes a proposal for a terminal.
func OptimisedText(w io.Writer, o *Optimised, colour bool) error {
	p := &printer{w: w, colour: colour}
	a, b := o.Proposal.Before, o.Proposal.After
	p.printf("%s\n", p.paint(bold, o.verdict()))
	p.printf("%s\n\n", o.proof())
	p.printf("estimated\n")
	t := texttab.Table{Right: map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true}}
	t.Row("", "REMOTE", "FAR", "CORES SHORT", "VMOTIONS", "POWER CYCLES", "TOTAL")
	for _, side := range []struct {
		name string
		s    optimise.Score
	}{{"now", a}, {"proposed", b}} {
		s := side.s
		t.Row(side.name, mibText(s.Remote), mibText(s.Far), fmt.Sprintf("%.2f", float64(s.Ready)/10000), strconv.FormatInt(s.Moves, 10),
			strconv.FormatInt(s.Cycles, 10), strconv.FormatInt(s.Total, 10))
	}
	p.table(&t)
	p.printf("%s\n", estimate)
	if steps := o.steps(); len(steps) > 0 {
		p.printf("\n")
		t := texttab.Table{Right: map[int]bool{0: true}}
		t.Row("STEP", "VM", "WHAT", "WHERE", "WHY")
		for _, s := range steps {
			where := s.To
			if s.From != "" {
				where = s.From + " → " + s.To
			}
			if s.Temporary {
				where += " for a while"
			}
			t.Row(strconv.Itoa(s.Step), s.VM, s.What, where, strings.Join(append(s.Change, s.Why), "; "))
		}
		p.table(&t)
	}
	o.runs(p)
	if len(o.Proposal.Notes) > 0 || o.Off > 0 {
		p.printf("\n")
	}
	if o.Off > 0 {
		p.printf("note   not counted: %s\n", o.off())
	}
	for _, note := range o.Proposal.Notes {
		p.printf("note   %s\n", texttab.Clean(note))
	}
	p.someNotes(o.Notes, "json")
	return p.err
}

func mibText(n int64) string { return (numa.Bytes(n) * numa.MiB).String() }

// verdict says what the proposal is worth in one sentence.
func (o *Optimised) verdict() string {
	a, b := o.Proposal.Before, o.Proposal.After
	where := fmt.Sprintf("%s: %s on %s", texttab.Clean(o.Cluster), rule.Plural(len(o.Problem.VMs), "VM"), rule.Plural(len(o.Problem.Hosts), "host"))
	if len(o.Proposal.Steps) == 0 {
		return where + ". No better distribution was found that is worth its moves."
	}
	var gains, prices []string
	for _, one := range []struct {
		name      string
		now, then int64
		text      func(int64) string
	}{{"remote memory", a.Remote, b.Remote, mibText}, {"far memory", a.Far, b.Far, mibText}, {"cores short", a.Ready, b.Ready, coresText}} {
		text := one.name + " " + one.text(one.now) + " → " + one.text(one.then)
		switch {
		case one.then > one.now:
			prices = append(prices, text)
		case one.then < one.now:
			gains = append(gains, text)
		default:
			gains = append(gains, fmt.Sprintf("%s stays %s", one.name, one.text(one.now)))
		}
	}
	out := fmt.Sprintf("%s. %s, estimated: %s", where, rule.Plural(len(o.Proposal.Steps), "step"), strings.Join(gains, ", "))
	switch {
	case gains == nil:
		out += "at the price of " + strings.Join(prices, ", ")
	case prices != nil:
		out += "; the price: " + strings.Join(prices, ", ")
	}
	out += "."
	if a.Broken > 0 || b.Broken > 0 {
		out += fmt.Sprintf(" Constraints broken now: %s; then: %s.", o.broken(nil), o.broken(o.Proposal.Steps))
	}
	return out
}

func coresText(n int64) string { return fmt.Sprintf("%.2f", float64(n)/10000) }

// mostBroken is how many hosts a sentence about broken constraints names.
const mostBroken = 3

// broken says what is broken once the steps are done.
func (o *Optimised) broken(steps []optimise.Step) string {
	b := o.Problem.Breach(steps)
	var parts []string
	over := func(what string, of func(optimise.HostBreach) int64, text func(int64) string) {
		var hosts []string
		sum := int64(0)
		for _, h := range b.Hosts {
			if n := of(h); n > 0 {
				sum += n
				hosts = append(hosts, texttab.Clean(o.Problem.Hosts[h.Host].Name)+" "+text(n))
			}
		}
		if n := len(hosts); n > mostBroken {
			hosts = append(hosts[:mostBroken:mostBroken], fmt.Sprintf("%d more", n-mostBroken))
		}
		if sum > 0 {
			parts = append(parts, fmt.Sprintf("%s too much for their hosts (%s)", text(sum)+" "+what, strings.Join(hosts, ", ")))
		}
	}
	over("of memory", func(h optimise.HostBreach) int64 { return h.Memory }, mibText)
	over("vCPUs", func(h optimise.HostBreach) int64 { return h.VCPUs }, func(n int64) string { return strconv.FormatInt(n, 10) })
	if b.Apart > 0 {
		parts = append(parts, rule.Plural(int(b.Apart), "pair")+" of VMs not apart")
	}
	if b.Spread > 0 {
		parts = append(parts, "groups not together: "+rule.Plural(int(b.Spread), "host")+" too many")
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// estimate says what the estimated figures count.
const estimate = `estimate: all configured memory touched, each VM's demand at its highest within the story, by node, without hyper-threading`

// differ says why both tables differ.
const differ = `why both differ: the estimate places every VM once, with all its memory and its highest demand, all at once; in the simulation VMs
touch and ask for what their load says at the time, the scheduler moves clients and pages, memory beyond a host's is swapped and
not remote, and hyper-threading adds to the cores of a node`

// differs reports whether a run shows something else than its estimate: another share of
// memory that is remote, by more than a percent, or no ready time where cores are short.
func (o *Optimised) differs(s optimise.Score, r *simulate.Result) bool {
	memory := int64(0)
	for i := range o.Problem.VMs {
		memory += o.Problem.VMs[i].Memory
	}
	x := ranOf(r)
	if share := float64(s.Remote) / float64(max(1, memory)); share-(1-x.Locality) > 0.01 || (1-x.Locality)-share > 0.01 {
		return true
	}
	return (s.Ready > 0) != (x.Ready >= 0.0005) // what prints as 0.0 %
}

// proof says how far from the best the proposal is at most.
func (o *Optimised) proof() string {
	bound := o.Proposal.Bound
	if bound.Proven {
		return "Proven: no distribution costs less."
	}
	return fmt.Sprintf("Weighted cost %d, in MiB of remote memory (docs/optimise.md); no distribution costs less than %d (a lower bound, often a loose one).", o.Proposal.After.Total, bound.Total)
}

// runs prints what the twin says of both.
func (o *Optimised) runs(p *printer) {
	if o.Before == nil {
		return
	}
	p.printf("\nsimulated for %s with the same loads, each VM powered on where it then is\n", o.Length)
	t := texttab.Table{Right: map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true}}
	t.Row("", "N%L", "FAR", "READY", "CO-STOP", "SWAPPED", "SPEED", "FINDINGS")
	for _, side := range []struct {
		name string
		r    *simulate.Result
	}{{"now", o.Before}, {"proposed", o.After}} {
		x := ranOf(side.r)
		t.Row(side.name, points(x.Locality), points(x.Far), points(x.Ready), points(x.CoStop), points(x.Swapped), fmt.Sprintf("%.3f", x.Speed), strconv.Itoa(x.Findings))
	}
	p.table(&t)
	if o.EventsLeftOut > 0 {
		p.printf("without %s of the story: changes of load and talk alone are part of both\n", rule.Plural(o.EventsLeftOut, "event"))
	}
	if o.differs(o.Proposal.Before, o.Before) || o.differs(o.Proposal.After, o.After) {
		for line := range strings.SplitSeq(differ, "\n") {
			p.printf("%s\n", line)
		}
	}
}

// off says which VMs are not counted.
func (o *Optimised) off() string {
	if o.Off == 1 {
		return "1 VM that is off at the start"
	}
	return fmt.Sprintf("%d VMs that are off at the start", o.Off)
}

// points returns a share as percent with one decimal.
func points(share float64) string { return fmt.Sprintf("%.1f %%", share*100) }

// OptimisedJSON writes a proposal for programs.
func OptimisedJSON(w io.Writer, o *Optimised) error {
	out := struct {
		Format  string          `json:"format"`
		Version int             `json:"version"`
		Source  string          `json:"source"`
		Cluster string          `json:"cluster"`
		VMs     int             `json:"vms"`
		Hosts   int             `json:"hosts"`
		Before  optimisedScore  `json:"before"`
		After   optimisedScore  `json:"after"`
		Bound   int64           `json:"bound"`
		Proven  bool            `json:"proven"`
		Steps   []optimisedStep `json:"steps"`
		Runs    *[2]ran         `json:"runs,omitempty"` // now, proposed
		Broken  [2]string       `json:"broken"`         // what is: now, proposed
		Counts  string          `json:"estimate"`       // what before, after and steps count
		Events  int             `json:"eventsLeftOut,omitempty"`
		Off     int             `json:"off,omitempty"`
		Notes   []string        `json:"notes,omitempty"`
	}{
		"homenode-proposal", 1, o.Source, o.Cluster, len(o.Problem.VMs), len(o.Problem.Hosts), scoreOf(o.Proposal.Before), scoreOf(o.Proposal.After),
		o.Proposal.Bound.Total, o.Proposal.Bound.Proven, o.steps(), nil,
		[2]string{o.broken(nil), o.broken(o.Proposal.Steps)}, strings.TrimPrefix(estimate, "estimate: "), o.EventsLeftOut, o.Off, slices.Clone(o.Proposal.Notes),
	}
	if o.Before != nil {
		out.Runs = &[2]ran{ranOf(o.Before), ranOf(o.After)}
	}
	for _, n := range o.Notes {
		out.Notes = append(out.Notes, n.String())
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
