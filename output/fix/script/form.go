package script

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"example.org/homenode/change/fix"
	"example.org/homenode/internal/outside"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/rules/finding"
)

// A form is a plan in the form that all scripts use.
type form struct {
	head       []string // comments
	left       []string // parts of the plan that are not in the script, with reasons
	unmade     []string // the changes among them
	unrestored []string
	notices    []string // of the changes in the script
	steps      []step
	power      bool
}

// A step changes one VM or host.
type step struct {
	id     string // MoRef, or the UUID
	byUUID bool   // id is the UUID of the only VM that the script changes with it
	host   bool   // a host; else a VM
	title  string
	why    string      // rule IDs
	needs  numa.Needs  // state of the VM while writing: NeedsOff, or nothing
	cycle  bool        // the edits take effect at the next power cycle
	edits  []numa.Edit // settings to write
	rows   []row       // settings to compare
	memory string      // memory of the VM after the change, in MB; "" if it is not in the plan
}

// A row is a setting that is compared before anything is written: its value must be From or To. If it is only compared, To is
// equal to From.
type row struct {
	What  string `json:"what"`          // kind of edit, or instanceUuid
	Key   string `json:"key,omitempty"` // for extraConfig and hostOption
	From  string `json:"from"`          // "" means absent; TRUE and FALSE are in capitals
	To    string `json:"to"`
	Loose bool   `json:"loose,omitempty"` // ESXi also writes it: any value is accepted
	Gone  bool   `json:"gone,omitempty"`  // it is as planned as soon as it differs from From
	Quiet bool   `json:"quiet,omitempty"` // it does not determine whether the change was made; other rows do
}

// name returns the usual name of the setting.
func (r *row) name() string {
	return cmp.Or(r.Key, r.What)
}

// identity is the row that identifies the VM of the plan. IDs are only unique within a vCenter.
const identity = "instanceUuid"

