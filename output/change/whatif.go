package change

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/change/diff"
	"example.org/homenode/change/whatif"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	size "example.org/homenode/output/size/fit"
	"example.org/homenode/rules/verdict/fleet"
	"example.org/homenode/size/fit"
)

// WhatIf returns the answer of a what-if: the fleet before and after the change.
func WhatIf(r *whatif.Result, o Options) *answer.Answer {
	a := &answer.Answer{Command: "assess", Format: "homenode-what-if", Version: 2, Title: "What if", Verdict: []string{verdicts(r.Drift) + unfit(r.Capacity)}, Result: r}
	if one := oneVM(r); one != "" {
		a.Verdict = append([]string{one}, a.Verdict...)
	}
	a.Verdict = slices.Concat(Shortages(r.Capacity), reliefs(r.Capacity), crowd(r), a.Verdict, spares(r.Capacity), editions(r.VMs))
	if text := r.A.Fleet.LoadUnknown(); text != "" {
		a.Verdict = append(a.Verdict, words.Capital(text)+".")
	}
	for i := range r.Changes {
		e := &r.Changes[i]
		a.Facts = append(a.Facts, answer.Fact{Name: "change", Text: e.Change + ": " + effectText(e)})
	}
	shownFact(a, r.Drift)
	worse := worsened(r.Drift, o)
	if whatif.Short(r.Capacity) != nil {
		worse = append(worse, "capacity is short")
	}
	exitFact(a, worse)
	a.Tables = append(addSettings(nil, r.Hosts, nil, o, "today", "changed"), differences(r.Drift, o, "today", "changed")...)
	if len(r.Capacity) > 0 {
		t := answer.Table{Name: "capacity", Columns: answer.Columns("capacity", "hosts", "memory of VMs / for VMs", "reserved", "vCPUs per core", "")}
		for i := range r.Capacity {
			c := &r.Capacity[i]
			t.Add(c.Cluster, arrow(strconv.Itoa(c.Before.Hosts), strconv.Itoa(c.After.Hosts)), memoryUse(c), arrow(reserved(&c.Before), reserved(&c.After)), arrow(load(&c.Before), load(&c.After)), withLoss(c, o.Losses[c.ID], o.Today[c.ID]))
		}
		a.Tables = append(a.Tables, t)
	}
	drawChanged(a, r)
	a.Note(fleet.StoredSizes(predicted(r))...)
	a.NotesFrom("source", r.Notes()...)
	return a
}

// reliefs names the clusters and hosts that lack memory for their VMs today, and after the change less of it, while all of these VMs run.
func reliefs(all []whatif.Capacity) (out []string) {
	for i := range all {
		c := &all[i]
		if c.After.Lacks() >= c.Before.Lacks() || c.After.Unknown+c.Stopped > 0 || c.After.Hosts == 0 {
			continue
		}
		lacks, moves := "none", ""
		if over := c.After.Lacks(); over > 0 {
			lacks = over.String()
		}
		if c.After.Hosts > c.Before.Hosts {
			moves = ", once VMs move to the hosts that it gains"
		}
		out = append(out, fmt.Sprintf("Today %s lacks %s for its VMs, by the sum of memory; after the change it lacks %s%s.", texttab.Clean(c.Cluster), c.Before.Lacks(), lacks, moves))
	}
	return out
}

// spares names the clusters that have memory for the failure of any one host today, and after the change have not.
func spares(all []whatif.Capacity) (out []string) {
	for i := range all {
		if c := &all[i]; c.LosesSpare() {
			out = append(out, fmt.Sprintf("Today %s survives the loss of any one host, by the sum of memory; after the change it does not: %s.", texttab.Clean(c.Cluster), without(&c.Without)))
		}
	}
	return out
}

