package fix

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"slices"
	"strings"
	"time"

	"example.org/homenode/change/whatif"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/glob"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/filter"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	verdict "example.org/homenode/rules/verdict/fleet"
)

// Options say what a plan is about. The zero value plans what the findings of the whole fleet need.
type Options struct {
	Rules   rules.Options
	Filter  *filter.Filter  // findings and VMs that the plan is about; nil for all
	Set     []whatif.Change // instead of the advice of findings: what the shown VMs and hosts are given
	DRS     []DRSRule       // with Set, or alone: rules of DRS
	Better  bool            // what is tidier too, and cures of low findings that need downtime
	Cycled  bool            // the VMs are power-cycled anyway: cures of low findings cost nothing more
	Host    bool            // options of hosts too
	Upgrade bool            // of the virtual hardware too
	Resize  bool            // vCPUs and memory too, with Set
	Split   bool            // more clients on a VM's own hosts too, where only other hosts gain
	Owned   []string        // patterns of tags and "attribute=value": other tools own these VMs
	Apart   []string        // patterns of names: no two VMs of one pattern in one batch
	AtOnce  int             // VMs of a batch; 0 is 1
	By      string          // the version of the program
	Now     time.Time
}

// Allow returns the option that a word of --allow sets.
func (o *Options) Allow(word string) *bool {
	return map[string]*bool{"better": &o.Better, "host": &o.Host, "resize": &o.Resize, "split": &o.Split, "upgrade": &o.Upgrade}[word]
}

// proposed is the origin of what a plan sets.
const proposed = "fix"

// A maker makes one plan.
type maker struct {
	o       Options
	fleet   *numa.Fleet   // without what was seen
	today   *rules.Result // of fleet, whole
	shown   *rules.Result // the findings and VMs that the plan is about, with what was seen
	edits   map[string][]numa.Edit
	better  map[string][]numa.Edit
	plans   map[string]*rule.Proposal
	vms     map[string]*rule.VM // by ID
	kept    map[string]string   // why a VM or host, by ID, is left as it is
	base    *rules.Result       // what changes are weighed against: today, later with the options of hosts
	hosts   bool                // options of hosts are weighed, not yet VMs
	changed *rules.Result
	gone    map[string][]string // rules by ID of the VM or host whose findings are gone
	eased   map[string][]string // those that are less severe: "N033 high → low"
	less    map[subject]finding.Severity
	more    map[subject]finding.Severity // findings that are more severe after the change
	cured   map[subject]bool
	down    map[string]numa.Needs    // by ID, what a VM is taken down for
	cheap   map[subject]bool         // findings that are not worth the downtime of their cure
	brings  map[string][]string      // by ID of the changed VM or host: new findings, less severe than the cured ones
	settled map[string][][]numa.Edit // by ID, smaller sets of edits for a VM whose edits make something worse, the largest first
	done    map[string]string        // by ID, why it gets one of them
	split   map[string]bool          // by ID, the VMs that a setting of their host makes wide
	noRoom  map[string][]string      // by ID of a VM that is off, what its host has not for it today
}

// A subject is what a rule says something about.
type subject struct{ rule, topic, id string }

func subjectOf(f *finding.Finding) subject {
	if f.VMID != "" {
		return subject{f.Rule, f.Topic, f.VMID}
	}
	return subject{f.Rule, f.Topic, f.HostID}
}

