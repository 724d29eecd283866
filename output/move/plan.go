package move

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/change/move"
	"example.org/homenode/change/move/pack"
	"example.org/homenode/change/move/plan"
	"example.org/homenode/internal/keyed"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/chart"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/draw/topo"
	"example.org/homenode/rules"
)

// A Planned is a plan of hosts, with its input.
type Planned struct {
	*plan.Plan
	Whole *rules.Result // the fleet including VMs that are not moved, for drawing the hosts
	Notes []string      // from reading the hosts
}

// planned adds the plan of hosts to an answer.
func planned(a *answer.Answer, of *Planned) {
	p := of.Plan
	made := p.Made
	a.Verdict = append(planVerdict(p), a.Verdict...)
	a.Facts = append(a.Facts, planFacts(p)...)
	a.Tables = slices.Concat(leftTables(p), []answer.Table{hostTable(p), waveTable(p)}, a.Tables)
	a.Note(of.Notes...)
	if made.More != nil {
		a.Note(fmt.Sprintf("%s like %s would take %s for which there is no room.", words.Verb(made.More.Hosts, "more host", "more hosts"), made.More.Like, words.Plural(made.More.VMs, "VM")))
	}
	if made.Uncovered != nil {
		a.Note(fmt.Sprintf("Of %s the VMs would not all fit one empty host, if it failed: %s.", words.Plural(len(made.Uncovered), "host"), words.Few(hostNames(p, made.Uncovered))))
	}
	if reserve := pagesToReserve(p); reserve != "" {
		a.Note(fmt.Sprintf("Huge pages are to be reserved before the VMs come, by node: %s.", reserve))
	}
	var more []string
	for i, text := range p.More {
		if text != "" {
			more = append(more, p.VMs[i].Name)
		}
	}
	if more != nil {
		a.Note(fmt.Sprintf("One plan is made for all platforms of --to: for %s it counts CPUs or huge pages that some of them do not need, and their files have the CPUs of that plan (%s). Name one platform for a plan of its own.",
			words.Plural(len(more), "VM"), words.Few(more)))
	}
	a.Note(apartNote(of.Whole.Fleet) + " VMs that are off count as those that run.")
	a.Drawings = planDrawings(p, of.Whole)
}

// apartNote names the DRS rules that the plan respects.
func apartNote(f *numa.Fleet) string {
	var names []string
	for i := range f.Clusters {
		for _, g := range f.Clusters[i].Apart {
			names = append(names, g.Name)
		}
	}
	if names == nil {
		return "No rule of DRS that keeps VMs apart is known of this source: name VMs that must not share a host with --apart."
	}
	return fmt.Sprintf("VMs that DRS keeps apart share no host (%s: %s). Its rules that keep VMs together or on some hosts are not read.", words.Plural(len(names), "rule"), words.Few(names))
}

func planVerdict(p *plan.Plan) []string {
	made := p.Made
	placed := len(made.VMs) - made.Left
	out := fmt.Sprintf("%s to %d of %s", words.Verb(placed, "VM goes", "VMs go"), made.Used, words.Plural(len(made.Hosts), "host"))
	if len(made.Waves) > 1 {
		out += fmt.Sprintf(" in %d waves", len(made.Waves))
	}
	if made.Tightest > 0 {
		out += ", filled evenly; " + tightest(made)
	}
	if made.Left > 0 {
		out += fmt.Sprintf("; %s no host", words.Verb(made.Left, "VM finds", "VMs find"))
	}
	return []string{out + "."}
}

// tightest states the minimum number of hosts.
func tightest(made *pack.Plan) string {
	if made.Tightest == made.Bound.Hosts {
		return fmt.Sprintf("at least %s", words.Verb(made.Tightest, "host is needed", "hosts are needed"))
	}
	return fmt.Sprintf("the tightest plan found needs %s, and none fewer than %d", words.Plural(made.Tightest, "host"), made.Bound.Hosts)
}

func planFacts(p *plan.Plan) []answer.Fact {
	made := p.Made
	bound := words.Plural(made.Used, "host")
	if made.Tightest > 0 {
		bound += "; " + tightest(made)
	}
	if made.Left > 0 {
		bound += fmt.Sprintf("; %s none", words.Verb(made.Left, "VM finds", "VMs find"))
	}
	if made.Used == 0 {
		bound = "none gets a VM"
	}
	if made.VCPUs < made.Bound.VCPUs {
		bound = fmt.Sprintf("%s of at most %s vCPUs that could be placed", words.Thousands(int(made.VCPUs)), words.Thousands(int(made.Bound.VCPUs)))
	}
	out := []answer.Fact{{Name: "hosts", Text: bound}, {Name: "vCPUs per core", Text: ratios(&p.Policy)}}
	if p.Policy.KeptCores > 0 || p.Policy.KeptMemory > 0 {
		out = append(out, answer.Fact{Name: "kept for the host", Text: fmt.Sprintf("%s and %s of each node", words.Plural(p.Policy.KeptCores, "core"), p.Policy.KeptMemory)})
	}
	spare := "none: no host may fail"
	if made.Spare != nil {
		spare = words.Few(hostNames(p, made.Spare))
	}
	return append(out, answer.Fact{Name: "failover hosts", Text: spare})
}

