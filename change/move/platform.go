package move

import (
	"slices"

	"example.org/homenode/internal/words"
)

// A Feature is a part of a VM's NUMA topology that a platform may support.
type Feature uint8

// The features, in the order of the table of docs/reference/platforms.md.
const (
	Nodes      Feature = iota // number of nodes that the guest sees
	Uneven                    // nodes of unlike size
	NodeMemory                // the memory of each node
	Sockets                   // sockets and cores
	Threads                   // threads of a core
	Dies                      // dies of a socket
	Distances                 // between nodes
	HomeNode                  // the host node for each node of the guest
	Exclusive                 // a CPU of its own for each vCPU
	Pages                     // the size of huge pages
	AddVCPUs                  // vCPUs that can be added while the VM runs
	features
)

// A Proof is the kind of evidence that a platform accepts the definition written for it.
type Proof uint8

// The proofs, the weakest first.
const (
	Grammar Proof = iota // the definition has the documented form; nothing ran
	Judged               // the platform's own code accepts it in tests
	Ran                  // shown by a guest that was started with it
)

// String returns the proof in one word.
func (p Proof) String() string { return [...]string{"grammar", "judged", "ran"}[p] }

// An Ability describes a platform's support of a feature. The zero value means none.
type Ability struct {
	Can   bool
	Limit string // the missing part, or the difference; "" for none
	Proof Proof
}

// A Platform is a possible target of a move.
type Platform struct {
	Name  string // as in --to
	Title string
	Most  int // maximum number of guest nodes; 0 if the platform has no limit
	// Counts: nodes are defined by a number: they are consecutive.
	Counts bool
	// MemoryOnly: nodes without vCPUs can be stated.
	MemoryOnly bool
	// MostDigit is the largest node of a host that huge pages can be bound to; 0 for any.
	MostDigit int
	// Passthrough: nodes follow from the dedicated CPUs that a guest gets on huge pages.
	Passthrough bool
	// Chooses: the platform chooses the host node for each node of a guest, and does not change it.
	Chooses bool
	Can     [features]Ability
	kernel  *kernel // its hypervisor
}

// Places reports whether definitions for the platform name the nodes of the host.
func (p *Platform) Places() bool { return p.Can[HomeNode].Can && !p.Chooses }

func yes(p Proof) Ability                  { return Ability{Can: true, Proof: p} }
func partly(p Proof, limit string) Ability { return Ability{Can: true, Proof: p, Limit: limit} }
func no(why string) Ability                { return Ability{Limit: why} }

