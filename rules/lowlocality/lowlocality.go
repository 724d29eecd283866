// Package lowlocality finds VMs whose memory was remote for long.
package lowlocality

import (
	"fmt"

	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is M001.
var Rule = &rule.Rule{
	ID:    "M001",
	Name:  "lowlocality",
	Title: "N%L was low for long: much of the memory was remote",
	Why: `A remote access takes about 1.7 times as long as a local one and goes over the link between the nodes,
which all VMs share. Memory becomes remote when the home node has none free, or when the VM is moved to another
home node and its memory follows slowly: ESXi moves at most 31 to 125 MB a second, and far less of memory
that is not in use.`,
	Fix: `Make room: move a VM away from the home node's host, or give VMs less memory. ESXi brings memory home by
itself once the home node has room and the VM works, in minutes to hours. A power cycle places the VM anew, and so
does vMotion to another host and back; a reboot of the guest does not.`,
	Limits: `Memory that the guest does not touch costs nothing where it is: an idle VM with low N%L is low only. N%L
counts all home nodes of the VM as local: an interleaved VM reads 100 (M006). With sub-NUMA clustering (SNC) memory on the
other node of the same package counts as remote and costs about a tenth more, not 1.7 times (A-10): N%L does not tell which.
Just after vMotion or a change of
home node N%L is low for minutes and recovers: set minutes to bear with it. Other tools alarm below 85 (esx-doctor,
for 8 samples), 85 to 95 or 90; 80 is the oldest rule of thumb, and set M001.locality to what you trust.`,
	Book: []string{"C-9", "C-10", "C-15", "C-16", "C-17", "A-10", "D-2"},
	Sources: []string{
		"Epping, esxtop thresholds, http://www.yellow-bricks.com/esxtop/ (N%L below 80)",
		"Datacenter Dan, vSphere 5.5 best practice #3, http://www.datacenterdan.com/blog/vsphere-55-bptroubleshooting03-esxtop-memory (below 85 to 95)",
		"esx-doctor, https://github.com/haoyifan/esx-doctor (below 85 for 8 samples); codenotary (below 90)",
		"Denneman, Memory deep dive: NUMA and data locality, 2015, https://frankdenneman.nl/2015/02/27/memory-deep-dive-numa-data-locality/",
	},
	Severity: finding.High,
	Thresholds: []rule.Threshold{{
		Name: "locality", Default: 0.80, Unit: rule.Share, Least: 0.01, Most: 1,
		Text: "N%L below which memory counts as far away: 80 is the oldest rule of thumb (yellow-bricks) and Denneman's guess of where ESXi begins to act; esx-doctor takes 85, codenotary 90, others up to 95",
	}, {
		Name: "minutes", Default: rule.LowMinutes, Unit: rule.Minutes, Least: 0, Most: 1440,
		Text: "how long it has to be low without a break, at two ticks or more: the balancer looks every 2 seconds and moves memory at 31 to 125 MB a second, so shorter dips are its normal work (C-9, C-16)",
	}, {
		Name: "remote", Default: 0.25, Unit: rule.GiB, Least: 0, Most: 24576,
		Text: "remote memory at the most below which the finding is low: 256 MB are 2 to 8 seconds of page migration (C-16), and a small VM has hardly more outside its working set",
	}, {
		Name: "idle", Default: 0.01, Unit: rule.Share, Least: 0, Most: 1,
		Text: "mean use of each vCPU below which the VM counts as idle, and the finding is low: who computes nothing waits for no memory",
	}},
	VMs:   true,
	Watch: watch,
	Needs: []string{"Numa Local Memory MBytes"},
}

func watch(w *rule.Watch) {
	v := w.VM
	if !w.LowForLong() {
		return
	}
	s := &v.Low.Longest
	limit := rule.NL(w.Host.Options.Locality)
	f := finding.Finding{
		From: s.From, To: s.To,
		Severity: finding.Medium,
		Message:  fmt.Sprintf("N%%L was below %s for %s, %s: %s at the least", limit, rule.Duration(s.Length()), w.Span(s), rule.NL(s.Worst)),
		Evidence: []finding.Evidence{
			w.Limit("locality", limit),
			rule.Saw("below it", rule.Duration(s.Length()), rule.FieldBoth, s.From),
			rule.Saw("least N%L of that time", rule.NL(s.Worst), rule.FieldBoth, s.At),
		},
	}
	if l := &v.Least; l.Local+l.Remote > 0 && l.Time.Equal(s.At) {
		f.Message += fmt.Sprintf(" (%s of %s remote)", l.Remote, l.Local+l.Remote)
		f.Evidence = append(f.Evidence, rule.Saw("remote", l.Remote.String(), rule.FieldNRMEM, l.Time), rule.Saw("local and remote", (l.Local+l.Remote).String(), rule.FieldBoth, l.Time))
	}
	if v.Managed > 0 {
		share := float64(v.Low.Time) / float64(v.Managed)
		text := rule.Percent(share)
		f.Message += fmt.Sprintf("; it was below for %s of the time", text)
		f.Evidence = append(f.Evidence, w.Counted("time below it", text, rule.FieldBoth))
		if share >= 0.5 { // it is the state of the VM, not an episode
			f.Severity = finding.High
		}
	}
	if mean, ok := v.Remote.Mean(v.Managed); ok {
		mean -= mean % numa.MiB
		f.Message += fmt.Sprintf(", with %s remote on average", mean)
		f.Evidence = append(f.Evidence, w.Counted("mean remote memory", mean.String(), rule.FieldNRMEM))
	}
	w.ExplainRemote(&f, s)
	if used, ok := v.Used.Mean(); ok && v.VCPUs > 0 && used < w.Threshold("idle") {
		f.Severity = finding.Low
		f.Message += "; the VM was idle on average"
		f.Evidence = append(f.Evidence, w.Counted("mean use of a vCPU", rule.Percent(used), rule.FieldUSED))
	}
	if least := numa.Bytes(w.Threshold("remote") * float64(numa.GiB)); v.Remote.Most < least {
		f.Severity = finding.Low
		f.Message += fmt.Sprintf("; less than %s were remote", least)
		f.Evidence = append(f.Evidence, w.Limit("remote", least.String()), rule.Saw("most remote memory", v.Remote.Most.String(), rule.FieldNRMEM, v.Remote.At))
	}
	w.Report(f)
}
