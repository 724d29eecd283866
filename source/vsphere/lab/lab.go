// Package lab serves a fleet as a simulated vCenter inside the process, for the demo and for tests. It uses govmomi's simulator,
// filled with hosts and VMs that have real NUMA properties.
package lab

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// A VCenter is a simulated vCenter that answers on a loopback address.
type VCenter struct {
	URL   *url.URL         // with the simulator's user and password
	Model *simulator.Model // its inventory, for tests to modify

	server *simulator.Server
	fleet  map[string]*numa.VM   // as originally served, by ID
	hosts  map[string]*numa.Host // by ID

	privileges []string                                                      // all there are
	optionsOf  map[types.ManagedObjectReference]types.ManagedObjectReference // option manager → host

	tasks  atomic.Int64 // started
	busy   sync.Map     // the current task of a VM, by reference
	effect sync.Map     // the settings of the last power-on of a VM, by reference; none for one running since the start
	lives  sync.Map     // counts the changes of a VM's power: a change cancels pending waits for its guest

	mu       sync.Mutex
	hook     Hook
	decide   func(*numa.VM, *numa.Host) PowerOn
	guests   map[string]Guest
	accounts map[string]Account // without the administrator
	version  time.Time          // the last changeVersion
}

// context returns a separate context: the simulator treats calls that share one as one client, which does not wait for itself.
func (v *VCenter) context() *simulator.Context {
	ctx := *v.Model.Service.Context
	return &ctx
}

// life returns the counter of a VM's power changes.
func (v *VCenter) life(vm *simulator.VirtualMachine) *atomic.Int64 {
	n, _ := v.lives.LoadOrStore(vm.Self, new(atomic.Int64))
	return n.(*atomic.Int64)
}

// The account of the simulated vCenter. VCenter.Add adds others.
const (
	user     = "administrator@vsphere.local"
	password = "lab-password"
)

// Close stops the vCenter. It aborts requests under way, since one that waits for updates would block it.
func (v *VCenter) Close() {
	v.server.CloseClientConnections()
	v.server.Close()
	v.Model.Remove()
}

// instance is the instance UUID of every simulated vCenter: the simulator derives its own from the network card, so that plans would have
// another ID on every machine.
const instance = "15997554-7ef6-57a7-8fbe-c68170c2865a"

// Start serves the fleet. Hosts, VMs and clusters keep their IDs. Unknown facts stay unset, except where the API cannot express
// that: a VM with a configuration always has settings and affinities, possibly empty ones.
func Start(f *numa.Fleet) (*VCenter, error) {
	if err := f.Check(); err != nil {
		return nil, fmt.Errorf("serve fleet: %w", err)
	}
	m := simulator.VPX()
	m.Datacenter, m.Cluster, m.Host, m.Machine, m.Datastore, m.Portgroup = 1, 0, 0, 0, 0, 0
	if err := m.Create(); err != nil {
		m.Remove()
		return nil, fmt.Errorf("start the simulator: %w", err)
	}
	b := newBuilder(m)
	if about, ok := b.ctx.Map.Get(vim25.ServiceInstance).(*simulator.ServiceInstance); ok {
		about.Content.About.InstanceUuid = instance
	}
	err := b.addAttributes(f)
	if err == nil {
		err = b.addClusters(f)
	}
	for i := 0; i < len(f.Hosts) && err == nil; i++ {
		err = b.addHost(&f.Hosts[i])
	}
	for i := 0; i < len(f.VMs) && err == nil; i++ {
		err = b.addVM(&f.VMs[i])
	}
	if err != nil {
		m.Remove()
		return nil, fmt.Errorf("serve fleet: %w", err)
	}
	b.addRules(f)
	m.Service.RegisterEndpoints = true                                  // REST, for tags
	m.Service.Listen = &url.URL{User: url.UserPassword(user, password)} // a free loopback address
	v := &VCenter{Model: m, fleet: map[string]*numa.VM{}, hosts: map[string]*numa.Host{}, guests: map[string]Guest{}, accounts: map[string]Account{}, optionsOf: b.optionsOf}
	v.keep(f)
	m.Map().Put(&vmMethods{methodsOfVM, v})
	m.Map().Put(newAuthorization(v))
	m.Map().SessionManager().ValidLogin = v.mayLogIn
	m.Map().Handler = v.handle
	m.Service.ServeMux = http.NewServeMux()
	m.Service.ServeMux.HandleFunc("POST "+vim25.Path, v.serveSDK) // precedes the simulator's own pattern, which has no method
	m.Service.ServeMux.HandleFunc(tagging, v.serveTagging)
	v.server = m.Service.NewServer()
	v.URL = v.server.URL
	if err := v.tag(f); err != nil {
		v.Close()
		return nil, fmt.Errorf("serve fleet: %w", err)
	}
	return v, nil
}

// keep copies data needed later: the caller may change its fleet.
func (v *VCenter) keep(f *numa.Fleet) {
	vms, hosts := slices.Clone(f.VMs), slices.Clone(f.Hosts)
	for i := range vms {
		v.fleet[vms[i].ID] = &vms[i]
	}
	for i := range hosts {
		v.hosts[hosts[i].ID] = &hosts[i]
	}
}

// A builder fills the registry of a simulator. Objects are added directly: creating them over the simulated API takes 37 ms a
// VM, nearly all of it waiting for tasks (10,000 VMs take 0.15 s this way).
type builder struct {
	ctx        *simulator.Context
	hostFolder *simulator.Folder
	vmFolder   *simulator.Folder
	folders    map[string]*simulator.Folder // VM folders by inventory path
	clusters   map[string]*simulator.ClusterComputeResource
	hosts      map[string]*simulator.HostSystem
	attributes map[string]int32                                              // keys of custom attributes
	datastore  *simulator.Datastore                                          // of all VMs, without files: the simulator's events name one
	boot       time.Time                                                     // of all running VMs
	optionsOf  map[types.ManagedObjectReference]types.ManagedObjectReference // option manager → host
}

