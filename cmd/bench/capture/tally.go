//go:build linux

package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The question that every contender answers about a capture, for each VM (a group with
// % VmWait): local and remote memory added up over all rows, rows with N%L below 80,
// migrations, the most ready and co-stop time, how often the home nodes changed and in
// how many rows there were several. Amounts are in hundredths of what the file states,
// so that sums are exact and contenders agree to the last digit.

// The counters that it takes, in the order of a vmTally's cells.
const (
	onReady = iota
	onCoStop
	onHomes
	onMoved
	onRemote
	onLocal
	onShare
	counters
)

// counterNames are the counters as the header names them.
var counterNames = [counters]string{"% Ready", "% CoStop", "Numa Home Nodes", "Numa Rebalance Count Delta",
	"Numa Remote Memory MBytes", "Numa Local Memory MBytes", "Numa % Local"}

// below is N%L, in percent, under which a row counts.
const below = 80

// A vmTally is the answer for one VM, and where its counters stand.
type vmTally struct {
	name    string        // gid:name
	columns [counters]int // of the file, from 0

	local, remote, below, moved, ready, coStop int64
	changes, wide                              int64
	homes                                      string // of the row before, as text or as nodes
	nodes                                      uint64
}

// add takes one row: numbers in hundredths, by counter.
func (t *vmTally) add(cells *[counters]int64) {
	t.local += cells[onLocal]
	t.remote += cells[onRemote]
	if cells[onLocal]+cells[onRemote] > 0 && cells[onShare] < below*100 {
		t.below++
	}
	t.moved += cells[onMoved] / 100
	t.ready = max(t.ready, cells[onReady])
	t.coStop = max(t.coStop, cells[onCoStop])
}

// addHomes takes the home nodes of one row, such as "0,1".
func (t *vmTally) addHomes(homes string) {
	if homes != t.homes {
		if t.homes != "" {
			t.changes++
		}
		t.homes = strings.Clone(homes)
	}
	if strings.Contains(homes, ",") {
		t.wide++
	}
}

// find returns the VMs of a header's paths with the columns that the question takes.
func find(paths []string) ([]vmTally, error) {
	vms := map[string]*vmTally{}
	for i, p := range paths {
		if object, instance, counter, ok := split(p); ok && object == "Group Cpu" && counter == "% VmWait" {
			vms[instance] = &vmTally{name: instance}
		} else if !ok && i > 0 && p != "" {
			return nil, fmt.Errorf("column %d: found %q, want a counter's path", i, p)
		}
	}
	for i, p := range paths {
		object, instance, counter, _ := split(p)
		if object != "Group Cpu" && object != "Group Memory" || vms[instance] == nil {
			continue
		}
		if k := slices.Index(counterNames[:], counter); k >= 0 && (k <= onCoStop) == (object == "Group Cpu") {
			vms[instance].columns[k] = i
		}
	}
	var out []vmTally
	for _, t := range vms {
		if i := slices.Index(t.columns[:], 0); i >= 0 {
			return nil, fmt.Errorf("%s: no column %s", t.name, counterNames[i])
		}
		out = append(out, *t)
	}
	if out == nil {
		return nil, errors.New("no VM in the header")
	}
	slices.SortFunc(out, byName)
	return out, nil
}

func byName(a, b vmTally) int { return cmp.Compare(a.name, b.name) }

// split takes a path \\host\object(instance)\counter apart.
func split(p string) (object, instance, counter string, ok bool) {
	rest, ok := strings.CutPrefix(p, `\\`)
	if !ok {
		return "", "", "", false
	}
	_, rest, ok = strings.Cut(rest, `\`)
	end := strings.LastIndexByte(rest, '\\')
	if !ok || end < 0 {
		return "", "", "", false
	}
	middle, counter := rest[:end], rest[end+1:]
	object, instance, _ = strings.Cut(middle, "(")
	return object, strings.TrimSuffix(instance, ")"), counter, true
}

// An outcome is the answer as one line, by which contenders are compared.
type outcome struct {
	rows, vms      int
	numbers, homes string // hashes; "-" when the contender cannot read home nodes
}

func (o outcome) String() string {
	return fmt.Sprintf("rows=%d vms=%d numbers=%s homes=%s", o.rows, o.vms, o.numbers, o.homes)
}

// outcomeOf makes one line of the answer.
func outcomeOf(vms []vmTally, rows int) outcome {
	numbers, homes := sha256.New(), sha256.New()
	for i := range vms {
		t := &vms[i]
		fmt.Fprintln(numbers, t.name, t.local, t.remote, t.below, t.moved, t.ready, t.coStop)
		fmt.Fprintln(homes, t.name, t.changes, t.wide)
	}
	return outcome{rows, len(vms), fmt.Sprintf("%.6x", numbers.Sum(nil)), fmt.Sprintf("%.6x", homes.Sum(nil))}
}
