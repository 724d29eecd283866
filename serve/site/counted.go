package site

import (
	"fmt"
	"slices"
	"sync"

	"homenode/rules"
	"homenode/rules/rule"
	"homenode/serve/held"
)

// A counted keeps, by name, fleets with what is found about what is seen of them now, as long as that stays.
type counted struct {
	mu  sync.Mutex
	all map[string]countedFleet
}

type countedFleet struct {
	of, with *held.Fleet
	seen     string
}

// seeing returns a fleet whose verdict counts what is found about what is seen now. What is no harm done by NUMA is not counted.
func (l *Live) seeing(f *held.Fleet) *held.Fleet {
	if l == nil || f.Result == nil {
		return f
	}
	result, seen := *f.Result, ""
	for _, a := range l.alarms(f.Name) {
		if !slices.ContainsFunc(rules.All, func(r *rule.Rule) bool { return r.ID == a.Finding.Rule && r.Beside }) {
			result.Seen = append(result.Seen, a.Finding)
			seen += fmt.Sprintln(a.Finding.Rule, a.Finding.Severity, a.Finding.VMID, a.Finding.HostID)
		}
	}
	if seen == "" {
		return f
	}
	c := &l.counted
	c.mu.Lock()
	defer c.mu.Unlock()
	if x := c.all[f.Name]; x.of == f && x.seen == seen {
		return x.with
	}
	with := *f
	with.Result = &result
	if c.all == nil {
		c.all = map[string]countedFleet{}
	}
	c.all[f.Name] = countedFleet{f, &with, seen}
	return &with
}
