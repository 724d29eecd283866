package recording

import (
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/simulate"
	verdict "example.org/homenode/rules/verdict/recording"
	"example.org/homenode/rules/verdict/simulation"
)

// The JSON of recordings: see docs/reference/json.md. The tags in package capture are those of its
// archives, which have sums and timelines. This JSON has means, maxima and minima.

// A result is the JSON of assessed recordings. It has timelines only in packed form, in Whole. The
// exports of captures to Parquet or OpenMetrics have them.
type result struct {
	First     time.Time       `json:"first,omitzero"`
	Last      time.Time       `json:"last,omitzero"`
	Hosts     int             `json:"hosts"`
	VMs       int             `json:"vms"`
	Inventory string          `json:"inventory,omitempty"`
	Shown     string          `json:"shown,omitempty"`
	Recorded  []recordingJSON `json:"recordings"`
	Whole     []byte          `json:"whole,omitempty"`
}

type recordingJSON struct {
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
	Nodes      []nodeJSON         `json:"nodes"`
	VMs        []vmJSON           `json:"vms"`
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

type nodeJSON struct {
	ID       int         `json:"id"`
	Total    numa.Bytes  `json:"bytes,omitempty"`
	Busy     *levelJSON  `json:"busy,omitempty"`
	Least    *numa.Bytes `json:"leastFreeBytes,omitempty"`
	LeastAt  time.Time   `json:"leastFreeAt,omitzero"`
	LastFree *numa.Bytes `json:"lastFreeBytes,omitempty"`
}

type vmJSON struct {
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

	Memory    *memoryJSON   `json:"memory,omitempty"`
	Homes     *homesJSON    `json:"homes,omitempty"`
	Moves     *numa.Moves   `json:"migrations,omitempty"`
	Ready     *levelJSON    `json:"ready,omitempty"`
	CoStop    *levelJSON    `json:"coStop,omitempty"`
	Used      *levelJSON    `json:"used,omitempty"`
	Predicted *vnuma.Layout `json:"predicted,omitempty"`
	Silent    []silence     `json:"notFound,omitempty"` // for a VM that is shown individually
}

type memoryJSON struct {
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

type homesJSON struct {
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

func (r *report) result() result {
	j := result{First: r.First, Last: r.Last, Hosts: len(r.Recordings), VMs: verdict.CountVMs(r.VMs), Shown: r.Filter, Recorded: []recordingJSON{}, Whole: r.o.Whole}
	if r.Fleet != nil {
		j.Inventory = r.Fleet.Fleet.Source
	}
	for _, rec := range r.Recordings {
		j.Recorded = append(j.Recorded, r.recording(rec))
	}
	return j
}

func (r *report) recording(rec *capture.Recording) recordingJSON {
	o := &rec.Options
	j := recordingJSON{
		Host: rec.Host, Files: list(rec.Files), First: rec.First, Last: rec.Last, Ticks: rec.Ticks, Covered: rec.Covered.Seconds(), Lacks: list(rec.Lacks),
		MinFree: rec.MinFree, Nodes: []nodeJSON{}, VMs: []vmJSON{},
		Limits: map[string]any{
			"locality": o.Locality, "remoteBytes": o.Remote, "busyNode": o.BusyNode, "idleNode": o.IdleNode,
			"ready": o.Ready, "spillFreeBytes": o.SpillFree, "spillStepBytes": o.SpillStep, "lopsided": o.Lopsided,
			"windowSeconds": o.Window.Seconds(), "gapSeconds": o.Gap.Seconds(),
		},
	}
	if rec.HasStates {
		j.States = map[string]float64{}
		j.Short = spellsOf(&rec.Short)
		for i, d := range rec.States {
			if d > 0 {
				j.States[numa.MemoryState(i).String()] = d.Seconds()
			}
		}
	}
	if moves(rec) != "" {
		j.Moves = &rec.Moves.Total
	}
	for i := range rec.Nodes {
		n := &rec.Nodes[i]
		one := nodeJSON{ID: n.ID, Total: n.Total, Busy: levelOf(&n.Busy)}
		if one.Busy != nil {
			j.Overloaded = spellsOf(&rec.Imbalance)
		}
		if n.Least >= 0 {
			one.Least, one.LeastAt = &n.Least, n.LeastAt
		}
		if n.LastFree >= 0 {
			one.LastFree = &n.LastFree
		}
		j.Nodes = append(j.Nodes, one)
	}
	for _, v := range r.On(rec) {
		one := vmOf(v)
		if r.o.VM != "" {
			one.Silent = r.silent(v)
		}
		j.VMs = append(j.VMs, one)
	}
	return j
}

func vmOf(v *verdict.VM) vmJSON {
	j := vmJSON{
		VM: v.Name, GID: v.GID, Nth: v.Nth, VCPUs: v.VCPUs, Size: v.Size, First: v.First, Last: v.Last, Ticks: v.Ticks, Present: v.Present.Seconds(),
		Appeared: v.Appeared, Left: v.Left, Ready: levelOf(&v.Ready), CoStop: levelOf(&v.CoStop), Used: levelOf(&v.Used),
	}
	if v.HasMemory {
		m := &memoryJSON{MostRemote: v.Remote.Most, MostAt: v.Remote.At, Low: *spellsOf(&v.Low), Far: *spellsOf(&v.Far), LastLocal: v.LastLocal, LastRemote: v.LastRemote}
		if least, ok := v.LeastLocality(); ok {
			m.Least = &leastJSON{v.Least.Time, least, v.Least.Local, v.Least.Remote, nodeIDs(v.Least.Homes)}
		}
		if share, ok := v.VM.MeanLocality(); ok {
			m.Mean = &share
		}
		if mean, ok := v.Remote.Mean(v.Managed); ok {
			m.MeanRemote = &mean
		}
		j.Memory = m
	}
	if v.HasHomes {
		h := &homesJSON{Times: []homeTimeJSON{}, Changed: v.Changed.Total, Returns: v.Returns.Total}
		for _, t := range v.VM.Homes {
			h.Times = append(h.Times, homeTimeJSON{nodeIDs(t.Homes), t.Time.Seconds()})
		}
		for _, ch := range v.Changes {
			h.Changes = append(h.Changes, changeJSON{ch.Time, nodeIDs(ch.From), nodeIDs(ch.To)})
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

func spellsOf(s *capture.Spells) *spellsJSON {
	j := &spellsJSON{Count: s.Count, Seconds: s.Time.Seconds()}
	if s.Count > 0 {
		j.Longest = &spellJSON{s.Longest.From, s.Longest.To, s.Longest.Ticks, s.Longest.Worst, s.Longest.At}
	}
	return j
}

// nodeIDs returns the nodes of a set. It is empty for a VM that is not managed.
func nodeIDs(s numa.NodeSet) []int {
	out := []int{}
	for n := range s.All() {
		out = append(out, n)
	}
	return out
}

// list converts a nil list to an empty one, for [] instead of null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// A simulatedResult is the JSON of a simulation.
type simulatedResult struct {
	result
	Judged    bool                   `json:"judged"`
	Story     storyJSON              `json:"story"`
	Happened  []simulation.Happening `json:"happened"`
	Lives     []simulatedJSON        `json:"simulatedVMs"`
	Decisions []simulation.Decision  `json:"decisions"`
	Harmed    simulation.Harm        `json:"harmed"`
	Without   *simulation.Without    `json:"without,omitempty"`
}

type storyJSON struct {
	Name    string    `json:"name"`
	Start   time.Time `json:"start"`
	Seconds float64   `json:"seconds"`
	Every   float64   `json:"everySeconds"`
	Seed    uint64    `json:"seed"`
	Hosts   int       `json:"hosts"`
	VMs     int       `json:"vms"`
	Model   string    `json:"model"`
	Assumed int       `json:"vmsWithAssumedLoad"`
	Load    string    `json:"assumedLoad,omitempty"`
	Ticks   int64     `json:"clientTicks"`
}

type simulatedJSON struct {
	VM      string     `json:"vm"`
	VMID    string     `json:"vmId"`
	Hosts   []string   `json:"hosts"`
	VCPUs   int        `json:"vcpus,omitempty"`
	Seconds float64    `json:"seconds"`
	Mean    *float64   `json:"meanLocality,omitempty"`
	Far     *float64   `json:"farShare,omitempty"`
	Ready   *float64   `json:"readyShare,omitempty"`
	CoStop  *float64   `json:"coStopShare,omitempty"`
	Swapped numa.Bytes `json:"meanSwappedBytes"`
	// at the moment with the largest sum, and the number of moments without a price for it
	MostSwapped numa.Bytes      `json:"mostSwappedBytes,omitempty"`
	MostBalloon numa.Bytes      `json:"mostBalloonedBytes,omitempty"`
	Unpriced    int             `json:"unpricedMoments,omitempty"`
	Moves       numa.Moves      `json:"migrations"`
	Speed       *simulate.Speed `json:"performance,omitempty"`
	Rules       []string        `json:"rules"`
}

// lifeJSON is one stay of a VM on a host, with its findings and the rules without findings.
type lifeJSON struct {
	Host string `json:"host"`
	vmJSON
	Findings []*finding.Finding `json:"findings"`
}

func (r *report) simulatedResult(happened []simulation.Happening) simulatedResult {
	j := simulatedResult{result: r.result(), Judged: r.sim.Watched != nil, Story: r.storyJSON(), Happened: list(happened), Lives: []simulatedJSON{}, Decisions: decisions(r.sim, r.sim.About()),
		Harmed: r.sim.Harm(), Without: r.o.Without}
	j.Inventory = "" // it would be the story
	j.VMs, j.Hosts = len(r.sim.Order), len(r.sim.Story.Fleet.Hosts)
	for _, v := range r.sim.Order {
		j.Lives = append(j.Lives, simulatedOf(v, false))
	}
	return j
}

func (r *report) storyJSON() storyJSON {
	s, story := r.sim, r.sim.Story
	return storyJSON{Name: story.Name, Start: story.Start, Seconds: story.Length.Seconds(), Every: story.Every.Seconds(), Seed: story.Seed, Hosts: len(story.Fleet.Hosts),
		VMs: len(s.Order), Model: model(s), Assumed: len(s.Assumed()), Load: assumed(s), Ticks: s.Outcome.ClientTicks}
}

// simulatedOf returns the JSON of a VM. With points it includes its speed at every moment.
func simulatedOf(v *simulation.VM, points bool) simulatedJSON {
	number := func(share float64, ok bool) *float64 {
		if !ok {
			return nil
		}
		return &share
	}
	j := simulatedJSON{VM: v.Name, VMID: v.ID, Hosts: list(v.Hosts()), VCPUs: v.VCPUs(), Seconds: v.Ran().Seconds(), Mean: number(v.Out.Locality()), Far: number(v.Out.FarShare()),
		Ready: number(v.Out.ReadyShare()), CoStop: number(v.Out.CoStopShare()), Swapped: meanSwapped(v), Moves: v.Out.Moves, Rules: []string{}}
	for _, f := range v.Findings {
		j.Rules = words.Once(j.Rules, f.Rule)
	}
	if p := v.Took; p != nil {
		j.MostSwapped, j.MostBalloon, j.Unpriced = p.Swapped, p.Balloon, p.Unpriced
	}
	if v.Speed != nil {
		speed := *v.Speed
		if !points {
			speed.Points = nil
		}
		j.Speed = &speed
	}
	return j
}