// crowd counts the VMs that leave their hosts for others that then lack memory.
func crowd(r *whatif.Result) []string {
	if r.Crowd.VMs == 0 || !slices.ContainsFunc(r.Changes, func(e whatif.Effect) bool { return e.Leave != "" }) {
		return nil
	}
	text := fmt.Sprintf("%s to hosts that then lack %s of memory.", words.Verb(r.Crowd.VMs, "VM goes", "VMs go"), r.Crowd.Over)
	if !slices.ContainsFunc(r.VMs, func(v diff.VM) bool { return v.Layout }) {
		text = "No layout changes, but " + text
	}
	return []string{text}
}

// editions counts the VMs with other sockets whose unknown software decides how many of them it uses.
func editions(vms []diff.VM) []string {
	n := words.Count(vms, func(v diff.VM) bool {
		a, b := v.From.Layout(), v.To.Layout()
		return a != nil && b != nil && !a.VSockets.Equal(b.VSockets) && v.To.VM.EditionDecides()
	})
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Not known: %s of %s with other sockets.", fleet.GuestSoftware, words.Plural(n, "VM"))}
}

// without describes the failure of a host after which the others have too little memory.
func without(f *whatif.Failure) string {
	return fmt.Sprintf("if %s fails, the other hosts lack %s for the VMs", f.Host, f.Over)
}

// unfit names the clusters and hosts that have too little memory for their VMs after the change, which the count of better and worse VMs does not tell.
func unfit(all []whatif.Capacity) string {
	var names []string
	for _, c := range whatif.Short(all) {
		if !c.Fits || c.After.Hosts == 0 {
			names = append(names, c.Cluster)
		}
	}
	if names == nil {
		return ""
	}
	return fmt.Sprintf("; the VMs of %s do not all fit then", words.List(names))
}

// predicted yields the VMs whose predictions decide the answer: only those that differ, if no change affects a host.
func predicted(r *whatif.Result) iter.Seq[*numa.VM] {
	hosts := slices.ContainsFunc(r.Changes, func(e whatif.Effect) bool { return e.Hosts > 0 })
	return func(yield func(*numa.VM) bool) {
		for i := range r.VMs {
			if v := r.VMs[i].A; !hosts && v != nil && !yield(v) {
				return
			}
		}
		for i := range r.A.Fleet.VMs {
			if hosts && !yield(&r.A.Fleet.VMs[i]) {
				return
			}
		}
	}
}

func effectText(e *whatif.Effect) string {
	var parts []string
	if e.Hosts > 0 {
		parts = append(parts, words.Plural(e.Hosts, "host"))
	}
	if e.VMs > 0 {
		parts = append(parts, words.Plural(e.VMs, "VM"))
	}
	text := strings.Join(parts, ", ")
	if e.Leave != "" {
		return text + " must " + e.Leave + ", the largest first: each is assessed on the least suitable host that has memory for it"
	}
	if all := e.Hosts + e.VMs; e.Changed == 0 {
		text += ", nothing changes"
	} else if e.Changed < all {
		text += fmt.Sprintf(", %d change", e.Changed)
	}
	return text
}

// arrow returns "8 → 7", or one value if both are equal.
func arrow(a, b string) string {
	if a == b {
		return a
	}
	return a + " → " + b
}

func share(s *whatif.Supply) string {
	if s.Memory == 0 {
		return "–"
	}
	return words.Percent(float64(s.Configured) / float64(s.ForVMs()))
}

func memoryUse(c *whatif.Capacity) string {
	if c.After.Hosts == 0 {
		return "–"
	}
	if n := c.After.Unknown; n > 0 {
		return fmt.Sprintf("unknown of %d hosts and VMs", n)
	}
	return fmt.Sprintf("%s / %s (%s)", arrow(c.Before.Configured.String(), c.After.Configured.String()), arrow(c.Before.ForVMs().String(), c.After.ForVMs().String()), arrow(share(&c.Before), share(&c.After)))
}

