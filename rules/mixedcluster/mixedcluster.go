// Package mixedcluster finds hosts of a cluster on which a VM loses its shape.
package mixedcluster

import (
	"fmt"

	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is N014.
var Rule = &rule.Rule{
	ID:    "N014",
	Name:  "mixedcluster",
	Title: "the VM's topology does not fit every host of its cluster",
	Why: `The guest keeps the virtual nodes of the host it was powered on. After vMotion to a host with
other nodes its clients are made anew there: a virtual node can be carried by several physical nodes, and
the guest cannot know. DRS and HA move VMs without asking.`,
	Fix: `Keep hosts of one shape in a cluster, bind the VM to the hosts that suit it by a DRS rule, or size
it for the smallest node of the cluster.`,
	Limits: `VMs with CPU hot add have one virtual node everywhere: N001 speaks about them. What N010 says
about the VM's own host is not repeated here.`,
	Book: []string{"D-1", "D-3", "B-7", "B-8"},
	Sources: []string{
		"Denneman, Solving vNUMA topology mismatch when migrating between dual-socket and quad-socket servers, 2022, https://frankdenneman.nl/2022/03/11/solving-vnuma-topology-mismatch-when-migrating-between-dual-socket-servers-and-quad-socket-servers/",
		"VMware vSphere Resource Management, “Using Virtual NUMA” (GUID-17B629DE)",
	},
	Severity: finding.Medium,
	VMs:      true,
	Check:    check,
}

func check(p *rule.Pass) {
	v := p.VM
	if v.Home == nil || len(v.On) < 2 || v.Guest.Affinity {
		return
	}
	home := &v.On[0]
	if home.Layout.Why == vnuma.ByHotAdd || home.Layout.Why == vnuma.ByRelease {
		return
	}
	if _, spans := home.Layout.Spanning(); spans {
		return
	}
	var hosts []*numa.Host
	var worst *vnuma.Layout
	evidence := []finding.Evidence{v.VCPUsEvidence(), home.Kind.NodesEvidence()}
	for i := 1; i < len(v.On); i++ {
		k := v.On[i].Kind
		moved := v.Moved(k, p.Choices)
		ready := reachable(k.Hosts)
		if _, spans := moved.Spanning(); !spans || len(ready) == 0 {
			continue
		}
		hosts = append(hosts, ready...)
		evidence = append(evidence, k.NodesEvidence())
		if worst == nil || moved.PPDs.Len() > worst.PPDs.Len() {
			worst = &moved
		}
	}
	if worst == nil {
		return
	}
	vpd, _ := worst.Spanning()
	first, last := worst.Carriers(vpd)
	advice, notice := p.Advice()
	drs := fmt.Sprintf("Keep the VM off %s with a DRS rule", rule.HostNames(hosts))
	if !p.Plan().Better {
		advice, notice = drs, ""
	} else {
		advice = rule.Or(drs, advice)
	}
	p.Report(finding.Finding{
		Severity: finding.Medium,
		On:       names(hosts),
		Message: fmt.Sprintf("after vMotion to %s the guest keeps %s, but runs there as %d clients (%s): virtual node %d is carried by %d of them",
			rule.HostNames(hosts), kept(worst), worst.PPDs.Len(), worst.PPDs, vpd, last-first+1),
		Advice:   advice,
		Notice:   notice,
		Evidence: evidence,
	}, worst)
}

func names(hosts []*numa.Host) []string {
	out := make([]string, len(hosts))
	for i, h := range hosts {
		out[i] = h.Name
	}
	return out
}

// reachable returns the hosts that a VM can move to now.
func reachable(hosts []*numa.Host) []*numa.Host {
	var out []*numa.Host
	for _, h := range hosts {
		if !h.Maintenance.Or(false) && h.Connection.Or("connected") == "connected" {
			out = append(out, h)
		}
	}
	return out
}

func kept(l *vnuma.Layout) string {
	if !l.GuestSeesNUMA() {
		return "its 1 node"
	}
	return fmt.Sprintf("its %d nodes (%s vCPU)", l.VPDs.Len(), l.VPDs)
}
