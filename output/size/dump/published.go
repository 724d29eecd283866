package dump

import (
	"fmt"

	"homenode/numa"
	"homenode/numa/unit"
	"homenode/output/answer"
	"homenode/output/draw/chart"
	"homenode/output/size"
	"homenode/size/dump"
)

// Published returns the published figures on core dumps beside what they come to, and
// why no straight line sizes the file.
func Published() *answer.Answer {
	misfits := dump.Misfits()
	a := size.Published("size dump", dump.Checks())
	a.Result = struct {
		Hosts     []dump.Host   `json:"hosts"`
		Misfits   []dump.Misfit `json:"misfits"`
		Published any           `json:"published"`
	}{dump.Hosts, misfits, a.Result}
	for i := range misfits {
		worst := misfits[i].Worst()
		a.Verdict = append(a.Verdict, fmt.Sprintf("Taken in proportion to %s the file is off by up to %s (%s of RAM): no rule to size by.",
			misfits[i].On, size.SignedPercent(worst.Off), worst.RAM))
	}
	a.Tables = append(a.Tables, misfit(misfits))
	a.Note(
		"The article takes VMkernel memory for the main factor: the host of 1.5 TB has less of it than that of 512 GB.",
		"Compressed dumps (zdump): 111 MB at 128 GB, 277 to 444 MB at 256 GB, 4,710 MB at 512 GB; on 256 GB the first of 14 is the largest.")
	scatter := scatter(0)
	line := chart.Series{Name: "in proportion to RAM"}
	for _, p := range scatter.Lines.Series[0].Points {
		line.Points = append(line.Points, chart.Point{X: p.X, Y: p.X * misfits[0].Per, Outside: p.Outside})
	}
	scatter.Lines.Series = append(scatter.Lines.Series, line)
	size.AddCharts(a, scatter)
	return a
}

func misfit(misfits []dump.Misfit) answer.Table {
	t := answer.Table{Name: "misfit", Title: "the file in proportion to RAM, and to VMkernel memory (least squares through the origin)", Columns: size.Columns(">ram", "release", ">file", ">MiB per GB", ">by RAM", ">off", ">VMkernel MB", ">by VMkernel", ">off")}
	for i := range dump.Hosts {
		h := &dump.Hosts[i]
		ram, kernel := misfits[0].Rows[i], misfits[1].Rows[i]
		t.Add(
			dump.Size(h.RAM).String(), h.Release.String(), dump.Size(h.File).String(), unit.Grouped(h.PerGB()*float64(numa.GiB/numa.MiB), 1),
			ram.Line.String(), size.SignedPercent(ram.Off), unit.Grouped(h.Idle().VMkernel, 0), kernel.Line.String(), size.SignedPercent(kernel.Off),
		)
	}
	return t
}
