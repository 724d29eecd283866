package site

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"homenode/output/answer"
	"homenode/rules"
	"homenode/rules/rule"
	"homenode/serve/held"
)

// presentFor is how long the present is shown as it was: many viewers see the same, and hosts are asked no more often than every 20 s.
const presentFor = 2 * time.Second

// A present keeps what pages show of the present, by page and fleet, for a moment. Who asks meanwhile waits for it.
type present struct {
	mu  sync.Mutex
	all map[string]presentAnswer
}

type presentAnswer struct {
	a     *answer.Answer
	fleet *held.Fleet
	at    time.Time
}

// of returns an answer, which is not to be changed, or makes it.
func (p *present) of(page string, fleet *held.Fleet, make func() (*answer.Answer, error)) (*answer.Answer, error) {
	if fleet != nil {
		page += "\n" + fleet.Name
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if x, ok := p.all[page]; ok && x.fleet == fleet && time.Since(x.at) < presentFor {
		return x.a, nil
	}
	a, err := make()
	if err != nil {
		return nil, err
	}
	if p.all == nil {
		p.all = map[string]presentAnswer{}
	}
	p.all[page] = presentAnswer{a, fleet, time.Now()}
	return a, nil
}

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