func reserved(s *whatif.Supply) string {
	switch {
	case s.Unreserved > 0 && s.Reserved == 0:
		return "unknown"
	case s.Unreserved > 0:
		return fmt.Sprintf("%s + %s unknown", s.Reserved, words.Plural(s.Unreserved, "VM"))
	case s.Reserved == 0:
		return "none"
	}
	return s.Reserved.String()
}

func load(s *whatif.Supply) string {
	if s.Cores == 0 {
		return "–"
	}
	return fixed(float64(s.VCPUs)/float64(s.Cores), 1)
}

// tooMuch describes the effect of configuring more memory than the hosts have.
func tooMuch(s *whatif.Supply) string {
	over, have := s.Over(), "the host has"
	if s.Hosts > 1 {
		have = "the hosts have"
	}
	switch {
	case s.Tier == 0:
		return fmt.Sprintf("%s more than %s for VMs: expect ballooning or swapping once all is touched", over, have)
	case over <= s.Tier:
		return fmt.Sprintf("%s more than the DRAM that %s for VMs: in slower memory tiers once all is touched", over, have)
	}
	return fmt.Sprintf("%s more than the DRAM and its slower tiers: expect ballooning or swapping once all is touched", s.Lacks())
}

// Shortages describes resources that clusters and hosts lack only after the change.
func Shortages(all []whatif.Capacity) []string {
	return words.Texts(whatif.Short(all), func(c whatif.Capacity) string {
		return fmt.Sprintf("%s: %s.", texttab.Clean(c.Cluster), capacityText(&c))
	})
}

// capacityText describes whether the running VMs fit, and which VMs cannot run.
func capacityText(c *whatif.Capacity) string {
	text := roomText(c)
	if c.Stopped > 0 && c.After.Hosts > 0 {
		text += fmt.Sprintf("; not counted, since no host powers %s on: %s", words.Verb(c.Stopped, "VM", "VMs"), words.List(c.Out))
	}
	return text
}

// withLoss adds the failure of a host to the text about a cluster that fits, and that of today where it differs.
func withLoss(c *whatif.Capacity, loss, was *fit.Free) string {
	text, then, today := capacityText(c), lossText(&c.Without, loss), lossText(&c.Today, was)
	switch {
	case then == "" || !c.Fits || c.After.Hosts == 0 || c.Without.Over == 0 && c.After.Over() > 0 || c.Stopped > 0 && then == spared:
		return text
	case then == today || today == "" || c.Before.Hosts < 2 || c.Before.Over() > 0:
		return text + "; " + then
	}
	return text + "; " + then + " (today: " + today + ")"
}

const spared = "also without any one host"

// lossText describes the failure of a host: by the sum of memory, then as size fit does; "" if it is not known.
func lossText(f *whatif.Failure, loss *fit.Free) string {
	switch {
	case f.Over > 0:
		return without(f)
	case loss == nil:
		return ""
	case loss.Homeless > 0:
		return size.Homeless(loss)
	}
	return spared
}

func roomText(c *whatif.Capacity) string {
	switch {
	case c.After.Hosts == 0 && c.After.Away > 0:
		return fmt.Sprintf("no host is left that runs VMs: %s in maintenance or not connected", words.Verb(c.After.Away, "is", "are"))
	case c.After.Hosts == 0:
		return "no host is left"
	case c.After.Reserved > c.After.Reservable():
		return fmt.Sprintf("%s of reservations do not fit: VMs do not power on", c.After.Reserved-c.After.Reservable())
	case c.After.Over() > 0 && c.After.Unreserved > 0:
		return fmt.Sprintf("%s; reservations of %s are unknown: they may not power on", tooMuch(&c.After), words.Plural(c.After.Unreserved, "VM"))
	case c.After.Over() > 0:
		return tooMuch(&c.After)
	case !c.Certain:
		return fmt.Sprintf("fits, as far as sizes are known (%d unknown)", c.After.Unknown)
	}
	return "fits"
}
