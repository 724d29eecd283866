package tables

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// assemble assigns the IDs of hosts and VMs, links VMs to hosts, and adds both to f.
func assemble(f *numa.Fleet, hosts []hostRow, vms []vmRow, n *notes) {
	prefix := idPrefix(hosts, vms)
	c := clusters{fleet: f, at: n.base, prefix: prefix, byKey: map[[3]string]string{}, byName: map[[2]string][]string{}, taken: map[string]bool{}, of: map[string]string{}}
	byName := addHosts(f, hosts, &c, prefix, n)
	f.VMs = make([]numa.VM, 0, len(vms))
	taken := make(map[string]bool, len(vms))
	names := make(map[[2]string]bool, len(vms))
	away := map[string]bool{}
	var left, repeated, ofHosts, shared, namesakes, unhosted, ambiguous, elsewhere tally
	same := map[string]int{}    // VMs of a name: of several it is the ID of none
	hostOf := map[string]bool{} // VMs, by name in lower case
	for i := range vms {
		hostOf[strings.ToLower(vms[i].host)] = true
		if v := &vms[i]; !v.placeholder && v.first == nil {
			name := prefix(v.vcenter) + v.vm.Name
			same[name]++
			taken[name] = same[name] > 1
		}
	}
	for i := range vms {
		v := &vms[i]
		if v.placeholder {
			left.add(v.vm.Name)
			continue
		}
		if v.first != nil {
			repeated.add(v.vm.Name)
			continue
		}
		if v.host == "" && hostOf[strings.ToLower(v.vm.Name)] { // of a list of hosts and VMs
			ofHosts.add(v.vm.Name)
			continue
		}
		if v.id != "" && taken[prefix(v.vcenter)+v.id] {
			shared.add(v.id)
		}
		if name := [2]string{v.vcenter, v.vm.Name}; names[name] && v.nameOnly() {
			namesakes.add(v.vm.Name)
		} else {
			names[name] = true
		}
		v.unsure()
		v.vm.ID = vmRowID(v, prefix(v.vcenter), taken)
		v.vm.Named = v.id == "" || v.vm.ID != prefix(v.vcenter)+v.id
		taken[v.vm.ID] = true
		v.vm.Cluster = c.id(v.vcenter, v.datacenter, v.cluster)
		found := findHosts(byName, v)
		if len(found) > 1 { // in several vCenters, or both standalone and in a cluster
			found = inCluster(f, found, v.vm.Cluster)
		}
		switch {
		case len(found) == 1:
			h := &f.Hosts[found[0]]
			v.vm.Host = h.ID
			if v.vm.Cluster == "" && v.cluster == "" {
				v.vm.Cluster = h.Cluster
			}
			if v.cluster != "" && v.vm.Cluster != h.Cluster {
				elsewhere.add(v.vm.Name)
			}
		case len(found) > 1:
			ambiguous.add(v.vm.Name + " on " + v.host)
		case v.host != "":
			unhosted.add(v.vm.Name + " on " + v.host)
			away[v.vm.ID] = true
			nameHost(f, v, prefix(v.vcenter), "is "+n.rowless())
		}
		f.VMs = append(f.VMs, v.vm)
	}
	partOf(f, hosts, away, &c)
	if text := f.LoadUnknown(); text != "" {
		n.add(n.hosts, text)
	}
	c.tellApart(n.vcenters.names)
	n.noteDiffering()
	n.tallied("", left, "SRM placeholder is", "SRM placeholders are", "left out")
	n.tallied(n.vms, ofHosts, "row is", "rows are", "the host of other rows, and no VM: left out")
	n.tallied(n.vms, repeated, "row repeats", "rows repeat", "a VM: all its rows are read together")
	n.tallied(n.vms, shared, "VM has", "VMs have", "the VM ID of another VM: the file seems to be merged from several vCenters without a column that names them, so that what has one name there is one here")
	n.tallied(n.vms, namesakes, "row has", "rows have", "the name of a VM above, but another place, size or setting, and no VM ID or UUID: taken as another VM; one VM may count twice")
	n.tallied(n.vms, elsewhere, "VM names a cluster", "VMs name a cluster", "that is not that of its host: judged for the hosts of the cluster that its row names")
	n.tallied(n.vms, ambiguous, "VM names a host", "VMs name a host", "by a name that several hosts have: the host is unknown")
	n.noteUnhosted(unhosted)
}

