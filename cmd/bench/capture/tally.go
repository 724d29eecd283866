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

// Every contender answers this question about a capture, for each VM (a group with % VmWait):
// local and remote memory, each summed over all rows; rows with N%L below 80; migrations;
// maximum ready and co-stop time; the number of changes of home nodes; and the number of rows
// with several home nodes. Amounts are in hundredths of the file's unit, so that sums are exact
// and contenders agree to the last digit.

// Counters of the question, in the order of a vmTally's cells.
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

// counterNames has the names of the counters in the header.
var counterNames = [counters]string{"% Ready", "% CoStop", "Numa Home Nodes", "Numa Rebalance Count Delta",
	"Numa Remote Memory MBytes", "Numa Local Memory MBytes", "Numa % Local"}

// below is the N%L threshold in percent; lower rows count.
const below = 80

// A vmTally is the answer for one VM, with the indexes of its columns.
type vmTally struct {
	name    string        // gid:name
	columns [counters]int // in the file, from 0

	local, remote, below, moved, ready, coStop int64
	changes, wide                              int64
	homes                                      string // of the previous row, as text or as nodes
	nodes                                      uint64
}

// add adds one row of numbers in hundredths, by counter.
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

// addHomes adds the home nodes of one row, such as "0,1".
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

// find returns the VMs in a header, with the columns of the question.
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

// split splits a path \\host\object(instance)\counter.
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

// An outcome is the answer in comparable form.
type outcome struct {
	rows, vms      int
	numbers, homes string // hashes; homes is "-" if the contender cannot read home nodes
}

func (o outcome) String() string {
	return fmt.Sprintf("rows=%d vms=%d numbers=%s homes=%s", o.rows, o.vms, o.numbers, o.homes)
}

// outcomeOf returns the outcome of an answer.
func outcomeOf(vms []vmTally, rows int) outcome {
	numbers, homes := sha256.New(), sha256.New()
	for i := range vms {
		t := &vms[i]
		fmt.Fprintln(numbers, t.name, t.local, t.remote, t.below, t.moved, t.ready, t.coStop)
		fmt.Fprintln(homes, t.name, t.changes, t.wide)
	}
	return outcome{rows, len(vms), fmt.Sprintf("%.6x", numbers.Sum(nil)), fmt.Sprintf("%.6x", homes.Sum(nil))}
}
