// Package stated summarises the findings in a KVM fleet.
package stated

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
)

// Verdict returns one sentence with the number of VMs that NUMA slows because of their definitions, and a second line
// with open questions.
func Verdict(r *rules.Result) []string {
	worst := map[string]finding.Severity{}
	for _, f := range slices.Concat(r.Findings, r.LeftOut) { // a filter of findings hides none of them here
		worst[f.VMID] = max(worst[f.VMID], f.Severity)
	}
	high, medium := 0, 0
	for _, s := range worst {
		switch s {
		case finding.High:
			high++
		case finding.Medium:
			medium++
		}
	}
	alone, unseen := 0, 0
	for _, v := range r.Stated {
		if v.Host == nil || !v.Host.Nodes.Known() {
			alone++
		} else if v.MemoryOn() == nil {
			unseen++
		}
	}
	all := words.Plural(r.VMs, "VM")
	unread := r.Unread()
	headline := r.Slowed(high, medium, "its definition", "")
	switch {
	case r.VMs == 0 || high+medium > 0:
	case alone == r.VMs:
		headline = fmt.Sprintf("Nothing was found in the definition of %s, by itself.", all)
	case unread != "":
		headline = fmt.Sprintf("%s. In the rest, no performance is lost to NUMA that its definition could avoid (%s checked).", unread, all)
		unread = ""
	}
	var rest []string
	if n := len(r.Fleet.VMs) - r.VMs; n > 0 {
		rest = append(rest, fmt.Sprintf("%s could not be judged: see the notes.", words.Plural(n, "VM")))
	}
	if unread != "" {
		rest = append(rest, unread+": see the notes.")
	}
	if alone > 0 {
		rest = append(rest, fmt.Sprintf("Of %s the nodes of the host are unknown: most is not judged.", words.Plural(alone, "VM")))
	}
	if unseen > 0 {
		rest = append(rest, fmt.Sprintf("Where the memory of %s is was not seen (numastat).", words.Plural(unseen, "VM")))
	}
	return slices.DeleteFunc([]string{r.Filtered(), headline, strings.Join(rest, " ")}, func(s string) bool { return s == "" })
}
