package numa

import "strings"

// NotRunning explains why a VM does not move from a host to another one while it runs: no mode of EVC spans processors of Intel and AMD
// (vSphere API, faults EVCAdmissionFailedCPUVendor and HeterogenousHostsBlockingEVC, since API 4.0 and 6.0; opened 2026-11-29). "" where it may, or
// where a processor is unknown. A device that ties a VM to its host is Config.Tied.
func NotRunning(from, to *Host) string {
	a, b := from.maker(), to.maker()
	if a == "" || b == "" || a == b {
		return ""
	}
	return "no vMotion of a running VM is possible between " + a + " (" + from.Name + ") and " + b + " (" + to.Name + "): it moves powered off, and powers on there"
}

// maker returns the maker of the processors, from their model; "" if it is unknown.
func (h *Host) maker() string {
	if h == nil {
		return ""
	}
	for _, one := range []struct{ word, maker string }{{"EPYC", "AMD"}, {"AMD", "AMD"}, {"Opteron", "AMD"}, {"Xeon", "Intel"}, {"Intel", "Intel"}} {
		if strings.Contains(h.CPUModel.Value, one.word) {
			return one.maker
		}
	}
	return ""
}
