// Package fleet summarises the findings in a fleet: the headline, the figures of each cluster, the agreement of observations with
// predictions, the VMs that differ from host to host, and all facts about one VM on one host.
package fleet

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// Verdict returns one sentence with the number of VMs that NUMA slows, and a second line with open questions; it is omitted if there
// are none.
func Verdict(r *rules.Result) []string {
	off, names := off(r)
	vms, beside, hosts, idle := worst(r, off)
	high, medium := vms[finding.High], vms[finding.Medium]
	later := ", or after a vMotion"
	if idle {
		later += " or power-on"
	}
	headline := r.Slowed(high, medium, "settings", later)
	unsure := r.Unread() != "" || Unknown(r) != ""
	if high+medium == 0 && r.VMs > 0 && unsure {
		headline = strings.TrimSuffix(headline, ".") + ", as far as is known."
	}
	var rest []string
	if len(off) > 0 {
		refused := fmt.Sprintf("%s not power on: %s.", words.Verb(len(off), "VM does", "VMs do"), words.Few(names))
		if len(off) > high+medium { // more urgent
			headline, refused = refused, headline
		}
		rest = append(rest, refused)
	}
	if beside > 0 {
		rest = append(rest, fmt.Sprintf("%s findings of medium or high severity that NUMA does not cause.", words.Verb(beside, "VM has", "VMs have")))
	}
	if fine := r.VMs - high - medium - beside - len(off); high+medium+beside > 0 && fine > 0 {
		sure := "."
		if unsure {
			sure = ", as far as is known."
		}
		rest = append(rest, fmt.Sprintf("The other %s nothing urgent%s", words.Verb(fine, "needs", "need"), sure))
	}
	if n := worseElsewhere(r); n > 0 {
		rest = append(rest, words.Verb(n, "VM would be worse on another host of its cluster.", "VMs would be worse on other hosts of their clusters."))
	}
	if n := accepted(r); n > 0 {
		rest = append(rest, fmt.Sprintf("Findings of medium or high severity of %s are accepted.", words.Plural(n, "VM")))
	}
	if n := hosts[finding.High] + hosts[finding.Medium]; n > 0 {
		rest = append(rest, fmt.Sprintf("%s of medium or high severity.", words.Verb(n, "host has findings of its own", "hosts have findings of their own")))
	}
	if n, most, over := overcommitted(r); n > 0 {
		who := words.Verb(n, "host cannot hold all memory of its running VMs beside what ESXi keeps for itself,", "hosts cannot hold all memory of their running VMs beside what ESXi keeps for itself, most")
		rest = append(rest, fmt.Sprintf("%s %s: %s do not fit.", who, texttab.Clean(most), over))
	}
	rest = append(rest, lacking(r)...)
	if n := len(r.Fleet.VMs) - r.VMs - templates(r); n > 0 {
		rest = append(rest, fmt.Sprintf("%s could not be judged: see the notes.", words.Plural(n, "VM")))
	}
	if hosts := unjudged(r); hosts != nil && r.VMs > 0 {
		rest = append(rest, fmt.Sprintf("%s not judged: %s.", words.Verb(len(hosts), "host is", "hosts are"), words.Few(hosts)))
	}
	if n := twice(r); n > 0 {
		rest = append(rest, fmt.Sprintf("%s twice, by name and UUID: leave one of their sources out.", words.Verb(n, "VM counts", "VMs count")))
	}
	if text := r.Fleet.LoadUnknown(); text != "" {
		rest = append(rest, words.Capital(text)+".")
	}
	if text := r.Unread(); text != "" {
		rest = append(rest, text+", so VMs may be missing: see the notes.")
	}
	if text := Unknown(r); text != "" {
		rest = append(rest, text)
	}
	return slices.DeleteFunc([]string{r.Filtered(), headline, strings.Join(rest, " ")}, func(s string) bool { return s == "" })
}

// worseElsewhere counts the assessed VMs that get a worse layout on another host of their cluster than on their own.
func worseElsewhere(r *rules.Result) (n int) {
	for v := range r.EachVM() {
		if slices.ContainsFunc(v.On, v.Worsens) {
			n++
		}
	}
	return n
}

// overcommitted counts the hosts of the shown VMs whose running VMs have more memory than ESXi leaves for VMs (a finding of H007), and returns the one with the largest excess.
func overcommitted(r *rules.Result) (n int, most string, excess numa.Bytes) {
	on := numa.ByKey(r.Fleet.VMs, func(v *numa.VM) string { return v.Host })
	for _, c := range r.Clusters {
		for _, k := range c.Kinds {
			for _, h := range k.Hosts {
				over := c.Excess(k, h)
				if over <= 0 || on[h.ID] == nil || h.TierMemory.Value > 0 {
					continue
				}
				if n++; over > excess {
					most, excess = h.Name, over
				}
			}
		}
	}
	return n, most, excess
}

