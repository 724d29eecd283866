package vnuma

import (
	"fmt"
	"iter"
	"strings"
)

// Choices are the points on which the sources contradict each other (rule book, section F). The
// zero value selects the rule book's default everywhere; a true field selects the alternative.
type Choices struct {
	MinEight         bool // F-1
	Fill41           bool // F-2
	UnboundedClients bool // F-4
	MemoryMakesWide  bool // F-5
	PreferHTSiblings bool // F-6
	Decoupled67      bool // F-8
	ManualDefaults   bool // F-9
	HotAdd60         bool // F-10
	EqualSlices      bool // F-12
	CookieWithCPS    bool // F-13
	AutoCPSOne       bool // F-14
	NoSmallNodes     bool // F-16
	EvenStored       bool // F-18
	FitIgnoresCPS    bool // F-20
	ManualShows      bool // F-22
	FillToMinFree    bool // F-23
	WidenAlways      bool // F-24
	HotAddShows80    bool // F-25
	SocketNodes80    bool // F-26
	SpreadAll        bool // F-27
	ManualAnySize    bool // F-28
	NodesNeedMin     bool // F-29
	FillManual       bool // F-30
	VMPreferHT       bool // F-31
}

// A Choice describes one contradiction of the sources.
type Choice struct {
	ID          string // of the rule book: F-1
	Default     string // behaviour of the model
	Alternative string // behaviour when the field of Choices is true
	Book        string // the statement of the rule book with the default, and its source
	Field       func(*Choices) *bool
}

