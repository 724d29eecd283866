package pages

import (
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// Salting is Mem.ShareForceSalting: the VMs that may share pages (rule book C-22, KB 2080735).
type Salting int

// The values of Mem.ShareForceSalting.
const (
	AllShare      Salting = 0 // all VMs, whatever their salt
	EqualSalt     Salting = 1 // those with the same salt, and those without one
	ExplicitSalts Salting = 2 // those with the same salt; others only within themselves
)

// Lets reports whether VMs with these sched.mem.pshare.salt may share; "" is none.
func (s Salting) Lets(a, b string) bool {
	switch s {
	case AllShare:
		return true
	case EqualSalt:
		return a == b
	}
	return a != "" && a == b
}

// A Member is one VM that shares pages with others of its host.
type Member struct {
	Salt   string
	Image  string       // VMs of one image have equal pages; "" for an image of its own
	OnNode []numa.Bytes // touched, by node of the host
	Zero   unit.Share   // share of small pages that are zero
	Alike  unit.Share   // share that other VMs of the image have too
	Large  unit.Share   // backed by large pages, which are not shared
}

// Saving is the memory that sharing saves on one host in the long run.
type Saving struct {
	Zero  numa.Bytes `json:"zero"`  // pages of zeros: each VM shares them within itself
	Alike numa.Bytes `json:"alike"` // equal pages of several VMs
}

// All returns the whole saving.
func (s Saving) All() numa.Bytes { return s.Zero + s.Alike }

// Share returns the savings of the VMs of one host after scanning everything. One copy of pages
// that m VMs have in common stays: with perNode (VMkernel.Boot.sharePerNode, the default) one on
// each node, else one on the host.
func Share(vms []Member, salting Salting, perNode bool) (s Saving) {
	for i := range vms {
		v := &vms[i]
		for n, touched := range v.OnNode {
			small := float64(touched) * (1 - float64(v.Large))
			s.Zero += numa.Bytes(small * float64(v.Zero))
			if v.Image == "" || v.Alike == 0 {
				continue
			}
			on := n
			if !perNode {
				on = -1
			}
			m := float64(mates(vms, i, on, salting))
			s.Alike += numa.Bytes(small * float64(v.Alike) * (m - 1) / m)
		}
	}
	return s
}

// mates counts the VMs with pages equal to those of vms[i] on a node (-1: on any), itself included.
func mates(vms []Member, i, node int, salting Salting) (m int) {
	for j := range vms {
		o := &vms[j]
		if j != i && (o.Image != vms[i].Image || !salting.Lets(vms[i].Salt, o.Salt)) {
			continue
		}
		if j == i || node < 0 || node < len(o.OnNode) && o.OnNode[node] > 0 {
			m++
		}
	}
	return m
}