// lacking names the clusters of the shown VMs whose hosts together lack memory for their running VMs; none if there are none.
func lacking(r *rules.Result) []string {
	on := numa.ByKey(r.Fleet.VMs, func(v *numa.VM) string { return v.Host })
	var clusters []string
	for _, c := range r.Clusters {
		shown := slices.ContainsFunc(c.Hosts, func(h *numa.Host) bool { return on[h.ID] != nil })
		if over := c.Lacks(); over > 0 && shown {
			clusters = append(clusters, fmt.Sprintf("%s (%s)", texttab.Clean(c.Name), over))
		}
	}
	if clusters == nil {
		return nil
	}
	return []string{fmt.Sprintf("All hosts together lack memory for the running VMs in %s: no move within a cluster cures that.", words.List(clusters))}
}

// accepted counts the VMs that would be urgent without the findings that the configuration accepts.
func accepted(r *rules.Result) int {
	urgent, out := map[string]bool{"": true}, 0
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Severity >= finding.Medium {
			urgent[f.VMID] = true
		}
	}
	for i := range r.Suppressed {
		if s := &r.Suppressed[i]; s.Severity >= finding.Medium && !urgent[s.VMID] {
			urgent[s.VMID] = true
			out++
		}
	}
	return out
}

// GuestSoftware names the software in guests as a fact, and what depends on it.
var GuestSoftware = fmt.Sprintf("the guest software (SQL Server Standard uses the lesser of %d sockets and %d cores, 32 in 2025)", rule.FewSockets, rule.FewCores)

// deciding are the facts that affect NUMA.
var deciding = []struct {
	name    string
	unknown func(*rule.VM, *vnuma.Layout) bool
}{
	{"the host", func(v *rule.VM, _ *vnuma.Layout) bool { return v.Host == nil }},
	{"the size of the host", func(v *rule.VM, _ *vnuma.Layout) bool { return v.Host != nil && v.Home == nil }},
	{"the nodes of the host (one for each package or die is assumed)", func(_ *rule.VM, l *vnuma.Layout) bool { return l.Assumes&vnuma.AssumedNodes != 0 }},
	{"the memory of the nodes", func(v *rule.VM, l *vnuma.Layout) bool {
		return v.Memory.Known() && !l.Memory.Known && l.Nodes > 1 && !l.Refused.Any()
	}},
	{"hyper-threading", func(_ *rule.VM, l *vnuma.Layout) bool { return l.Assumes&vnuma.AssumedThreads != 0 }},
	{"the memory", func(v *rule.VM, _ *vnuma.Layout) bool { return !v.Memory.Known() }},
	{"CPU hot add", func(_ *rule.VM, l *vnuma.Layout) bool { return l.Assumes&vnuma.AssumedHotAdd != 0 }},
	{"cores per socket", func(_ *rule.VM, l *vnuma.Layout) bool { return l.Assumes&vnuma.AssumedCPS != 0 }},
	{"advanced settings", func(_ *rule.VM, l *vnuma.Layout) bool {
		return l.Assumes&(vnuma.AssumedSettings|vnuma.AssumedPowerOn) != 0
	}},
	{"the frequency of the cores (the VM has a CPU limit or reservation)", func(v *rule.VM, _ *vnuma.Layout) bool { return !v.FrequencyKnown() }},
	{GuestSoftware, func(v *rule.VM, _ *vnuma.Layout) bool { return v.EditionDecides() }},
	{"the guest software (perhaps SAP HANA by its name)", func(v *rule.VM, _ *vnuma.Layout) bool { return v.MayRunHANA() }},
	{"reservations of latency sensitivity High", func(v *rule.VM, _ *vnuma.Layout) bool {
		return v.LatencyHigh() && !(v.ReservationKnown() && v.CPUReservation.Known())
	}},
}

// Unknown lists the unknown facts that affect NUMA, with the number of assessed VMs; "" if all are known.
func Unknown(r *rules.Result) string {
	var parts, ofAll []string
	for _, f := range deciding {
		n := 0
		for v := range r.EachVM() {
			if f.unknown(v, &v.On[0].Layout) {
				n++
			}
		}
		switch {
		case n == 0:
		case n == r.VMs && r.VMs > 1:
			ofAll = append(ofAll, f.name)
		default:
			parts = append(parts, fmt.Sprintf("%s of %s", f.name, words.Plural(n, "VM")))
		}
	}
	text := ""
	if ofAll != nil {
		text = "Not known for any VM: " + strings.Join(ofAll, ", ") + "."
	}
	if parts != nil {
		text += " Not known: " + strings.Join(parts, ", ") + "."
	}
	return strings.TrimSpace(text)
}

