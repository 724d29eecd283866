package rule

import (
	"strings"

	"example.org/homenode/rules/finding"
)

// The sources of evidence: the field of esxtop's screen, and the counter of its batch file if
// that has another name. Report uses the name in the format of the recording.
const (
	FieldNHN     = "NHN (Numa Home Nodes)"
	FieldNMIG    = "NMIG (Numa Rebalance Count Delta)"
	FieldNRMEM   = "NRMEM (Numa Remote Memory MBytes)"
	FieldNLMEM   = "NLMEM (Numa Local Memory MBytes)"
	FieldNL      = "N%L (Numa % Local)"
	FieldGST     = "GST_NDx"
	FieldRDY     = "%RDY (% Ready)"
	FieldUSED    = "%USED (% Used)"
	FieldNode    = "Numa Node % Core Util Time, else % Util Time, else % Processor Time"
	FieldFree    = "Numa Node Free MBytes"
	FieldState   = "Kernel State"
	FieldMinFree = "minfree (Kernel MinFree MBytes)"
	FieldBoth    = "NLMEM, NRMEM (Numa Local and Remote Memory MBytes)"
)

// The formats of capture.File whose field names differ from those of esxtop.
const (
	formatFetchStats = "esxtop FetchStats"
	formatInfo       = "esxtop CounterInfo" // followed by FetchStats
	formatCommands   = "output of host commands"
)

// otherNames are those names: in the API, in the commands, and a description for a recording of
// several formats.
var otherNames = map[string][3]string{
	FieldNHN:     {"HomeNodes", "homeNode (numa-clients) or NHN (screen)", "home nodes"},
	FieldNMIG:    {"NumOfBalanceMigrations, NumOfLocalitySwap, NumOfLoadSwap", "NMIG (screen)", "NUMA migrations"},
	FieldNRMEM:   {"RemoteMemoryInKB", "remoteMem (numa-clients) or NRMEM (screen)", "remote memory"},
	FieldNLMEM:   {"LocalMemoryInKB", "localMem (numa-clients) or NLMEM (screen)", "local memory"},
	FieldNL:      {"LocalityPct", "currLocal% (numa-clients) or N%L (screen)", "N%L as printed"},
	FieldGST:     {"GuestMemInKB of VMNUMANodeMem", "memory of numa-cnode or GST_NDx (screen)", "memory by node"},
	FieldRDY:     {"ReadyTimeInUsec", "ready time", "ready time"},
	FieldUSED:    {"UsedTimeInUsec", "used time", "used time"},
	FieldNode:    {"CoreHaltTimeInUsec, else HaltTimeInUsec, else UsedTimeInUsec of PCPUs", "used and idle of numa-pnode", "load of the node"},
	FieldFree:    {"FreeInPages of NUMANode", "free memory of numa-pnode or of the screen", "free memory of the node"},
	FieldState:   {"SchedStateStr", "state of the screen", "memory state"},
	FieldMinFree: {"SchedMinFreeInKB", "minfree of the screen", "minFree"},
	FieldBoth:    {"LocalMemoryInKB, RemoteMemoryInKB", "localMem, remoteMem (numa-clients) or NLMEM, NRMEM (screen)", "local and remote memory"},
}

// column returns the index in otherNames for the files of the recording; -1 for none.
func (w *Watch) column() int {
	column := -1
	for i, f := range w.Host.Files {
		one := -1
		switch f.Format {
		case formatFetchStats, formatInfo:
			one = 0
		case formatCommands:
			one = 1
		}
		if i > 0 && one != column {
			return 2
		}
		column = one
	}
	return column
}

// rename replaces the counter names in evidence by those of the recording's files.
func (w *Watch) rename(evidence []finding.Evidence) {
	column := w.column()
	if column < 0 {
		return
	}
	var pairs []string
	for field, names := range otherNames {
		pairs = append(pairs, field, names[column])
	}
	r := strings.NewReplacer(pairs...)
	for i := range evidence {
		evidence[i].Origin = r.Replace(evidence[i].Origin)
	}
}
