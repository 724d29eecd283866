// Package rightsize suggests vCPUs and memory of a VM from its recordings, as a size that suits the
// NUMA nodes of its hosts.
//
//	need      = ⌈ percentile of (run + ready) over time × (1 + headroom) ⌉
//	suggested = the least count ≥ need that fits one node, or else divides over as few
//	            nodes as possible into equal clients and is even (rule book B-5, B-25)
//	memory    from peak active × (1 + headroom), or the reservation, to consumed
//
// A VM grows only when its vCPUs ran nearly all the time at the percentile: more vCPUs do not help
// one that waits for cores. VMs recorded for less than Options.Least are not assessed, and missing
// facts never count as 0.
package rightsize

import (
	"fmt"
	"math"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// Options are the parameters of a suggestion.
type Options struct {
	Percentile unit.Share    `json:"percentile"` // share of the time in which the demand is met; above 0, at most 1
	Headroom   unit.Share    `json:"headroom"`   // above that demand; at most mostHeadroom
	Least      time.Duration `json:"-"`          // VMs recorded for less are not assessed, with the tolerance of a lapse
}

// lapse is the part of Options.Least that may be missing: a capture of a day ends a tick early, and
// a VM is on no host for a moment while it moves.
const lapse = 20

func (o *Options) short(seen time.Duration) bool { return seen < o.Least-o.Least/lapse }

// mostHeadroom is 500 %: a greater value is a typing error.
const mostHeadroom = 5

// Check returns an error when the options allow no suggestion.
func (o *Options) Check() error {
	switch {
	case !(o.Percentile > 0 && o.Percentile <= 1):
		return fmt.Errorf("percentile: found %s, want more than 0 and at most 100", percents(o.Percentile))
	case !(o.Headroom >= 0 && o.Headroom <= mostHeadroom):
		return fmt.Errorf("headroom: found %s %%, want from 0 to 500 %%", percents(o.Headroom))
	case o.Least < 0:
		return fmt.Errorf("least: found %s, want a time such as 24h", o.Least)
	}
	return nil
}

func percents(s unit.Share) string { return fmt.Sprintf("%g", math.Round(float64(s)*1e8)/1e6) }

// needed returns the whole vCPUs for a demand with headroom. The demand is in hundredths of a
// percent of one vCPU (capture.Whole is one vCPU).
func (o *Options) needed(demand int64) int {
	factor := capture.Whole + int64(math.Round(float64(o.Headroom)*capture.Whole))
	const whole = capture.Whole * capture.Whole
	return int((demand*factor + whole - 1) / whole)
}

// A Verdict is the recommendation for the vCPUs of a VM.
type Verdict string

// The verdicts.
const (
	Smaller   Verdict = "smaller"
	Larger    Verdict = "larger"
	Keep      Verdict = "keep"
	NotJudged Verdict = "not judged"
)

// full is the share of its vCPUs that a VM must run at the percentile to justify growth: above it a
// queue in the guest is likely, which is invisible from outside.
const full = 9000

// Reasons to keep the size of a VM that is full of ready time, which includes time taken by a CPU limit.
const (
	waits   = "waits for cores of the host: more vCPUs would wait, too"
	limited = "waits for cores of the host, or is held back by its CPU limit of %d MHz: look at the limit first"
)

// A demand is a VM's CPU use at the percentile, in hundredths of a percent of one vCPU.
type demand struct {
	wanted int64 // run and ready
	ran    int64
}

// decide returns the vCPUs for a demand. reason explains a result that the demand alone would not give.
func (o *Options) decide(vcpus int, d demand, shapes []Shape) (n int, v Verdict, reason string) {
	need := o.needed(d.wanted)
	enough := need <= vcpus
	if enough {
		n, ok := count(need, shapes)
		if ok {
			n = packed(n, shapes)
		}
		if ok && n < vcpus {
			return n, Smaller, ""
		}
		if !ok && vcpus > n {
			return vcpus, Keep, "has more vCPUs than its hosts have cores, and wants them (N013)"
		}
		return vcpus, Keep, uneven(vcpus, shapes)
	}
	saturated := full * int64(vcpus)
	switch {
	case d.wanted < saturated:
		return vcpus, Keep, "less headroom than wanted, but its vCPUs are not full"
	case d.ran < saturated:
		return vcpus, Keep, waits
	}
	n, ok := count(need, shapes)
	if n <= vcpus {
		return vcpus, Keep, "has all vCPUs that its hosts have cores for"
	}
	if !ok {
		reason = "the most that its hosts have cores for: the demand is higher"
	}
	return n, Larger, reason
}

// uneven describes how the vCPUs of an unchanged VM divide unevenly over the nodes; "" when they divide evenly.
func uneven(vcpus int, shapes []Shape) string {
	for _, s := range shapes {
		if s.holds(vcpus) && (s.clients(vcpus) == 1 || vcpus%2 == 0) {
			continue
		}
		if n, ok := count(vcpus, shapes); ok {
			return fmt.Sprintf("%d vCPUs do not divide over %d nodes of %d cores: %d would, but nothing shows that it needs more", vcpus, min(s.clients(vcpus), s.Nodes), s.Cores, n)
		}
	}
	return ""
}

// A Percentiles is a distribution over time in vCPUs: 2.5 is two vCPUs and a half.
type Percentiles struct {
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	At   float64 `json:"at"` // the requested percentile
	Peak float64 `json:"peak"`
}

// An Advice is the result for one VM.
type Advice struct {
	Name    string        `json:"name"`
	Host    string        `json:"host"` // where it was seen last
	Cluster string        `json:"cluster,omitempty"`
	From    time.Time     `json:"from,omitzero"` // first seen
	To      time.Time     `json:"to,omitzero"`
	Seen    time.Duration `json:"-"` // recorded time behind the demand
	Gap     time.Duration `json:"-"` // between From and To, without recordings of it
	// SeenSeconds and GapSeconds are Seen and Gap.
	SeenSeconds float64 `json:"seenSeconds"`
	GapSeconds  float64 `json:"gapSeconds"`

	Verdict   Verdict `json:"verdict"`
	Reason    string  `json:"reason,omitempty"` // why it is not assessed, or unchanged although the demand differs
	VCPUs     int     `json:"vcpus,omitempty"`  // now; 0 unknown
	Suggested int     `json:"suggested,omitempty"`
	Need      int     `json:"need,omitempty"` // whole vCPUs from percentile and headroom, before they are fitted to nodes

	Demand *Percentiles `json:"demand,omitempty"` // run and ready
	Used   *Percentiles `json:"used,omitempty"`
	// RunUnknown: the source has no run time, and used time replaces it.
	RunUnknown bool `json:"runUnknown,omitempty"`
	// Above is the share of the time in which the demand was above Suggested.
	Above  float64  `json:"above,omitempty"`
	Ready  *float64 `json:"ready,omitempty"` // mean of each vCPU, as a share
	CoStop *float64 `json:"coStop,omitempty"`

	Memory Memory `json:"memory"`
	Kinds  []Kind `json:"kinds,omitempty"` // of hosts it can run on, its own first; empty when no node is known
	// Steps are the settings to change beside the count, for Kinds[0].
	Steps      []string `json:"steps,omitempty"`
	HotAdd     string   `json:"hotAdd,omitempty"` // effect of CPU hot add on it
	PowerCycle bool     `json:"powerCycle,omitempty"`
	Assumes    []string `json:"assumes,omitempty"` // assumptions of the layouts
}

// Freed returns the vCPUs that the suggestion frees; negative for growth.
func (a *Advice) Freed() int {
	if a.Verdict == NotJudged {
		return 0
	}
	return a.VCPUs - a.Suggested
}

// A VM is a VM to assess.
type VM struct {
	*Seen
	Cluster  string
	Config   *numa.VM // from the inventory; nil when missing there
	Guest    vnuma.Guest
	Machines []vnuma.Machine // kinds of hosts it can run on, its own first; empty when no node is known
}

// Judge suggests a size for a VM. Options.Check must be nil.
func Judge(v *VM, o *Options) Advice {
	a := Advice{
		Name: v.Name, Host: v.Host, Cluster: v.Cluster, From: v.From, To: v.To, Seen: v.Time, Gap: v.Gap, SeenSeconds: v.Time.Seconds(), GapSeconds: v.Gap.Seconds(),
		VCPUs: v.VCPUs, RunUnknown: v.RunUnknown, Ready: mean(&v.Ready), CoStop: mean(&v.CoStop),
	}
	a.Memory = v.memory(o)
	if a.Reason = v.unjudged(o); a.Reason != "" {
		a.Verdict = NotJudged
		return a
	}
	a.Demand = v.percentiles(&v.Needs.Demand, o)
	if v.Needs.Used.Total() > 0 {
		a.Used = v.percentiles(&capture.Curve{Level: v.Used, Times: v.Needs.Used}, o)
	}
	d := demand{wanted: v.at(&v.Needs.Demand, o), ran: v.at(&v.Needs.Run, o)}
	a.Need = o.needed(d.wanted)
	a.Suggested, a.Verdict, a.Reason = o.decide(v.VCPUs, d, shapesOf(v.Machines))
	if a.Reason == waits && v.Config != nil && v.Config.CPULimit.Or(-1) >= 0 {
		a.Reason = fmt.Sprintf(limited, v.Config.CPULimit.Value)
	}
	// Buckets are whole percents: those partly above count.
	a.Above = float64(v.Needs.Demand.Times.Above(100*a.Suggested/v.VCPUs)) / float64(v.Needs.Demand.Times.Total())
	v.layouts(&a)
	return a
}

// unjudged explains why no vCPU count can be suggested; "" when it can.
func (v *VM) unjudged(o *Options) string {
	switch {
	case v.Doubt != "":
		return v.Doubt
	case v.VCPUs == 0:
		return "its number of vCPUs is not stated"
	case v.exclusive():
		return "latency sensitivity high: its vCPUs hold cores of their own, busy or not"
	case v.Needs.Run.Level.At.IsZero():
		return "no counters of CPU time (% Used, % Run)"
	case v.Needs.Demand.Level.At.IsZero():
		return "no ready time: what it got understates what it wanted"
	case v.Needs.LeastVCPUs != v.Needs.MostVCPUs:
		return fmt.Sprintf("its vCPUs changed from %d to %d while it ran", v.Needs.LeastVCPUs, v.Needs.MostVCPUs)
	case v.Time == 0 || o.short(v.Time):
		return fmt.Sprintf("%s of %s observed", words.Duration(v.Time), words.Duration(o.Least))
	}
	return ""
}

// at returns the level at the percentile, in hundredths of a percent of one vCPU.
func (v *VM) at(c *capture.Curve, o *Options) int64 {
	share, _ := c.Percentile(float64(o.Percentile))
	return share * int64(v.VCPUs)
}

func (v *VM) percentiles(c *capture.Curve, o *Options) *Percentiles {
	at := func(part float64) float64 {
		share, _ := c.Percentile(part)
		return float64(share) * float64(v.VCPUs) / capture.Whole
	}
	return &Percentiles{at(0.5), at(0.95), at(0.99), at(float64(o.Percentile)), float64(c.Level.Most) * float64(v.VCPUs) / capture.Whole}
}

func mean(l *capture.Level) *float64 {
	share, ok := l.Mean()
	if !ok {
		return nil
	}
	return &share
}
