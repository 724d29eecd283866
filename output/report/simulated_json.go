package report

import (
	"io"
	"time"

	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/simulate"
	"homenode/rules/verdict/recording"
)

type simulatedJSON struct {
	captureJSON
	Simulated bool                  `json:"simulated"` // always true: nobody observed this
	Judged    bool                  `json:"judged"`
	Story     storyJSON             `json:"story"`
	Happened  []recording.Happening `json:"happened"`
	Lives     []simulatedVMJSON     `json:"simulatedVMs"`
	Decisions []recording.Decision  `json:"decisions"`
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
	j := simulatedJSON{captureJSON: c.json(), Simulated: true, Judged: r.Watched != nil, Story: storyJSONOf(s), Happened: []recording.Happening{}, Lives: []simulatedVMJSON{}, Decisions: decisionsOf(s, every(s))}
	j.Inventory = "" // it is the story
	j.VMs, j.Hosts = len(s.Order), len(s.Story.Fleet.Hosts)
	j.Happened = append(j.Happened, s.Happened()...)
	for _, v := range s.Order {
		j.Lives = append(j.Lives, simVMJSON(v, false))
	}
	return writeJSON(w, &j)
}

func storyJSONOf(s *recording.Simulation) storyJSON {
	return storyJSON{Name: s.Story.Name, Start: s.Story.Start, Seconds: s.Story.Length.Seconds(), Every: s.Story.Every.Seconds(), Seed: s.Story.Seed, Hosts: len(s.Story.Fleet.Hosts),
		VMs: len(s.Order), Model: modelText(s), Assumed: len(s.Assumed()), Load: assumedText(s), Ticks: s.Outcome.ClientTicks}
}

func simVMJSON(v *recording.SimulatedVM, points bool) simulatedVMJSON {
	number := func(share float64, ok bool) *float64 {
		if !ok {
			return nil
		}
		return &share
	}
	j := simulatedVMJSON{VM: v.Name, VMID: v.ID, Hosts: orEmpty(v.Hosts()), VCPUs: v.VCPUs(), Seconds: v.Ran().Seconds(), Mean: number(v.Mean()), Far: number(v.Far()),
		Ready: number(v.Waited()), CoStop: number(v.Stopped()), Moves: v.Out.Moves, Rules: orEmpty(ruleIDs(v.Findings))}
	if v.Out.Steps > 0 {
		j.Swapped = numa.Bytes(v.Out.Swapped/v.Out.Steps) * numa.PageSize
	}
	if p := v.Took; p != nil {
		j.MostSwapped, j.MostBalloon, j.Unpriced = p.Swapped, p.Balloon, p.Unpriced
	}
	if p := v.Speed; p != nil {
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
	Format    string               `json:"format"`
	Version   int                  `json:"version"`
	Simulated bool                 `json:"simulated"`
	Story     storyJSON            `json:"story"`
	VM        simulatedVMJSON      `json:"vm"`
	Decisions []recording.Decision `json:"decisions"`
	Lives     []lifeJSON           `json:"lives"`
}

// SimulatedVMJSON writes all of the life of one VM as JSON.
func SimulatedVMJSON(w io.Writer, r *simulate.Result, name string) error {
	c := newSimulated(r)
	v, err := c.sim.One(name)
	if err != nil {
		return err
	}
	chosen, err := c.sim.Decisions(v.ID, "")
	if err != nil {
		return err
	}
	j := simulatedLifeJSON{Format: "homenode-simulation-vm", Version: JSONVersion, Simulated: true, Story: storyJSONOf(c.sim), VM: simVMJSON(v, true), Decisions: decisionsOf(c.sim, chosen), Lives: []lifeJSON{}}
	for _, l := range v.Lives {
		j.Lives = append(j.Lives, lifeJSON{l.Rec.Host, lifeOf(l), orEmpty(l.Findings), c.unfound(l)})
	}
	return writeJSON(w, &j)
}

// SimulatedFindingsOfVM counts the findings at or above a severity about the VM of this
// name.
func SimulatedFindingsOfVM(r *simulate.Result, name string, least finding.Severity) int {
	v, err := newSimulated(r).sim.One(name)
	if err != nil {
		return 0
	}
	return atLeast(v.Lives, least)
}
