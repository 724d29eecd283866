package report

import (
	"io"
	"time"

	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/simulate"
)

type simulatedJSON struct {
	captureJSON
	Simulated bool              `json:"simulated"` // always true: nobody observed this
	Judged    bool              `json:"judged"`
	Story     storyJSON         `json:"story"`
	Happened  []happeningJSON   `json:"happened"`
	Lives     []simulatedVMJSON `json:"simulatedVMs"`
	Decisions []decisionJSON    `json:"decisions"`
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

type happeningJSON struct {
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	Host  string    `json:"host,omitempty"`
	Event bool      `json:"event"`
	Text  string    `json:"text"`
	Note  string    `json:"note,omitempty"`
	Then  string    `json:"followed,omitempty"`
	Rules []string  `json:"rules,omitempty"`
}

type simulatedVMJSON struct {
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
	// At the moment at which their sum was most, and how many moments have no price for it.
	MostSwapped numa.Bytes `json:"mostSwappedBytes,omitempty"`
	MostBalloon numa.Bytes `json:"mostBalloonedBytes,omitempty"`
	Unpriced    int        `json:"unpricedMoments,omitempty"`
	Moves       numa.Moves `json:"migrations"`
	Speed       *speedJSON `json:"performance,omitempty"`
	Rules       []string   `json:"rules"`
}

type speedJSON struct {
	Workload     string           `json:"workload"`
	Mean         float64          `json:"mean"`
	Low          float64          `json:"low"`
	High         float64          `json:"high"`
	Worst        float64          `json:"worst"`
	WorstAt      time.Time        `json:"worstAt"`
	Far          float64          `json:"farAccesses"`
	Extrapolated bool             `json:"extrapolated"`
	Why          []string         `json:"why"`
	Points       []speedPointJSON `json:"points,omitempty"`
}

type speedPointJSON struct {
	Time  time.Time `json:"time"`
	Value float64   `json:"value"`
	Low   float64   `json:"low"`
	High  float64   `json:"high"`
}

// SimulatedJSON writes a simulation as JSON: what CaptureJSON does of its run, and what
// happened, every decision, and how fast VMs ran.
func SimulatedJSON(w io.Writer, r *simulate.Result) error {
	c := newSimulated(r)
	s := c.sim
	j := simulatedJSON{captureJSON: c.json(), Simulated: true, Judged: r.Watched != nil, Story: s.storyJSON(), Happened: []happeningJSON{}, Lives: []simulatedVMJSON{}, Decisions: s.decisionsJSON(s.all())}
	j.Inventory = "" // it is the story
	j.VMs, j.Hosts = len(s.order), len(s.Story.Fleet.Hosts)
	for _, h := range s.happenings() {
		j.Happened = append(j.Happened, happeningJSON{s.Story.Start.Add(h.from), s.Story.Start.Add(h.to), h.host, h.event, h.text, h.note, h.followed, h.rules})
	}
	for _, v := range s.order {
		j.Lives = append(j.Lives, v.json(false))
	}
	return writeJSON(w, &j)
}

func (s *simulated) storyJSON() storyJSON {
	return storyJSON{Name: s.Story.Name, Start: s.Story.Start, Seconds: s.Story.Length.Seconds(), Every: s.Story.Every.Seconds(), Seed: s.Story.Seed, Hosts: len(s.Story.Fleet.Hosts),
		VMs: len(s.order), Model: s.modelText(), Assumed: len(s.assumed()), Load: s.assumedText(), Ticks: s.Outcome.ClientTicks}
}

func (v *simulatedVM) json(points bool) simulatedVMJSON {
	number := func(share float64, ok bool) *float64 {
		if !ok {
			return nil
		}
		return &share
	}
	j := simulatedVMJSON{VM: v.Name, VMID: v.ID, Hosts: orEmpty(v.hosts()), VCPUs: v.vcpus(), Seconds: v.ran().Seconds(), Mean: number(v.mean()), Far: number(v.far()),
		Ready: number(v.waited()), CoStop: number(v.stopped()), Moves: v.out.Moves, Rules: orEmpty(ruleIDs(v.findings))}
	if v.out.Steps > 0 {
		j.Swapped = numa.Bytes(v.out.Swapped/v.out.Steps) * numa.PageSize
	}
	if p := v.taken; p != nil {
		j.MostSwapped, j.MostBalloon, j.Unpriced = p.Swapped, p.Balloon, p.Unpriced
	}
	if p := v.speed; p != nil {
		j.Speed = &speedJSON{Workload: p.Workload, Mean: p.Mean, Low: p.Low, High: p.High, Worst: p.Worst, WorstAt: p.WorstAt, Far: p.Far, Extrapolated: p.Extrapolated, Why: orEmpty(p.Why)}
		if points {
			for _, one := range p.Points {
				j.Speed.Points = append(j.Speed.Points, speedPointJSON{one.Time, one.Value, one.Low, one.High})
			}
		}
	}
	return j
}

type simulatedLifeJSON struct {
	Format    string          `json:"format"`
	Version   int             `json:"version"`
	Simulated bool            `json:"simulated"`
	Story     storyJSON       `json:"story"`
	VM        simulatedVMJSON `json:"vm"`
	Decisions []decisionJSON  `json:"decisions"`
	Lives     []lifeJSON      `json:"lives"`
}

// SimulatedVMJSON writes all of the life of one VM as JSON.
func SimulatedVMJSON(w io.Writer, r *simulate.Result, name string) error {
	c := newSimulated(r)
	v, err := c.sim.one(name)
	if err != nil {
		return err
	}
	chosen, err := c.sim.decisions(WhyOptions{VM: v.ID})
	if err != nil {
		return err
	}
	j := simulatedLifeJSON{Format: "homenode-simulation-vm", Version: JSONVersion, Simulated: true, Story: c.sim.storyJSON(), VM: v.json(true), Decisions: c.sim.decisionsJSON(chosen), Lives: []lifeJSON{}}
	for _, l := range v.lives {
		j.Lives = append(j.Lives, lifeJSON{l.rec.Host, l.json(), orEmpty(l.findings), c.unfound(l)})
	}
	return writeJSON(w, &j)
}

// SimulatedFindingsOfVM counts the findings at or above a severity about the VM of this
// name.
func SimulatedFindingsOfVM(r *simulate.Result, name string, least finding.Severity) int {
	v, err := newSimulated(r).sim.one(name)
	if err != nil {
		return 0
	}
	return atLeast(v.lives, least)
}