// noteUnhosted adds a note about the VMs whose hosts have no row.
func (n *notes) noteUnhosted(unhosted tally) {
	if unhosted.count > 0 {
		text := fmt.Sprintf("the hosts of %s are %s (first: %s)", words.Plural(unhosted.count, "VM"), n.rowless(), quote(unhosted.first))
		if n.hosts == "" {
			text += "; name a file with the hosts beside it, or say them with --assume-host"
		}
		n.add(n.hosts, text)
	}
}

// rowless says of a host that only rows of VMs name it.
func (n *notes) rowless() string {
	return "named, but without a row in " + cmp.Or(strings.TrimPrefix(n.hosts, "sheet "), "a table of hosts")
}

// partOf sets the Part of the fleet and of its clusters: the hosts run more than is listed. Only running VMs are compared when the rows of hosts count the
// others apart. VMs that are away, by ID, are on hosts without a row.
func partOf(f *numa.Fleet, hosts []hostRow, away map[string]bool, c *clusters) {
	of := map[string]*hostRow{} // by host, which rows may repeat
	running := false
	for i := range hosts {
		of[hosts[i].vcenter+"/"+hosts[i].host.Name] = &hosts[i]
		running = running || hosts[i].all > 0
	}
	loads := map[string]numa.Running{} // by cluster
	for _, h := range of {
		id := c.id(h.vcenter, h.datacenter, h.cluster)
		l := loads[id]
		l.VMs, l.VCPUs, l.Memory, l.Cores = l.VMs+h.vms, l.VCPUs+h.vcpus, l.Memory+numa.Bytes(h.vram)*numa.MiB, l.Cores+h.host.Cores.Or(numa.MaxVCPUs)
		loads[id] = l
	}
	at := map[string]string{} // cluster, by host
	for i := range f.Hosts {
		at[f.Hosts[i].ID] = f.Hosts[i].Cluster
	}
	for i := range f.VMs {
		v := &f.VMs[i]
		if away[v.ID] || running && v.Power.Or(numa.PoweredOn) != numa.PoweredOn {
			continue
		}
		id, ok := at[v.Host]
		if !ok {
			id = v.Cluster
		}
		l := loads[id]
		l.Listed, l.ListedVCPUs = l.Listed+1, l.ListedVCPUs+v.VCPUs.Or(numa.MaxVCPUs) // a VM of unknown size may have all
		loads[id] = l
	}
	var all numa.Running
	short := false
	for id, l := range loads {
		all.VMs, all.Listed = all.VMs+l.VMs, all.Listed+min(l.VMs, l.Listed)
		all.VCPUs, all.ListedVCPUs = all.VCPUs+l.VCPUs, all.ListedVCPUs+min(l.VCPUs, l.ListedVCPUs)
		all.Memory, all.Cores = all.Memory+l.Memory, all.Cores+l.Cores
		if (l.VMs-l.Listed)*tolerated <= l.VMs && (l.VCPUs-l.ListedVCPUs)*tolerated <= l.VCPUs {
			continue
		}
		short = true
		for i := range f.Clusters {
			if f.Clusters[i].ID == id {
				f.Clusters[i].Part = &l
			}
		}
	}
	if short {
		f.Part = &all
	}
}

// tolerated: one VM of so many may have been switched on or off while the program read hosts and VMs.
const tolerated = 50

// nameHost adds the host that the row of a VM names, of which nothing else is known, to the hosts of its cluster if others of these are known: it is one of
// those that the VMs of the cluster can run on.
func nameHost(f *numa.Fleet, v *vmRow, prefix, doubt string) {
	known, id := false, prefix+v.host
	for i := range f.Hosts {
		h := &f.Hosts[i]
		if h.ID == id && h.Cluster == v.vm.Cluster {
			v.vm.Host = id
			return
		}
		if h.ID == id {
			return
		}
		known = known || h.Cluster == v.vm.Cluster
	}
	if known && v.vm.Cluster != "" {
		f.Hosts, v.vm.Host = append(f.Hosts, numa.Host{ID: id, Name: v.host, Named: true, Cluster: v.vm.Cluster, At: v.vm.At, Doubt: doubt}), id
	}
}

// repeats compares the rows of vInfo that repeat a VM with the first one.
func (n *notes) repeats(vms []vmRow) {
	for i := range vms {
		if first := vms[i].first; first != nil && !first.placeholder {
			n.compare(first, &vms[i].vm.Config)
		}
	}
}

