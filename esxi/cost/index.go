package cost

import (
	"errors"
	"fmt"
	"math"

	"example.org/homenode/numa"
)

// A Use is a VM's use of the machine at one moment.
type Use struct {
	// Clients are the NUMA clients that run, as Accessed returns them.
	Clients []Client
	// Best is the placement with index 1. Its memory is not read: all of it counts as local. Nil
	// means the clients' present nodes; then crowding on one node costs no bandwidth, because no
	// other node is expected.
	Best []Client
	// Ready and CoStop are the shares of the vCPUs' demanded time spent ready and co-stopped (see
	// Waits). They do not overlap.
	Ready, CoStop float64
}

// A Client is one NUMA client: vCPUs on a home node, and the memory that they access.
type Client struct {
	Node  int     // the home node, by its index in Machine.Nodes
	VCPUs float64 // running vCPUs
	// Memory is the memory that the vCPUs access, by node index; every byte is accessed equally
	// often. A guest with virtual nodes accesses the memory of its own node; a guest with a single
	// node accesses all memory of the VM. Half of the accesses of a wide VM on two nodes are then
	// remote although N%L reads 100 (rule book C-13, C-17). A client without memory counts as local.
	Memory []numa.Bytes
}

// Accessed converts clients with their allocated memory into clients with the memory that they
// access: all of the VM's memory when it is interleaved. A client on no node (-1), which the NUMA
// scheduler does not manage, runs on the cores of all nodes and accesses all memory.
func (m *Machine) Accessed(clients []Client, interleaved bool) []Client {
	whole, cores := make([]numa.Bytes, len(m.Nodes)), 0
	for i := range clients {
		for j, b := range clients[i].Memory {
			whole[j] += b
		}
	}
	for j := range m.Nodes {
		cores += m.Nodes[j].Cores
	}
	var out []Client
	for _, c := range clients {
		if interleaved || c.Node < 0 {
			c.Memory = whole
		}
		if c.Node >= 0 {
			out = append(out, c)
			continue
		}
		for j := range m.Nodes {
			part := 1 / float64(len(m.Nodes))
			if cores > 0 {
				part = float64(m.Nodes[j].Cores) / float64(cores)
			}
			if part > 0 {
				out = append(out, Client{Node: j, VCPUs: c.VCPUs * part, Memory: whole})
			}
		}
	}
	return out
}

// Waits converts the CPU times of a VM, in any one unit and summed over its vCPUs, to the shares in
// Use. It returns false for a VM without CPU demand.
func Waits(run, ready, coStop float64) (readyShare, coStopShare float64, ok bool) {
	if sum := run + ready + coStop; sum > 0 {
		return ready / sum, coStop / sum, true
	}
	return 0, 0, false
}

// An Estimate is the speed of work relative to all memory local, spread as in the best placement,
// and no wait for a core.
type Estimate struct {
	Value     float64
	Low, High float64 // range allowed by the published figures, see Workload and Machine
	// Access is the share of the accesses at each distance, weighted by vCPUs.
	Access [distances]float64
	// Extrapolated is true outside the measured range; Why gives the reasons, besides those of Machine.Why.
	Extrapolated bool
	Why          []Reason

	excess, least, most float64 // time more than with all memory local, as a share of that: the value and its range
}

// A Reason is a sentence about an estimate.
type Reason struct {
	Text   string  // with a verb of package fmt for Number, unless that is 0
	Number float64 // the part that differs from one moment to another
}

// String returns the sentence.
func (r Reason) String() string {
	if r.Number == 0 {
		return r.Text
	}
	return fmt.Sprintf(r.Text, r.Number)
}

// Waiting returns the estimate of the same placement for other shares of time spent ready and co-stopped, see Use.
func (e Estimate) Waiting(ready, coStop float64) Estimate {
	run := max(1-ready-coStop, 0)
	e.Value, e.Low, e.High = run/(1+e.excess), run/(1+e.most), run/(1+e.least)
	return e
}

// The limits of the measurements: half of the accesses remote (article D), and all memory of two
// nodes on one (article E), which demands twice the bandwidth of a controller.
const (
	measuredFar    = 0.5
	measuredStream = 2.0
	rounding       = 1e-9
)

