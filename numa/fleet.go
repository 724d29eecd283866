package numa

import (
	"fmt"
	"net/netip"
	"strings"
)

// A Fleet is a source's information about clusters, hosts and VMs. Every source yields a Fleet; every prediction, rule and report reads one.
type Fleet struct {
	Source    string `json:"source"`                    // as given by the user, without credentials
	Collected string `json:"collected,omitempty"`       // when the source was read or exported, RFC 3339
	VCenter   string `json:"vcenterInstance,omitempty"` // the instance UUID of the vCenter that was read
	// Hypervisor is the hypervisor of all hosts.
	Hypervisor Hypervisor `json:"hypervisor,omitempty"`
	Clusters   []Cluster  `json:"clusters"`
	Hosts      []Host     `json:"hosts"`
	VMs        []VM       `json:"vms"`
	// Notes list missing and omitted data for the reader of a report: a restricted view must not look complete.
	Notes []Note `json:"notes,omitempty"`
	// Part is stated if hosts run more VMs or vCPUs than are listed. Those of a cluster are its Part.
	Part *Running `json:"part,omitempty"`
	// Unread are the files and folders of a bundle that could not be read completely. The rest of their data is missing here, and each has a
	// note.
	Unread []string `json:"unread,omitempty"`
}

// Lost divides the notes into those about files that could not be read completely, and the others.
func (f *Fleet) Lost() (lost, others []Note) {
	unread := map[string]bool{}
	for _, at := range f.Unread {
		unread[at] = true
	}
	for _, n := range f.Notes {
		is := unread[n.At]
		for i, c := range n.At { // the file, before a line
			is = is || c == ':' && unread[n.At[:i]]
		}
		if is {
			lost = append(lost, n)
		} else {
			others = append(others, n)
		}
	}
	return lost, others
}

// LoadUnknown returns the reason why the load and the free memory of the hosts are unknown although their VMs are listed; "" if there is none.
func (f *Fleet) LoadUnknown() string {
	return loadUnknown(f.Part)
}

// LoadUnknownIn is LoadUnknown for the hosts of one cluster, by ID, or for standalone hosts: "".
func (f *Fleet) LoadUnknownIn(cluster string) string { return loadUnknown(f.PartIn(cluster)) }

// PartIn returns the Part of a cluster, by ID. Standalone hosts, "", are not told apart from the fleet.
func (f *Fleet) PartIn(cluster string) *Running {
	for i := range f.Clusters {
		if c := &f.Clusters[i]; c.ID == cluster {
			return c.Part
		}
	}
	return f.Part
}

func loadUnknown(part *Running) string {
	if part == nil {
		return ""
	}
	return part.String() + ": this is part of an export, so the load and free memory of their nodes are unknown"
}

// A Running is the load of hosts by their own rows, in an export that does not list all of their running VMs.
type Running struct {
	VMs         int   `json:"vms"`
	VCPUs       int   `json:"vcpus,omitempty"`  // 0 if no row states them
	Memory      Bytes `json:"memory,omitempty"` // configured; 0 if no row states it
	Cores       int   `json:"cores"`            // of the hosts
	Listed      int   `json:"listed"`           // VMs
	ListedVCPUs int   `json:"listedVCPUs"`
}

// Sums returns p if it states vCPUs; nil otherwise.
func (p *Running) Sums() *Running {
	if p == nil || p.VCPUs == 0 {
		return nil
	}
	return p
}

// PerCore returns the vCPUs per core.
func (p *Running) PerCore() float64 { return float64(p.VCPUs) / float64(max(1, p.Cores)) }

// String returns the part as a clause: "the hosts run 9 VMs, 2.00 vCPUs per core by their rows, but only 3 of them are listed".
func (p *Running) String() string {
	run, listed, noun := p.VMs, p.Listed, "VM"
	if p.Listed >= p.VMs {
		run, listed, noun = p.VCPUs, p.ListedVCPUs, "vCPU"
	}
	at := ""
	if p.VCPUs > 0 {
		at = fmt.Sprintf(", %.2f vCPUs per core by their rows", p.PerCore())
	}
	if run != 1 {
		noun += "s"
	}
	some := "none of them is"
	if listed == 1 {
		some = "only 1 of them is"
	} else if listed > 1 {
		some = fmt.Sprintf("only %d of them are", listed)
	}
	return fmt.Sprintf("the hosts run %d %s%s, but %s listed", run, noun, at, some)
}

// A Cluster is a set of hosts that VMs move between.
type Cluster struct {
	ID   string   `json:"id"`
	Name string   `json:"name"`
	At   string   `json:"at,omitempty"`
	Part *Running `json:"part,omitempty"` // as in Fleet, for the hosts of the cluster
	// Apart are groups of VMs that must run on different hosts: enabled anti-affinity rules of DRS.
	Apart []Group `json:"apart,omitempty"`
}

// A Group is a DRS rule and its VMs, by ID: those visible to the account.
type Group struct {
	Name string   `json:"name"`
	VMs  []string `json:"vms"`
}