func ratios(p *plan.Policy) string {
	unit := ""
	if p.Threads {
		unit = " and thread"
	}
	out := []string{fmt.Sprintf("up to %s%s", number(cmp.Or(p.PerCore, 1)), unit)}
	for _, r := range p.Ratios {
		out = append(out, fmt.Sprintf("%s of %s", number(r.PerCore), r.VMs))
	}
	return strings.Join(out, ", ")
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func hostNames(p *plan.Plan, list []int) []string {
	return words.Texts(list, func(h int) string { return p.Hosts[h].Name })
}

// leftTables lists the VMs that fit on no host; nil if there are none.
func leftTables(p *plan.Plan) []answer.Table {
	if p.Made.Left == 0 {
		return nil
	}
	type alike struct {
		vcpus     int
		memory    numa.Bytes
		why, cure string
	}
	var names keyed.Lists[alike, string]
	all := answer.Table{Name: "left", Columns: answer.Columns("VM", ">vCPUs", "memory", "why", "cure")}
	for i := range p.Made.VMs {
		v := &p.Made.VMs[i]
		if v.Host >= 0 {
			continue
		}
		s := p.Needs[i].Shape
		names.Add(alike{s.VCPUs, s.Memory, v.Why, v.Cure}, p.VMs[i].Name)
		all.Add(p.VMs[i].Name, strconv.Itoa(s.VCPUs), s.Memory.String(), v.Why, v.Cure)
	}
	t := answer.Table{Name: "left", Title: "VMs that fit no host", Columns: answer.Columns("VMs", ">each vCPUs", "memory", "why", "cure"), Plain: &all}
	for k, list := range names.All() {
		t.Rows = append(t.Rows, []answer.Cell{{Text: words.Few(list)}, {Text: strconv.Itoa(k.vcpus)}, {Text: k.memory.String()}, {Text: k.why, Tone: answer.Medium}, {Text: k.cure}})
	}
	return []answer.Table{t}
}

// hostTable lists the nodes of the hosts.
func hostTable(p *plan.Plan) answer.Table {
	t := answer.Table{Name: "hosts", Title: "NUMA nodes of the hosts", Columns: answer.Columns("host", ">node", ">VMs", ">vCPUs", ">cores for VMs", ">vCPU per core", ">own cores", ">memory", ">free", "huge pages to reserve"),
		Foot: []string{"cores for VMs and memory are without what is the host's own; own cores run one VM of latency sensitivity High alone."}}
	for h := range p.Made.Hosts {
		for i := range p.Made.Hosts[h].Nodes {
			n := &p.Made.Hosts[h].Nodes[i]
			load := ""
			if r, ok := n.Ratio(); ok {
				load = fmt.Sprintf("%.1f", r)
			}
			node := &p.Hosts[h].Nodes[i]
			t.Add(p.Hosts[h].Name, strconv.Itoa(n.Node), strconv.Itoa(onNode(p, h, n.Node)), strconv.Itoa(n.VCPUs), strconv.Itoa(n.Cores), load, strconv.Itoa(n.Exclusive), (node.Memory - node.KeptMemory).String(), n.Free.String(), pages(n))
		}
	}
	return t
}

// onNode returns the number of VMs with a cell on a node.
func onNode(p *plan.Plan, host, node int) int {
	return words.Count(p.Made.Hosts[host].VMs, func(v int) bool {
		return slices.ContainsFunc(p.Made.VMs[v].Cells, func(c pack.Place) bool { return c.Node == node })
	})
}

// pages lists the huge pages to reserve on a node.
func pages(n *pack.NodeUse) string {
	var out []string
	for _, u := range n.Pages {
		if u.Reserve > 0 {
			out = append(out, fmt.Sprintf("%d of %s", u.Reserve, u.Size))
		}
	}
	return strings.Join(out, ", ")
}

func pagesToReserve(p *plan.Plan) string {
	var out []string
	for h := range p.Made.Hosts {
		for i := range p.Made.Hosts[h].Nodes {
			if text := pages(&p.Made.Hosts[h].Nodes[i]); text != "" {
				out = append(out, fmt.Sprintf("node %d of %s %s", p.Made.Hosts[h].Nodes[i].Node, p.Hosts[h].Name, text))
			}
		}
	}
	return words.Few(out)
}

// waveTable lists the waves of VMs that move together, in order.
func waveTable(p *plan.Plan) answer.Table {
	t := answer.Table{Name: "waves", Title: "Waves, in their order", Columns: answer.Columns(">wave", "which", ">VMs", ">vCPUs", "hosts that get their first VM")}
	for i, w := range p.Made.Waves {
		t.Add(strconv.Itoa(i+1), p.Waves[w.Wave], words.Thousands(len(w.VMs)), words.Thousands(w.VCPUs), words.Few(hostNames(p, w.Hosts)))
	}
	return t
}

// place returns the planned host and nodes of a VM.
func place(p *plan.Plan, id string) (host, nodes string) {
	i, ok := p.Of(id)
	if !ok || p.Made.VMs[i].Host < 0 {
		return "", ""
	}
	list := words.Texts(p.Made.VMs[i].Cells, func(c pack.Place) string { return strconv.Itoa(c.Node) })
	return p.Hosts[p.Made.VMs[i].Host].Name, strings.Join(list, ", ")
}

// planJSON is the JSON of the plan.
type planJSON struct {
	Hosts     []hostJSON       `json:"hosts"`
	Left      []pack.Placement `json:"left"`
	Waves     []waveJSON       `json:"waves"`
	Used      int              `json:"hostsUsed"`
	Tightest  int              `json:"tightest,omitempty"`
	Bound     pack.Bound       `json:"bound"`
	VCPUs     int64            `json:"vcpus"`
	Failover  []string         `json:"failoverHosts,omitempty"`
	Uncovered []string         `json:"uncovered,omitempty"`
	More      *pack.More       `json:"more,omitempty"`
}

type hostJSON struct {
	Host  string         `json:"host"`
	VMs   []placeJSON    `json:"vms"`
	Nodes []pack.NodeUse `json:"nodes"`
}

type placeJSON struct {
	ID    string       `json:"id"`
	VM    string       `json:"vm"`
	Cells []pack.Place `json:"cells"`
}

type waveJSON struct {
	Wave  string   `json:"wave"`
	VMs   []string `json:"vms"` // IDs
	VCPUs int      `json:"vcpus"`
	Hosts []string `json:"firstVMOnHosts,omitempty"`
}

func planResult(p *plan.Plan) *planJSON {
	made := p.Made
	out := &planJSON{Hosts: []hostJSON{}, Left: []pack.Placement{}, Waves: []waveJSON{}, Used: made.Used, Tightest: made.Tightest, Bound: made.Bound, VCPUs: made.VCPUs,
		Failover: hostNames(p, made.Spare), Uncovered: hostNames(p, made.Uncovered), More: made.More}
	for h := range made.Hosts {
		one := hostJSON{Host: p.Hosts[h].Name, VMs: []placeJSON{}, Nodes: made.Hosts[h].Nodes}
		for _, v := range made.Hosts[h].VMs {
			one.VMs = append(one.VMs, placeJSON{p.VMs[v].ID, p.VMs[v].Name, made.VMs[v].Cells})
		}
		out.Hosts = append(out.Hosts, one)
	}
	for i := range made.VMs {
		if made.VMs[i].Host < 0 {
			out.Left = append(out.Left, made.VMs[i])
		}
	}
	for _, w := range made.Waves {
		one := waveJSON{Wave: p.Waves[w.Wave], VCPUs: w.VCPUs, Hosts: hostNames(p, w.Hosts)}
		for _, v := range w.VMs {
			one.VMs = append(one.VMs, p.VMs[v].ID)
		}
		out.Waves = append(out.Waves, one)
	}
	return out
}

// mostDrawn is the maximum number of hosts drawn individually, before and after.
const mostDrawn = 24

// planDrawings returns one picture with all hosts before and after, and one of each host.
func planDrawings(p *plan.Plan, whole *rules.Result) []answer.Drawing {
	before := hostsBefore(p, whole)
	out := []answer.Drawing{{ID: "hosts", Heading: "Before and after", About: "The NUMA nodes of the hosts, before on vSphere and after by the plan.",
		Picture: func() *picture.Picture { return chart.Of(beside(p, whole, before)) }}}
	used := map[string]bool{}
	id := func(side, name string) string { // a letter, then letters, digits and hyphens
		base := side + "-" + strings.Trim(strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
				return r
			}
			return '-'
		}, name[:min(len(name), 100)]), "-")
		one := base
		for n := 2; used[strings.ToLower(one)]; n++ { // some file systems ignore case
			one = fmt.Sprintf("%s-%d", base, n)
		}
		used[strings.ToLower(one)] = true
		return one
	}
	add := func(heading, lead, side, name string, n, of int, d func() *topo.Drawing) {
		one := answer.Drawing{ID: id(side, name), About: name + " " + side, Picture: func() *picture.Picture { return d().Picture() }}
		if n == 0 {
			one.Heading, one.Lead = heading, lead
		}
		if n == mostDrawn-1 && of > mostDrawn {
			one.Cut = words.Verb(of-mostDrawn, "more host is", "more hosts are") + " not drawn here."
		}
		out = append(out, one)
	}
	for i, h := range before[:min(mostDrawn, len(before))] {
		add("Before: hosts of vSphere", "Rooms are NUMA nodes; a block is a NUMA client, as high as it has vCPUs; the column is the memory of the node.", "before", h.Name, i, len(before),
			func() *topo.Drawing {
				d := topo.OfHost(whole, h)
				d.Prefix = "before-"
				return d
			})
	}
	var full []int
	for h := range p.Made.Hosts {
		if len(p.Made.Hosts[h].VMs) > 0 {
			full = append(full, h)
		}
	}
	for i, h := range full[:min(mostDrawn, len(full))] {
		add("After: hosts of the plan", "A block is a NUMA node of a guest.", "after", p.Hosts[h].Name, i, len(full), func() *topo.Drawing { return topo.OfPlan(p, h) })
	}
	return out
}

