// Package fleet sums up what the rules found in a fleet: the headline, the figures of each
// cluster, how observations compare with predictions, which VMs differ from host to host,
// and everything about one VM on one host.
package fleet

import (
	"fmt"
	"strings"

	"homenode/internal/words"
	"homenode/rules"
	"homenode/rules/finding"
)

// Verdict says in one sentence how many VMs lose to NUMA, and in a second line what that
// leaves open; there is none when it leaves nothing open.
func Verdict(r *rules.Result) []string {
	off := off(r)
	vms, hosts := worst(r, off)
	high, medium := vms[finding.High], vms[finding.Medium]
	judged := words.Plural(r.VMs, "VM")
	var headline string
	switch {
	case r.VMs == 0:
		headline = "No VM could be judged."
	case high == 0 && medium == 0:
		headline = fmt.Sprintf("None of %s loses anything to NUMA that settings could avoid.", judged)
	case high == 0:
		headline = fmt.Sprintf("None of %s loses much to NUMA; %s a little, or will after a move.", judged, words.Verb(medium, "loses", "lose"))
	case medium == 0:
		headline = words.Verb(high, "of "+judged+" loses", "of "+judged+" lose") + " to NUMA."
	default:
		headline = fmt.Sprintf("%s to NUMA; %s a little, or will after a move.", words.Verb(high, "of "+judged+" loses", "of "+judged+" lose"), words.Verb(medium, "more loses", "more lose"))
	}
	var rest []string
	if n := len(off); n > 0 {
		rest = append(rest, fmt.Sprintf("%s not power on (%s).", words.Verb(n, "VM does", "VMs do"), strings.Join(offBy(r), ", ")))
	}
	if fine := r.VMs - high - medium - len(off); high+medium > 0 && fine > 0 {
		rest = append(rest, fmt.Sprintf("The other %s nothing urgent.", words.Verb(fine, "needs", "need")))
	}
	if n := hosts[finding.High] + hosts[finding.Medium]; n > 0 {
		rest = append(rest, fmt.Sprintf("%s findings of medium or high severity.", words.Verb(n, "host itself has", "hosts themselves have")))
	}
	if n := len(r.Fleet.VMs) - r.VMs - templates(r); n > 0 {
		rest = append(rest, fmt.Sprintf("%s could not be judged: see the notes.", words.Plural(n, "VM")))
	}
	if n := len(r.LeftOut); n > 0 {
		rest = append(rest, fmt.Sprintf("%s left out of what is shown.", words.Verb(n, "finding is", "findings are")))
	}
	if rest == nil {
		return []string{headline}
	}
	return []string{headline, strings.Join(rest, " ")}
}

// off returns the VMs, by ID, that do not power on: NUMA costs them nothing.
func off(r *rules.Result) map[string]bool {
	out := map[string]bool{}
	for v := range r.EachVM() {
		if v.Off() {
			out[v.ID] = true
		}
	}
	return out
}

// offBy returns the rules that tell of VMs that do not power on.
func offBy(r *rules.Result) (ids []string) {
	latency, other := false, false
	for v := range r.EachVM() {
		by := v.Off() && v.On[0].Layout.Refused.ByLatency()
		latency, other = latency || by, other || v.Off() && !by
	}
	if latency {
		ids = append(ids, "N026")
	}
	if other {
		ids = append(ids, "N032")
	}
	return ids
}

// worst counts the VMs that power on and the hosts by the severity of the worst finding
// about each, shown or not, of settings or seen now. What a finding about hosts costs VMs counts for these too.
func worst(r *rules.Result, off map[string]bool) (vms, hosts [finding.High + 1]int) {
	byVM, byHost := map[string]finding.Severity{}, map[string]finding.Severity{}
	for v := range r.EachVM() {
		if !off[v.ID] {
			byVM[v.ID] = finding.Info
		}
	}
	raise := func(of map[string]finding.Severity, s finding.Severity, ids ...string) {
		for _, id := range ids {
			of[id] = max(of[id], s)
		}
	}
	for _, all := range [][]finding.Finding{r.Findings, r.LeftOut, r.Seen} {
		for i := range all {
			switch f := &all[i]; {
			case f.VMID != "":
				raise(byVM, f.Severity, f.VMID)
			case f.AboutIDs != nil:
				raise(byHost, f.Severity, f.AboutIDs...)
			default:
				raise(byHost, f.Severity, f.HostID)
			}
			for _, id := range all[i].Costs {
				if _, judged := byVM[id]; judged {
					raise(byVM, all[i].Severity, id)
				}
			}
		}
	}
	for id, s := range byVM {
		if !off[id] {
			vms[s]++
		}
	}
	for _, s := range byHost {
		hosts[s]++
	}
	return vms, hosts
}

func templates(r *rules.Result) int {
	n := 0
	for i := range r.Fleet.VMs {
		if r.Fleet.VMs[i].Template.Or(false) {
			n++
		}
	}
	return n
}