// StoredSizes returns notes about the stored sizes that the predictions of these VMs assume because their advanced settings are unknown.
func StoredSizes(vms iter.Seq[*numa.VM]) (notes []string) {
	runs, off := 0, 0
	for v := range vms {
		switch {
		case v.SizeAssumed:
			runs++
		case !v.Settings.Known() && !v.Template.Value && v.Power.Value == numa.PoweredOff:
			off++
		}
	}
	if runs > 0 {
		notes = append(notes, fmt.Sprintf("%s unknown advanced settings: assumed to keep the size that the last power-on stored, on the present host or as the newest vmware.log or the guest shows (B-8)", words.Verb(runs, "VM that runs has", "VMs that run have")))
	}
	if off > 0 {
		notes = append(notes, fmt.Sprintf("%s unknown advanced settings: no stored size is assumed, although an earlier power-on may have left one (B-8)", words.Verb(off, "VM that is off has", "VMs that are off have")))
	}
	return notes
}

// twice counts the assessed VMs with the name and UUID of an earlier one, for example from an older export of the same vCenter.
func twice(r *rules.Result) (n int) {
	seen := map[[2]string]bool{}
	for v := range r.EachVM() {
		key := [2]string{v.Name, strings.ToLower(v.UUID)}
		if seen[key] {
			n++
		}
		seen[key] = v.UUID != ""
	}
	return n
}

// unjudged returns the names of the shown hosts without a prediction.
func unjudged(r *rules.Result) (names []string) {
	shown := r.Fleet.HostsByID()
	for _, c := range r.Clusters {
		for _, h := range c.Unjudged() {
			if shown[h.ID] != nil {
				names = append(names, h.Name)
			}
		}
	}
	return names
}

// off returns the VMs, by ID, that do not power on, or would not again: they count as such alone, whatever else is found about them. names has them in the
// order of the fleet.
func off(r *rules.Result) (ids map[string]bool, names []string) {
	ids = map[string]bool{}
	for _, c := range r.Clusters {
		for _, v := range c.VMs {
			if !v.Off() && !c.Denied(v).Any() {
				continue
			}
			ids[v.ID] = true
			if names = append(names, v.Name); v.Runs() {
				names[len(names)-1] += " (" + rule.NotAgain + ")"
			}
		}
	}
	return ids, names
}

// worst counts the VMs that power on and the hosts by the severity of their worst finding, shown or not. A finding about hosts also
// counts for the VMs that it affects. Harm that NUMA does not cause counts apart: beside are the VMs with no other of medium or high severity.
// A VM that is off counts as medium at most, and idle says that there is one.
func worst(r *rules.Result, off map[string]bool) (vms [finding.High + 1]int, beside int, hosts [finding.High + 1]int, idle bool) {
	byVM, byHost, apart := map[string]finding.Severity{}, map[string]finding.Severity{}, map[string]bool{}
	stopped := map[string]bool{} // nothing slows them yet
	for v := range r.EachVM() {
		stopped[v.ID] = v.Power.Value == numa.PoweredOff
		if !off[v.ID] {
			byVM[v.ID] = finding.Info
		}
	}
	raise := func(of map[string]finding.Severity, s finding.Severity, ids ...string) {
		for _, id := range ids {
			of[id] = max(of[id], s)
		}
	}
	for _, all := range [][]finding.Finding{r.Findings, r.LeftOut} {
		for i := range all {
			f := &all[i]
			costs := f.Costs
			switch {
			case f.VMID != "":
				costs = append(slices.Clip(costs), f.VMID)
			case f.AboutIDs != nil:
				raise(byHost, f.Severity, f.AboutIDs...)
			default:
				raise(byHost, f.Severity, f.HostID)
			}
			one := r.Rule(f.Rule)
			for _, id := range costs {
				switch _, judged := byVM[id]; {
				case !judged: // a template
				case f.VMID != "" && one != nil && one.Beside:
					apart[id] = apart[id] || f.Severity >= finding.Medium
				default:
					raise(byVM, f.Severity, id)
				}
			}
		}
	}
	for id, s := range byVM {
		if stopped[id] && s >= finding.Medium {
			s, idle = finding.Medium, true
		}
		vms[s]++
		if s < finding.Medium && apart[id] {
			beside++
		}
	}
	for i := range r.Fleet.Hosts { // those that are shown
		hosts[byHost[r.Fleet.Hosts[i].ID]]++
	}
	return vms, beside, hosts, idle
}

func templates(r *rules.Result) int {
	return words.Count(r.Fleet.VMs, func(v numa.VM) bool { return v.Template.Or(false) })
}
