package target

import (
	"regexp"
	"strings"
	"testing"

	"homenode/change/move"
	"homenode/rules/rule"
)

// unnumbered is a host that states no numbers of CPUs.
func unnumbered(v *rule.VM) (*move.Placement, string) {
	p, why := at(9)(v)
	p.CPUs = nil
	return p, why
}

// TestBound checks that no file binds memory without the vCPUs, and that each one that binds memory says how vCPUs are bound.
func TestBound(t *testing.T) {
	memory := regexp.MustCompile(`numatune|memnode|hostnodes|host-nodes|policy=`)
	cpus := regexp.MustCompile(`vcpupin|cpuset=|affinity:|--affinity|taskset`)
	for _, name := range []string{"2x12", "flat"} {
		for _, to := range []string{"libvirt", "qemu", "proxmox"} {
			for _, f := range Files([]*move.Move{moved(t, name, to, move.Options{At: unnumbered})}) {
				if found := memory.FindString(string(f.Data)); found != "" {
					t.Errorf("%s binds memory without vCPUs: %s", f.Name, found)
				}
			}
			for _, f := range Files([]*move.Move{moved(t, name, to, move.Options{At: at(9)})}) {
				if !memory.Match(f.Data) || !cpus.Match(f.Data) {
					t.Errorf("%s binds not both memory and vCPUs:\n%s", f.Name, f.Data)
				}
			}
		}
	}
	m := moved(t, "flat", "libvirt", move.Options{At: unnumbered})
	for _, i := range m.Of(move.Lost) {
		if i.What == "home node" && strings.Contains(i.Then, "node 9 of kvm01") && strings.Contains(i.Why, "virsh capabilities") {
			return
		}
	}
	t.Errorf("the home node is not lost, with the reason: %+v", m.Items)
}