// Make plans what the findings of the fleet need. It is an error when the filter shows nothing, and when the context ends.
func Make(ctx context.Context, f *numa.Fleet, o Options) (*Plan, error) {
	o.AtOnce = max(1, o.AtOnce)
	whole, err := rules.RunContext(ctx, f, o.Rules)
	if err != nil {
		return nil, err
	}
	m, err := newMaker(ctx, whole, o)
	if err != nil {
		return nil, err
	}
	if err := m.make(ctx); err != nil {
		return nil, err
	}
	for n, more := 0, !m.set() && len(m.edits) > 0; more && n < rounds; n++ {
		if more, err = m.again(ctx); err != nil {
			return nil, err
		}
	}
	p := &Plan{Format: Format, Version: Version, Made: o.Now.UTC().Format(time.RFC3339), Source: f.Source, VCenter: f.VCenter, By: o.By, Changes: m.changes()}
	if p.Left, err = m.left(ctx, whole); err != nil {
		return nil, err
	}
	drs, err := m.rules()
	if err != nil {
		return nil, err
	}
	p.Changes = slices.Concat([]Change{}, drs, p.Changes) // it is written as [], not null
	if err := p.unjudged(m.shown); err != nil {
		return nil, err
	}
	p.NotKnown = verdict.Unknown(m.shown)
	p.Asked = Asked{Filter: m.shown.Filter, Better: o.Better, Apart: o.Apart, AtOnce: o.AtOnce}
	for i := range o.Set {
		p.Asked.Set = append(p.Asked.Set, o.Set[i].Text)
	}
	for _, r := range o.DRS {
		p.Asked.Set = append(p.Asked.Set, r.String())
	}
	for _, word := range []string{"host", "resize", "split", "upgrade"} {
		if *o.Allow(word) {
			p.Asked.Allow = append(p.Asked.Allow, word)
		}
	}
	for i := range f.Clusters {
		for _, g := range f.Clusters[i].Apart {
			p.apart = append(p.apart, g.VMs)
		}
	}
	p.batch()
	p.Hosts = p.hostBasis(f)
	if p.Inventory, err = inventory(f); err != nil {
		return nil, err
	}
	return p, p.Identify()
}

// unjudged says what of the fleet could not be judged. A plan without changes of a fleet in which nothing could is no plan: its error
// says why.
func (p *Plan) unjudged(r *rules.Result) error {
	var why []string
	p.Unjudged, why = r.Missed()
	reasons := strings.Join(why, "; ")
	switch {
	case len(p.Changes) == 0 && len(cmp.Or(r.Whole, r).Fleet.VMs) == 0:
		return fmt.Errorf("%s: %s", p.Source, r.Nothing())
	case len(p.Changes) == 0 && p.Unjudged > 0 && r.VMs == 0:
		return fmt.Errorf("%s: none of %s could be judged: %s", p.Source, words.Plural(p.Unjudged, "VM"), reasons)
	case p.Unjudged > 0:
		p.Notes = append(p.Notes, fmt.Sprintf("%s could not be judged, and nothing is planned for %s: %s", words.Plural(p.Unjudged, "VM"), map[bool]string{true: "it", false: "them"}[p.Unjudged == 1], reasons))
	}
	if text := r.Unread(); text != "" {
		p.Notes = append(p.Notes, text+", so VMs may be missing")
	}
	return nil
}

// newMaker returns a maker for a judged fleet.
func newMaker(ctx context.Context, whole *rules.Result, o Options) (m *maker, err error) {
	f := whole.Fleet
	m = &maker{o: o, fleet: f, today: whole, edits: map[string][]numa.Edit{}, better: map[string][]numa.Edit{}, plans: map[string]*rule.Proposal{},
		kept: map[string]string{}, settled: map[string][][]numa.Edit{}, done: map[string]string{}, down: map[string]numa.Needs{}, cheap: map[subject]bool{}, brings: map[string][]string{}}
	if m.shown, err = o.Filter.Fleet(ctx, whole); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(f.VMs, func(v numa.VM) bool { return len(v.Observed) > 0 }) {
		m.fleet = whatif.Unobserved(f)
		if m.today, err = rules.RunContext(ctx, m.fleet, o.Rules); err != nil {
			return nil, err
		}
	}
	m.vms, m.base, m.noRoom, m.split = m.today.ByID(), m.today, map[string][]string{}, map[string]bool{}
	for i := range m.today.Findings {
		f := &m.today.Findings[i]
		for _, id := range f.Split {
			m.split[id] = true
		}
		for _, id := range f.Costs {
			if v := m.vms[id]; v != nil && f.Topic == rule.PowerOnOf(v) {
				m.noRoom[id] = append(m.noRoom[id], f.Message)
			}
		}
	}
	return m, nil
}

