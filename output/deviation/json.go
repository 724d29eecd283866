package deviation

import (
	"encoding/json"
	"io"
	"time"

	"homenode/measure/replay"
)

// JSONVersion is the version of the JSON; docs/replay.md describes it.
const JSONVersion = 1

type reportJSON struct {
	Format  string     `json:"format"`
	Version int        `json:"version"`
	Hosts   []hostJSON `json:"hosts"`
}

type hostJSON struct {
	Host     string        `json:"host"`
	Start    time.Time     `json:"start"`
	End      time.Time     `json:"end"`
	Moments  int           `json:"moments"`
	Window   float64       `json:"windowSeconds"`
	Counters []counterJSON `json:"counters"`
	VMs      []vmJSON      `json:"vms"`
	Nodes    []nodeJSON    `json:"nodes"`
	Notes    []string      `json:"notes"`
}

type vmJSON struct {
	Name      string        `json:"vm"`
	Inventory bool          `json:"inInventory"`
	Counters  []counterJSON `json:"counters"`
}

type nodeJSON struct {
	Node     int           `json:"node"`
	Counters []counterJSON `json:"counters"`
}

// A counterJSON is the error of a counter: means of what was compared, in the unit; of
// NMIG observed and simulated are sums.
type counterJSON struct {
	Counter     string   `json:"counter"`
	Unit        string   `json:"unit"`
	Compared    int64    `json:"compared"`
	Observed    *float64 `json:"observed,omitempty"`
	Simulated   *float64 `json:"simulated,omitempty"`
	Error       float64  `json:"error"`
	Relative    *float64 `json:"relative,omitempty"`
	Persistence float64  `json:"persistence"`
	Skill       *float64 `json:"skill,omitempty"`
}

var units = map[replay.Counter]string{
	replay.NHN: "share of moments that differ", replay.Locality: "share", replay.NRMEM: "bytes", replay.NLMEM: "bytes",
	replay.NMIG: "migrations of a VM", replay.Ready: "seconds a second", replay.NodeFree: "bytes",
}

func countersOf(all *replay.Errors) []counterJSON {
	out := []counterJSON{}
	for _, c := range replay.Counters() {
		if e := &all[c]; e.Compared > 0 {
			out = append(out, counterOf(c, e))
		}
	}
	return out
}

func counterOf(c replay.Counter, e *replay.Error) counterJSON {
	j := counterJSON{Counter: c.String(), Unit: units[c], Compared: e.Compared}
	scale := 1.0
	if c == replay.Locality {
		scale = 0.01
	}
	j.Error, _ = e.Mean()
	j.Persistence, _ = e.Persistence()
	j.Error, j.Persistence = j.Error*scale, j.Persistence*scale
	if c != replay.NHN {
		n := float64(e.Compared)
		if c == replay.NMIG {
			n = 1
		}
		observed, simulated := e.Observed/n*scale, e.Simulated/n*scale
		j.Observed, j.Simulated = &observed, &simulated
	}
	if share, ok := e.Relative(); ok {
		j.Relative = &share
	}
	if skill, ok := e.Skill(); ok {
		j.Skill = &skill
	}
	return j
}

// JSON writes the results of hosts as one JSON object.
func JSON(w io.Writer, results []*replay.Result) error {
	out := reportJSON{Format: "homenode-replay", Version: JSONVersion, Hosts: []hostJSON{}}
	for _, r := range results {
		h := hostJSON{
			Host: r.Host, Start: r.Start, End: r.End, Moments: r.Moments, Window: r.Window.Seconds(),
			Counters: countersOf(&r.Totals), VMs: []vmJSON{}, Nodes: []nodeJSON{}, Notes: []string{},
		}
		for i := range r.VMs {
			h.VMs = append(h.VMs, vmJSON{r.VMs[i].Name, r.VMs[i].Known, countersOf(&r.VMs[i].Errors)})
		}
		for i := range r.Nodes {
			n := nodeJSON{Node: r.Nodes[i].ID, Counters: []counterJSON{}}
			if e := &r.Nodes[i].Error; e.Compared > 0 {
				n.Counters = append(n.Counters, counterOf(replay.NodeFree, e))
			}
			h.Nodes = append(h.Nodes, n)
		}
		for _, n := range r.Notes {
			h.Notes = append(h.Notes, n.String())
		}
		out.Hosts = append(out.Hosts, h)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(out)
}
