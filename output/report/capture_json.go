package report

import (
	"io"
	"time"

	"homenode/capture"
	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/policy"
	"homenode/rules/rule"
	"homenode/rules/verdict/recording"
)

type captureJSON struct {
	Format    string            `json:"format"`
	Version   int               `json:"version"`
	Verdict   string            `json:"verdict"`
	Rest      string            `json:"verdictRest,omitempty"`
	First     time.Time         `json:"first,omitzero"`
	Last      time.Time         `json:"last,omitzero"`
	Hosts     int               `json:"hosts"`
	VMs       int               `json:"vms"`
	Inventory string            `json:"inventory,omitempty"`
	Counts    map[string]int    `json:"findingsBySeverity"`
	Recorded  []recordedJSON    `json:"recordings"`
	Findings  []finding.Finding `json:"findings"`
	Notes     []noteJSON        `json:"notes"`

	Config     *configJSON         `json:"config,omitempty"`
	Suppressed []policy.Suppressed `json:"suppressed,omitempty"`
}

type noteJSON struct {
	From string `json:"from"`
	numa.Note
}

type recordedJSON struct {
	Host       string             `json:"host"`
	Files      []capture.File     `json:"files"`
	First      time.Time          `json:"first"`
	Last       time.Time          `json:"last"`
	Ticks      int                `json:"ticks"`
	Covered    float64            `json:"coveredSeconds"`
	Lacks      []string           `json:"lacks"`
	MinFree    numa.Bytes         `json:"minFreeBytes,omitempty"`
	States     map[string]float64 `json:"secondsInMemoryState,omitempty"`
	Short      *spellsJSON        `json:"memoryStateBelowHigh,omitempty"`
	Moves      *int64             `json:"migrations,omitempty"`
	Overloaded *spellsJSON        `json:"overloadedBesideIdle,omitempty"`
	Nodes      []recordedNodeJSON `json:"nodes"`
	VMs        []recordedVMJSON   `json:"vms"`
	Limits     map[string]any     `json:"limits"`
}

type levelJSON struct {
	Mean *float64  `json:"mean,omitempty"`
	Most float64   `json:"most"`
	At   time.Time `json:"mostAt"`
}

type spellsJSON struct {
	Count   int        `json:"count"`
	Seconds float64    `json:"seconds"`
	Longest *spellJSON `json:"longest,omitempty"`
}

type spellJSON struct {
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	Ticks int       `json:"ticks"`
	Worst float64   `json:"worst"`
	At    time.Time `json:"worstAt,omitzero"`
}

type recordedNodeJSON struct {
	ID       int         `json:"id"`
	Total    numa.Bytes  `json:"bytes,omitempty"`
	Busy     *levelJSON  `json:"busy,omitempty"`
	Least    *numa.Bytes `json:"leastFreeBytes,omitempty"`
	LeastAt  time.Time   `json:"leastFreeAt,omitzero"`
	LastFree *numa.Bytes `json:"lastFreeBytes,omitempty"`
}

type recordedVMJSON struct {
	VM       string     `json:"vm"`
	GID      int64      `json:"gid"`
	Nth      int        `json:"nth,omitempty"`
	VMID     string     `json:"vmId,omitempty"`
	VCPUs    int        `json:"vcpus,omitempty"`
	Size     numa.Bytes `json:"bytes,omitempty"`
	First    time.Time  `json:"first"`
	Last     time.Time  `json:"last"`
	Ticks    int        `json:"ticks"`
	Present  float64    `json:"presentSeconds"`
	Appeared bool       `json:"appeared,omitempty"`
	Left     bool       `json:"left,omitempty"`

	Memory    *vmMemoryJSON `json:"memory,omitempty"`
	Homes     *vmHomesJSON  `json:"homes,omitempty"`
	Moves     *numa.Moves   `json:"migrations,omitempty"`
	Ready     *levelJSON    `json:"ready,omitempty"`
	CoStop    *levelJSON    `json:"coStop,omitempty"`
	Used      *levelJSON    `json:"used,omitempty"`
	Predicted *vnuma.Layout `json:"predicted,omitempty"`
}

