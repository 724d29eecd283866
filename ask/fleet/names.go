package fleet

import (
	"fmt"
	"strings"

	"example.org/homenode/internal/words"

	"example.org/homenode/internal/alike"
	"example.org/homenode/internal/glob"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa"
)

// vmsNamed returns the VMs that match a name or pattern, in the order of the fleet.
func vmsNamed(fleet *numa.Fleet, name string) ([]*numa.VM, error) {
	if !strings.ContainsAny(name, "*?[") || len(fleet.FindVMs(name)) > 0 {
		vm, err := oneVM(fleet, name)
		return []*numa.VM{vm}, err
	}
	pattern := glob.Compile([]string{name}, "")
	var found []*numa.VM
	for i := range fleet.VMs {
		v := &fleet.VMs[i]
		if pattern.Named(v.Name, fleet.ClusterName(v.Cluster)+"/"+v.Name) {
			found = append(found, v)
		}
	}
	if found == nil {
		return nil, fmt.Errorf("no VM is named %q%s", name, alike.After(name, namesOfVMs(fleet)))
	}
	return found, nil
}

// namesOf returns the names of the VMs.
func namesOf(vms []*numa.VM) []string {
	return words.Texts(vms, func(v *numa.VM) string { return texttab.Clean(v.Name) })
}

// oneVM returns the VM with this name. If there are several, the error lists them; if there is
// none, it lists similar names.
func oneVM(fleet *numa.Fleet, name string) (*numa.VM, error) {
	found := fleet.FindVMs(name)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, fmt.Errorf("no VM is named %q%s", name, alike.After(name, namesOfVMs(fleet)))
	}
	var names []string
	for _, v := range found {
		if fleet.Hypervisor == numa.KVM {
			names = append(names, texttab.Clean(v.ID))
			continue
		}
		cluster := "standalone"
		if v.Cluster != "" {
			cluster = fleet.ClusterName(v.Cluster)
		}
		names = append(names, texttab.Clean(fmt.Sprintf("%s (%s)", v.ID, cluster)))
	}
	way, clusters := "CLUSTER/NAME or an ID", map[string]bool{}
	for _, v := range found {
		clusters[fleet.ClusterName(v.Cluster)] = true
	}
	switch {
	case fleet.Hypervisor == numa.KVM:
		way = "HOST/NAME or an ID"
	case len(clusters) == 1:
		way = "an ID"
	}
	return nil, fmt.Errorf("%d VMs are named %q: use %s: %s", len(found), name, way, strings.Join(names, ", "))
}

// oneHost returns the host with this name.
func oneHost(fleet *numa.Fleet, name string) (*numa.Host, error) {
	switch found := fleet.FindHosts(name); len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, fmt.Errorf("no host is named %q%s", name, alike.After(name, namesOfHosts(fleet)))
	default:
		return nil, fmt.Errorf("%d hosts are named %q: use an ID", len(found), name)
	}
}

func namesOfVMs(f *numa.Fleet) []string {
	return words.Texts(f.VMs, func(one numa.VM) string { return texttab.Clean(one.Name) })
}

func namesOfHosts(f *numa.Fleet) []string {
	return words.Texts(f.Hosts, func(one numa.Host) string { return texttab.Clean(one.Name) })
}
