package confront

import (
	"encoding/json"

	"example.org/homenode/numa"
)

// Verdict returns the result of the comparison as one word.
func (r *Result) Verdict() string {
	switch {
	case r.Agrees():
		return "agrees"
	case r.Comparable():
		return "differs"
	}
	return "not compared"
}

// MarshalJSON writes the observation and its prediction as documented in docs/reference/json.md.
func (r Result) MarshalJSON() ([]byte, error) {
	o := r.Observation
	j := struct {
		By      string  `json:"by"`
		At      string  `json:"at"`
		Time    string  `json:"time,omitempty"`
		Start   string  `json:"start,omitempty"`
		Host    string  `json:"predictedFor,omitempty"`
		Event   string  `json:"event,omitempty"`
		Verdict string  `json:"verdict"`
		Fields  []Field `json:"fields"`
		// Resident memory on and off the home nodes, like NLMEM and NRMEM of esxtop.
		Local  *numa.Bytes `json:"localBytes,omitempty"`
		Remote *numa.Bytes `json:"remoteBytes,omitempty"`
		// Measured by latency in the guest: not N%L.
		Far     []numa.FarShare `json:"far,omitempty"`
		Lost    *float64        `json:"lost,omitempty"`
		Reasons []string        `json:"reasons,omitempty"`
		Other   []Setting       `json:"otherSettings,omitempty"`
		Open    []string        `json:"open,omitempty"`
	}{By: string(o.By), At: o.At, Time: o.Time, Start: string(o.Start), Host: r.Host, Verdict: r.Verdict(),
		Fields: append([]Field{}, r.Fields...), Far: o.Far.Value, Reasons: r.Reasons, Other: r.Other, Open: r.Open}
	if _, ok := o.Locality(); ok {
		j.Local, j.Remote = &o.Local.Value, &o.Remote.Value
	}
	if o.Lost.Known() {
		j.Lost = &o.Lost.Value
	}
	if r.Host != "" {
		j.Event = r.Event.String()
	}
	return json.Marshal(j)
}
