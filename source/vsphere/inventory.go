package vsphere

import (
	"context"
	"slices"
	"strings"

	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// An inventory is the result of the queries, before hosts and VMs are related to each other.
type inventory struct {
	*reader
	folders  map[types.ManagedObjectReference]folder
	computes []compute
	hosts    []host
	vms      []vm
	notes    []numa.Note

	cluster map[types.ManagedObjectReference]bool                         // the clusters among computes
	hostAt  map[types.ManagedObjectReference]int                          // host → index in hosts
	owner   map[types.ManagedObjectReference]types.ManagedObjectReference // resource pool → compute; built on demand
}

// A folder is a part of an inventory path: a folder, a datacenter or a vApp.
type folder struct {
	ref    types.ManagedObjectReference
	name   string
	parent types.ManagedObjectReference // zero when there is none, or none is visible
}

// A compute is a cluster or the place of a standalone host.
type compute struct {
	ref      types.ManagedObjectReference
	name     string
	cluster  bool
	hosts    numa.Fact[int] // number in it, whoever asks
	totalVMs numa.Fact[int] // number in it, whoever asks; since 7.0, clusters only
	apart    []numa.Group   // see numa.Cluster
}

// nameReplacer undoes the escapes of names in the inventory.
var nameReplacer = strings.NewReplacer("%2f", "/", "%2F", "/", "%5c", `\`, "%5C", `\`, "%25", "%")

// name returns the name of an object as the vSphere Client shows it, and its ID
// when the account may not read the name.
func (o *object) name() string {
	s, ok := value[string](o, "name")
	if !ok {
		return o.ref.Value
	}
	return numa.ShortName(nameReplacer.Replace(s))
}

// query returns a query for properties of all objects of some kinds.
func (inv *inventory) query(stage string, kinds []string, paths ...string) query {
	return query{stage: stage, kinds: kinds, paths: paths, page: inv.opts.PageSize}
}

// readTree reads folders, datacenters, clusters and the places of standalone hosts.
func (inv *inventory) readTree(ctx context.Context) error {
	folders, err := collect(ctx, inv, inv.query("folders", []string{"Folder", "Datacenter"}, "name", "parent"), func(o *object) folder {
		// The name stays escaped: it is part of a path.
		name, _ := value[string](o, "name")
		parent, _ := value[types.ManagedObjectReference](o, "parent")
		return folder{o.ref, numa.ShortName(name), parent}
	})
	if err != nil {
		return err
	}
	inv.folders = make(map[types.ManagedObjectReference]folder, len(folders))
	for _, f := range folders {
		inv.folders[f.ref] = f
	}
	inv.computes, err = collect(ctx, inv, inv.query("clusters", []string{"ComputeResource"}, "name", "summary.numHosts"), func(o *object) compute {
		return compute{ref: o.ref, name: o.name(), cluster: o.ref.Type == "ClusterComputeResource",
			hosts: countFact[int32](o, "summary.numHosts")}
	})
	if err != nil {
		return err
	}
	inv.cluster = make(map[types.ManagedObjectReference]bool)
	for i := range inv.computes {
		if inv.computes[i].cluster {
			inv.cluster[inv.computes[i].ref] = true
		}
	}
	if len(inv.cluster) == 0 {
		return nil
	}
	return inv.readUsage(ctx)
}

// readUsage reads the number of VMs of each cluster, which does not depend on the account. Only
// clusters have this property.
func (inv *inventory) readUsage(ctx context.Context) error {
	const path = "summary.usageSummary.totalVmCount"
	usages, err := collect(ctx, inv, inv.query("cluster usage", []string{"ClusterComputeResource"}, "name", path), func(o *object) compute {
		c := compute{ref: o.ref}
		if n, ok := value[int32](o, path); ok {
			c.totalVMs = numa.ReadAt(int(n), path)
		}
		return c
	})
	if err != nil {
		return err
	}
	for _, u := range usages {
		for i := range inv.computes {
			if inv.computes[i].ref == u.ref {
				inv.computes[i].totalVMs = u.totalVMs
			}
		}
	}
	return nil
}

// readHosts reads the hosts.
func (inv *inventory) readHosts(ctx context.Context) (err error) {
	paths := hostPaths
	if r, err := numa.ParseRelease(inv.client.ServiceContent.About.ApiVersion); err == nil && r >= numa.ESXi70+3 {
		paths = slices.Concat(hostPaths, tierPaths)
	}
	hosts := inv.query("hosts", []string{"HostSystem"}, paths...)
	hosts.page = min(hosts.page, hostPageSize)
	inv.hosts, err = collect(ctx, inv, hosts, inv.convertHost)
	inv.hostAt = make(map[types.ManagedObjectReference]int, len(inv.hosts))
	for i := range inv.hosts {
		inv.hostAt[inv.hosts[i].ref] = i
	}
	return err
}

// readVMs reads the VMs and objects they depend on: vApps for their paths, and resource pools when
// a host is not visible.
func (inv *inventory) readVMs(ctx context.Context) (err error) {
	inv.vms, err = collect(ctx, inv, inv.query("VMs", []string{"VirtualMachine"}, vmPaths...), inv.convertVM)
	if err != nil {
		return err
	}
	var inVApp, homeless bool
	for i := range inv.vms {
		v := &inv.vms[i]
		inVApp = inVApp || v.vApp.Value != ""
		if _, ok := inv.hostAt[v.host]; !ok && v.pool.Value != "" {
			homeless = true
		}
	}
	if inVApp {
		if err := inv.readVApps(ctx); err != nil {
			return err
		}
	}
	if homeless {
		return inv.readPools(ctx)
	}
	return nil
}

func (inv *inventory) readVApps(ctx context.Context) error {
	vApps, err := collect(ctx, inv, inv.query("vApps", []string{"VirtualApp"}, "name", "parent", "parentFolder"), func(o *object) folder {
		name, _ := value[string](o, "name")
		parent, ok := value[types.ManagedObjectReference](o, "parentFolder")
		if !ok { // a vApp inside a vApp
			parent, _ = value[types.ManagedObjectReference](o, "parent")
		}
		return folder{o.ref, numa.ShortName(name), parent}
	})
	for _, a := range vApps {
		inv.folders[a.ref] = a
	}
	return err
}

func (inv *inventory) readPools(ctx context.Context) error {
	type pool struct{ ref, owner types.ManagedObjectReference }
	pools, err := collect(ctx, inv, inv.query("resource pools", []string{"ResourcePool"}, "name", "owner"), func(o *object) pool {
		owner, _ := value[types.ManagedObjectReference](o, "owner")
		return pool{o.ref, owner}
	})
	inv.owner = make(map[types.ManagedObjectReference]types.ManagedObjectReference, len(pools))
	for _, p := range pools {
		inv.owner[p.ref] = p.owner
	}
	return err
}

// mostPath is the length, in bytes, at which an inventory path ends: every VM has its own copy.
const mostPath = 4000

// path returns the inventory path of a folder, such as /DC0/vm/prod. Where an
// ancestor is not visible the path starts with "...".
func (inv *inventory) path(ref types.ManagedObjectReference) string {
	var path string
	for depth := 0; depth < 100 && len(path) < mostPath; depth++ { // a longer walk is a cycle
		if ref == inv.client.ServiceContent.RootFolder {
			return path
		}
		f, ok := inv.folders[ref]
		if !ok {
			break
		}
		path = "/" + f.name + path
		ref = f.parent
	}
	return "..." + path
}