// An Update is a change of one host or VM reported by a vCenter between two readings of its inventory. Facts missing in it are unknown.
type Update struct {
	ID string
	VM bool // false for a host

	Power Fact[PowerState] // for a VM
	Host  string           // ID of the host of a VM; empty if not stated

	Connection  Fact[string] // for a host
	Maintenance Fact[bool]   // for a host
}

// A Note is a remark of a source about an object or itself.
type Note struct {
	At   string `json:"at"` // file:line:column, cell or object path
	Text string `json:"text"`
}

// String returns the note as "at: text".
func (n Note) String() string {
	if n.At == "" {
		return n.Text
	}
	return n.At + ": " + n.Text
}

// Limits for a plausible fleet, well above the configuration maximums of 9.0 (960 vCPUs and 24 TB per VM). Values above them mean that the
// input is damaged.
const (
	MaxVCPUs        = 4096
	MaxVMMemory     = 64 * TiB
	MaxName         = 1000 // bytes; the vSphere Client takes 80 characters
	MaxHostMemory   = 1024 * TiB
	MaxHostVMs      = 1 << 13 // of a recording; ESXi runs 1,024
	MaxNodes        = 64      // so that the nodes of a host fit the 64-bit NodeMask of vmware.log
	MaxCoresPerNode = 4096
	MaxCoreMHz      = 100_000
)

// ShortName returns at most MaxName bytes of a name: a server that lies may send megabytes, which every series of the VM would repeat.
func ShortName[T string | []byte](name T) string {
	if len(name) <= MaxName {
		return string(name)
	}
	return strings.ToValidUTF8(string(name[:MaxName]), "")
}

// Check returns an error for the first invalid part of f: a repeated or missing ID, a dangling reference, a size outside the limits. Sources
// call it before they return a fleet, so that the model can rely on its input.
func (f *Fleet) Check() error {
	clusters := make(map[string]bool, len(f.Clusters))
	for i := range f.Clusters {
		c := &f.Clusters[i]
		if err := checkID(clusters, c.ID); err != nil {
			return fmt.Errorf("cluster %q: %w", c.Name, err)
		}
	}
	hosts := make(map[string]bool, len(f.Hosts))
	for i := range f.Hosts {
		h := &f.Hosts[i]
		if err := checkID(hosts, h.ID); err != nil {
			return fmt.Errorf("host %q: %w", h.Name, err)
		}
		if h.Cluster != "" && !clusters[h.Cluster] {
			return fmt.Errorf("host %q: cluster %q is not in the fleet", h.Name, h.Cluster)
		}
		if err := h.Check(); err != nil {
			return fmt.Errorf("host %q: %w", h.Name, err)
		}
	}
	vms := make(map[string]bool, len(f.VMs))
	for i := range f.VMs {
		v := &f.VMs[i]
		if err := checkID(vms, v.ID); err != nil {
			return fmt.Errorf("VM %q: %w", v.Name, err)
		}
		if v.Cluster != "" && !clusters[v.Cluster] {
			return fmt.Errorf("VM %q: cluster %q is not in the fleet", v.Name, v.Cluster)
		}
		if v.Host != "" && !hosts[v.Host] {
			return fmt.Errorf("VM %q: host %q is not in the fleet", v.Name, v.Host)
		}
		if err := v.Check(); err != nil {
			return fmt.Errorf("VM %q: %w", v.Name, err)
		}
	}
	return nil
}

func checkID(seen map[string]bool, id string) error {
	if id == "" {
		return fmt.Errorf("no id")
	}
	if seen[id] {
		return fmt.Errorf("id %q is used twice", id)
	}
	seen[id] = true
	return nil
}

// Check returns an error for the first invalid fact of h, whatever its fleet. A single fact can be checked in an otherwise empty Host.
func (h *Host) Check() error {
	if h.Memory.Known() && (h.Memory.Value <= 0 || h.Memory.Value > MaxHostMemory) {
		return fmt.Errorf("memory of %d bytes", int64(h.Memory.Value))
	}
	for _, c := range []struct {
		name string
		f    Fact[int]
	}{{"packages", h.Packages}, {"cores", h.Cores}, {"threads", h.Threads}} {
		if c.f.Known() && (c.f.Value <= 0 || c.f.Value > MaxNodes*MaxCoresPerNode) {
			return fmt.Errorf("%d %s", c.f.Value, c.name)
		}
	}
	if h.CoreMHz.Known() && (h.CoreMHz.Value <= 0 || h.CoreMHz.Value > MaxCoreMHz) {
		return fmt.Errorf("cores of %d MHz", h.CoreMHz.Value)
	}
	if len(h.Nodes.Value) > MaxNodes {
		return fmt.Errorf("%d NUMA nodes, more than %d", len(h.Nodes.Value), MaxNodes)
	}
	for i, n := range h.Nodes.Value {
		switch {
		case i > 0 && n.ID <= h.Nodes.Value[i-1].ID:
			return fmt.Errorf("NUMA node %d does not come after node %d", n.ID, h.Nodes.Value[i-1].ID)
		case n.Cores < 0 || n.Cores > MaxCoresPerNode || n.Threads < n.Cores || n.Threads > 8*MaxCoresPerNode:
			return fmt.Errorf("NUMA node %d with %d cores and %d threads", n.ID, n.Cores, n.Threads)
		case n.Memory.Known() && (n.Memory.Value < 0 || n.Memory.Value > MaxHostMemory):
			return fmt.Errorf("NUMA node %d with %d bytes of memory", n.ID, int64(n.Memory.Value))
		}
	}
	if h.CPUs.Known() && len(h.CPUs.Value) != len(h.Nodes.Value) || h.Pools.Known() && len(h.Pools.Value) != len(h.Nodes.Value) {
		return fmt.Errorf("CPUs of %d and huge pages of %d of %d NUMA nodes", len(h.CPUs.Value), len(h.Pools.Value), len(h.Nodes.Value))
	}
	return nil
}

