package vnuma

import "homenode/numa"

// A Shape is a way to configure the sockets of a VM.
type Shape struct {
	Sockets        int
	CoresPerSocket int
	Auto           bool // leave both to ESXi: "assigned at power on"
}

// Advice is the best shape of a VM for a set of hosts.
type Advice struct {
	Shape Shape
	// Mirrors reports whether on every host each client is one virtual node, all
	// of one size. When hosts differ so much that no shape does, it is false and
	// Shape is the best compromise.
	Mirrors bool
	// Fewer and More are the nearest vCPU counts that divide evenly on all hosts,
	// when the present one does not; 0 otherwise.
	Fewer, More int
}

// Advise returns the best shape of g on the machines. The rule is that of rules.md
// B-25: stay within a node; beyond it divide evenly over the fewest nodes, with a
// socket for each.
func Advise(g *Guest, machines []Machine) Advice {
	var a Advice
	per := int32(0) // greatest common divisor of the even shares
	same := true
	for i := range machines {
		m := &machines[i]
		share, even := evenOn(g.VCPUs, m)
		if !even {
			a.Fewer, a.More = nearestEven(int(g.VCPUs), machines)
			share = 1
		}
		if i > 0 && share != per {
			same = false
		}
		per = gcd(per, share)
	}
	if per == 0 {
		per = g.VCPUs
	}
	a.Shape = Shape{Sockets: int(g.VCPUs / per), CoresPerSocket: int(per)}
	a.Mirrors = same && a.More == 0
	a.Shape.Auto = a.Mirrors && canBeAutomatic(g, machines)
	return a
}

// canBeAutomatic reports whether every machine chooses cores per socket itself
// (rules.md B-18).
func canBeAutomatic(g *Guest, machines []Machine) bool {
	for i := range machines {
		if g.Hardware < 20 || machines[i].model < numa.ESXi80 {
			return false
		}
	}
	return len(machines) > 0
}

// evenOn returns the vCPUs per node when n vCPUs use the fewest nodes of m, and
// whether all nodes get the same.
func evenOn(n int32, m *Machine) (per int32, even bool) {
	nodes := min(ceilDiv(n, m.Cores), m.Nodes)
	return n / nodes, n%nodes == 0
}

// nearestEven returns the vCPU counts next to n that divide evenly on all machines.
func nearestEven(n int, machines []Machine) (fewer, more int) {
	fits := func(k int) bool {
		for i := range machines {
			if _, even := evenOn(int32(k), &machines[i]); !even {
				return false
			}
		}
		return true
	}
	for k := n - 1; k > 0 && fewer == 0; k-- {
		if fits(k) {
			fewer = k
		}
	}
	// 1 node × all is even at the latest at a common multiple of the node counts.
	for k := n + 1; k <= 2*n+numa.MaxNodes && more == 0; k++ {
		if fits(k) {
			more = k
		}
	}
	return fewer, more
}

func gcd(a, b int32) int32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Reshaped returns g as it is after the advice was followed: the shape set,
// nothing stored or sized by hand, CPU hot add off.
func (g Guest) Reshaped(s Shape) Guest {
	g.CoresPerSocket, g.AutoCPS = int32(s.CoresPerSocket), s.Auto
	g.HotAdd, g.Stored, g.CookieVCPUs = false, 0, 0
	g.MaxPerVirtualNode, g.MaxPerMachineNode, g.MaxPerClient, g.CoresPerNode = 0, 0, 0, 0
	g.Spread, g.Autosize, g.Follow = false, false, false
	return g
}
