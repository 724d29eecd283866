package latency

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa/pattern"
	"example.org/homenode/numa/unit"
)

// A Measurement is one number printed by the user's benchmark.
type Measurement struct {
	Tool   string // "homenode measure", "Intel MLC", "multichase", "fio", "HCIBench", "Iometer"
	Case   string // the test that was run, "" for tools with a single one
	Metric string // as package benchmark names it
	Unit   string // of Value
	Value  float64
	Where  string // file and line
	// Chased is the number of bytes that multichase walked; 0 when unknown.
	Chased float64
}

// A Sample is a measurement with its rung on the ladder.
type Sample struct {
	Step  Step         `json:"step"`
	Value unit.Seconds `json:"value"`
	What  string       `json:"what"`  // metric and case
	Where string       `json:"where"` // file and line
}

// Options are facts missing in the files.
type Options struct {
	// Packages of the measured host; nodes are in their order. 0 means one node each.
	Packages int
	// Storage is the kind of disk used by fio and Iometer: NVMeRead or VSANRead. HCIBench measures vSAN.
	Storage Step
}

// units are those of latencies.
var units = map[string]float64{"ns": 1e-9, "µs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1}

var (
	pair    = pattern.Of(`^idle latency( \(random\)| \(sequential\))? (?:node|socket) (\d+) → node (\d+)$`)
	reads   = map[string]bool{"read latency, mean": true, "read latency": true, "average read response time": true}
	writes  = map[string]bool{"write latency, mean": true, "write latency": true, "average write response time": true}
	wantRAM = float64(256 << 20) // bytes, more than any L3 of its time
)

// Place assigns measurements to rungs. Those without one are omitted: bandwidths, loaded latencies, percentiles. The error names
// a measurement whose unit is no time.
func Place(all []Measurement, o Options) (out []Sample, notes []string, err error) {
	homes := map[int]bool{}
	inside := insideOf(all)
	random := map[string]bool{} // files with a known random access
	for i := range all {
		if v := pair.FindStringSubmatch(all[i].Metric); v != nil {
			homes[number(v[2])] = true
			random[file(all[i].Where)] = random[file(all[i].Where)] || v[1] != " (sequential)"
		}
	}
	if o.Packages > 0 && len(homes) > 0 && len(homes)%o.Packages != 0 {
		return nil, nil, fmt.Errorf("%d packages: found %d nodes with CPUs in the latency matrix, want a multiple", o.Packages, len(homes))
	}
	for i := range all {
		m := &all[i]
		if v := pair.FindStringSubmatch(m.Metric); v != nil && v[1] == " (sequential)" && random[file(m.Where)] {
			continue // prefetchers hide part of it
		}
		step := o.step(m, homes, inside[m.Where])
		if step == "" {
			continue
		}
		per, ok := units[m.Unit]
		if !ok {
			return nil, nil, fmt.Errorf("%s: %s: found the unit %q, want ns, µs, ms or s", m.Where, m.Metric, m.Unit)
		}
		what := m.Tool
		if m.Case != "" {
			what += " " + m.Case
		}
		out = append(out, Sample{step, unit.Seconds(m.Value * per), what + ", " + m.Metric, m.Where})
	}
	for _, where := range slices.Sorted(maps.Keys(inside)) {
		if in := inside[where]; in.far > 0 {
			notes = append(notes, fmt.Sprintf("%s: pages of two kinds were found from inside: %.4g and %.4g ns count as local and far RAM; what stands there of nodes mixes them and does not count.", where, in.near, in.far))
		}
	}
	if len(homes) > 2 && o.Packages == 0 {
		notes = append(notes, fmt.Sprintf("Your matrix has %d nodes: all others are taken for nodes of another package; --packages 2 tells those of the same one.", len(homes)))
	}
	if len(homes) == 1 {
		for _, s := range out {
			if local, _, _ := memory(nil); s.Step == RAM && s.Value > local.High {
				notes = append(notes, fmt.Sprintf("%s: %v of a single node is more than any published host has locally: a guest that sees one node may have its memory interleaved over several, as with CPU hot add (d-latency: 114 ns became 139 ns).", s.Where, s.Value))
				break
			}
		}
	}
	return out, notes, nil
}

// file returns a place without the line.
func file(where string) string {
	if i := strings.LastIndexByte(where, ':'); i > 0 {
		return where[:i]
	}
	return where
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0 // the pattern allows only digits: more than an int can hold
	}
	return n
}

// step returns the rung of a measurement, "" for none. homes are the nodes with CPUs; in is its run of homenode measure, nil for other tools.
func (o *Options) step(m *Measurement, homes map[int]bool, in *inside) Step {
	if in != nil && (in.far > 0 || !pair.MatchString(m.Metric)) {
		return in.step(m.Metric)
	}
	if v := pair.FindStringSubmatch(m.Metric); v != nil {
		from, to := number(v[2]), number(v[3])
		switch {
		case from == to:
			return RAM
		case !homes[to]:
			return RAMOnly
		case o.Packages > 0 && o.pack(from, homes) == o.pack(to, homes):
			return RAMNear
		}
		return RAMFar
	}
	switch {
	case m.Tool == "Intel MLC" && (m.Metric == "idle latency" || m.Metric == "idle latency (random)"):
		return RAM
	case m.Tool == "multichase" && m.Metric == "latency" && m.Chased >= wantRAM:
		return RAM
	case !reads[m.Metric] && !writes[m.Metric]:
		return ""
	}
	vsan := o.Storage == VSANRead || o.Storage == "" && m.Tool == "HCIBench"
	switch {
	case vsan && reads[m.Metric]:
		return VSANRead
	case vsan:
		return VSANWrite
	case reads[m.Metric]:
		return NVMeRead
	}
	return NVMeWrite
}

// pack returns the package of a node with CPUs: the nodes are numbered package by package.
func (o *Options) pack(node int, homes map[int]bool) int {
	before := 0
	for h := range homes {
		if h < node {
			before++
		}
	}
	return before * o.Packages / len(homes)
}
