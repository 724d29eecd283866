package sizing

import (
	"fmt"

	"homenode/capacity"
	"homenode/capacity/dump"
	"homenode/numa"
)

// DumpPublished returns the published figures on core dumps beside what they come to, and
// why no straight line sizes the file.
func DumpPublished() *Answer {
	checks, misfits := dump.Checks(), dump.Misfits()
	type check struct {
		capacity.Check
		Verdict string `json:"verdict"`
	}
	result := struct {
		Hosts   []dump.Host   `json:"hosts"`
		Misfits []dump.Misfit `json:"misfits"`
		Checks  []check       `json:"checks"`
	}{dump.Hosts, misfits, nil}
	a := &Answer{Command: "size dump", Question: "size dump: the published figures beside what they come to"}
	reproduced := 0
	t := Table{Name: "checks", Title: "what was printed beside what it comes to", Columns: []Column{
		{Name: "exp"}, {Name: "what"}, {Name: "quantity"}, {Name: "printed", Right: true}, {Name: "computed", Right: true}, {Name: "deviation", Right: true}, {Name: "verdict"}, {Name: "note"}}}
	for i := range checks {
		p := &checks[i]
		verdict := p.Verdict()
		if verdict == "reproduced" {
			reproduced++
		}
		result.Checks = append(result.Checks, check{*p, verdict})
		t.Rows = append(t.Rows, []string{p.ID, p.What, p.Quantity, p.Printed, capacity.Digits(p.Computed, 4), dumpDeviation(p), verdict, p.Note})
	}
	a.Result = result
	a.Verdict = []string{fmt.Sprintf("%d of %d figures are reproduced, %d are inconsistencies of the article.", reproduced, len(checks), len(checks)-reproduced)}
	for i := range misfits {
		worst := misfits[i].Worst()
		a.Verdict = append(a.Verdict, fmt.Sprintf("In proportion to %s the file is off by up to %s (%s of RAM): no rule to size by.", misfits[i].On, dumpOff(worst.Off), worst.RAM))
	}
	a.Tables = []Table{dumpMisfit(misfits), t}
	a.Notes = []string{"The article says that VMkernel memory is the main factor; the host of 1.5 TB has less of it than that of 512 GB."}
	a.Charts = dumpCharts(&dump.Result{})
	return a
}

func dumpDeviation(p *capacity.Check) string {
	d, ok := p.Deviation()
	if !ok {
		return "–"
	}
	return dumpOff(d)
}

// dumpOff writes a deviation with its sign.
func dumpOff(s capacity.Share) string { return fmt.Sprintf("%+.1f %%", float64(s)*100) }

func dumpMisfit(misfits []dump.Misfit) Table {
	t := Table{Name: "misfit", Title: "the file in proportion to RAM and to VMkernel memory (least squares through the origin)", Columns: []Column{
		{Name: "ram", Right: true}, {Name: "release"}, {Name: "file", Right: true}, {Name: "MiB per GB", Right: true}, {Name: "by RAM", Right: true}, {Name: "off", Right: true},
		{Name: "VMkernel MB", Right: true}, {Name: "by VMkernel", Right: true}, {Name: "off", Right: true}}}
	for i := range dump.Hosts {
		h := &dump.Hosts[i]
		ram, kernel := misfits[0].Rows[i], misfits[1].Rows[i]
		t.Rows = append(t.Rows, []string{
			dump.Size(h.RAM).String(), h.Release.String(), dump.Size(h.File).String(), capacity.Grouped(h.PerGB()*float64(numa.GiB/numa.MiB), 1),
			ram.Line.String(), dumpOff(ram.Off), capacity.Grouped(h.Idle().VMkernel, 0), kernel.Line.String(), dumpOff(kernel.Off),
		})
	}
	return t
}