// compare adds the facts of another row of a VM that its rows before lack, and records those that it states differently: they are unknown.
func (n *notes) compare(v *vmRow, again *numa.Config) {
	for i := range numa.VMFacts {
		p := &numa.VMFacts[i]
		fact, other := p.Fact(&v.vm.Config), p.Fact(again)
		if !fact.Known() || !other.Known() || slices.Contains(v.differ, p.Name) {
			continue
		}
		a, b := fact.Any(), other.Any()
		if x, ok := a.(numa.Bytes); ok && max(x, b.(numa.Bytes))-min(x, b.(numa.Bytes)) <= x/rounded || reflect.DeepEqual(a, b) {
			continue
		}
		v.differ = append(v.differ, p.Name)
		d := n.differ[p.Name]
		if d.count++; d.count == 1 {
			d.first = fmt.Sprintf("%s, %v by %s and %v by %s", quote(v.vm.Name), a, fact.From().Where, b, other.From().Where)
		}
		n.differ[p.Name] = d
	}
	take(&v.vm.Config, again, false)
}

// rounded: tables that round memory to GB or TB differ by less than one part of so many.
const rounded = 100

// unsure removes the facts that the rows of a VM state differently.
func (v *vmRow) unsure() {
	for i := range numa.VMFacts {
		if p := &numa.VMFacts[i]; slices.Contains(v.differ, p.Name) {
			p.Fact(&v.vm.Config).Forget()
		}
	}
}

// noteDiffering adds notes about the facts that rows of VMs state differently.
func (n *notes) noteDiffering() {
	for i := range numa.VMFacts {
		name := numa.VMFacts[i].Name
		if d := n.differ[name]; d.count > 0 {
			n.add("", fmt.Sprintf("%s of %s differs between its rows: unknown (first: %s)", name, words.Plural(d.count, "VM"), d.first))
		}
	}
}

// vcentersOf returns the vCenters named in the rows.
func vcentersOf(hosts []hostRow, vms []vmRow) map[string]bool {
	vcenters := map[string]bool{}
	for i := range hosts {
		vcenters[hosts[i].vcenter] = true
	}
	for i := range vms {
		vcenters[vms[i].vcenter] = true
	}
	delete(vcenters, "")
	return vcenters
}

// ofOneVCenter sets the vCenter of rows without one if all others name the same, so that their clusters are merged.
func ofOneVCenter(hosts []hostRow, vms []vmRow) {
	vcenters := vcentersOf(hosts, vms)
	if len(vcenters) != 1 {
		return
	}
	for one := range vcenters {
		for i := range hosts {
			hosts[i].vcenter = one
		}
		for i := range vms {
			vms[i].vcenter = one
		}
	}
}

// idPrefix returns the prefix of the object IDs of a vCenter: empty if there is only one vCenter, because references are unique only within
// one.
func idPrefix(hosts []hostRow, vms []vmRow) func(vcenter string) string {
	vcenters := vcentersOf(hosts, vms)
	return func(vcenter string) string {
		if len(vcenters) < 2 || vcenter == "" {
			return ""
		}
		return vcenter + ":"
	}
}

// vmRowID returns the ID of a VM: the first of its managed object reference, UUID and name that it has and that is not yet taken; otherwise
// its name with the row.
func vmRowID(v *vmRow, prefix string, taken map[string]bool) string {
	for _, id := range []string{v.id, strings.ToLower(v.vm.UUID), v.vm.Name} {
		if id != "" && !taken[prefix+id] {
			return prefix + id
		}
	}
	row := v.row
	for taken[prefix+v.vm.Name+"#"+strconv.Itoa(row)] { // of another table
		row++
	}
	return prefix + v.vm.Name + "#" + strconv.Itoa(row)
}

// hostKey identifies a host in VM rows: vCenter, if stated, and name.
type hostKey struct{ vcenter, name string }

