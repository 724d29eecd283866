package measured

import (
	"errors"
	"fmt"
	"math"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/machine"
	"example.org/homenode/source/strict"
)

// WatchFormat is at the start of every line of homenode measure watch.
const WatchFormat = "homenode-measure-watch"

var watchBegins = pattern.Of(`^\s*\{\s*"format"\s*:\s*"` + WatchFormat + `"`)

// DetectWatch reports whether the start of a file, decoded text, is that of homenode measure watch.
func DetectWatch(head []byte) bool { return watchBegins.Match(head) }

// ReadRound parses a line of homenode measure watch. The error is a *numa.SyntaxError with the file and the line.
func ReadRound(name string, line int, text []byte) (*WatchRound, error) {
	r := &WatchRound{}
	err := strict.Unmarshal(name, noun, text, r)
	if err == nil {
		if wrong := r.check(); wrong != nil {
			err = strict.At(name, text, 0, wrong.Error())
		}
	}
	if syntax := (*numa.SyntaxError)(nil); errors.As(err, &syntax) {
		syntax.Line += line - 1
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// check returns an error for content that no round writes.
func (r *WatchRound) check() error {
	switch {
	case r.Format != WatchFormat:
		return &fault{"format", fmt.Sprintf("found %.40q, want %q", r.Format, WatchFormat)}
	case r.Version != Version:
		return &fault{"version", fmt.Sprintf("found %d, want %d: a newer homenode reads it", r.Version, Version)}
	}
	c := &checker{}
	for _, m := range r.Metrics() {
		c.number(m.Path, m.Value, math.MaxFloat64)
	}
	return c.first
}

// Metrics returns the figures of a round; those that a run of homenode measure has too have the same names.
func (r *WatchRound) Metrics() []Metric {
	var out []Metric
	add := func(name, unit string, v float64, path string, at ...any) {
		out = append(out, Metric{name, unit, v, false, fmt.Sprintf(path, at...)})
	}
	for _, kind := range []struct {
		name, path string
		all        []WatchHidden
	}{{"the same pages", "same", r.Same}, {"fresh pages", "fresh", r.Fresh}} {
		for i, h := range kind.all {
			of := ""
			if h.Node != nil {
				of = fmt.Sprintf(", node %d", *h.Node)
			}
			if h.Median > 0 {
				add("latency of "+kind.name+of, "ns", h.Median, "%s[%d].medianNs", kind.path, i)
			}
			for j, s := range h.Shares {
				add("hidden remote share, "+kind.name+of+ofCPUs(s.From), "%", 100*s.Remote, "%s[%d].shares[%d].remote", kind.path, i, j)
			}
		}
	}
	for i, p := range r.Pairs {
		add(fmt.Sprintf("core %d ↔ %d", p.A, p.B), "ns", p.Latency.Median, "pairs[%d].latencyNs", i)
	}
	if r.Lost != nil {
		add("lost to the host", "%", 100*r.Lost.ByHost, "lost.byHost")
	}
	add("longest time in which no vCPU ran", "s", r.Stun, "longestStunSeconds")
	return out
}

// A WatchRound is one round of homenode measure watch: a line of JSON. Failed measurements are omitted and listed in Missing.
type WatchRound struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Name    string    `json:"name,omitempty"`
	Round   int       `json:"round"` // from 1
	At      time.Time `json:"at"`

	// Same and Fresh are the evidence in the latencies of the same pages in every round, and of pages touched in this round, by node
	// of the guest, if it sees several.
	Same  []WatchHidden `json:"same,omitempty"`
	Fresh []WatchHidden `json:"fresh,omitempty"`
	// Changes are the differences from the earlier rounds.
	Changes []WatchChange `json:"changes,omitempty"`

	Pairs     []Pair  `json:"pairs,omitempty"` // up to 32 pairs of logical processors, the same in all rounds
	Lost      *Lost   `json:"lost,omitempty"`
	Stun      float64 `json:"longestStunSeconds"` // the longest time since the last round in which no watched processor ran
	CounterHz float64 `json:"counterHz"`
	CoreHz    float64 `json:"coreHz,omitempty"`
	// CPUSeconds is the processor time used by this process since the last round.
	CPUSeconds float64           `json:"cpuSeconds"`
	Missing    []machine.Missing `json:"missing,omitempty"`
}

// WatchHidden is a short form of Hidden.
type WatchHidden struct {
	Node   *int    `json:"node,omitempty"`
	Answer Answer  `json:"answer"`
	Why    string  `json:"why,omitempty"`
	Median float64 `json:"medianNs"` // of the pages, for all vCPUs
	Delta  float64 `json:"deltaNs,omitempty"`
	Groups [][]int `json:"groups,omitempty"`
	Shares []Share `json:"shares,omitempty"`
}

// A WatchChange is one change found in a round.
type WatchChange struct {
	What  string `json:"what"` // "pages moved", "vCPUs moved", "vCPUs or memory moved", "probably live migration"
	Says  string `json:"says"`
	Node  *int   `json:"node,omitempty"`
	Pages int    `json:"pages,omitempty"`
	CPUs  []int  `json:"cpus,omitempty"`
}