func newBuilder(m *simulator.Model) *builder {
	dc := m.Map().Any("Datacenter").(*simulator.Datacenter)
	store := &simulator.Datastore{}
	store.Name = "datastore1"
	stores := m.Map().Get(dc.DatastoreFolder).(*simulator.Folder)
	m.Map().PutEntity(stores, m.Map().NewEntity(store))
	stores.ChildEntity = append(stores.ChildEntity, store.Self)
	dc.Datastore = append(dc.Datastore, store.Self)
	return &builder{
		datastore:  store,
		optionsOf:  make(map[types.ManagedObjectReference]types.ManagedObjectReference),
		boot:       time.Now().UTC().Add(-30 * 24 * time.Hour).Truncate(time.Microsecond),
		ctx:        m.Service.Context,
		hostFolder: m.Map().Get(dc.HostFolder).(*simulator.Folder),
		vmFolder:   m.Map().Get(dc.VmFolder).(*simulator.Folder),
		folders:    make(map[string]*simulator.Folder),
		clusters:   make(map[string]*simulator.ClusterComputeResource),
		hosts:      make(map[string]*simulator.HostSystem),
	}
}

// escaper escapes names as the inventory does.
var escaper = strings.NewReplacer("%", "%25", "/", "%2f", `\`, "%5c")

// addClusters adds the clusters with the counts of a real vCenter.
func (b *builder) addClusters(f *numa.Fleet) error {
	for i := range f.Clusters {
		c := &f.Clusters[i]
		cluster, fault := simulator.CreateClusterComputeResource(b.ctx, b.hostFolder, escaper.Replace(c.Name), types.ClusterConfigSpecEx{})
		if fault != nil {
			return fmt.Errorf("cluster %q: %T", c.Name, fault)
		}
		b.rename(cluster, c.ID)
		usage := cluster.Summary.(*types.ClusterComputeResourceSummary).UsageSummary
		for j := range f.VMs {
			if f.VMs[j].Cluster == c.ID {
				usage.TotalVmCount++
			}
		}
		b.clusters[c.ID] = cluster
	}
	return nil
}

// addRules adds the rules of DRS.
func (b *builder) addRules(f *numa.Fleet) {
	for i := range f.Clusters {
		info := b.clusters[f.Clusters[i].ID].ConfigurationEx.(*types.ClusterConfigInfoEx)
		for k, g := range f.Clusters[i].Apart {
			rule := &types.ClusterAntiAffinityRuleSpec{ClusterRuleInfo: types.ClusterRuleInfo{Key: int32(k + 1), Name: g.Name, Enabled: types.NewBool(true), InCompliance: types.NewBool(true)}}
			for _, id := range g.VMs {
				rule.Vm = append(rule.Vm, types.ManagedObjectReference{Type: "VirtualMachine", Value: id})
			}
			info.Rule = append(info.Rule, rule)
		}
	}
}

// rename sets the ID of a new cluster to that in the fleet.
func (b *builder) rename(c *simulator.ClusterComputeResource, id string) {
	old := c.Self
	b.ctx.Map.Remove(b.ctx, old)
	c.Self.Value = id
	b.ctx.Map.Put(c)
	for i, ref := range b.hostFolder.ChildEntity {
		if ref == old {
			b.hostFolder.ChildEntity[i] = c.Self
		}
	}
	b.ctx.Map.Get(*c.ResourcePool).(*simulator.ResourcePool).Owner = c.Self
}

// addStandalone creates the inventory entry of a host without a cluster.
func (b *builder) addStandalone(h *simulator.HostSystem) {
	pool := simulator.NewResourcePool(b.ctx)
	place := &mo.ComputeResource{Summary: &types.ComputeResourceSummary{NumHosts: 1}}
	place.Name = h.Name
	place.Parent = &b.hostFolder.Self
	b.ctx.Map.Put(place)
	b.ctx.Map.PutEntity(place, b.ctx.Map.NewEntity(pool))
	pool.Owner = place.Self
	place.ResourcePool = &pool.Self
	place.Host = []types.ManagedObjectReference{h.Self}
	h.Parent = &place.Self
	b.hostFolder.ChildEntity = append(b.hostFolder.ChildEntity, place.Self)
}

// rootPool returns the resource pool of a standalone host.
func (b *builder) rootPool(h *simulator.HostSystem) *types.ManagedObjectReference {
	if place, ok := b.ctx.Map.Get(*h.Parent).(*mo.ComputeResource); ok {
		return place.ResourcePool
	}
	return nil
}

// folder returns the VM folder with this inventory path, such as /DC0/vm/prod. The first two parts are the datacenter and its VM
// folder, which the simulator created.
func (b *builder) folder(path string) *simulator.Folder {
	steps := strings.Split(strings.Trim(path, "/"), "/")
	if len(steps) < 3 {
		return b.vmFolder
	}
	key := strings.Join(steps[2:], "/")
	if f := b.folders[key]; f != nil {
		return f
	}
	parent := b.folder(strings.Join(steps[:len(steps)-1], "/"))
	f := &simulator.Folder{}
	f.Name = steps[len(steps)-1]
	f.ChildType = b.vmFolder.ChildType
	b.ctx.Map.PutEntity(parent, b.ctx.Map.NewEntity(f))
	parent.ChildEntity = append(parent.ChildEntity, f.Self)
	b.folders[key] = f
	return f
}
