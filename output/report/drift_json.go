package report

import (
	"io"

	"homenode/change/diff"
	"homenode/change/whatif"
	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

type driftJSON struct {
	Format    string             `json:"format"`
	Version   int                `json:"version"`
	A         sideJSON           `json:"a"`
	B         sideJSON           `json:"b"`
	Changes   []effectJSON       `json:"changes,omitempty"`
	Better    int                `json:"better"`
	Worse     int                `json:"worse"`
	CannotRun int                `json:"cannotRun"` // of Worse
	Other     int                `json:"other"`
	Unchanged int                `json:"unchanged"`
	Moved     int                `json:"moved"`
	OneSided  int                `json:"knownOnOneSide"`
	VMs       []vmDriftJSON      `json:"vms"`
	Hosts     []hostDriftJSON    `json:"hosts"`
	NewVMs    []string           `json:"newVMs"`
	GoneVMs   []string           `json:"goneVMs"`
	NewHosts  []string           `json:"newHosts"`
	GoneHosts []string           `json:"goneHosts"`
	Findings  []findingDriftJSON `json:"findings"`
	Told      []findingDriftJSON `json:"findingsKnownOnOneSide,omitempty"` // diff only
	Capacity  []capacityJSON     `json:"capacity,omitempty"`
	Notes     []numa.Note        `json:"notes"`
}

type sideJSON struct {
	Source    string `json:"source"`
	Collected string `json:"collected,omitempty"`
	Hosts     int    `json:"hosts"`
	VMs       int    `json:"vms"`
	Judged    int    `json:"judged"`
}

type effectJSON struct {
	Change  string `json:"change"`
	Hosts   int    `json:"hosts"`
	VMs     int    `json:"vms"`
	Changed int    `json:"changed"`
}

type vmDriftJSON struct {
	VM       string         `json:"vm"`
	ID       string         `json:"id"`
	Cluster  string         `json:"cluster,omitempty"`
	Verdict  diff.Verdict   `json:"verdict"`
	Why      []string       `json:"why"`
	From     *placeJSON     `json:"from"`
	To       *placeJSON     `json:"to"`
	Settings []diff.Setting `json:"settings"`
	Apart    bool           `json:"knownOnOneSide,omitempty"` // nothing but knowledge differs
}

type placeJSON struct {
	Short  string        `json:"short"`
	Hosts  []string      `json:"hosts"` // with this layout
	Runs   bool          `json:"runs"`
	Layout *vnuma.Layout `json:"layout"`
}

type hostDriftJSON struct {
	Host     string         `json:"host"`
	ID       string         `json:"id"`
	Settings []diff.Setting `json:"settings"`
}

type findingDriftJSON struct {
	Change  string           `json:"change"` // new, gone or severity
	Was     string           `json:"was,omitempty"`
	Finding *finding.Finding `json:"finding"`
}

type capacityJSON struct {
	Cluster string     `json:"cluster"`
	Fits    bool       `json:"fits"`
	Before  supplyJSON `json:"before"`
	After   supplyJSON `json:"after"`
}

type supplyJSON struct {
	Hosts      int        `json:"hosts"`
	Memory     numa.Bytes `json:"bytes"`
	Cores      int        `json:"cores"`
	VMs        int        `json:"vms"`
	Configured numa.Bytes `json:"vmBytes"`
	Reserved   numa.Bytes `json:"reservedBytes"`
	VCPUs      int        `json:"vcpus"`
	Unknown    int        `json:"unknown"`
	Unreserved int        `json:"reservationsUnknown"`
}

// WhatIfJSON writes a what-if as JSON.
func WhatIfJSON(w io.Writer, d *diff.Drift, effects []whatif.Effect, capacity []whatif.Capacity) error {
	j := driftOf(d)
	j.Format = "homenode-what-if"
	for _, e := range effects {
		j.Changes = append(j.Changes, effectJSON(e))
	}
	for i := range capacity {
		c := &capacity[i]
		fits, _ := c.Fits()
		j.Capacity = append(j.Capacity, capacityJSON{c.Cluster, fits, supplyJSON(c.Before), supplyJSON(c.After)})
	}
	return writeJSON(w, j)
}

// DiffJSON writes what differs between two fleets as JSON.
func DiffJSON(w io.Writer, d *diff.Drift) error { return writeJSON(w, driftOf(d)) }

func driftOf(d *diff.Drift) *driftJSON {
	side := func(f *numa.Fleet, judged int) sideJSON {
		return sideJSON{f.Source, f.Collected, len(f.Hosts), len(f.VMs), judged}
	}
	j := &driftJSON{
		Format: "homenode-drift", Version: JSONVersion, A: side(d.A.Fleet, d.A.VMs), B: side(d.B.Fleet, d.B.VMs),
		Better: d.Better, Worse: d.Worse, CannotRun: d.Stopped, Other: d.Other, Unchanged: d.Unchanged, Moved: d.Moved, OneSided: d.OneSided,
		VMs: []vmDriftJSON{}, Hosts: []hostDriftJSON{}, Findings: []findingDriftJSON{}, Notes: orEmpty(newNotes(d)),
		NewVMs: vmSubjects(d.B.Fleet, d.NewVMs), GoneVMs: vmSubjects(d.A.Fleet, d.GoneVMs),
		NewHosts: orEmpty(hostNames(d.NewHosts)), GoneHosts: orEmpty(hostNames(d.GoneHosts)),
	}
	for i := range d.VMs {
		v := &d.VMs[i]
		j.VMs = append(j.VMs, vmDriftJSON{v.B.Name, v.B.ID, v.Cluster, v.Verdict, orEmpty(v.Why), placeOf(&v.From), placeOf(&v.To), orEmpty(v.Settings), v.Apart})
	}
	for i := range d.Hosts {
		h := &d.Hosts[i]
		j.Hosts = append(j.Hosts, hostDriftJSON{h.B.Name, h.B.ID, h.Settings})
	}
	j.Findings, j.Told = append(j.Findings, findingsOf(d.Findings)...), findingsOf(d.Told)
	return j
}

func findingsOf(findings []diff.Finding) (out []findingDriftJSON) {
	for i := range findings {
		f := &findings[i]
		one := findingDriftJSON{Change: changeWord(f), Finding: f.Of()}
		if f.A != nil && f.B != nil {
			one.Change, one.Was = "severity", f.A.Severity.String()
		}
		out = append(out, one)
	}
	return out
}

func placeOf(p *diff.Place) *placeJSON {
	l := p.Layout()
	if l == nil {
		return nil
	}
	return &placeJSON{rule.Short(l), hostNames(p.On.Kind.Hosts), p.Runs(), l}
}

func vmSubjects(f *numa.Fleet, vms []*numa.VM) []string {
	out := []string{}
	for _, v := range vms {
		name := v.Name
		if v.Cluster != "" {
			name = f.ClusterName(v.Cluster) + "/" + v.Name
		}
		out = append(out, name)
	}
	return out
}