// Platforms are the possible targets, according to their documents and sources (docs/reference/platforms.md).
var Platforms = []*Platform{
	{Name: "libvirt", Title: "libvirt", kernel: &linux, MemoryOnly: true, Can: [features]Ability{
		Nodes: yes(Ran), Uneven: yes(Ran), NodeMemory: yes(Ran), Sockets: yes(Ran), Threads: yes(Ran), Dies: yes(Ran), Distances: yes(Judged),
		HomeNode: yes(Judged), Exclusive: yes(Judged), Pages: yes(Judged), AddVCPUs: yes(Judged)}},
	{Name: "qemu", Title: "QEMU", kernel: &linux, MemoryOnly: true, Can: [features]Ability{
		Nodes: yes(Ran), Uneven: yes(Ran), NodeMemory: yes(Ran), Sockets: yes(Ran), Threads: yes(Ran), Dies: yes(Ran), Distances: yes(Ran),
		HomeNode:  partly(Grammar, "the arguments bind memory alone: the commands in their comments bind the vCPUs"),
		Exclusive: no("QEMU pins no vCPU: its threads are pinned from outside"),
		Pages:     yes(Grammar), AddVCPUs: yes(Ran)}},
	{Name: "proxmox", Title: "Proxmox VE", kernel: &linux, Most: 8, MostDigit: 9, Can: [features]Ability{
		Nodes: partly(Grammar, "at most 8"), Uneven: yes(Grammar), NodeMemory: yes(Grammar), Sockets: yes(Grammar),
		Threads: no("no key for threads of a core"), Dies: no("no key for dies"), Distances: no("no key for distances: the guest sees 20"),
		HomeNode:  partly(Grammar, "memory by node; affinity holds for all threads of the VM together"),
		Exclusive: no("affinity holds for all threads of the VM together, not for one vCPU"),
		Pages:     partly(Grammar, "on nodes 0 to 9 of the host"), AddVCPUs: yes(Grammar)}},
	{Name: "kubevirt", Title: "KubeVirt", kernel: &linux, Passthrough: true, Can: [features]Ability{
		Nodes:  partly(Judged, "the shape is not guaranteed: nodes follow from the CPUs that the kubelet gives the VM, with guestMappingPassthrough"),
		Uneven: partly(Judged, "by chance: nodes follow from the CPUs that the kubelet gives the VM"), NodeMemory: no("memory is divided equally over the nodes"),
		Sockets: yes(Judged), Threads: yes(Judged), Dies: no("no field for dies"), Distances: no("none is stated: the guest sees 20"),
		HomeNode: no("the kubelet chooses the node of the host"), Exclusive: yes(Judged), Pages: partly(Judged, "2 MB or 1 GB"),
		AddVCPUs: partly(Judged, "whole sockets, by live migration")}},
	{Name: "nova", Title: "OpenStack Nova", kernel: &linux, Chooses: true, Can: [features]Ability{
		Nodes: yes(Judged), Uneven: yes(Judged), NodeMemory: yes(Judged), Sockets: yes(Judged), Threads: yes(Judged),
		Dies: no("no key for dies"), Distances: no("no key for distances"),
		HomeNode:  partly(Judged, "Nova chooses the node of the host for each node of the guest: a flavor cannot name one"),
		Exclusive: partly(Judged, "hw:cpu_thread_policy is isolate, which asks for hosts without SMT, or require for a guest with threads; QEMU's other threads run on cpu_shared_set, else on the CPUs of the vCPUs"),
		Pages:     yes(Judged), AddVCPUs: no("a flavor has a fixed number of vCPUs")}},
	{Name: "hyperv", Title: "Hyper-V", kernel: &hyperV, Counts: true, Can: [features]Ability{
		Nodes:  partly(Grammar, "by upper limits, from which Hyper-V derives the nodes"),
		Uneven: no("Hyper-V has even nodes alone"), NodeMemory: partly(Grammar, "an upper limit"), Sockets: partly(Grammar, "derived from the nodes of a socket"),
		Threads: yes(Grammar), Dies: no("no setting for dies"), Distances: no("no setting for distances"),
		HomeNode: no("no setting for a node of the host"), Exclusive: no("no setting for one vCPU"), Pages: no("no setting for a VM"),
		AddVCPUs: no("the number of vCPUs is fixed while the VM runs")}},
	{Name: "ahv", Title: "Nutanix AHV", kernel: &nutanix, Counts: true, Chooses: true, Can: [features]Ability{
		Nodes: yes(Grammar), Uneven: no("only the number of nodes can be set"), NodeMemory: no("memory is divided equally over the nodes"),
		Sockets: yes(Grammar), Threads: yes(Grammar), Dies: no("no key for dies"), Distances: no("no key for distances"),
		HomeNode: partly(Grammar, "AHV chooses the node of the host for each node of the guest"), Exclusive: no("hard pinning takes the first cores of the host, for one such VM on a node, and Nutanix wants its support to be asked"), Pages: no("no key for a VM"),
		AddVCPUs: no("not written")}},
}

// PlatformOf returns the platform of this name; nil for none.
func PlatformOf(name string) *Platform {
	i := slices.IndexFunc(Platforms, func(p *Platform) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return Platforms[i]
}

// Names returns the names of the platforms.
func Names() []string {
	return words.Texts(Platforms, func(p *Platform) string { return p.Name })
}

// The methods of choosing a shape.
const (
	Clients = "clients" // nodes of the guest; if vSphere hides nodes, those of the clients
	Same    = "same"    // nodes of the guest, also if some are hidden
	Fit     = "fit"     // sized for the hosts of the target
	Flat    = "flat"    // one node
)
