package pages

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/sheet"
)

// published contains the sheets, and figures printed in articles.
//
//go:embed *.sheet checks.txt
var published embed.FS

var (
	estimate     = sheet.Load(published, "estimate.sheet")
	ofHosts      = sheet.Load(published, "counted.sheet")
	ofVMs        = sheet.Load(published, "vms.sheet")
	ofSetups     = sheet.Load(published, "simulated.sheet")
	ofSetupHosts = sheet.Load(published, "hosts.sheet")
)

// PublishedGain is the share of memory that sharing freed. The article does not state the total it refers to.
func PublishedGain() unit.Figure[unit.Share] {
	v := estimate.Figure("gain")
	return unit.Figure[unit.Share]{Value: unit.Share(v.Value), Low: unit.Share(v.Low), High: unit.Share(v.High), Origin: v.Origin, Source: v.Source, Note: v.Note}
}

// Checks are the published figures with the computed ones.
func Checks() []unit.Check { return estimate.Checks(published, sheet.Input{}, nil) }

// A Request asks for a gain without counters.
type Request struct {
	Memory   numa.Bytes // configured of all VMs
	Consumed numa.Bytes // used on the hosts; 0 when unknown
	Gain     unit.Figure[unit.Share]
	Large    *unit.Figure[unit.Share] // pages that guests request to be large; nil as published
	Host     numa.Bytes               // memory of one host; 0 when unknown
	Release  numa.Release
	VM       numa.Bytes // the largest VM; 0 when unknown
}

// Estimate computes a gain from a published or given share.
func Estimate(q *Request) *sheet.Run {
	amount := func(b numa.Bytes) any { return sheet.Plain(float64(b), "gb") }
	values := map[string]any{"memory": amount(q.Memory), "consumed": amount(q.Consumed), "gain": sheet.Of(q.Gain, "share"), "vm": amount(q.VM), "pass": nil}
	large := estimate.Figure("largeShare")
	values["gainAt"] = sheet.Plain(large.Value, "")
	if q.Large != nil {
		large = sheet.Of(*q.Large, "share")
	}
	if values["largeShare"] = large; q.Gain.Origin == unit.Given { // it applies to these guests
		values["gainAt"] = sheet.Plain(large.Value, "")
	}
	var limits *Limits
	if q.Host > 0 {
		limits = to(LimitsOf(q.Host, cmp.Or(q.Release, numa.ESXi60)))
	}
	maps.Copy(values, sheet.Fields("limits", limits))
	if q.VM > 0 {
		values["pass"] = pass(q.VM)
	}
	return estimate.Run(sheet.Input{Values: values})
}

func pass(of numa.Bytes) sheet.Value { return sheet.Plain(DefaultScan().Pass(of).Seconds(), "hours") }

// The most hosts and VMs shown without details.
const mostHosts, mostVMs = 8, 5

