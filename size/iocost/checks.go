package iocost

import (
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/sheet"
)

// Checks returns every figure that the articles compute from the measurements of this package
// (b-nvme to b-rules), as printed and as recomputed from their raw figures and formulas.
func Checks() []unit.Check {
	values := map[string]any{}
	for name, i := range map[string]int{"network": 1, "nvme": 2, "vsan": 3} {
		values["exact."+name] = sheet.Plain(float64(Rules()[i].Exact), "")
	}
	return calculator.Checks(files, sheet.Input{Values: values}, func(id, what string) map[string]any {
		out := map[string]any{}
		put := func(block numa.Bytes, names string, values ...float64) {
			out["block"] = sheet.Plain(float64(block), "")
			for i, name := range strings.Fields(names) {
				out[name] = sheet.Plain(values[i], "")
			}
		}
		what, _, _ = strings.Cut(what, ", ")
		for _, r := range iometer {
			if r.Name == what && id == "b-nvme" {
				put(r.Block, "percent megabytes iops", r.Percent, r.Megabytes, float64(r.IOPS))
			}
		}
		for _, r := range hcibench {
			if r.Name == what && strings.HasPrefix(id, "b-vsan") {
				put(r.Block, "iops mebibytes printed tx rx net", r.IOPS, r.Mebibytes, r.Printed, r.TX, r.RX, float64(r.net()))
			}
		}
		for _, r := range rdmaRows {
			if r.Name == what && id == "b-rdma" {
				put(r.Block, "iops.tcp iops.rdma usage.tcp usage.rdma utilisation.tcp utilisation.rdma", r.IOPS[0], r.IOPS[1], r.Usage[0], r.Usage[1], r.Utilisation[0], r.Utilisation[1])
			}
		}
		return out
	})
}
