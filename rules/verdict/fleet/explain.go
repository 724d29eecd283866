package fleet

import (
	"slices"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/confront"
	"homenode/rules/finding"
	"homenode/rules/policy"
	"homenode/rules/rule"
)

// An Explanation is everything there is to say about one VM on one host.
type Explanation struct {
	VM       *rule.VM          `json:"-"`
	Host     *numa.Host        `json:"-"`
	Machine  vnuma.Machine     `json:"-"` // of Host
	Case     vnuma.Case        `json:"-"`
	Name     string            `json:"vm"`
	On       string            `json:"host"`
	Release  numa.Release      `json:"release"`
	Event    string            `json:"event"`
	Layout   vnuma.Layout      `json:"layout"`
	Trace    vnuma.Trace       `json:"trace"`
	LogLines []string          `json:"logLines,omitempty"` // that vmware.log will hold
	Observed []confront.Result `json:"observed,omitempty"`
	Others   []Other           `json:"others,omitempty"`
	Plan     *rule.Proposal    `json:"plan,omitempty"`     // for all findings of the VM; nil when none advises one
	Problems []string          `json:"problems,omitempty"` // settings that could not be understood

	rules.Judgement `json:"-"` // of the VM
}

// An Other is what the VM gets on further hosts of its cluster, those of one kind together.
type Other struct {
	Of     []*numa.Host  `json:"-"`
	Hosts  []string      `json:"hosts"`
	Layout *vnuma.Layout `json:"layout"`
	Same   bool          `json:"same"` // as on the explained host
	// SameNodes says that at most the place of the memory is another one.
	SameNodes bool `json:"sameNodes"`
}

// Explain explains the layout of a judged VM on a host after an event.
func Explain(r *rules.Result, v *rule.VM, on *numa.Host, c vnuma.Case) (*Explanation, error) {
	machine, err := vnuma.NewMachine(on)
	if err != nil {
		return nil, err
	}
	x := &Explanation{VM: v, Host: on, Machine: machine, Case: c, Name: v.Name, On: on.Name, Release: machine.Release, Event: c.Event.String(), Observed: v.Seen}
	if x.Layout, x.Trace, x.Problems, err = vnuma.Explain(v.VM, on, &x.Case); err != nil {
		return nil, err
	}
	if !x.Layout.Refused.Any() {
		x.LogLines = vnuma.LogLines(&x.Layout, &v.Guest, &machine)
	}
	if host := v.TiedTo(); host != nil && host != on {
		device := v.Tied()
		x.Layout, x.LogLines = vnuma.OnOtherHost(), nil
		x.Trace = vnuma.Trace{{Rules: "D-5", Because: "it has a " + device.String() + " of " + host.Name, Result: "it runs on no other host",
			Facts: []vnuma.Used{{Name: "PCI device", Value: device.String(), Origin: v.Devices.Origin, At: v.At}}}}
	}
	x.Policy = r.Policy
	x.Findings = slices.DeleteFunc(slices.Clone(r.Findings), func(f finding.Finding) bool { return f.VMID != v.ID && !slices.Contains(f.Costs, v.ID) })
	x.Suppressed = slices.DeleteFunc(slices.Clone(r.Suppressed), func(s policy.Suppressed) bool { return s.VMID != v.ID })
	x.others(r.ClusterOf(v))
	x.Plan = (&rule.Pass{Cluster: r.ClusterOf(v), VM: v, Choices: r.Choices}).Whole(x.Findings)
	return x, nil
}

// others predicts the VM on the other hosts of its cluster.
func (x *Explanation) others(c *rule.Cluster) {
	if tied := x.VM.TiedTo(); tied != nil {
		hosts := slices.DeleteFunc(slices.Clone(c.Hosts), func(h *numa.Host) bool { return h == x.Host || h == tied })
		if away := vnuma.OnOtherHost(); len(hosts) > 0 {
			x.Others = append(x.Others, Other{hosts, (&rule.Kind{Hosts: hosts}).HostNames(), &away, false, false})
		}
		return
	}
	for _, on := range slices.Concat(x.VM.On, x.VM.Refused) {
		hosts := slices.DeleteFunc(slices.Clone(on.Kind.Hosts), func(h *numa.Host) bool { return h == x.Host })
		if len(hosts) == 0 {
			continue
		}
		c := x.Case
		l := vnuma.Predict(&x.VM.Guest, &on.Kind.Machine, &c)
		x.Others = append(x.Others, Other{hosts, (&rule.Kind{Hosts: hosts}).HostNames(), &l, l.Same(&x.Layout) && hosts[0].Hidden() == x.Host.Hidden(), l.SameGuest(&x.Layout) && l.PPDs.Equal(x.Layout.PPDs)})
	}
}

// Unknown says what decides over NUMA of the VM and is not known; "" where all is known.
func (x *Explanation) Unknown() string {
	var names []string
	for _, f := range deciding {
		if f.unknown(x.VM, &x.Layout) {
			names = append(names, f.name)
		}
	}
	if names == nil {
		return ""
	}
	return "Not known: " + strings.Join(names, ", ") + "."
}

// Cure says how the VM powers on where the host refuses it. On its own host it is the advice of the finding, which considers all hosts.
func (x *Explanation) Cure() string {
	for i := range x.Findings {
		if f := &x.Findings[i]; f.VMID == x.VM.ID && f.Severity == finding.High && x.Rule(f.Rule).Refused && x.Host == x.VM.Host && f.Advice != "" {
			return f.Advice
		}
	}
	return numa.Either(x.Layout.Refused.Ways())
}

// Verdict says the worst that was found about the VM, or that there is nothing to do.
func (x *Explanation) Verdict() string {
	switch n := len(x.Findings); {
	case x.Layout.Refused.Any():
		return "It does not power on: " + x.Layout.Refused.String() + "."
	case n > 0 && x.Findings[0].Severity > finding.Info:
		text := words.Capital(x.Findings[0].Message) + "."
		if n > 1 {
			text += " " + words.Plural(n-1, "more finding") + " below."
		}
		return text
	case len(x.Layout.Assumes.Texts()) > 0:
		return "Nothing found, under the assumptions below."
	}
	return "Nothing to do about its settings."
}