// Sheets returns the tables for the counted hosts, and for their VMs: without details only those that could free most.
func (c *Counted) Sheets(of string, gain unit.Figure[unit.Share], details bool) (hosts, vms *sheet.Run) {
	whole := c.Complete()
	s := &c.Sum
	if n := len(whole.Hosts); n > 0 && n < len(c.Hosts) {
		s = &whole.Sum
	}
	now, next := c.Breaking()
	values := sheet.Fields("sum", &c.Sum)
	maps.Copy(values, sheet.Fields("s", s))
	maps.Copy(values, sheet.Fields("next", next))
	var rows, all []map[string]any
	var largest *VMCounts
	for i := range c.Hosts {
		h := &c.Hosts[i]
		row := sheet.Fields("", h)
		row["missing"], row["shown"] = strings.Join(h.Missing, ", "), details || i < mostHosts
		rows = append(rows, row)
		for j := range h.VMs {
			v := &h.VMs[j]
			one := sheet.Fields("", v)
			one["host"] = h.Host
			all = append(all, one)
			if v.Consumed != nil && (largest == nil || *v.Consumed > *largest.Consumed) {
				largest = v
			}
		}
	}
	maps.Copy(values, map[string]any{
		"of": of, "gain": sheet.Of(gain, "share"), "details": details, "moment": c.moment(), "breaking": words.First(4, now), "pass": nil, "largest": "",
		"hosts": sheet.Plain(float64(len(rows)), "whole"), "whole": sheet.Plain(float64(len(whole.Hosts)), "whole"), "vms": sheet.Plain(float64(len(all)), "whole"),
	})
	if now == nil {
		values["breaking"] = ""
	}
	if largest != nil {
		values["largest"], values["pass"] = largest.Name, pass(*largest.Consumed)
	}
	more := map[string]any{"vms": values["vms"], "more": !details && len(all) > mostVMs}
	if !details && len(all) > mostVMs {
		high := func(row map[string]any) float64 {
			if v, ok := row["gain.high"].(sheet.Value); ok {
				return v.Value
			}
			return -1
		}
		slices.SortStableFunc(all, func(a, b map[string]any) int { return cmp.Compare(high(b), high(a)) })
		all = all[:mostVMs]
	}
	return ofHosts.Run(sheet.Input{Values: values, Rows: rows}), ofVMs.Run(sheet.Input{Values: more, Rows: all})
}

// moment returns the time of the counters.
func (c *Counted) moment() string {
	times := make([]time.Time, len(c.Hosts))
	for i := range c.Hosts {
		times[i] = c.Hosts[i].Time.UTC()
	}
	slices.SortFunc(times, time.Time.Compare)
	const layout = "2006-01-02 15:04:05"
	first, last := times[0].Format(layout), times[len(times)-1].Format(layout)
	if first == last {
		return last + " UTC"
	}
	return first + " to " + last + " UTC"
}

// Sheets returns the tables for the setups, and with details for each host.
func (s *Simulated) Sheets(m *Model, of string, hoursGiven bool) (setups, hosts *sheet.Run) {
	var rows, all []map[string]any
	for i := range s.Runs {
		r := &s.Runs[i]
		row := sheet.Fields("", r)
		row["worst"], row["last"] = r.worst(), i == len(s.Runs)-1
		rows = append(rows, row)
	}
	for h := range s.Runs[0].Hosts {
		for i := range s.Runs {
			row := sheet.Fields("", &s.Runs[i].Hosts[h])
			maps.Copy(row, sheet.Fields("", &s.Runs[i].Setup))
			all = append(all, row)
		}
	}
	values := sheet.Fields("", s)
	maps.Copy(values, map[string]any{
		"of": of, "hoursGiven": hoursGiven, "seconds": sheet.Plain(s.Seconds, "hours"), "problems": strings.Join(s.Problems, "; "), "today": sheet.Plain(float64(s.Runs[0].Consumed), "gb"),
		"asked.alike": sheet.Plain(float64(m.Alike), "share"), "asked.zero": sheet.Plain(float64(m.Zero), "share"), "asked.large": sheet.Plain(float64(m.Large), "share"),
	})
	return ofSetups.Run(sheet.Input{Values: values, Rows: rows}), ofSetupHosts.Run(sheet.Input{Rows: all})
}

// worst returns the worst memory state of the hosts, and the number of hosts in it.
func (r *Ran) worst() string {
	state, hosts := numa.High, 0
	for i := range r.Hosts {
		var s numa.MemoryState
		if r.Hosts[i].State == "" || s.UnmarshalText([]byte(r.Hosts[i].State)) != nil {
			continue
		}
		switch {
		case s > state:
			state, hosts = s, 1
		case s == state:
			hosts++
		}
	}
	switch {
	case hosts == 0:
		return "-"
	case hosts < len(r.Hosts):
		return fmt.Sprintf("%s on %d", state, hosts)
	}
	return state.String()
}
