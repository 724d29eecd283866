package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/policy"
	"example.org/homenode/rules/rule"
)

// expect evaluates the expectations of the configuration for every VM, on each kind of host where it may run. An expectation that needs an
// unknown value gives a finding, because an unknown result does not pass. An evaluation error gives a finding and an error of the run.
func (r *Result) expect(o Options) {
	if o.Policy == nil || len(o.Policy.Expect) == 0 {
		return
	}
	x := expecting{r, o, map[string][]string{}, r.Fleet.HostsByID()}
	for i := range r.Findings {
		f := &r.Findings[i]
		x.found[f.VMID] = append(x.found[f.VMID], f.Rule)
	}
	judged := map[string]*rule.VM{}
	of := map[string]*rule.Cluster{}
	for _, c := range r.Clusters {
		for _, v := range c.VMs {
			judged[v.ID], of[v.ID] = v, c
		}
	}
	for i := range o.Policy.Expect {
		e := &o.Policy.Expect[i]
		if e.Over(o.Today) {
			r.PolicyNotes = append(r.PolicyNotes, numa.Note{At: e.At, Text: fmt.Sprintf("the expectation %s ended on %s: renew or remove it", e.Rule.ID, e.Until)})
			continue
		}
		for j := range r.Fleet.VMs {
			v := &r.Fleet.VMs[j]
			if v.Template.Or(false) {
				continue
			}
			x.check(e, v, judged[v.ID], of[v.ID])
		}
	}
}

// expecting evaluates expectations of an assessed fleet.
type expecting struct {
	*Result
	options Options
	found   map[string][]string // IDs of rules by ID of the VM
	hosts   map[string]*numa.Host
}

// check evaluates an expectation for a VM, which has predictions on kinds of hosts of a cluster, or is not assessed.
func (x *expecting) check(e *policy.Expectation, v *numa.VM, on *rule.VM, c *rule.Cluster) {
	cluster := x.Fleet.ClusterName(v.Cluster)
	if on == nil {
		x.report(e, v, x.evaluate(e, v, cluster, x.hosts[v.Host], nil), nil, cluster)
		return
	}
	broken := map[string][]string{} // hosts by reason
	var order []string
	for _, list := range [][]rule.On{on.On, on.Refused} {
		for i := range list {
			why := x.evaluate(e, v, cluster, list[i].Kind.Hosts[0], &list[i].Layout)
			if why != "" && broken[why] == nil {
				order = append(order, why)
			}
			broken[why] = append(broken[why], list[i].Kind.HostNames()...)
		}
	}
	for _, why := range order {
		hosts := broken[why]
		if len(hosts) == len(c.Hosts) {
			hosts = nil
		}
		x.report(e, v, why, hosts, cluster)
	}
}

// evaluate returns the reason why the VM is not as expected: the message of the expectation, or the unknown values; "" if it is as expected,
// or the expectation does not apply.
func (x *expecting) evaluate(e *policy.Expectation, v *numa.VM, cluster string, h *numa.Host, l *vnuma.Layout) string {
	more := x.values(v, l)
	if e.For != nil {
		meant, lacks, err := e.For.Evaluate(v, cluster, h, more)
		switch {
		case err != nil:
			return x.fail(e, v, err)
		case lacks != nil:
			return lacking(e, lacks)
		case !meant:
			return ""
		}
	}
	yes, lacks, err := e.That.Evaluate(v, cluster, h, more)
	switch {
	case err != nil:
		return x.fail(e, v, err)
	case lacks != nil:
		return lacking(e, lacks)
	case yes:
		return ""
	}
	return "not as expected: " + e.Rule.Title
}

func lacking(e *policy.Expectation, words []string) string {
	return fmt.Sprintf("it cannot be told whether it is as expected (%s): unknown: %s", e.Rule.Title, strings.Join(words, ", "))
}

// fail stores the first error.
func (x *expecting) fail(e *policy.Expectation, v *numa.VM, err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n") // the rest shows the expression
	x.Failed = cmp.Or(x.Failed, fmt.Errorf("%s: the expectation %s cannot be evaluated for VM %s: %s", e.At, e.Rule.ID, v.Name, text))
	return "it cannot be evaluated: " + text
}

// values returns the additional words of expectations. Without a layout, those about the layout are unknown.
func (x *expecting) values(v *numa.VM, l *vnuma.Layout) map[string]any {
	settings := map[string]string{}
	for _, s := range v.Settings.Value {
		settings[s.Key] = s.Value
	}
	out := map[string]any{"planned": v.Planned != nil, "findings": append([]string{}, x.found[v.ID]...), "settings": nil}
	if v.Settings.Known() {
		out["settings"] = settings
	}
	for _, word := range []string{"guestNodes", "guestNodeSize", "clients", "homeNodes", "remoteShare", "wide", "powersOn"} {
		out[word] = nil
	}
	if l == nil {
		return out
	}
	out["powersOn"], out["wide"], out["clients"], out["homeNodes"], out["remoteShare"] = !l.Refused.Any(), l.Wide(), l.PPDs.Len(), l.HomeNodes, l.FarShare()
	out["guestNodes"], out["guestNodeSize"] = 1, l.VPDs.Max()
	if l.GuestSeesNUMA() {
		out["guestNodes"] = l.VPDs.Len()
	}
	return out
}

// report adds the finding about a VM that is not as expected.
func (x *expecting) report(e *policy.Expectation, v *numa.VM, why string, hosts []string, cluster string) {
	if why == "" {
		return
	}
	f := finding.Finding{Rule: e.Rule.ID, Title: e.Rule.Title, Severity: e.Severity, Cluster: cluster, VM: v.Name, VMID: v.ID, On: slices.Clone(hosts), Message: why,
		Advice:   e.Rule.Fix,
		Evidence: []finding.Evidence{{Name: "expected", Value: e.Text, Origin: "read: expect", At: e.At}}}
	if h := x.hosts[v.Host]; h != nil {
		f.Host, f.HostID = h.Name, h.ID
	}
	x.Findings = append(x.Findings, f)
}
