package change

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/change/upgrade"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules/rule"
	"example.org/homenode/rules/verdict/fleet"
)

// Upgrade returns the answer about an upgrade.
func Upgrade(r *upgrade.Result) *answer.Answer {
	a := &answer.Answer{Command: "size upgrade", Title: "Upgrade to " + target(r), Verdict: upgradeVerdict(r), Result: r}
	a.Facts = []answer.Fact{{Name: "judged", Text: words.Plural(r.Judged, "VM") + " of " + r.Source + ", before and after"}}
	if len(r.Dropped) > 0 {
		t := answer.Table{Name: "dropped", Title: "Hosts that do not get the release", Columns: answer.Columns("cluster", "host", "processor", "why")}
		for _, h := range r.Dropped {
			t.Add(h.Cluster, h.Host, h.CPU, h.Why)
		}
		a.Tables = append(a.Tables, t)
	}
	if len(r.VMs) > 0 {
		a.Tables = append(a.Tables, changedVMs(r))
	}
	a.Tables = append(a.Tables, firstTable(r)...)
	if len(r.Meanings) > 0 {
		a.Tables = append(a.Tables, meanings(r))
	}
	if len(r.Hosts) > 0 {
		t := answer.Table{Name: "hosts", Title: "New findings of hosts", Columns: answer.Columns("cluster", "host", "severity", "rule", "finding")}
		for _, h := range r.Hosts {
			t.Add(h.Cluster, h.Host, h.Level, h.Rule, h.Text)
		}
		a.Tables = append(a.Tables, t)
	}
	if r.Newer > 0 {
		a.Note(words.Verb(r.Newer, "VM stays", "VMs stay") + " as configured: that virtual hardware or a later version is set already")
	}
	if r.Release != "" {
		a.Note("processors are compared with the lists of dropped ones that homenode knows, from Skylake on with none: ask the Broadcom Compatibility Guide about the servers too (KB 318697)")
	}
	for _, t := range r.Through {
		a.Note(fmt.Sprintf("upgrade %s (ESXi %s) to ESXi %s first: vSphere Lifecycle Manager upgrades to 8.0 only from 6.7 or 7.0, and to 7.0 only from 6.5 or 6.7 (VMware vSphere 8.0, GUID-2706457E; 7.0, GUID-F80E06EB)", words.Few(t.Hosts), t.From, t.Release))
	}
	a.Note("a VM keeps its layout until its next power cycle; the layouts after are those of that power cycle")
	a.Note(fleet.StoredSizes(r.About())...)
	if r.Hardware > 0 {
		a.Note("virtual hardware cannot be taken back")
	}
	a.NotesFrom("source", r.Drift.Notes()...)
	return a
}

// changedVMs returns the table of the VMs that the upgrade changes.
func changedVMs(r *upgrade.Result) answer.Table {
	t := answer.Table{Name: "vms", Title: "VMs that change", Columns: answer.Columns("VM", "cluster", "", "on", "before", "after", "new findings")}
	for i := range r.VMs {
		v := &r.VMs[i]
		head := []answer.Cell{{Text: v.Name, To: answer.Object{Kind: "vm", ID: v.ID}}, {Text: v.Cluster}, {Text: v.Verdict}}
		for _, on := range v.On {
			t.Rows = append(t.Rows, append(slices.Clone(head), answer.Cell{Text: words.Few(on.Hosts)}, answer.Cell{Text: rule.Short(on.Before)}, answer.Cell{Text: rule.Short(on.After)}, answer.Cell{Text: strings.Join(v.New, ", ")}))
		}
		if len(v.On) == 0 {
			t.Rows = append(t.Rows, append(head, answer.Cell{}, answer.Cell{}, answer.Cell{Text: "the same layout"}, answer.Cell{Text: strings.Join(v.New, ", ")}))
		}
	}
	t.Explain(rule.ShortLegend(t.Texts()...))
	return t
}

