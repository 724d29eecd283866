package vnuma

import (
	"math/bits"

	"example.org/homenode/numa"
)

// Assumptions is the set of unstated facts that a prediction had to assume. A finding that depends
// on one is Assumed.
type Assumptions uint32

// The possible assumptions of a prediction.
const (
	AssumedNodes       Assumptions = 1 << iota // the node layout of the host
	AssumedRelease                             // the model of an older release
	AssumedCPS                                 // cores per socket
	AssumedHotAdd                              // CPU hot add
	AssumedHardware                            // the virtual hardware version
	AssumedSettings                            // the VM's advanced settings and stored size
	AssumedOptions                             // the host's advanced options
	AssumedAutoCPS                             // whether cores per socket are automatic
	AssumedNodeCores                           // which of the nodes of unequal cores it gets
	AssumedOverfill                            // B-12: whole vSockets exceed the node
	AssumedSmallNodes                          // B-19: threshold on small nodes
	AssumedSlices                              // F-12: slices of unequal VPDs
	AssumedInterleave                          // F-12: interleaving without hot add
	AssumedAutoUneven                          // F-14: automatic cores per socket of uneven VPDs
	AssumedOddSplit                            // B-24: no published log of an odd split, or an uneven one over 3 nodes
	AssumedConsolidate                         // B-17: formula of numa.consolidate
	AssumedHotAddAuto                          // F-14: automatic cores per socket with CPU hot add
	AssumedVNUMAHotAdd                         // vNUMA exposed on CPU hot add
	AssumedAffinity                            // CPU and memory affinity
	AssumedReserve                             // C-15: the reserve of a node
	AssumedJoined                              // B-29: which vCPUs share the clients of 6.0
	AssumedStored                              // B-8: automatic nodes of 8.0 keep a stored size
	AssumedIOMMU                               // B-32: EFI firmware and the virtual IOMMU
	AssumedOldHardware                         // B-26: the limits of virtual hardware 3
	AssumedReserved                            // B-31: all memory is reserved for a device
	AssumedPairs                               // B-21: clients that split a pair of virtual threads
	AssumedNodeMemory                          // C-4: which of the nodes of unequal memory it gets
	AssumedRounded                             // B-12: whole vSockets of an even share exceed the node
	AssumedUnscheduled                         // the guest's nodes where the NUMA scheduler is off
	AssumedVirtualHT                           // B-21: virtual threads on cores that have one
	AssumedPowerOn                             // B-8: the stored size among unknown settings
	AssumedThreads                             // B-27: hyper-threading, where the vCPUs exceed the cores
)

var assumptionTexts = [...]struct {
	rule, text string
	short      string
}{
	{"A-3", "the host's NUMA nodes are not stated by the source", "node layout"},
	{"", "this release is not described yet: the rules of ESXi " + numa.Modelled[len(numa.Modelled)-1].String() + " are used", "release"},
	{"B-12", "cores per socket are unknown: 1 is taken", "cores per socket"},
	{"B-15", "CPU hot add is unknown: off is taken", "CPU hot add"},
	{"B-2", "the virtual hardware version is unknown: 8 or later is taken", "hardware version"},
	{"B-10", "the advanced settings of the VM are unknown: none is taken, and no stored size, although an earlier power-on may have left one", "advanced settings"},
	{"C-18", "the advanced options of the host are unknown: defaults are taken", "host options"},
	{"B-18", "whether cores per socket are assigned at power on is unknown: set by hand is taken", "automatic cores per socket"},
	{"A-5", "the nodes differ in cores: the smallest is taken", "unequal nodes"},
	{"B-12", "what happens when whole vSockets exceed a node is not published: the client is overfilled", "overfilled client"},
	{"B-19", "how low the threshold goes on small EPYC nodes is not published: node size + 1 is taken", "threshold on small nodes"},
	{"F-12", "memory slices of unequal VPDs are not published: proportional to vCPUs is taken", "uneven memory slices"},
	{"F-12", "interleaving is published for CPU hot add and 4.1 only, and taken here too", "interleaving"},
	{"F-14", "automatic cores per socket of uneven VPDs are not published: the largest number that divides all of them is taken", "uneven automatic vSockets"},
	{"B-24", "no log of an odd or uneven split is published: larger clients first is taken", "odd split"},
	{"B-17", "the formula of numa.consolidate = FALSE is inferred from published cases", "numa.consolidate"},
	{"F-14", "automatic cores per socket with CPU hot add are not published: a socket for each virtual node is taken", "automatic vSockets with hot add"},
	{"B-15", "whether vNUMA is exposed on CPU hot add is unknown (unset, the last power-on decides): not is taken", "vNUMA on hot add"},
	{"C-12", "CPU and memory affinity are unknown: none is taken", "affinity"},
	{"C-15", "how much of a node stays free is inferred from published fills; what ESXi itself and the overhead of the VM use of it is not known and not counted", "reserve of a node"},
	{"B-29", "how 6.0 makes fewer clients than virtual nodes is not published: whole virtual nodes share one", "shared clients"},
	{"B-8", "8.0 assigns automatic NUMA nodes during power-on (API); that it then takes the stored size is not stated", "stored size in 8.0"},
	{"B-32", "more than 127 vCPUs need the virtual IOMMU, and so EFI firmware (a vGPU beside it one of SR-IOV): not all is stated, it is taken as there", "EFI and IOMMU"},
	{"B-26", "the limits of virtual hardware 3 are not published: no more than those of 4 are taken", "limits of hardware 3"},
	{"B-31", "a PCI device of the host needs all memory reserved: that it is was not stated, and is taken", "reserved memory"},
	{"B-21", "how ESXi rounds clients of pairs of virtual threads is not published: a vCPU counts as without them", "pairs of virtual threads"},
	{"C-4", "the nodes differ in memory: those with the most are taken, as on an empty host; on a smaller node more is remote", "unequal memory of nodes"},
	{"B-12", "an even share rounded up to whole vSockets exceeds a node, and what comes then is not published: more clients of whole vSockets are taken", "clients of whole vSockets"},
	{"A-9", "what a guest sees of the nodes of a host whose NUMA scheduler is off is not published: the same as with it is taken", "nodes without the NUMA scheduler"},
	{"B-21", "whether a VM with virtual hyper-threading powers on where hyper-threading is off, and how many cores it then needs, is not published: the same as with it is taken", "virtual threads without hyper-threading"},
	{"B-8", "the advanced settings of the VM are unknown: they are taken as unset, except for the size that its last power-on stored (as its vmware.log or guest shows, else as its present host would choose)", "advanced settings, stored size"},
	{"B-27", "whether hyper-threading of the host is on is unknown: on is taken, without it a VM with more vCPUs than the host has cores does not power on", "hyper-threading"},
}

// Texts returns one sentence per assumption, each with its rule, in a fixed order.
func (a Assumptions) Texts() []string {
	var out []string
	for rest := a; rest != 0; rest &= rest - 1 {
		t := assumptionTexts[bits.TrailingZeros32(uint32(rest))]
		s := t.text
		if t.rule != "" {
			s += " (" + t.rule + ")"
		}
		out = append(out, s)
	}
	return out
}

// Names returns the assumptions in a few words each, in a fixed order.
func (a Assumptions) Names() []string {
	var out []string
	for rest := a; rest != 0; rest &= rest - 1 {
		out = append(out, assumptionTexts[bits.TrailingZeros32(uint32(rest))].short)
	}
	return out
}