// Check returns an error for the first invalid fact of v, whatever its fleet. A single fact can be checked in an otherwise empty VM.
func (v *VM) Check() error {
	if v.VCPUs.Known() && (v.VCPUs.Value <= 0 || v.VCPUs.Value > MaxVCPUs) {
		return fmt.Errorf("%d vCPUs", v.VCPUs.Value)
	}
	if v.CoresPerSocket.Known() && (v.CoresPerSocket.Value < 0 || v.CoresPerSocket.Value > MaxVCPUs) {
		return fmt.Errorf("%d cores per socket", v.CoresPerSocket.Value)
	}
	if v.Memory.Known() && (v.Memory.Value <= 0 || v.Memory.Value > MaxVMMemory) {
		return fmt.Errorf("memory of %d bytes", int64(v.Memory.Value))
	}
	if v.Stated != nil {
		return v.Stated.check()
	}
	return nil
}

// FindVMs returns the VMs whose name or ID is name, ignoring case when none matches exactly. A name with a slash,
// "cluster/vm", also names its cluster; for KVM, "host/vm" its host.
func (f *Fleet) FindVMs(name string) []*VM {
	var exact, folded []*VM
	path := strings.Contains(name, "/")
	for i := range f.VMs {
		v := &f.VMs[i]
		full := v.Name
		if path {
			full = f.ClusterName(v.Cluster) + "/" + v.Name
			if f.Hypervisor == KVM {
				full = v.Host + "/" + v.Name
			}
		}
		switch {
		case v.Name == name || v.ID == name || full == name:
			exact = append(exact, v)
		case strings.EqualFold(v.Name, name) || strings.EqualFold(full, name):
			folded = append(folded, v)
		}
	}
	if exact != nil {
		return exact
	}
	return folded
}

// FindHosts returns the hosts whose name or ID is name or, when there are none, those that match it by SameHost.
func (f *Fleet) FindHosts(name string) []*Host {
	var exact, same []*Host
	for i := range f.Hosts {
		h := &f.Hosts[i]
		switch {
		case strings.EqualFold(h.Name, name) || h.ID == name:
			exact = append(exact, h)
		case SameHost(h.Name, name):
			same = append(same, h)
		}
	}
	if exact != nil {
		return exact
	}
	return same
}

// SameHost compares names of hosts as an administrator does: ignoring case, and with or without domain. An IP address has no domain.
func SameHost(a, b string) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	shortA, _, domainA := strings.Cut(a, ".")
	shortB, _, domainB := strings.Cut(b, ".")
	if domainA == domainB || shortA == "" || !strings.EqualFold(shortA, shortB) {
		return false
	}
	_, errA := netip.ParseAddr(a)
	_, errB := netip.ParseAddr(b)
	return errA != nil && errB != nil
}

// NamesNobody reports whether unrelated hosts share the name: it is empty, or the default name of an ESXi host.
func NamesNobody(host string) bool {
	host = strings.ToLower(host)
	first, _, _ := strings.Cut(host, ".")
	return host == "" || first == "localhost" || host == "local" || host == "esx" || host == "esxi"
}

// HostsByID returns the hosts by their IDs.
func (f *Fleet) HostsByID() map[string]*Host {
	return ByKey(f.Hosts, func(h *Host) string { return h.ID })
}

// VMsByID returns the VMs by their IDs.
func (f *Fleet) VMsByID() map[string]*VM {
	return ByKey(f.VMs, func(v *VM) string { return v.ID })
}

// ByKey returns the elements of a list by their keys; the last one of a key.
func ByKey[K comparable, T any](all []T, key func(*T) K) map[K]*T {
	out := make(map[K]*T, len(all))
	for i := range all {
		out[key(&all[i])] = &all[i]
	}
	return out
}

// ClusterName returns the name of the cluster with this ID, or the ID itself.
func (f *Fleet) ClusterName(id string) string {
	for i := range f.Clusters {
		if f.Clusters[i].ID == id {
			return f.Clusters[i].Name
		}
	}
	return id
}