type vmMemoryJSON struct {
	Least      *leastJSON  `json:"least,omitempty"`
	Mean       *float64    `json:"meanLocality,omitempty"`
	MostRemote numa.Bytes  `json:"mostRemoteBytes"`
	MostAt     time.Time   `json:"mostRemoteAt,omitzero"`
	MeanRemote *numa.Bytes `json:"meanRemoteBytes,omitempty"`
	Low        spellsJSON  `json:"lowLocality"`
	Far        spellsJSON  `json:"muchRemote"`
	LastLocal  numa.Bytes  `json:"lastLocalBytes"`
	LastRemote numa.Bytes  `json:"lastRemoteBytes"`
}

type leastJSON struct {
	Time     time.Time  `json:"time"`
	Locality float64    `json:"locality"`
	Local    numa.Bytes `json:"localBytes"`
	Remote   numa.Bytes `json:"remoteBytes"`
	Homes    []int      `json:"homes"`
}

type vmHomesJSON struct {
	Times   []homeTimeJSON `json:"times"`
	Changed int64          `json:"changed"`
	Returns int64          `json:"returns"`
	Changes []changeJSON   `json:"changes,omitempty"`
}

type homeTimeJSON struct {
	Nodes   []int   `json:"nodes"`
	Seconds float64 `json:"seconds"`
}

type changeJSON struct {
	Time time.Time `json:"time"`
	From []int     `json:"from"`
	To   []int     `json:"to"`
}

// CaptureJSON writes judged recordings as JSON. Their timelines are not in it: they are
// what captures are exported as Parquet or OpenMetrics for.
func CaptureJSON(w io.Writer, r *rules.Watched) error {
	j := newCaptured(r).json()
	return writeJSON(w, &j)
}

func (c *captured) json() captureJSON {
	j := captureJSON{
		Format: c.words.format, Version: JSONVersion, First: c.First, Last: c.Last, Hosts: len(c.Recordings), VMs: recording.CountVMs(c.VMs),
		Counts: bySeverity(&c.Judgement), Recorded: []recordedJSON{}, Findings: orEmpty(c.Findings), Notes: []noteJSON{},
	}
	j.Verdict, j.Rest = c.verdict()
	if c.Fleet != nil {
		j.Inventory = c.Fleet.Fleet.Source
	}
	j.Config, j.Suppressed = configOf(&c.Judgement)
	for _, o := range c.judged.open {
		for _, n := range o.list {
			j.Notes = append(j.Notes, noteJSON{o.from, n})
		}
	}
	for _, rec := range c.Recordings {
		j.Recorded = append(j.Recorded, c.recorded(rec))
	}
	return j
}

func (c *captured) recorded(rec *capture.Recording) recordedJSON {
	j := recordedJSON{
		Host: rec.Host, Files: orEmpty(rec.Files), First: rec.First, Last: rec.Last, Ticks: rec.Ticks, Covered: rec.Covered.Seconds(), Lacks: orEmpty(rec.Lacks),
		MinFree: rec.MinFree, Nodes: []recordedNodeJSON{}, VMs: []recordedVMJSON{},
		Limits: map[string]any{
			"locality": rec.Options.Locality, "remoteBytes": rec.Options.Remote, "busyNode": rec.Options.BusyNode, "idleNode": rec.Options.IdleNode,
			"ready": rec.Options.Ready, "spillFreeBytes": rec.Options.SpillFree, "spillStepBytes": rec.Options.SpillStep, "lopsided": rec.Options.Lopsided,
			"windowSeconds": rec.Options.Window.Seconds(), "gapSeconds": rec.Options.Gap.Seconds(),
		},
	}
	if rec.HasStates {
		j.States = map[string]float64{}
		short := spellsOf(&rec.Short)
		j.Short = &short
		for i, d := range rec.States {
			if d > 0 {
				j.States[numa.MemoryState(i).String()] = d.Seconds()
			}
		}
	}
	if movesOf(rec) != "" {
		j.Moves = &rec.Moves.Total
	}
	for i := range rec.Nodes {
		n := &rec.Nodes[i]
		one := recordedNodeJSON{ID: n.ID, Total: n.Total, Busy: levelOf(&n.Busy)}
		if one.Busy != nil && j.Overloaded == nil {
			o := spellsOf(&rec.Imbalance)
			j.Overloaded = &o
		}
		if n.Least >= 0 {
			one.Least, one.LeastAt = &n.Least, n.LeastAt
		}
		if n.LastFree >= 0 {
			one.LastFree = &n.LastFree
		}
		j.Nodes = append(j.Nodes, one)
	}
	for _, v := range c.On(rec) {
		j.VMs = append(j.VMs, lifeOf(v))
	}
	return j
}

