package target

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/change/move"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// proxmox writes lines of a VM configuration, and the command that sets them.
func proxmox(m *move.Move) []File {
	keys := proxmoxKeys(m)
	var conf, script bytes.Buffer
	comment(&conf, head(m)...)
	gone := proxmoxGone(m, keys)
	comment(&conf, "Lines of /etc/pve/qemu-server/VMID.conf, instead of those of these keys.", "Take these out: "+strings.Join(gone, ", ")+".")
	command := []string{"qm", "set"}
	var options []string
	if len(m.Shape.Cells) > 1 && m.Binding() != nil {
		comment(&conf, "affinity holds for all vCPUs together: those of a node of the guest may run on another node, and homenode assess reports that.")
	}
	for _, k := range keys {
		conf.WriteString(k[0] + ": " + k[1] + "\n")
		options = append(options, "--"+k[0], k[1])
	}
	script.WriteString("#!/bin/sh\n")
	comment(&script, head(m)...)
	comment(&script, fmt.Sprintf("Use: sh %s.proxmox.sh VMID, while the VM is off.", m.Name))
	comment(&script, "qm warns of what is deleted and was not set.")
	options = append(options, "--delete", strings.Join(gone, ","))
	fmt.Fprintf(&script, "%s \"${1:?want the VMID}\" %s\n", words.Command(command...), words.Command(options...))
	return []File{{m.Name + ".proxmox.conf", conf.Bytes(), []*move.Move{m}}, {m.Name + ".proxmox.sh", script.Bytes(), []*move.Move{m}}}
}

// proxmoxKeys returns keys and values of the configuration, as in qm(1).
func proxmoxKeys(m *move.Move) [][2]string {
	s, at := m.Shape, m.Binding()
	out := [][2]string{{"memory", fmt.Sprint(mb(s.Memory))}, {"sockets", fmt.Sprint(s.Sockets)}, {"cores", fmt.Sprint(s.PerSocket())}}
	hotplug := "disk,network,usb" // without memory: Proxmox rejects memory hotplug with NUMA nodes
	if s.VCPUs < s.Most() {
		out = append(out, [2]string{"vcpus", fmt.Sprint(s.VCPUs)})
		hotplug += ",cpu"
	}
	out = append(out, [2]string{"hotplug", hotplug})
	if s.Most() > move.FewAPICs { // the maximum of the default i440fx
		out = append(out, [2]string{"machine", "q35,viommu=intel"})
	}
	if len(s.Cells) == 1 && at == nil && s.Page == 0 {
		return append(out, [2]string{"numa", "0"})
	}
	out = append(out, [2]string{"numa", "1"}) // without numaN it would make each socket a node
	policy := "preferred"
	if m.Strict {
		policy = "bind"
	}
	for i, c := range s.Cells {
		value := []string{"cpus=" + ranges(c.CPUs, ";")}
		if at != nil {
			value = append(value, fmt.Sprintf("hostnodes=%d", at.Nodes[i]))
		}
		value = append(value, fmt.Sprintf("memory=%d", mb(c.Memory)))
		if at != nil {
			value = append(value, "policy="+policy)
		}
		out = append(out, [2]string{fmt.Sprintf("numa%d", i), strings.Join(value, ",")})
	}
	if s.Page > 0 {
		out = append(out, [2]string{"hugepages", fmt.Sprint(int64(s.Page / numa.MiB))}, [2]string{"keephugepages", "1"})
	}
	if at != nil {
		all, _ := at.All()
		out = append(out, [2]string{"affinity", ranges(all, ",")})
	}
	return out
}

// proxmoxGone returns keys that contradict the move, which an older configuration can have: further nodes, vCPUs at the start, and huge
// pages, which Proxmox rejects without a binding to host nodes.
func proxmoxGone(m *move.Move, keys [][2]string) (out []string) {
	may := []string{"vcpus"}
	if m.Binding() == nil {
		may = append(may, "hugepages", "keephugepages")
	}
	for i := range 8 {
		may = append(may, fmt.Sprintf("numa%d", i))
	}
	return slices.DeleteFunc(may, func(key string) bool {
		return slices.ContainsFunc(keys, func(k [2]string) bool { return k[0] == key })
	})
}