// goodID matches IDs that are safe in scripts.
var goodID = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// goodUUID matches UUIDs as vSphere writes them.
var goodUUID = pattern.Of(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

// newForm returns the form of a plan for a tool.
func newForm(p *fix.Plan, name string, o Options) *form {
	t := tools[name]
	f := &form{power: o.Power}
	for i := range p.Changes {
		c := p.Changes[i]
		c.Edits = f.without(&c, t)
		if why := refused(&c, t); why != "" {
			f.unmade = append(f.unmade, naming(c.Target().ID, c.Target().Name)+" as a whole: "+why+others(&c, name))
			continue
		}
		f.steps = append(f.steps, stepOf(&c, t, o))
		for _, text := range c.Notices {
			f.notices = append(f.notices, naming(c.Target().ID, c.Target().Name)+": "+text)
		}
	}
	f.head, f.left = headOf(p, name, o), slices.Concat(f.unmade, f.unrestored)
	f.leave(p)
	for _, list := range [][]string{f.left, f.unmade, f.notices} { // they are also shown on terminals
		for i := range list {
			list[i] = texttab.Line(list[i])
		}
	}
	return f
}

// without returns the edits of a change. It omits edits that restore values stored by ESXi if the tool does not support them.
// These are reported, and do not prevent the rest of the change.
func (f *form) without(c *fix.Change, t *tool) []numa.Edit {
	return slices.DeleteFunc(slices.Clone(c.Edits), func(e numa.Edit) bool {
		why := t.cannot(c, e)
		if !restores(c, e) || why == "" {
			return false
		}
		f.unrestored = append(f.unrestored, naming(c.Target().ID, c.Target().Name)+": "+e.Name()+" stays as it is, so the guest may keep its virtual nodes: "+why)
		return true
	})
}

// restores reports whether the edit restores a value stored by ESXi, in a change that also rolls back other edits.
func restores(c *fix.Change, e numa.Edit) bool {
	return stored(e) && !e.From.Set && slices.ContainsFunc(c.Edits, func(o numa.Edit) bool { return !stored(o) || o.From.Set })
}

// leave adds the parts that the plan itself excludes, without duplicates.
func (f *form) leave(p *fix.Plan) {
	f.left = append(f.left, p.Notes...)
	var at []string
	rules := map[string][]string{}
	for _, l := range p.Left {
		if l.Severity == finding.Info.String() { // it tells and asks for nothing
			continue
		}
		name := l.VM
		name = cmp.Or(name, l.Host)
		line := "\x00" + naming(l.ID, name) + ": " + l.Why
		at = words.Once(at, line)
		if l.Rule != "" && !slices.Contains(rules[line], l.Rule) {
			rules[line] = append(rules[line], l.Rule)
		}
	}
	for _, line := range at {
		text := line[1:]
		if of := rules[line]; of != nil {
			text = strings.Join(of, ", ") + " of " + text
		}
		f.left = append(f.left, text)
	}
}

func naming(id, name string) string {
	switch {
	case id == "" || id == name:
		return name
	case name == "":
		return id
	}
	return id + " (" + name + ")"
}

// refused returns why a change is not in a script, or "". A change is included or omitted as a whole.
func refused(c *fix.Change, t *tool) string {
	if c.Cluster != nil {
		return "scripts do not change rules of DRS"
	}
	if target := c.Target(); unreferenced(target) && (target.UUID == "" || !t.finds) {
		return "the source states no MoRef of it, without which a script may change another: export it again with VM ID or Object ID, or plan from the vCenter itself"
	} else if unreferenced(target) && !goodUUID.MatchString(target.UUID) {
		return "its UUID is none of a vCenter"
	}
	if !unreferenced(c.Target()) && !goodID.MatchString(c.Target().ID) {
		return "its ID is none of a vCenter"
	}
	for _, e := range c.Edits {
		if why := unsaid(e); why != "" {
			return e.Name() + ": " + why
		}
	}
	for _, e := range c.Edits {
		if why := t.cannot(c, e); why != "" {
			return e.Name() + ": " + why
		}
	}
	return ""
}

// unreferenced reports whether the ID of the object is its name or UUID: another object may have such a MoRef.
func unreferenced(t *fix.Target) bool {
	return t.Named || t.UUID != "" && strings.EqualFold(t.ID, t.UUID)
}

// unsaid returns why no script can make the edit and roll it back, or "".
func unsaid(e numa.Edit) string {
	if !e.Stated() {
		return "the plan does not know which value it had"
	}
	for _, one := range []numa.Edit{e, e.Undo()} { // the plan can come from a file
		if e.Kind != numa.EditHostOption && one.To.Set {
			if err := one.Configure(&numa.Config{}, ""); err != nil {
				return err.Error()
			}
		}
	}
	for _, text := range []string{e.Key, e.From.Text, e.To.Text} {
		if why := unsayable(text); why != "" {
			return why
		}
	}
	return ""
}

// unsayable returns why a text cannot be in a script, or "".
func unsayable(text string) string {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
		return "it has characters that scripts cannot carry"
	}
	return ""
}

// others names the tools that support the change.
func others(c *fix.Change, not string) string {
	var able []string
	for _, name := range Tools {
		if name != not && refused(c, tools[name]) == "" {
			able = append(able, name)
		}
	}
	switch {
	case unreferenced(c.Target()) && able == nil:
		return ""
	case unreferenced(c.Target()):
		return "; " + words.List(able) + " can, by its UUID"
	}
	return "; " + words.List(append(able, "homenode fix --apply")) + " can"
}

