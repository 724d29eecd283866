package speed

import (
	"embed"
	"maps"
	"strings"

	"example.org/homenode/numa/unit"
	"example.org/homenode/size/sheet"
)

// sheets format the results for simulated VMs.
//
//go:embed *.sheet models.txt
var sheets embed.FS

var (
	calculator = sheet.Load(sheets, "speed.sheet")
	ofChanges  = sheet.Load(sheets, "changes.sheet")
	ofSCA      = sheet.Load(sheets, "sca.sheet")
)

// Sheets returns the tables of the simulated demands, of the alternatives, and of side-channel aware schedulers.
func (r *Result) Sheets(details bool) (demands, changes, schedulers *sheet.Run) {
	a := r.Asked
	values := sheet.Fields("", r)
	running := sheet.Plain(float64(a.Running()), "whole")
	var names, gains []string
	var rows, others, sca []map[string]any
	for i := range r.SCA {
		m := &r.SCA[i]
		names = append(names, m.Name)
		if r.SCA[0].Gain > 0 {
			gains = append(gains, "+"+unit.Digits(100*float64(m.Gain), 3)+" %")
		}
		sca = append(sca, sheet.Fields("", m))
	}
	for i := range r.Limited {
		row := sheet.Fields("", &r.Limited[i])
		maps.Copy(row, sheet.Fields("free", &r.Free[i]))
		rows = append(rows, row)
	}
	for i := range r.Changes {
		row := sheet.Fields("", &r.Changes[i])
		row["name"] = r.Changes[i].If
		others = append(others, row)
	}
	maps.Copy(values, map[string]any{
		"model": a.Model.Title(), "details": details, "acts": r.Acts, "running": running, "gains": strings.Join(gains, ", "), "schedulers": strings.Join(names, ", "),
		"guarantee": sheet.Of(r.Guarantee, "share"), "kernel": sheet.Of(r.Kernel, "share"), "hostMemory": sheet.Plain(float64(a.Host.Memory.Value), "memory"),
	})
	before := sheet.Fields("before", &r.Admission)
	before["running"], before["asked"] = running, sheet.Plain(float64(a.VMs), "whole")
	none := map[string]any{}
	if sca != nil {
		none = sheet.Fields("none", &r.SCA[0])
	}
	return calculator.Run(sheet.Input{Values: values, Rows: rows}), ofChanges.Run(sheet.Input{Values: before, Rows: others}), ofSCA.Run(sheet.Input{Values: none, Rows: sca})
}