// addHosts adds the hosts to f and returns their indices by name, with and without the vCenter.
func addHosts(f *numa.Fleet, hosts []hostRow, c *clusters, prefix func(string) string, n *notes) map[hostKey][]int {
	byName := make(map[hostKey][]int, 2*len(hosts))
	groups := hostGroups(hosts, prefix)
	var repeated, shared tally
	taken := map[string]bool{}
	f.Hosts = make([]numa.Host, 0, len(groups))
	for _, rows := range groups {
		h := rows[0]
		if len(rows) > 1 {
			repeated.count, repeated.first = repeated.count+len(rows)-1, cmp.Or(repeated.first, h.host.Name)
			h = n.joined(rows)
		}
		if h.host.ID = prefix(h.vcenter) + cmp.Or(h.id, h.host.Name); taken[h.host.ID] {
			shared.add(h.id)
			h.host.ID = prefix(h.vcenter) + h.host.Name
		}
		h.host.Named = h.id == "" || h.host.ID != prefix(h.vcenter)+h.id
		taken[h.host.ID] = true
		h.host.Cluster = c.id(h.vcenter, h.datacenter, h.cluster)
		for _, name := range slices.Compact([]string{strings.ToLower(h.host.Name), strings.ToLower(cmp.Or(h.id, h.host.Name))}) {
			byName[hostKey{"", name}] = append(byName[hostKey{"", name}], len(f.Hosts))
			if h.vcenter != "" {
				byName[hostKey{h.vcenter, name}] = append(byName[hostKey{h.vcenter, name}], len(f.Hosts))
			}
		}
		f.Hosts = append(f.Hosts, h.host)
	}
	n.tallied(n.hosts, shared, "host has", "hosts have", "the Object ID of another host: the file seems to be merged from several vCenters without a column that names them")
	n.tallied(n.hosts, repeated, "row repeats", "rows repeat", "a host: all its rows are read together")
	return byName
}

// findHosts returns the hosts with the host name in a VM row: exact matches or, without any, those that differ in the domain only.
func findHosts(byName map[hostKey][]int, v *vmRow) []int {
	name := strings.ToLower(v.host)
	if name == "" {
		return nil
	}
	if found := byName[hostKey{v.vcenter, name}]; len(found) > 0 {
		return found
	}
	if found := byName[hostKey{"", name}]; len(found) > 0 {
		return found
	}
	var found []int
	for key, hosts := range byName {
		if key.vcenter == "" && numa.SameHost(key.name, name) {
			found = append(found, hosts...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// inCluster returns the hosts that are in the cluster, or all of them if there are none.
func inCluster(f *numa.Fleet, hosts []int, cluster string) []int {
	own := slices.DeleteFunc(slices.Clone(hosts), func(i int) bool { return cluster == "" || f.Hosts[i].Cluster != cluster })
	if len(own) == 0 {
		return hosts
	}
	return own
}

// clusters assigns the IDs of clusters. Names are unique in a datacenter only.
type clusters struct {
	fleet  *numa.Fleet
	at     string
	prefix func(vcenter string) string
	byKey  map[[3]string]string   // vCenter, datacenter, name to ID
	byName map[[2]string][]string // vCenter, name to IDs
	taken  map[string]bool        // IDs
	of     map[string]string      // ID to vCenter
}

// tellApart prefixes cluster names that occur in several vCenters with the server of the vCenter, as numa.Merge does.
func (c *clusters) tellApart(servers map[string]string) {
	in := map[string]map[string]bool{} // name to vCenters
	for key := range c.byName {
		name := strings.ToLower(key[1])
		if in[name] == nil {
			in[name] = map[string]bool{}
		}
		in[name][key[0]] = true
	}
	for i := range c.fleet.Clusters {
		one := &c.fleet.Clusters[i]
		if vcenter := c.of[one.ID]; len(in[strings.ToLower(one.Name)]) > 1 && vcenter != "" {
			one.Name = cmp.Or(servers[vcenter], vcenter) + "/" + one.Name
		}
	}
}

// id returns the ID of a cluster, datacenter/name, and adds the cluster to the fleet if it is new; "" for no cluster.
func (c *clusters) id(vcenter, datacenter, name string) string {
	if name == "" {
		return ""
	}
	if ids := c.byName[[2]string{vcenter, name}]; datacenter == "" && len(ids) == 1 {
		return ids[0] // from a sheet without the column Datacenter
	}
	key := [3]string{vcenter, datacenter, name}
	for _, known := range [][3]string{key, {vcenter, "", name}} { // hosts are added first, possibly from a sheet without the column
		if id, ok := c.byKey[known]; ok {
			return id
		}
	}
	// vSphere itself writes %2f for a slash in a name.
	id := c.prefix(vcenter) + strings.ReplaceAll(datacenter, "/", "%2f") + "/" + strings.ReplaceAll(name, "/", "%2f")
	for c.taken[id] { // by a name that looks like one of another vCenter
		id += "#"
	}
	c.taken[id] = true
	c.of[id] = vcenter
	c.byKey[key] = id
	c.byName[[2]string{vcenter, name}] = append(c.byName[[2]string{vcenter, name}], id)
	c.fleet.Clusters = append(c.fleet.Clusters, numa.Cluster{ID: id, Name: name, At: c.at})
	return id
}