func lifeOf(v *recording.VM) recordedVMJSON {
	j := recordedVMJSON{
		VM: v.Name, GID: v.GID, Nth: v.Nth, VCPUs: v.VCPUs, Size: v.Size, First: v.First, Last: v.Last, Ticks: v.Ticks, Present: v.Present.Seconds(),
		Appeared: v.Appeared, Left: v.Left, Ready: levelOf(&v.Ready), CoStop: levelOf(&v.CoStop), Used: levelOf(&v.Used),
	}
	if v.HasMemory {
		m := &vmMemoryJSON{MostRemote: v.Remote.Most, MostAt: v.Remote.At, Low: spellsOf(&v.Low), Far: spellsOf(&v.Far), LastLocal: v.LastLocal, LastRemote: v.LastRemote}
		if least, ok := v.LeastLocality(); ok {
			m.Least = &leastJSON{v.Least.Time, least, v.Least.Local, v.Least.Remote, nodeList(v.Least.Homes)}
		}
		if share, ok := rule.MeanLocality(v.VM); ok {
			m.Mean = &share
		}
		if mean, ok := v.Remote.Mean(v.Managed); ok {
			m.MeanRemote = &mean
		}
		j.Memory = m
	}
	if v.HasHomes {
		h := &vmHomesJSON{Times: []homeTimeJSON{}, Changed: v.Changed.Total, Returns: v.Returns.Total}
		for _, t := range v.VM.Homes {
			h.Times = append(h.Times, homeTimeJSON{nodeList(t.Homes), t.Time.Seconds()})
		}
		for _, ch := range v.Changes {
			h.Changes = append(h.Changes, changeJSON{ch.Time, nodeList(ch.From), nodeList(ch.To)})
		}
		j.Homes = h
	}
	if v.HasMoves {
		j.Moves = &v.Moves
	}
	if v.InFleet != nil {
		j.VMID = v.InFleet.ID
		if len(v.InFleet.On) > 0 {
			j.Predicted = &v.InFleet.On[0].Layout
		}
	}
	return j
}

func levelOf(l *capture.Level) *levelJSON {
	peak, ok := l.Peak()
	if !ok {
		return nil
	}
	j := &levelJSON{Most: peak, At: l.At}
	if mean, ok := l.Mean(); ok {
		j.Mean = &mean
	}
	return j
}

func spellsOf(s *capture.Spells) spellsJSON {
	j := spellsJSON{Count: s.Count, Seconds: s.Time.Seconds()}
	if s.Count > 0 {
		j.Longest = &spellJSON{s.Longest.From, s.Longest.To, s.Longest.Ticks, s.Longest.Worst, s.Longest.At}
	}
	return j
}

// nodeList returns the nodes of a set; empty for a VM that is not managed.
func nodeList(s numa.NodeSet) []int {
	out := []int{}
	for n := range s.All() {
		out = append(out, n)
	}
	return out
}
