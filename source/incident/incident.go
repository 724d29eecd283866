// Package incident reads handwritten sequences of events on hosts: one line for each
// change, in terms that a vSphere administrator can review. Tests of rules, the demo
// and published experiments are incidents; they yield ticks as a capture does.
//
//	start 2026-11-02T01:00:00Z
//	every 20s
//	host esx01 minFree=3GB state=high
//	node 0 memory=128GB free=60GB busy=20%
//	node 1 memory=128GB free=90GB busy=15%
//	vm   db01 gid=101 vcpus=8 memory=64GB homes=0 local=60GB remote=0 ready=0.5%
//	10m  vm   db01 local=20GB remote=40GB over=5m
//	20m  vm   db01 flips=0|1 each=40s for=10m
//	40m  vm   db01 off
//	45m  vm   db01 on gid=102 homes=1 local=60GB remote=0
//	60m  end
//
// A line without a time applies to the start. Values without a line are absent from the
// ticks; over= changes the value linearly. N%L is calculated from local and remote memory
// unless percent= sets it (percent=? omits it). ready=, costop=, used= and run= are per
// vCPU. Page sharing uses the counters of esxtop: memory=, shared= and common= of a host,
// and granted=, shared=, saved=, zero= and hint= (COWH) of a VM; consumed memory is
// calculated from granted= and saved= unless consumed= sets it.
package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/homenode/internal/words"

	"example.org/homenode/numa"
	"example.org/homenode/source/word"
)

// An Incident is the sequence of events on some hosts.
type Incident struct {
	Name  string
	Start time.Time
	Every time.Duration // interval between two ticks
	End   time.Duration // time of the last tick, since Start

	hosts []*host
}

// Defaults for an incident without start and every.
var defaultStart = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

const defaultEvery = 20 * time.Second

// mostTicks bounds an incident: a month of ticks every 2 s.
const mostTicks = 31 * 24 * 3600 / 2

// Read reads the incident in data; name is used in errors. An error is a *numa.SyntaxError.
func Read(name string, data []byte) (*Incident, error) {
	p := &parser{in: &Incident{Name: name, Start: defaultStart, Every: defaultEvery}}
	var err error
	if data, p.line, err = word.Section(name, data); err != nil {
		return nil, err
	}
	for text := range strings.Lines(string(data)) {
		if err := p.parse(strings.TrimRight(text, "\r\n")); err != nil {
			return nil, err
		}
		p.line++
	}
	return p.finish()
}

// parser is the state between lines.
type parser struct {
	in   *Incident
	line int
	host *host
}

func (p *parser) errorf(col int, format string, args ...any) error {
	return &numa.SyntaxError{File: p.in.Name, Line: p.line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

// lineKinds are the keywords at the beginning of lines.
var lineKinds = []string{"start", "every", "host", "node", "vm", "end"}

func (p *parser) parse(text string) error {
	words, err := word.Split(text)
	if err == nil && len(words) > 0 {
		err = p.words(words)
	}
	return word.Located(err, p.in.Name, p.line)
}

func (p *parser) words(words []word.Word) error {
	var at time.Duration
	if c := words[0].Key[0]; c >= '0' && c <= '9' {
		var err error
		if at, err = word.Duration(words[0].Col, words[0].Key); err != nil {
			return err
		}
		if words = words[1:]; len(words) == 0 {
			return p.errorf(0, "found a time alone, want what changes then: host, node, vm or end")
		}
	}
	first := words[0]
	if len(words) < 2 && first.Key != "end" {
		if !slices.Contains(lineKinds, first.Key) {
			return p.unknownLine(first)
		}
		return p.errorf(first.Col, "found %s alone, want its name or value", first.Key)
	}
	if len(words) > 1 && words[1].HasValue && slices.Contains([]string{"host", "node", "vm"}, first.Key) {
		return word.Errorf(words[1].Col, "found %s=, want the name of the %s first", word.Short(words[1].Key), first.Key)
	}
	switch first.Key {
	case "start":
		t, err := time.Parse(time.RFC3339, words[1].Key)
		if err != nil {
			return word.Errorf(words[1].Col, "found %q, want a time like 2026-11-02T01:00:00Z", word.Short(words[1].Key))
		}
		p.in.Start = t.UTC()
	case "every":
		d, err := word.Duration(words[1].Col, words[1].Key)
		if err != nil {
			return err
		}
		if d <= 0 {
			return word.Errorf(words[1].Col, "found 0, want more")
		}
		p.in.Every = d
	case "end":
		p.in.End = at
	case "host":
		return p.hostLine(at, words[1], words[2:])
	case "node":
		return p.nodeLine(at, words[1], words[2:])
	case "vm":
		return p.vmLine(at, words[1], words[2:])
	default:
		return p.unknownLine(first)
	}
	return nil
}

func (p *parser) unknownLine(w word.Word) error {
	return p.errorf(w.Col, "found %q, want one of %s", word.Short(w.Key), strings.Join(lineKinds, ", "))
}

func (p *parser) finish() (*Incident, error) {
	in := p.in
	p.line = 0
	if len(in.hosts) == 0 {
		return nil, p.errorf(0, "found no host")
	}
	if in.End <= 0 {
		return nil, p.errorf(0, "found no end, want a line like: 60m end")
	}
	if in.End/in.Every > mostTicks {
		return nil, p.errorf(0, "found %d ticks, want at most %d", in.End/in.Every, mostTicks)
	}
	for _, h := range in.hosts {
		slices.SortStableFunc(h.nodes, func(a, b *node) int { return cmp.Compare(a.id, b.id) })
	}
	return in, nil
}

// Hosts returns the names of the hosts, in their order.
func (in *Incident) Hosts() []string {
	return words.Texts(in.hosts, func(h *host) string { return h.name })
}

// Ticks passes the ticks of one host after another to visit, which must not keep them. It stops
// at an error of visit.
func (in *Incident) Ticks(visit func(*numa.Tick) error) error {
	for _, h := range in.hosts {
		t := numa.Tick{Host: h.name}
		for i := 0; ; i++ {
			at := time.Duration(i) * in.Every
			if at > in.End {
				break
			}
			t.Time, t.Line, t.Since = in.Start.Add(at), i+2, 0
			if i > 0 {
				t.Since = in.Every
			}
			h.tick(&t, at, in.Every)
			if err := visit(&t); err != nil {
				return err
			}
		}
	}
	return nil
}
