package fleet

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/confront"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/policy"
	"example.org/homenode/rules/rule"
)

// An Explanation contains all facts and findings about one VM on one host.
type Explanation struct {
	VM       *rule.VM          `json:"-"`
	Host     *numa.Host        `json:"-"`
	Machine  vnuma.Machine     `json:"-"` // of Host
	Case     vnuma.Case        `json:"-"`
	Name     string            `json:"vm"`
	On       string            `json:"host"`
	Cluster  string            `json:"-"` // name of the VM's
	Release  numa.Release      `json:"release"`
	Event    string            `json:"event"`
	Layout   vnuma.Layout      `json:"layout"`
	Trace    vnuma.Trace       `json:"trace"`
	LogLines []string          `json:"logLines,omitempty"` // expected in vmware.log
	Observed []confront.Result `json:"observed,omitempty"`
	Others   []Other           `json:"others,omitempty"`
	Plan     *rule.Proposal    `json:"plan,omitempty"`     // for all findings of the VM; nil if none recommends one
	Problems []string          `json:"problems,omitempty"` // settings that could not be parsed

	rules.Judgement `json:"-"` // of the VM
	// There are the findings on another host than the VM's own, or after another event than a power cycle; nil if the case is its own.
	There []finding.Finding `json:"-"`
}

// An Other is the layout of the VM on other hosts of its cluster, grouped by kind.
type Other struct {
	Of     []*numa.Host  `json:"-"`
	Hosts  []string      `json:"hosts"`
	Layout *vnuma.Layout `json:"layout"`
	Same   bool          `json:"same"` // as on the explained host
	// SameNodes: at most the location of the memory differs.
	SameNodes bool `json:"sameNodes"`
}

// Explain explains the layout of an assessed VM on a host after an event.
func Explain(r *rules.Result, v *rule.VM, on *numa.Host, c vnuma.Case) (*Explanation, error) {
	machine, err := vnuma.NewMachine(on)
	if err != nil {
		return nil, err
	}
	x := &Explanation{VM: v, Host: on, Machine: machine, Case: c, Name: v.Name, On: on.Name, Cluster: r.Fleet.ClusterName(v.Cluster), Release: machine.Release, Event: c.Event.String(), Observed: v.Seen}
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
	if on != v.Host && v.Host != nil || c.Event != vnuma.PowerCycle {
		x.There = slices.DeleteFunc(r.There(v, on, &x.Machine, &x.Layout), func(f finding.Finding) bool {
			return slices.ContainsFunc(x.Suppressed, func(s policy.Suppressed) bool { return s.Rule == f.Rule && s.Topic == f.Topic })
		})
	}
	x.others(r.ClusterOf(v))
	x.Plan = r.Proposal(v, x.Findings)
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

// Unknown lists the unknown facts that affect NUMA of the VM; "" if all are known.
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

// Cure describes how to power the VM on if the host refuses it. It is the advice of the finding in the case, which considers all
// hosts.
func (x *Explanation) Cure() string {
	for i := range x.Findings {
		if f := &x.Findings[i]; f.VMID == x.VM.ID && f.Severity == finding.High && x.Rule(f.Rule).Refused && x.There == nil && f.Advice != "" {
			return f.Advice
		}
	}
	ways := x.Layout.Refused.Ways()
	for i := range ways {
		ways[i] = x.VM.Divided(ways[i], &x.Machine, "")
	}
	return numa.Either(ways)
}

// Verdict describes the worst finding about the VM in the case, or that no change is needed.
func (x *Explanation) Verdict() string {
	n := len(x.Findings)
	vpd, spans := x.Layout.Spanning()
	switch f := x.worst(); {
	case x.Layout.Refused.Any():
		if x.VM.Runs() && x.Layout.Refused == x.VM.On[0].Layout.Refused {
			return "It runs, and would not power on again: " + x.Layout.Refused.String() + "."
		}
		return "It does not power on: " + x.Layout.Refused.String() + "."
	case f != nil && x.There == nil:
		text := words.Capital(f.Message) + "."
		if n > 1 {
			text += " " + words.Plural(n-1, "more finding") + " below."
		}
		return text
	case x.There != nil && spans && (f == nil || f.Severity < finding.Medium): // of the rules, only that about mixed clusters knows vMotion
		first, last := x.Layout.Carriers(vpd)
		return fmt.Sprintf("Virtual node %d is carried by %d clients: %s of its memory is on another node than the vCPU that uses it.%s", vpd, last-first+1, words.Percent(x.Layout.FarShare()), x.elsewhere())
	case f != nil:
		return words.Capital(f.Message) + "." + x.elsewhere()
	case x.There != nil && n > 0:
		return x.nothing("to do about it here.") + x.elsewhere()
	case len(x.Layout.Assumes.Texts()) > 0:
		return x.nothing("found, under the assumptions below.")
	}
	return x.nothing("to do about its settings.")
}

// nothing begins with the accepted findings about the VM, and says that there is nothing else.
func (x *Explanation) nothing(to string) string {
	if len(x.Suppressed) == 0 {
		return "Nothing " + to
	}
	worst := finding.Info
	for i := range x.Suppressed {
		worst = max(worst, x.Suppressed[i].Severity)
	}
	return fmt.Sprintf("%s %s severity. Nothing else %s", words.Verb(len(x.Suppressed), "finding is accepted, of", "findings are accepted, the worst of"), worst, to)
}

// worst returns the most severe finding about the VM in the case; of several, one about the host of the case; nil if none matters.
func (x *Explanation) worst() (worst *finding.Finding) {
	found := x.Findings
	if x.There != nil {
		found = x.There
	}
	for i := range found {
		f := &found[i]
		if f.Severity > finding.Info && (worst == nil || f.Severity > worst.Severity || f.Severity == worst.Severity && worst.Elsewhere() && !f.Elsewhere()) {
			worst = f
		}
	}
	return worst
}

// elsewhere mentions the findings about the VM on all hosts of its cluster.
func (x *Explanation) elsewhere() string {
	if n := len(x.Findings); n > 0 {
		return " See below for " + words.Plural(n, "finding") + " about its own host and power cycles."
	}
	return ""
}
