package cost

// Bandwidth. Each client reads from each node in proportion to its bytes there, as fast as its
// cores can, until a resource is saturated: the memory controllers of a node, or the link between
// two packages. All clients speed up together; clients of the saturated resource stop there, the
// others continue (max-min fairness).
//
//	client 0 ──► controllers 0 (1) ◄── link 1→0 (share of local) ── client 1
//
// The unit is the bandwidth of a node's own memory, which all of its cores together just saturate:
// published figures are for all cores. So a VM demands its vCPUs' share of the cores. Other VMs
// demand nothing here: no source publishes their traffic.
//
// Each round settles at least one client and checks nodes² paths, which is cheap for the few clients of a VM.

// A flow is the bandwidth that a VM's clients demand from each node's memory.
type flow struct {
	clients []clientFlow
	group   []int // by node: the first node of its package, by index
	// Scratch: traffic from the node of the column to the cores of the row, of the settled clients
	// and of the others at level 1.
	fixed, slope []float64
}

// A clientFlow is a client's bandwidth demand, in units of a node's bandwidth, and its sources.
type clientFlow struct {
	home    int // index of the home node
	demand  float64
	share   []float64 // by index of node
	settled bool
}

// demand returns the bandwidth demand of client i, in units of a node's bandwidth. vCPUs beyond the
// node's cores share them; a node of unknown size counts as full.
func (m *Machine) demand(clients []Client, i int) float64 {
	node, vcpus := clients[i].Node, 0.0
	for j := range clients {
		if clients[j].Node == node {
			vcpus += clients[j].VCPUs
		}
	}
	cores := float64(m.Nodes[node].Cores)
	if cores < vcpus || cores == 0 {
		cores = vcpus
	}
	if cores == 0 {
		return 0
	}
	return clients[i].VCPUs / cores
}

func (m *Machine) flowOf(clients []Client) *flow {
	nodes := len(m.Nodes)
	f := &flow{clients: make([]clientFlow, len(clients)), group: make([]int, nodes)}
	scratch := make([]float64, nodes*(2*nodes+len(clients)))
	f.fixed, f.slope, scratch = scratch[:nodes*nodes], scratch[nodes*nodes:2*nodes*nodes], scratch[2*nodes*nodes:]
	for j := range nodes {
		f.group[j] = j
		for i := range j {
			if m.Nodes[i].Package >= 0 && m.Nodes[i].Package == m.Nodes[j].Package {
				f.group[j] = f.group[i]
			}
		}
	}
	for i := range clients {
		c, out := &clients[i], &f.clients[i]
		out.home, out.demand, out.share = c.Node, m.demand(clients, i), scratch[i*nodes:(i+1)*nodes]
		total := c.total()
		for j, b := range c.Memory {
			if b > 0 {
				out.share[j] = float64(b) / total
			}
		}
		if total == 0 {
			out.share[out.home] = 1
		}
	}
	return f
}

// throughput returns the bandwidth of all clients together, in units of a node's bandwidth.
func (f *flow) throughput(with *figures) (sum float64) {
	nodes := len(f.group)
	clear(f.fixed)
	for i := range f.clients {
		f.clients[i].settled = false
	}
	for left := len(f.clients); left > 0; {
		// Phase 1: the load on every path.
		clear(f.slope)
		for i := range f.clients {
			if c := &f.clients[i]; !c.settled {
				for j, share := range c.share {
					f.slope[c.home*nodes+j] += float64(c.demand * share)
				}
			}
		}
		// Phase 2: the level at which the first resource saturates; at 1 every client has its demand.
		level, full := f.firstFull(with)
		// Phase 3: the clients of that resource stay at this level.
		for i := range f.clients {
			c := &f.clients[i]
			if c.settled || level < 1 && !f.uses(c, full) {
				continue
			}
			c.settled = true
			left--
			sum += float64(level * c.demand)
			for j, share := range c.share {
				f.fixed[c.home*nodes+j] += float64(level * float64(c.demand*share))
			}
		}
	}
	return sum
}

// A resource can saturate. from and to are node indices; for a link, those of the first nodes of its two packages.
type resource struct {
	distance Distance // Local: the controllers of to
	from, to int
}

// uses reports whether a client reads through the resource.
func (f *flow) uses(c *clientFlow, r resource) bool {
	if r.distance != Far {
		return c.share[r.to] > 0 && (r.distance == Local || c.home == r.from)
	}
	if f.group[c.home] != r.from {
		return false
	}
	for j, share := range c.share {
		if share > 0 && f.group[j] == r.to {
			return true
		}
	}
	return false
}

// firstFull returns the first resource to saturate and its level; 1 when all demands are met before that.
func (f *flow) firstFull(with *figures) (level float64, full resource) {
	nodes := len(f.group)
	level = 1
	for to := range nodes {
		var used, rise float64 // of the controllers
		for from := range nodes {
			used += f.fixed[from*nodes+to]
			rise += f.slope[from*nodes+to]
			r := resource{Near, from, to}
			if f.group[from] != f.group[to] {
				r.distance = Far
			}
			if from == to || r.distance == Far && (f.group[from] != from || f.group[to] != to) {
				continue // each link is checked once, at the first nodes of its packages
			}
			level, full = f.earlier(level, full, r, with)
		}
		if at := (1 - used) / rise; rise > 0 && at < level {
			level, full = max(at, 0), resource{Local, to, to}
		}
	}
	return level, full
}

// earlier returns r and its saturation level, or the given resource when that saturates first.
func (f *flow) earlier(level float64, full, r resource, with *figures) (float64, resource) {
	nodes := len(f.group)
	used, rise := f.fixed[r.from*nodes+r.to], f.slope[r.from*nodes+r.to]
	if r.distance == Far {
		used, rise = 0, 0
		for i := range nodes {
			for j := range nodes {
				if f.group[i] == r.from && f.group[j] == r.to {
					used += f.fixed[i*nodes+j]
					rise += f.slope[i*nodes+j]
				}
			}
		}
	}
	if at := (with.share[r.distance] - used) / rise; rise > 0 && at < level {
		return max(at, 0), r
	}
	return level, full
}