// hostsBefore returns the vSphere hosts of the plan's VMs, in fleet order.
func hostsBefore(p *plan.Plan, whole *rules.Result) (out []*numa.Host) {
	seen := map[*numa.Host]bool{}
	for _, v := range p.VMs {
		seen[v.Host] = true
	}
	for i := range whole.Fleet.Hosts {
		if h := &whole.Fleet.Hosts[i]; seen[h] && h.Nodes.Known() {
			out = append(out, h)
		}
	}
	return out
}

// beside draws all nodes of all hosts.
func beside(p *plan.Plan, whole *rules.Result, before []*numa.Host) chart.Chart {
	old := chart.HostGroup{Name: "before"}
	for _, h := range before {
		old.Hosts = append(old.Hosts, hostRow("before-", topo.OfHost(whole, h)))
	}
	now := chart.HostGroup{Name: "after"}
	for h := range p.Made.Hosts {
		now.Hosts = append(now.Hosts, hostRow("after-", topo.OfPlan(p, h)))
	}
	return chart.Chart{ID: "hosts", Title: "NUMA nodes before and after", Figure: &chart.Hosts{Measures: []string{"vCPU per core", "memory in use"}, Groups: []chart.HostGroup{old, now},
		Dark: "loaded or full", Bad: "more memory than the node has"}}
}

