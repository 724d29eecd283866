// Package remotememory finds VMs with gigabytes of remote memory behind a fair N%L.
package remotememory

import (
	"fmt"

	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is M005.
var Rule = &rule.Rule{
	ID:    "M005",
	Name:  "remotememory",
	Title: "gigabytes of memory were remote though N%L looked fair",
	Why: `N%L is a share: 90 of a VM with 1 TB are 100 GB on another node. What a database keeps there is read over
the link between the nodes, which all VMs of the host share, whatever the percentage.`,
	Fix: `Make room on the home node: move a VM to another host, or give VMs less memory. ESXi brings memory home once there
is room and the VM works. A power cycle places the VM anew, and so does vMotion to another host and back; a reboot of
the guest does not.`,
	Limits: `Memory that the guest does not touch costs nothing where it is, and ESXi leaves it there. A VM that M001 tells of
is left to that, unless N%L was fair for more than half of the time. The VM whose memory exceeds its node has it by design (N005).`,
	Book: []string{"C-15", "C-16", "C-17", "B-17", "A-10", "D-2"},
	Sources: []string{
		"Datacenter Dan, vSphere 5.5 best practice #3, http://www.datacenterdan.com/blog/vsphere-55-bptroubleshooting03-esxtop-memory (below 85 to 95)",
		"Denneman, Memory deep dive: NUMA and data locality, 2015, https://frankdenneman.nl/2015/02/27/memory-deep-dive-numa-data-locality/",
		"“VMware ESXi 6.0, the effect of NUMA balancing on performance, part 2” (in Russian), 2018",
	},
	Severity: finding.Medium,
	Thresholds: []rule.Threshold{{
		Name: "remote", Default: 4, Unit: rule.GiB, Least: 0.001, Most: 24576,
		Text: "remote memory that counts whatever the share: 4 GB take ESXi half a minute to two minutes to bring home at full rate (C-16), so what stays longer is not on its way",
	}, {
		Name: "fair", Default: 0.95, Unit: rule.Share, Least: 0, Most: 1,
		Text: "N%L from which on, all the time, the finding is low: no published alarm is stricter than 95, and a twentieth of the accesses, all as slow as remote ones are, cost 3 or 4 % of latency (A-10)",
	}, {
		Name: "minutes", Default: 15, Unit: rule.Minutes, Least: 0, Most: 1440,
		Text: "how long without a break: in the experiment of 2018 the balancer left 7 GB remote for 15 minutes",
	}},
	VMs:   true,
	Watch: watch,
	Needs: []string{"Numa Local Memory MBytes"},
}

func watch(w *rule.Watch) {
	v := w.VM
	s := &v.Far.Longest
	if v.Far.Count == 0 || s.Length().Minutes() < w.Threshold("minutes") || w.LowForLong() && v.Far.Time <= 2*v.Low.Time {
		return
	}
	limit := w.Host.Options.Remote.String()
	most := numa.Bytes(s.Worst)
	f := finding.Finding{
		From: s.From, To: s.To,
		Severity: finding.Medium,
		Message:  fmt.Sprintf("%s or more were remote for %s, %s: %s at the most", limit, rule.Duration(s.Length()), w.Span(s), most),
		Evidence: []finding.Evidence{
			w.Limit("remote", limit),
			rule.Saw("that much remote for", rule.Duration(s.Length()), rule.FieldNRMEM, s.From),
			rule.Saw("most remote memory", most.String(), rule.FieldNRMEM, s.At),
		},
	}
	if mean, ok := rule.MeanLocality(v); ok {
		least, _ := share(v.Least.Local, v.Least.Remote)
		hides := " hides it:"
		if mean < w.Host.Options.Locality {
			hides = " was"
		}
		f.Message += fmt.Sprintf("; N%%L%s %s on average, %s at the least", hides, rule.NL(mean), least)
		f.Evidence = append(f.Evidence, w.Counted("mean N%L", rule.NL(mean), rule.FieldBoth),
			rule.Saw("least N%L", least, rule.FieldBoth, v.Least.Time))
	}
	if least, ok := rule.LeastLocality(v, s.From, s.To); ok && least >= w.Threshold("fair") {
		f.Severity = finding.Low
		f.Evidence = append(f.Evidence, w.Limit("fair", rule.NL(w.Threshold("fair"))))
	}
	w.ExplainRemote(&f, s)
	w.Report(f)
}

// share writes N%L of local and remote memory.
func share(local, remote numa.Bytes) (text string, ok bool) {
	if local+remote <= 0 {
		return "unknown", false
	}
	return rule.NL(float64(local) / float64(local+remote)), true
}