// Index returns the speed of a workload for this use of the machine. It returns an error for an
// impossible use, and when no vCPU runs.
func (m *Machine) Index(w Workload, u Use) (Estimate, error) {
	if err := m.check(u); err != nil {
		return Estimate{}, err
	}
	e := Estimate{Access: m.access(u.Clients), Extrapolated: m.Extrapolated}
	var streams *flow
	var want float64
	if w.Stream.High > 0 {
		streams, want = m.flowOf(u.Clients), m.wanted(u)
	}
	own := m.figures()
	latency, bandwidth := slowdowns(&own, e.Access, streams, want)
	excess := float64(w.Stall.Value*(latency-1)) + float64(w.Stream.Value*(bandwidth-1))
	least, most := excess, excess
	for i := range m.span {
		l, b := slowdowns(&m.span[i], e.Access, streams, want)
		least = min(least, float64(w.Stall.Low*(l-1))+float64(w.Stream.Low*(b-1)))
		most = max(most, float64(w.Stall.High*(l-1)), float64(w.Stream.High*(b-1)))
	}
	e.excess, e.least, e.most = excess, least, most
	e.doubt(w, bandwidth)
	return e.Waiting(u.Ready, u.CoStop), nil
}

// wanted returns the bandwidth demand in the best placement, with all memory local.
func (m *Machine) wanted(u Use) (sum float64) {
	best := u.Best
	if best == nil {
		best = u.Clients
	}
	for i := range best {
		sum += m.demand(best, i)
	}
	return sum
}

// doubt adds the reasons why an estimate is extrapolated.
func (e *Estimate) doubt(w Workload, bandwidth float64) {
	add := func(text string, number float64) { e.Extrapolated, e.Why = true, append(e.Why, Reason{text, number}) }
	if e.Access[Far] > measuredFar+rounding && w.Stall.High > 0 {
		add("%.0f%% of the accesses are far; at most half were when the workloads were measured (d-latency).", 100*e.Access[Far])
	}
	if e.Access[Near] > 0 && w.Stall.High > 0 {
		add("No workload was measured on near memory; only its latency and bandwidth were.", 0)
	}
	if bandwidth > measuredStream+rounding && w.Stream.High > 0 {
		add("A controller or link is asked for %.1f times what it has; two times was measured (e-wide).", bandwidth)
	}
}

// access returns the share of accesses at each distance.
func (m *Machine) access(clients []Client) (share [distances]float64) {
	var vcpus float64
	for i := range clients {
		vcpus += clients[i].VCPUs
	}
	for i := range clients {
		c := &clients[i]
		weight, total := c.VCPUs/vcpus, c.total()
		if total == 0 {
			share[Local] += weight
			continue
		}
		for node, b := range c.Memory {
			if b > 0 {
				share[m.Distance(c.Node, node)] += float64(weight * (float64(b) / total))
			}
		}
	}
	return share
}

// slowdowns returns the mean latency divided by the local one, and the bandwidth of the best
// placement divided by the clients' actual one; both are at least 1. Nil streams demand no bandwidth.
func slowdowns(f *figures, access [distances]float64, streams *flow, want float64) (latency, bandwidth float64) {
	for d, share := range access {
		latency += float64(share * (f.ns[d] / f.ns[Local]))
	}
	bandwidth = 1
	if streams != nil {
		bandwidth = max(want/streams.throughput(f), 1)
	}
	return max(latency, 1), bandwidth
}

// total returns the bytes that the client accesses.
func (c *Client) total() (total float64) {
	for _, b := range c.Memory {
		total += float64(b)
	}
	return total
}

var errIdle = errors.New("no vCPU runs: no work has no speed")

// check returns the first part of u that is impossible on this machine.
func (m *Machine) check(u Use) error {
	// Also false for NaN.
	if !(u.Ready >= 0 && u.CoStop >= 0 && u.Ready+u.CoStop <= 1+rounding) {
		return fmt.Errorf("found ready and co-stop shares %v and %v, want shares that add up to 1 at most", u.Ready, u.CoStop)
	}
	for _, list := range [][]Client{u.Clients, u.Best} {
		vcpus := 0.0
		for i := range list {
			c := &list[i]
			if c.Node < 0 || c.Node >= len(m.Nodes) {
				return fmt.Errorf("found a client on node %d, which the host does not have", c.Node)
			}
			if !(c.VCPUs >= 0 && c.VCPUs <= math.MaxInt32) {
				return fmt.Errorf("found %v vCPUs on node %d", c.VCPUs, c.Node)
			}
			for node, b := range c.Memory {
				if b < 0 || b > 0 && node >= len(m.Nodes) {
					return fmt.Errorf("found %d bytes on node %d", int64(b), node)
				}
			}
			vcpus += c.VCPUs
		}
		if vcpus == 0 && (list != nil || u.Clients == nil) {
			return errIdle
		}
	}
	return nil
}