// loaded is the number of vCPUs per core at the darkest shade.
const loaded = 4

func hostRow(side string, d *topo.Drawing) chart.HostRow {
	out := chart.HostRow{ID: side + d.ID, Name: d.Title}
	if len(d.Nodes) == 0 {
		out.Note = "its nodes are unknown"
	}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		var load, memory chart.Shade
		if r, ok := n.Load(); ok {
			load = chart.Shade{Known: true, Dark: r / loaded, Text: fmt.Sprintf("%.1f", r)}
		}
		if n.Memory.Known() && n.Memory.Value > 0 {
			share := float64(n.Used) / float64(n.Memory.Value)
			memory = chart.Shade{Known: true, Dark: share, Bad: share > 1, Text: fmt.Sprintf("%.0f%%", 100*share)}
		}
		out.Nodes = append(out.Nodes, chart.HostNode{Node: n.Number, Values: []chart.Shade{load, memory}})
	}
	return out
}

// placedFact returns the planned location of a VM, for its page.
func placedFact(p *Planned, m *move.Move) []answer.Fact {
	if p == nil {
		return nil
	}
	host, nodes := place(p.Plan, m.ID)
	if host == "" {
		return nil
	}
	text := host + ", node " + nodes
	if strings.Contains(nodes, ",") {
		text = host + ", nodes " + nodes + ", in the order of the guest's"
	}
	if m.At != nil && m.At.Numbered() {
		cpus, _ := m.At.All()
		text += "; its CPUs are " + words.Ranges(cpus)
	}
	n, _ := p.Wave(m.ID)
	out := []answer.Fact{{Name: "host", Text: text}}
	if i, ok := p.Of(m.ID); ok && p.More[i] != "" {
		out = append(out, answer.Fact{Name: "one plan for all", Text: "it counts " + p.More[i]})
	}
	return append(out, answer.Fact{Name: "wave", Text: fmt.Sprintf("%d: %s", n, p.Waves[p.Made.Waves[n-1].Wave])})
}