// meanings returns the table of the settings that mean something else after the upgrade.
func meanings(r *upgrade.Result) answer.Table {
	t := answer.Table{Name: "meanings", Title: "Settings whose meaning changes", Columns: answer.Columns("setting", "from", "before", "after", "VMs or hosts", "rule book")}
	for i := range r.Meanings {
		m := &r.Meanings[i]
		var from []string
		if m.Release != 0 {
			from = append(from, m.Release.String())
		}
		if m.Hardware > 0 {
			from = append(from, fmt.Sprintf("hardware %d", m.Hardware))
		}
		t.Add(m.Setting, strings.Join(from, " with "), m.Before, m.After, words.Few(slices.Concat(m.VMs, m.Hosts)), strings.Join(m.Book, ", "))
	}
	return t
}

// target describes the target of the upgrade.
func target(r *upgrade.Result) string {
	var parts []string
	if r.Release != "" {
		parts = append(parts, "ESXi "+r.Release)
	}
	if r.Hardware > 0 {
		parts = append(parts, fmt.Sprintf("virtual hardware %d", r.Hardware))
	}
	return strings.Join(parts, " and ")
}

func upgradeVerdict(r *upgrade.Result) []string {
	worse, all := r.Worse, r.Layouts
	where := ""
	if r.Cluster != "" {
		where = " in cluster " + r.Cluster
	}
	head := fmt.Sprintf("With %s no VM gets another layout%s.", target(r), where)
	if all > 0 {
		head = fmt.Sprintf("With %s %s another layout%s.", target(r), words.Verb(all, "VM gets", "VMs get"), where)
	}
	out := []string{head}
	switch {
	case worse > 0 && len(r.First) > 0:
		out = append(out, fmt.Sprintf("%s worse off: %s changes first.", words.Verb(worse, "VM is", "VMs are"), words.Verb(len(r.First), "needs", "need")))
	case worse > 0:
		out = append(out, words.Verb(worse, "VM is", "VMs are")+" worse off: decide by hand before.")
	case all > 0:
		head := "No VM gets worse."
		if n := words.Count(r.VMs, traded); n > 0 {
			head = fmt.Sprintf("No VM gets worse in all; %s a finding of medium or high severity in place of others.", words.Verb(n, "gets", "get"))
		}
		out = append(out, head)
	}
	if n := words.Count(r.VMs, func(v upgrade.VM) bool { return v.Verdict == upgrade.Unknown }); n > 0 {
		out = append(out, fmt.Sprintf("For %s this is unknown: the last power-on stored a size that the inventory does not state.", words.Plural(n, "VM")))
	}
	if n := len(r.Dropped); n > 0 {
		out = append(out, fmt.Sprintf("%s not get ESXi %s: it no longer supports their processors.", words.Verb(n, "host does", "hosts do"), r.Release))
	}
	if n := len(r.Held); n > 0 {
		out = append(out, fmt.Sprintf("%s get virtual hardware %d, which the host does not run afterwards: %s.", words.Verb(n, "VM cannot", "VMs cannot"), r.Hardware, words.Few(r.Held)))
	}
	if n := len(r.Hosts); n > 0 {
		out = append(out, words.Verb(n, "new finding is", "new findings are")+" about hosts.")
	}
	return out
}

// traded reports whether a VM gets a finding of medium or high severity.
func traded(v upgrade.VM) bool {
	return slices.ContainsFunc(v.New, func(text string) bool {
		return strings.HasSuffix(text, "(medium)") || strings.HasSuffix(text, "(high)")
	})
}

// firstTable lists the settings to change before the first power cycle on the new release, and the
// problems that no setting fixes.
func firstTable(r *upgrade.Result) (out []answer.Table) {
	if len(r.First) > 0 {
		t := answer.Table{Name: "first", Title: "Set before the first power cycle afterwards", Columns: answer.Columns("VM", "change", "cures", "brings")}
		for i := range r.First {
			c := &r.First[i]
			for j, e := range c.Edits {
				name, cures, brings := "", "", ""
				if j == 0 {
					name, cures, brings = c.VM, strings.Join(c.Cures, ", "), strings.Join(c.Brings, "; ")
				}
				t.Add(name, e.Text(), cures, brings)
			}
		}
		out = append(out, t)
	}
	if len(r.Left) > 0 {
		t := answer.Table{Name: "left", Title: "To decide by hand before", Columns: answer.Columns("VM", "rule", "why")}
		for _, l := range r.Left {
			t.Add(l.VM, l.Rule, l.Why)
		}
		out = append(out, t)
	}
	return out
}