// ChoiceList lists the contradictions that change a prediction, by ID. F-3 and F-19 have no
// alternative; F-7, F-11, F-15, F-17 and F-21 concern the scheduler.
var ChoiceList = []Choice{
	{"F-1", "vNUMA from 9 vCPUs (numa.vcpu.min, VMware)", "vNUMA from 8 vCPUs (two articles with measurements)", "B-3", func(c *Choices) *bool { return &c.MinEight }},
	{"F-2", "ESX 4.1 splits evenly, 8 vCPUs on 6-core nodes are 4+4 (VMware KB 309166)", "ESX 4.1 fills nodes, 6+2 (Denneman 2011)", "B-5", func(c *Choices) *bool { return &c.Fill41 }},
	{"F-4", "from 6.5 on ESXi makes no more clients than nodes of a VM with more vCPUs than cores (24 on 2 × 10 are 2 × 12, Denneman 2021); a smaller size set by hand does", "as many clients as its vCPUs need in every release (21 on 2 × 10 showed 3 nodes, release not stated)", "B-5", func(c *Choices) *bool { return &c.UnboundedClients }},
	{"F-5", "memory beyond a node does not make more clients", "memory beyond a node makes more clients (Denneman 2022, prose; Dos Santos 2023, 768 GB)", "B-17", func(c *Choices) *bool { return &c.MemoryMakesWide }},
	{"F-6", "preferHT counts threads as capacity", "preferHT only prefers sibling threads (KB 415687)", "B-14", func(c *Choices) *bool { return &c.PreferHTSiblings }},
	{"F-8", "cores per socket decoupled from vNUMA in 6.5", "decoupled in 6.7 (Dos Santos 2023)", "B-12", func(c *Choices) *bool { return &c.Decoupled67 }},
	{"F-9", "numa.vcpu.maxPerVirtualNode unset means automatic", "unset means 8, as the manuals print", "B-10", func(c *Choices) *bool { return &c.ManualDefaults }},
	{"F-10", "CPU hot add forces one vNUMA node in 6.0 too", "CPU hot add keeps vNUMA in 6.0 (VCAT-SP)", "B-15", func(c *Choices) *bool { return &c.HotAdd60 }},
	{"F-12", "memory slices of unequal VPDs follow their vCPUs", "memory slices are equal", "B-22", func(c *Choices) *bool { return &c.EqualSlices }},
	{"F-13", "only a changed vCPU count voids the cookie", "changed cores per socket void a version 2 cookie too", "B-9", func(c *Choices) *bool { return &c.CookieWithCPS }},
	{"F-14", "automatic cores per socket are the vCPUs of a VPD, or the largest number that divides every VPD", "automatic cores per socket are 1 when the VPDs are uneven or CPU hot add is on", "B-18", func(c *Choices) *bool { return &c.AutoCPSOne }},
	{"F-16", "from 6.5 U3 and 6.7 U2 on EPYC nodes of at most 8 cores show vNUMA above their size", "the threshold stays 9 on small nodes", "B-19", func(c *Choices) *bool { return &c.NoSmallNodes }},
	{"F-18", "a stored size fills node after node: 12 vCPUs with 8 stored are 8 + 4 (a log of a hosted product)", "the vCPUs are spread evenly, 6 + 6, as with a size set by hand (F-30)", "B-8", func(c *Choices) *bool { return &c.EvenStored }},
	{"F-20", "up to 6.0 cores per socket split even a VM that fits a node", "a VM that fits a node is not split", "B-11", func(c *Choices) *bool { return &c.FitIgnoresCPS }},
	{"F-22", "a finer numa.vcpu.maxPerVirtualNode makes a client of each virtual node (manuals 5.0 to 6.0), which nothing forces onto different nodes", "numa.vcpu.maxPerVirtualNode sets what the guest sees; only maxPerMachineNode divides clients (hypervisor.fr, 2013)", "B-10", func(c *Choices) *bool { return &c.ManualShows }},
	{"F-23", "new pages leave 4 × minFree free on each of two nodes, of more the same of the host; what the guest uses comes home until its part of minFree is free", "new pages leave minFree free on each node (Denneman 2017, read without page migration)", "C-15", func(c *Choices) *bool { return &c.FillToMinFree }},
	{"F-24", "a node joins the home nodes of a client that is larger than its node in vCPUs and in memory", "of every client that is larger than its node in memory (as first read from Dos Santos 2023)", "D-2", func(c *Choices) *bool { return &c.WidenAlways }},
	{"F-25", "CPU hot add leaves one virtual node with hardware 20 too, unless vNUMA on CPU hot add is exposed (manual 8.0; VM Operator: false or unset; API: unset follows the last power-on)", "with hardware 20 CPU hot add no longer hides NUMA, whatever that setting (William Lam, November 2022: the limitation has been lifted)", "B-15", func(c *Choices) *bool { return &c.HotAddShows80 }},
	{"F-26", "cores per socket set by hand leave the virtual nodes of 8.0 alone (manual 8.0: not influenced by cores per socket)", "with hardware 20 they are the virtual nodes while NUMA Nodes is left at its default (Denneman, October 2022)", "B-12", func(c *Choices) *bool { return &c.SocketNodes80 }},
	{"F-27", "numa.consolidate = FALSE takes the optimal number of nodes above 1 (Denneman 2019)", "it spreads over all available nodes (Denneman 2023, seen on 2 nodes)", "B-17", func(c *Choices) *bool { return &c.SpreadAll }},
	{"F-28", "from 6.5 on a VM below numa.vcpu.min is always UMA, numa.vcpu.maxPerVirtualNode or not (manuals 6.5 and 6.7)", "numa.vcpu.maxPerVirtualNode shows vNUMA to smaller VMs in every release (Performance Best Practices 5.1; seen on 5.1)", "B-3", func(c *Choices) *bool { return &c.ManualAnySize }},
	{"F-29", "NUMA Nodes set by hand are shown to a VM of any size (API of 8.0: a value that is not zero is the size of the virtual nodes)", "a VM below numa.vcpu.min is always UMA (numa.vcpu.min in the manual of 8.0): both have to be set", "B-10", func(c *Choices) *bool { return &c.NodesNeedMin }},
	{"F-30", "numa.vcpu.maxPerVirtualNode that does not divide the vCPUs spreads them evenly: 12 with 8 are 6 + 6 (manuals 6.5 and 6.7: it splits the total vCPU count evenly; no source for earlier releases)", "it fills node after node, 8 + 4, as a stored size does (F-18)", "B-10", func(c *Choices) *bool { return &c.FillManual }},
	{"F-31", "Numa.PreferHT of a host holds for all its VMs, one with numa.vcpu.preferHT = FALSE among them (the host option is described without exception; no source says which wins)", "numa.vcpu.preferHT = FALSE of a VM wins over its host, as a setting of a VM usually does", "B-14", func(c *Choices) *bool { return &c.VMPreferHT }},
}

// Others returns the choices with each contradiction decided the other way, one at a time.
func (c Choices) Others() iter.Seq2[*Choice, Choices] {
	return func(yield func(*Choice, Choices) bool) {
		for i := range ChoiceList {
			other := c
			field := ChoiceList[i].Field(&other)
			if *field = !*field; !yield(&ChoiceList[i], other) {
				return
			}
		}
	}
}

// Explains returns a sentence that the observation matches the other decision of the choice.
func (c *Choice) Explains() string {
	return fmt.Sprintf("sources disagree on this (%s): it agrees with the other side: %s", c.ID, c.Alternative)
}

// Take selects the alternative of the choice with this ID.
func (c *Choices) Take(id string) error {
	var ids []string
	for _, ch := range ChoiceList {
		if strings.EqualFold(ch.ID, id) {
			*ch.Field(c) = true
			return nil
		}
		ids = append(ids, ch.ID)
	}
	return fmt.Errorf("found %q, want one of %s", id, strings.Join(ids, ", "))
}
