package topo

import (
	"fmt"
	"strings"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
)

var (
	trademark = pattern.Of(`\((R|TM|tm|r)\)|®|™`)
	clockRate = pattern.Of(`\s+@.*$|\s+\d+-Core Processor.*$|\bCPU\b`)
)

// processors returns text such as "2 × Xeon Gold 6354" from the brand string of the processor.
func processors(h *numa.Host) string {
	model := texttab.Clean(h.CPUModel.Value)
	model = clockRate.ReplaceAllString(trademark.ReplaceAllString(model, ""), "")
	model = strings.TrimPrefix(strings.Join(strings.Fields(model), " "), "Intel ")
	switch {
	case model == "" && !h.Packages.Known():
		return ""
	case model == "":
		model = "unknown processor"
	}
	if !h.Packages.Known() {
		return model
	}
	return fmt.Sprintf("%d × %s", h.Packages.Value, model)
}