func stepOf(c *fix.Change, t *tool, o Options) step {
	target := c.Target()
	s := step{id: target.ID, host: c.VM == nil, title: target.Name, why: strings.Join(c.Findings, ", "), edits: c.Edits, memory: after(c, numa.EditMemory)}
	if s.byUUID = unreferenced(target); s.byUUID {
		s.id = strings.ToLower(target.UUID)
	}
	needs := c.Needs()
	if t.off != nil && slices.ContainsFunc(c.Edits, t.off) {
		needs = numa.NeedsOff
	}
	s.cycle = needs == numa.NeedsCycle
	if needs == numa.NeedsOff || needs == numa.NeedsCycle && o.Power {
		s.needs = numa.NeedsOff
	}
	if target.UUID != "" && c.VM != nil && !s.byUUID {
		s.rows = append(s.rows, row{What: identity, From: target.UUID, To: target.UUID})
	}
	touched := map[string]bool{}
	for _, e := range c.Edits {
		r := row{What: string(e.Kind), Key: e.Key, From: compared(e, e.From), To: compared(e, e.To)}
		if stored(e) {
			r.Loose, r.Gone, r.Quiet = true, e.From.Set, restores(c, e)
			if e.Assumed { // whatever is there is removed
				r.From, r.Gone, r.Quiet = "", false, slices.ContainsFunc(c.Edits, func(o numa.Edit) bool { return !stored(o) })
			}
		}
		touched[strings.ToLower(r.name())] = true
		s.rows = append(s.rows, r)
	}
	for _, k := range c.Basis {
		e := numa.Edit{Kind: numa.EditKind(k.Name)}
		if strings.Contains(k.Name, ".") {
			e = numa.Edit{Kind: numa.EditExtraConfig, Key: k.Name}
		}
		if v := compared(e, numa.Is(k.Value)); !touched[strings.ToLower(k.Name)] {
			s.rows = append(s.rows, row{What: string(e.Kind), Key: e.Key, From: v, To: v})
		}
	}
	return s
}

// stored reports whether ESXi itself writes the setting at a power-on.
func stored(e numa.Edit) bool {
	return e.Kind == numa.EditExtraConfig && strings.HasPrefix(strings.ToLower(e.Key), "numa.autosize.")
}

// compared returns a value in the form that scripts compare.
func compared(e numa.Edit, v numa.Value) string {
	switch {
	case !v.Set:
		return absent(e.Kind)
	case v.Same(numa.Is("TRUE")) || v.Same(numa.Is("FALSE")):
		return strings.ToUpper(v.Text)
	}
	return v.Text
}

// on reports whether the edit enables something.
func on(e numa.Edit) bool { return strings.EqualFold(e.To.Text, "true") }

// headOf returns the comments at the top of a script.
func headOf(p *fix.Plan, name string, o Options) []string {
	first := fmt.Sprintf("Plan %s, made %s by %s from %s.", p.ID, p.Made, p.By, p.Source)
	if o.Undo {
		first = fmt.Sprintf("Takes back plan %s, made %s by %s from %s.", p.ID, p.Made, p.By, p.Source)
	}
	head := []string{first}
	head = append(head, tools[name].about...)
	head = append(head, cite(name, p))
	if name == "terraform" {
		return head
	}
	head = append(head, "All VMs are compared with the plan before anything is written: one that is neither as the plan saw it nor as the plan",
		"wants it ends the script. What is so already is skipped: it can be run again.")
	if o.Power {
		head = append(head, "VMs that run are shut down by their guests, changed and powered on, one after the other.")
	} else {
		head = append(head, "No VM is stopped or started: one that has to be off and runs is left as it is.")
	}
	return append(head, "It does not look for snapshots, Fault Tolerance, questions and running tasks, and writes no journal: homenode fix --apply does.")
}

// cite returns the facts about the tool, and marks those that were outdated when the plan was made.
func cite(tool string, p *fix.Plan) string {
	made, _ := time.Parse(time.RFC3339, p.Made)
	fact := outside.Of(tool)
	return "For " + fact.Cite(made) + "."
}

// comments returns the head of a script.
func (f *form) comments() []string {
	lines := slices.Clone(f.head)
	for _, part := range []struct {
		title string
		list  []string
	}{{"To mind:", f.notices}, {"Not in this script:", f.left}} {
		if part.list != nil {
			lines = append(lines, "", part.title)
		}
		for _, l := range part.list {
			lines = append(lines, "- "+l)
		}
	}
	return lines
}

// cycles reports whether some edits take effect at a later power cycle.
func (f *form) cycles() bool {
	return slices.ContainsFunc(f.steps, func(s step) bool { return s.cycle && s.needs != numa.NeedsOff })
}