// make weighs the edits of hosts, and then those of VMs.
func (m *maker) make(ctx context.Context) (err error) {
	if m.set() {
		err = m.asked(ctx)
	} else {
		m.adviseHosts()
	}
	if err == nil && len(m.edits) > 0 {
		m.hosts = true
		err = m.weigh(ctx)
		m.hosts, m.base = false, m.changed
	}
	if err != nil {
		return err
	}
	if !m.set() {
		m.adviseVMs()
	}
	m.refuse()
	if len(m.edits) == 0 { // nothing to weigh
		m.changed, m.gone, m.eased, m.less, m.cured = m.base, nil, nil, nil, nil
		return ctx.Err()
	}
	return cmp.Or(m.weigh(ctx), ctx.Err())
}

// again adds the further changes that a plan for the changed fleet has. It reports whether there are any.
func (m *maker) again(ctx context.Context) (more bool, err error) {
	next, err := newMaker(ctx, m.changed, m.o)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil { // nothing is shown any more
		return false, nil
	}
	for id, edits := range m.edits {
		if m.kept[id] == "" {
			next.down[id] = rule.Needs(edits)
		}
	}
	if err := next.make(ctx); err != nil {
		return false, err
	}
	for id, edits := range next.edits {
		v := m.vms[id]
		if v == nil || next.kept[id] != "" {
			continue
		}
		after := v.Config
		if m.kept[id] == "" {
			configure(&after, m.edits[id])
		}
		configure(&after, edits)
		m.edits[id], more = numa.Edits(&v.Config, &after), true
		if delete(m.kept, id); m.edits[id] == nil {
			delete(m.edits, id)
		}
	}
	if !more {
		return false, nil
	}
	d, err := m.judge(ctx)
	if err != nil {
		return false, err
	}
	m.harm(d)
	return true, m.gains(ctx)
}

// inventory returns the hash of the JSON of the fleet, without the time at which it was read. Hosts and VMs are encoded one by one, so that the whole text is never in memory.
func inventory(f *numa.Fleet) (string, error) {
	c, sum := *f, sha256.New()
	c.Collected, c.Hosts, c.VMs = "", []numa.Host{}, []numa.VM{}
	data, err := json.Marshal(&c)
	if err != nil {
		return "", err
	}
	const empty = `"hosts":[],"vms":[]` // a text of the fleet would escape the quotes
	before, after, _ := bytes.Cut(data, []byte(empty))
	sum.Write(before)
	err = cmp.Or(hashList(sum, `"hosts":`, f.Hosts), hashList(sum, `,"vms":`, f.VMs))
	sum.Write(after)
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), err
}

// hashList writes a member of an object that is a list.
func hashList[T any](sum hash.Hash, name string, all []T) error {
	sum.Write([]byte(name))
	if all == nil {
		sum.Write([]byte("null"))
		return nil
	}
	sep := "["
	for i := range all {
		data, err := json.Marshal(&all[i])
		if err != nil {
			return err
		}
		sum.Write([]byte(sep))
		sum.Write(data)
		sep = ","
	}
	if len(all) == 0 {
		sum.Write([]byte(sep))
	}
	sum.Write([]byte("]"))
	return nil
}

// adviseHosts takes the edits of hosts that the advice of the shown findings comes to.
func (m *maker) adviseHosts() {
	for i := range m.shown.Findings {
		if f := &m.shown.Findings[i]; f.VMID == "" && m.o.Host && f.Cure() != nil {
			for _, h := range m.hostsOf(f) {
				m.edits[h.ID] = hostEdits(h, append(m.edits[h.ID], f.Cure()...))
			}
		}
	}
}

