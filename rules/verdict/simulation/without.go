package simulation

import (
	"fmt"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/rules/verdict/recording"
)

// A Harm counts the VMs that a simulation harms.
type Harm struct {
	Lost    int `json:"lostLocality"`
	Other   int `json:"otherProblems"` // with NUMA, of VMs that did not lose locality
	Short   int `json:"swappedOrBallooned"`
	Nowhere int `json:"withoutHost"`
	Stayed  int `json:"vMotionsRefused,omitempty"`
	// Slowest is the lowest performance index of a VM; 0 if none was computed.
	Slowest float64 `json:"lowestPerformance,omitempty"`
}

// Without is a simulation without some of its events and changes, for comparison.
type Without struct {
	Changes []string `json:"changes"` // the events and changes, as typed
	Harm    Harm     `json:"harmed"`
}

// Harm counts the harmed VMs.
func (s *Judged) Harm() (h Harm) {
	lost, hurt := s.Run.Harmed()
	h.Lost, h.Other = recording.CountVMs(lost), recording.CountVMs(hurt)
	for _, v := range s.VMs {
		if v.Missing() > 0 {
			h.Short++
		}
		if v.Nowhere {
			h.Nowhere++
		}
	}
	for _, d := range s.Outcome.Denied {
		if d.Stays {
			h.Stayed++
		}
	}
	if v := s.slowest(); v != nil {
		h.Slowest = v.Speed.Mean
	}
	return h
}

// Text compares the simulation without the events and changes with the one that has them, in one sentence.
func (w *Without) Text(with Harm) string {
	var differ, same []string
	for _, c := range []struct {
		without, with int
		one, many     string // verbs
	}{
		{w.Harm.Lost, with.Lost, "loses locality", "lose locality"},
		{w.Harm.Other, with.Other, "has other problems with NUMA", "have other problems with NUMA"},
		{w.Harm.Short, with.Short, "has memory swapped or ballooned", "have memory swapped or ballooned"},
		{w.Harm.Nowhere, with.Nowhere, "finds no host", "find no host"},
		{w.Harm.Stayed, with.Stayed, "is refused a vMotion", "are refused a vMotion"},
	} {
		switch {
		case c.without != c.with && c.with == 1:
			differ = append(differ, fmt.Sprintf("%s VMs instead of 1 %s", words.Thousands(c.without), c.many))
		case c.without != c.with:
			differ = append(differ, fmt.Sprintf("%s instead of %s VMs %s", words.Thousands(c.without), words.Thousands(c.with), c.many))
		case c.with > 0:
			same = append(same, words.Verb(c.with, "VM "+c.one, "VMs "+c.many))
		}
	}
	if a, b := fmt.Sprintf("%.2f", w.Harm.Slowest), fmt.Sprintf("%.2f", with.Slowest); a != b && w.Harm.Slowest > 0 && with.Slowest > 0 {
		differ = append(differ, "the lowest performance index is "+a+" instead of "+b)
	}
	text := "The same time without “" + words.Few(w.Changes) + "”: "
	switch {
	case len(differ) > 0:
		return text + strings.Join(differ, ", ") + "."
	case len(same) > 0:
		return text + "no difference, " + strings.Join(same, ", ") + "."
	}
	return text + "no difference, no VM is harmed."
}
