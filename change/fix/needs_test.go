package fix

import (
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

// fields are the fields of the table of docs/fix.md, by the kinds of edits that they are.
var fields = map[string][]numa.EditKind{
	"numCoresPerSocket":                    {numa.EditCoresPerSocket},
	"cpuHotAddEnabled memoryHotAddEnabled": {numa.EditCPUHotAdd, numa.EditMemoryHotAdd},
	"virtualNuma.coresPerNumaNode":         {numa.EditCoresPerNUMANode},
	"virtualNuma.exposeVnumaOnCpuHotadd":   {numa.EditVNUMAHotAdd},
	"extraConfig":                          {numa.EditExtraConfig},
	"numa.autosize.* extraConfig":          {numa.EditExtraConfig},
	"cpuAffinity":                          {numa.EditCPUAffinity},
	"latencySensitivity":                   {numa.EditLatency},
	"cpuAllocation memoryAllocation memoryReservationLockedToMax": {numa.EditCPUReservation, numa.EditMemoryReservation, numa.EditReserveAll},
	"numCPUs memoryMB":                {numa.EditVCPUs, numa.EditMemory},
	"UpgradeVM_Task":                  {numa.EditHardware},
	"ReconfigureComputeResource_Task": {numa.EditDRSRule},
	"UpdateOptions":                   {numa.EditHostOption},
}

// TestNeedsDocs: the guide says of each edit what the plan says of it: whether it is written while the VM runs, and when it takes effect.
func TestNeedsDocs(t *testing.T) {
	page := golden.Read(t, "../../docs/fix.md")
	_, table, _ := strings.Cut(string(page), "\n| edit | field of the API |")
	told := map[numa.EditKind]bool{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "|") && len(told) > 0 {
			break
		}
		if len(cells) != 5 {
			continue
		}
		var names []string
		for i, part := range strings.Split(cells[1], "`") {
			if i%2 == 1 {
				names = append(names, part)
			}
		}
		for _, kind := range fields[strings.Join(names, " ")] {
			told[kind] = true
			needs := numa.Edit{Kind: kind}.Needs()
			if off := strings.HasPrefix(cells[2], "no"); off != (needs == numa.NeedsOff) {
				t.Errorf("%s: the guide says of writing while running %q, and it needs %q", kind, cells[2], needs)
			}
			if cycle := strings.HasPrefix(cells[3], "power"); cycle != (needs != numa.NeedsNothing) {
				t.Errorf("%s: the guide says that it takes effect %q, and it needs %q", kind, cells[3], needs)
			}
		}
	}
	for kind := range Privileges {
		if !told[kind] {
			t.Errorf("the guide does not say when %s takes effect", kind)
		}
	}
}
