package iocost

import (
	"fmt"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/sheet"
)

// A Question is the input of size io.
type Question struct {
	Workloads []Asked
	Cluster   Cluster // Cores 0: the host is unknown; Core 0: so is its frequency
	IPC       float64 // see Workload.IPC; 0 means 1: a cycle is a cycle
	RDMA      bool    // vSAN over RDMA
	Rules     bool    // the published rules of thumb instead of the measurements
	// Budget is the share of the cluster's CPU that all workloads may use together; 0 when none is set. An open workload gets the rest.
	Budget unit.Share
	// Disks and LimitEach are virtual disks with an IOPS limit; 0 for no limit.
	Disks     int
	LimitEach unit.IORate
	// File is the file with the user's own costs in the model; "" when there are none.
	File string
}

// Study answers a question. At most one workload may be open, and only with a budget.
func (m *Model) Study(q Question) (*sheet.Run, error) {
	plain := func(v float64, in string) any { return sheet.Plain(v, in) }
	text := "size io: " + strings.Join(words.Texts(q.Workloads, func(one Asked) string { return one.Text() }), " + ")
	if len(q.Workloads) > 1 && len(text) > 80 {
		text = fmt.Sprintf("size io: %d workloads", len(q.Workloads))
	}
	c := &q.Cluster
	values := map[string]any{
		"asked": strings.TrimPrefix(text, "size io: "), "several": len(q.Workloads) > 1, "withRDMA": q.RDMA, "rules": q.Rules, "file": q.File,
		"budget": plain(float64(q.Budget), "share"), "disks": plain(float64(q.Disks), "whole"), "limitEach": plain(float64(q.LimitEach), "iops"),
		"clusterName": c.Name, "coreGiven": c.CoreGiven, "hosts": plain(float64(c.Hosts), "whole"), "hostCores": plain(float64(c.Cores), "whole"), "core": plain(float64(c.Core), "hz"),
		"factor": plain(1, ""), "reads": nil,
	}
	if c.Core == 0 {
		values["hostCores"] = plain(0, "whole")
	}
	values["manyBlocks"] = words.Count(q.Workloads, func(w Asked) bool { return w.storage() }) > 1
	var failed error
	values["blocks"] = ""
	rows := func(values map[string]any) (rows []map[string]any) {
		for i := range q.Workloads {
			row, err := m.row(&q, q.Workloads[i], values)
			if err != nil && failed == nil {
				failed = err
			}
			rows = append(rows, row)
		}
		return rows
	}
	in := sheet.Input{Values: values, Rows: rows(values), Again: rows}
	if failed != nil {
		return nil, failed
	}
	r := calculator.Run(in)
	if left, ok := r.Values["_left"].(sheet.Value); ok && left.Value <= 0 {
		return nil, fmt.Errorf("nothing is left: the other workloads need %s, the budget is %s", r.Values["_others"], r.Values["allowed.budget"])
	}
	return r, nil
}

// row returns a workload with the cost of its kind of I/O, using another block, share of reads or option where values set it.
func (m *Model) row(q *Question, a Asked, values map[string]any) (map[string]any, error) {
	number := func(name string) float64 { return values[name].(sheet.Value).Value }
	if block := numa.Bytes(float64(a.Block) * number("factor")); a.storage() && block >= leastBlock && block <= mostBlock {
		name := "blocks of " + Size(block)
		switch {
		case values["manyBlocks"] == true:
			name = fmt.Sprintf("all blocks × %v", number("factor"))
		case a.ByThroughput:
			name += ", same throughput"
		case !a.Open:
			name += ", same IOPS"
		}
		if a.ByThroughput {
			a.Rate *= unit.IORate(float64(a.Block) / float64(block))
		}
		a.Block, values["blocks"] = block, name
	}
	if v, ok := values["reads"].(sheet.Value); ok && a.storage() {
		a.Read = unit.Share(v.Value)
	}
	ipc := 1.0
	for _, v := range []float64{q.IPC, a.IPC} {
		if v != 0 {
			ipc = v
		}
	}
	row := map[string]any{
		"workload": a.Name(), "path": string(a.Path), "pathName": a.Path.Name(), "storage": a.storage(), "open": a.Open, "policy": string(a.Policy), "lacks": strings.Join(a.Assumed, ", "),
		"block": sheet.Plain(float64(a.Block), "block"), "read": sheet.Plain(float64(a.Read), "share"), "random": sheet.Plain(float64(a.Random), "share"),
		"rate": sheet.Plain(float64(a.Rate), "iops"), "tx": sheet.Plain(float64(a.TX), "bits"), "rx": sheet.Plain(float64(a.RX), "bits"), "traffic": sheet.Plain(float64(a.Traffic), "bits"),
		"ipc": sheet.Plain(ipc, ""), "rule": nil, "saving": nil, "cost": nil, "networkPerIO": nil, "measuredCore": nil, "why": "", "guest": false, "own": false, "digits": false,
		"unused": sheet.Plain(0, "whole"),
	}
	basis, err := m.price(row, a, values)
	if err != nil {
		return nil, err
	}
	row["basis"], row["_basis"] = basis.String(), sheet.Plain(float64(basis), "")
	return row, nil
}

// price sets the cost of a workload's I/O in its row, and returns what the cost rests on.
func (m *Model) price(row map[string]any, a Asked, values map[string]any) (Basis, error) {
	basis := Measured
	if a.Path == RAM {
		basis = Estimated
	}
	switch {
	case values["rules"] == true:
		basis = Estimated
		row["guest"], row["why"] = a.Path == NVMe, "a rule of thumb: block, direction and pattern are ignored" // the rule was measured in the same guest
		for _, rule := range Rules() {
			if rule.Path == a.Path {
				f := sheet.Of(rule.Cost, "perBit")
				f.Note = "exact mean " + unit.Digits(float64(rule.Exact), 3)
				row["rule"] = f
			}
		}
	case a.storage():
		c, err := m.Cost(a.Kind)
		if err != nil {
			return 0, err
		}
		basis = c.Basis
		if a.Path == VSANESA && a.Policy != "" && a.Policy != RAID5 {
			basis = Extrapolated
			c.Why = append(c.Why, fmt.Sprintf("%s was not measured: taken to cost as much as %s", a.Policy, RAID5))
		}
		row["cost"], row["why"], row["guest"], row["own"], row["digits"] = sheet.Of(c.PerIO, "cycles"), strings.Join(c.Why, "; "), c.Scope == Guest, c.Own, c.Digits
		row["unused"] = sheet.Plain(float64(m.Unused(a.Path)), "whole")
		if c.Network != nil {
			row["networkPerIO"] = sheet.Of(*c.Network, "cycles")
		}
		if c.Core > 0 {
			row["measuredCore"] = sheet.Plain(float64(c.Core), "hz")
		}
		if values["withRDMA"] == true && a.Path == VSANESA { // measured on another cluster, and for the whole I/O only
			row["saving"], basis = sheet.Of(RDMASaved(a.Kind), "percent"), max(basis, Estimated)
		}
	}
	return basis, nil
}

// LimitUnit is the size that vSAN counts as one I/O against an IOPS limit.
const LimitUnit = 32 * numa.KiB

// Limit returns the I/Os of a size that IOPS limits of virtual disks allow together.
func Limit(disks int, each unit.IORate, block numa.Bytes) unit.IORate {
	units := max((block+LimitUnit-1)/LimitUnit, 1)
	return unit.IORate(float64(disks) * float64(each) / float64(units))
}
