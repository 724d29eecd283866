package io

import (
	"fmt"

	"homenode/numa/unit"
	"homenode/output/answer"
	"homenode/output/draw/chart"
	"homenode/output/size"
	"homenode/size/iocost"
)

// publishedRow is a size.PublishedRow by the names that size io has for it in JSON.
type publishedRow struct {
	Experiment    string      `json:"id"`
	What          string      `json:"what"`
	Quantity      string      `json:"quantity"`
	Printed       string      `json:"printed"`
	Computed      float64     `json:"recomputed"`
	Deviation     *unit.Share `json:"deviation,omitempty"`
	Verdict       string      `json:"verdict"`
	Inconsistency string      `json:"-"`
	Note          string      `json:"note,omitempty"`
}

// Published returns the figures of the articles beside what they come to, what the model
// and the rule of thumb make of the tests of vSAN, and the rules beside what they round.
func Published() (*answer.Answer, error) {
	m, err := iocost.New()
	if err != nil {
		return nil, err
	}
	predictions, err := iocost.Predictions()
	if err != nil {
		return nil, err
	}
	a := size.Published("size io", iocost.Checks())
	var rows []publishedRow
	for _, row := range a.Result.([]size.PublishedRow) {
		rows = append(rows, publishedRow(row))
	}
	rules := iocost.Rules()
	a.Result = struct {
		Checks      []publishedRow      `json:"checks"`
		Predictions []iocost.Prediction `json:"predictions"`
		Rules       []iocost.Rule       `json:"rules"`
		Points      []iocost.Point      `json:"points"`
	}{rows, predictions, rules, iocost.Published()}
	a.Tables = append(a.Tables, predictionTable(predictions), rulesTable(rules))
	a.Note("In tests \"at IOPS limit\" the limit stopped the I/Os, not the hardware: 18 VMs × 8 disks × 5,000.",
		"CPU of the vSAN tests includes the load generators, which ran on the same hosts.")
	var charts []chart.Chart
	for _, path := range []iocost.Path{iocost.NVMe, iocost.VSANESA} {
		c, err := costChart(m, iocost.Kind{Path: path, Random: 1, Block: iocost.LimitUnit})
		if err != nil {
			return nil, err
		}
		charts = append(charts, c)
	}
	size.AddCharts(a, charts...)
	return a, nil
}

// predictionTable returns what model and rule make of the vSAN tests.
func predictionTable(predictions []iocost.Prediction) answer.Table {
	t := answer.Table{Name: "predictions", Title: "b-vsan: GHz of a host, less idle", Columns: size.Columns(
		"test", ">measured", ">cost × IOPS", ">deviation", ">from pure tests", ">deviation", ">rule 3.5", ">deviation", "remark")}
	for _, p := range predictions {
		row := []string{p.Test, unit.Grouped(float64(p.Measured/unit.GHz), 1)}
		for _, v := range []unit.Hz{p.Model, p.Mixed, p.Rule} {
			if v == 0 {
				row = append(row, "", "")
				continue
			}
			off := "0 %"
			if v != p.Measured {
				off = fmt.Sprintf("%+.1f %%", 100*float64(v/p.Measured-1))
			}
			row = append(row, unit.Grouped(float64(v/unit.GHz), 1), off)
		}
		remark := ""
		if p.Limited {
			remark = "at IOPS limit"
		}
		t.Add(append(row, remark)...)
	}
	return t
}

// rulesTable returns the rules of thumb beside what they round.
func rulesTable(rules []iocost.Rule) answer.Table {
	t := answer.Table{Name: "rules", Title: "rules of thumb, Hz per b/s", Columns: size.Columns("path", ">rule", ">exact mean", ">measured", "of")}
	for _, r := range rules {
		t.Add(
			r.Path.Name(), unit.Digits(float64(r.Cost.Value), 3), unit.Digits(float64(r.Exact), 3),
			unit.Digits(float64(r.Cost.Low), 3)+" to "+unit.Digits(float64(r.Cost.High), 3), r.Cost.Note,
		)
	}
	return t
}