// scope says which findings of VMs the plan cures.
func (m *maker) scope() rule.Scope {
	return rule.Scope{Better: m.o.Better, Cycled: m.o.Cycled, Split: m.o.Split, Down: m.down, Wide: m.split}
}

// adviseVMs takes the edits of the proposals for the shown findings, on hosts as they are then.
func (m *maker) adviseVMs() {
	now, stay := map[subject]bool{}, map[subject]bool{}
	for i := range m.today.Findings {
		now[subjectOf(&m.today.Findings[i])] = true
	}
	for i := range m.base.Findings {
		stay[subjectOf(&m.base.Findings[i])] = true
	}
	vms, plans := m.base.ProposalsFor(slices.DeleteFunc(slices.Clone(m.shown.Findings), func(f finding.Finding) bool {
		return now[subjectOf(&f)] && !stay[subjectOf(&f)] // its host cures it
	}), m.scope())
	for i, v := range vms {
		p := plans[i]
		m.plans[v.ID] = p
		for _, f := range p.Cheap {
			m.cheap[subjectOf(f)] = true
		}
		if m.kept[v.ID] != "" || p.Taken() == nil {
			continue
		}
		if !p.Free {
			m.better[v.ID] = p.Optional
		}
		m.edits[v.ID], m.settled[v.ID] = p.Parts[0], p.Parts[1:]
	}
}

// hostsOf returns the hosts that a finding about hosts speaks of.
func (m *maker) hostsOf(f *finding.Finding) (out []*numa.Host) {
	for i := range m.fleet.Hosts {
		if h := &m.fleet.Hosts[i]; h.ID == f.HostID || slices.Contains(f.AboutIDs, h.ID) {
			out = append(out, h)
		}
	}
	return out
}

// hostEdits gives the edits of a host what it has today, and leaves out what it has already.
func hostEdits(h *numa.Host, edits []numa.Edit) (out []numa.Edit) {
	for _, e := range edits {
		e.From, e.Assumed = numa.Value{}, !h.Options.Known()
		if v, ok := h.Options.Value.Lookup(e.Key); ok {
			e.From = numa.Is(v)
		}
		if !e.From.Same(e.To) && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// configure makes the edits; those of a plan are well formed.
func configure(c *numa.Config, edits []numa.Edit) {
	for _, e := range edits {
		_ = e.Configure(c, proposed)
	}
}

// refuse leaves VMs as they are that no plan may touch.
func (m *maker) refuse() {
	owned := glob.Compile(m.o.Owned, "")
	for id := range m.edits {
		v := m.vms[id]
		if v == nil {
			continue
		}
		var labels []string
		labels = append(labels, v.Tags...)
		for _, a := range v.Attributes {
			labels = append(labels, a.Name+"="+a.Value)
		}
		asked := func(kinds ...numa.EditKind) bool {
			return slices.ContainsFunc(m.edits[id], func(e numa.Edit) bool { return slices.Contains(kinds, e.Kind) })
		}
		why := cmp.Or(stranded(v.VM, v.Host, rule.Needs(m.edits[id])), v.Untouched(m.edits[id], m.o.Set != nil))
		switch {
		case why != "":
			m.kept[id] = why
		case len(m.o.Owned) > 0 && owned.Allow(labels...) && len(labels) > 0:
			m.kept[id] = "another tool owns it (fix: owned, in the configuration): give that tool the edits"
		case asked(numa.EditHardware) && !m.o.Upgrade:
			m.kept[id] = "the cure upgrades the virtual hardware, which cannot be taken back: --allow upgrade"
		case asked(numa.EditVCPUs, numa.EditMemory) && !m.o.Resize:
			m.kept[id] = "it changes vCPUs or memory: --allow resize"
		}
	}
}

// layoutOf returns a prediction in short.
func layoutOf(l *vnuma.Layout) Layout {
	return Layout{Text: rule.Short(l), VPDs: l.VPDs.Sizes(), PPDs: l.PPDs.Sizes(), FarShare: l.FarShare(), Stores: l.Stored.Size}
}
