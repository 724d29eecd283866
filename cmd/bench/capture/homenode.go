//go:build linux

package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"

	"example.org/homenode/numa"
	"example.org/homenode/source/esxtop"
)

// workers returns the number of goroutines that read. On one core only the current one reads.
func workers() int {
	if n := runtime.GOMAXPROCS(0); n > 1 {
		return n
	}
	return 0
}

// byReader answers with homenode's reader of batch files.
func byReader(f *os.File) (fmt.Stringer, error) {
	r, err := esxtop.NewReader(f.Name(), f, esxtop.Options{Workers: workers(), Want: wanted})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	vms, err := tallies(r.Header())
	if err != nil {
		return nil, err
	}
	rows := 0
	var cells [counters]int64
	for ; r.Scan(); rows++ {
		row := r.Row()
		for i := range vms {
			t := &vms[i]
			for k, c := range t.columns {
				if k == onHomes {
					continue
				}
				v, ok := row.Value(c)
				if !ok {
					return nil, fmt.Errorf("line %d: no number in %s of %s", row.Line, counterNames[k], t.name)
				}
				cells[k] = cents(v)
			}
			homes, ok := row.Homes(t.columns[onHomes])
			if !ok {
				return nil, fmt.Errorf("line %d: no home nodes of %s", row.Line, t.name)
			}
			t.add(&cells)
			t.addNodes(homes)
		}
	}
	return outcomeOf(vms, rows), errorOf(r.Err(), r.Warnings())
}

// wanted selects the columns of the question, including those of groups that are not VMs.
func wanted(c *esxtop.Column) bool {
	switch c.Object {
	case "Group Cpu":
		return slices.Contains(counterNames[:onHomes], c.Counter)
	case "Group Memory":
		return slices.Contains(counterNames[onHomes:], c.Counter)
	}
	return false
}

// tallies finds the VMs and the indexes of their columns in Header.Wanted.
func tallies(h *esxtop.Header) ([]vmTally, error) {
	const missing = -1
	vms := map[string]*vmTally{}
	for i := range h.Columns {
		if c := &h.Columns[i]; c.Object == "Group Cpu" && c.Counter == "% VmWait" {
			t := &vmTally{name: c.Instance}
			for k := range t.columns {
				t.columns[k] = missing
			}
			vms[c.Instance] = t
		}
	}
	for at, i := range h.Wanted {
		c := &h.Columns[i]
		if t := vms[c.Instance]; t != nil {
			t.columns[slices.Index(counterNames[:], c.Counter)] = at
		}
	}
	var out []vmTally
	for _, t := range vms {
		if k := slices.Index(t.columns[:], missing); k >= 0 {
			return nil, fmt.Errorf("%s: no column %s", t.name, counterNames[k])
		}
		out = append(out, *t)
	}
	slices.SortFunc(out, byName)
	return out, nil
}

// addNodes adds the home nodes of one row.
func (t *vmTally) addNodes(homes numa.NodeSet) {
	if uint64(homes) != t.nodes {
		if t.nodes != 0 {
			t.changes++
		}
		t.nodes = uint64(homes)
	}
	if homes.Len() > 1 {
		t.wide++
	}
}

// byTicks answers with the ticks that homenode capture reads. These contain all NUMA counters
// of the host, its nodes and VMs, and others, not only those of the question.
func byTicks(f *os.File) (fmt.Stringer, error) {
	r, err := esxtop.NewTicks(f.Name(), f, esxtop.Options{Workers: workers()})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var vms []vmTally
	rows := 0
	var cells [counters]int64
	for ; r.Scan(); rows++ {
		tick := r.Tick()
		if vms == nil {
			for i := range tick.VMs {
				vms = append(vms, vmTally{name: fmt.Sprintf("%d:%s", tick.VMs[i].GID, tick.VMs[i].Name)})
			}
		}
		if len(tick.VMs) != len(vms) {
			return nil, fmt.Errorf("line %d: found %d VMs, want %d", tick.Line, len(tick.VMs), len(vms))
		}
		for i := range tick.VMs {
			vm := &tick.VMs[i]
			cells[onLocal] = int64(math.Round(float64(vm.Local) * 100 / float64(numa.MiB)))
			cells[onRemote] = int64(math.Round(float64(vm.Remote) * 100 / float64(numa.MiB)))
			cells[onShare] = int64(vm.Percent) * 100
			cells[onMoved] = vm.Moves.All * 100
			cells[onReady] = int64(math.Round(vm.Ready * 10_000))
			cells[onCoStop] = int64(math.Round(vm.CoStop * 10_000))
			vms[i].add(&cells)
			vms[i].addNodes(vm.Homes)
		}
	}
	slices.SortFunc(vms, byName)
	return outcomeOf(vms, rows), errorOf(r.Err(), r.Warnings())
}

// allByReader converts every column.
func allByReader(f *os.File) (fmt.Stringer, error) {
	r, err := esxtop.NewReader(f.Name(), f, esxtop.Options{Workers: workers(), Want: func(c *esxtop.Column) bool {
		return c.Counter != counterNames[onHomes]
	}})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	t := total{columns: len(r.Header().Wanted)}
	for ; r.Scan(); t.rows++ {
		for _, v := range r.Row().Values {
			t.sum += cents(v)
		}
	}
	return t, errorOf(r.Err(), r.Warnings())
}

// cents returns v in hundredths. math.Round would be slower than parsing the number.
func cents(v float64) int64 { return int64(v*100 + math.Copysign(0.5, v)) }

// errorOf returns the read error, or the first warning.
func errorOf(err error, warnings []error) error {
	if err == nil && len(warnings) > 0 {
		return warnings[0]
	}
	return err
}
