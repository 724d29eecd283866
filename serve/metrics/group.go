package metrics

import (
	"fmt"
	"strings"

	"example.org/homenode/internal/words"
)

// A Group is what a scrape may ask for by itself.
type Group struct {
	Name, About string
	begins      []string // of names of families
}

// Groups are all of them; a family is in the first whose begin its name has.
var Groups = []Group{
	{"locality", "local and remote memory, N%L, home nodes", []string{"homenode_vm_numa_local_", "homenode_vm_numa_remote_", "homenode_vm_numa_printed_", "homenode_vm_numa_home_"}},
	{"migrations", "NUMA migrations, in all and by reason", []string{"homenode_vm_numa_"}},
	{"cpu", "vCPUs, run, used, ready and co-stop time", []string{"homenode_vm_cpu_", "homenode_vm_vcpus"}},
	{"memory", "size and states of the memory of VMs", []string{"homenode_vm_memory_"}},
	{"nodes", "memory of each VM on each node", []string{"homenode_vm_node_"}},
	{"hosts", "hosts and their nodes", []string{"homenode_host_memory_", "homenode_host_interval_", "homenode_node_"}},
	{"findings", "findings that hold", []string{"homenode_finding"}},
	{"collector", "how collecting, keeping and sending go, and the process", []string{""}},
}

// groupOf returns the place of a family in Groups.
func groupOf(family string) int {
	for i := range Groups {
		for _, begin := range Groups[i].begins {
			if strings.HasPrefix(family, begin) {
				return i
			}
		}
	}
	return len(Groups) - 1
}

// Only lets the page take these groups alone, by their names; none lets it take all. It lasts until Reset.
func (p *Page) Only(names []string) error {
	for _, name := range names {
		found := false
		for i := range Groups {
			if Groups[i].Name == name {
				p.only, found = p.only|1<<i, true
			}
		}
		if !found {
			return fmt.Errorf("found the group %q, want one of %s", name, strings.Join(words.Texts(Groups, func(g Group) string { return g.Name }), ", "))
		}
	}
	return nil
}

// takes reports whether the page takes a group.
func (p *Page) takes(group int) bool { return p.only == 0 || p.only&(1<<group) != 0 }
