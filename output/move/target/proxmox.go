package target

import (
	"bytes"
	"fmt"
	"strings"

	"homenode/change/move"
	"homenode/internal/words"
	"homenode/numa"
)

// proxmox writes lines of the configuration of a VM, and the command that sets them.
func proxmox(m *move.Move) []File {
	keys := proxmoxKeys(m)
	var conf, script bytes.Buffer
	comment(&conf, head(m)...)
	comment(&conf, "Lines of /etc/pve/qemu-server/VMID.conf, instead of those of these keys.")
	command := []string{"qm", "set"}
	var options []string
	for _, k := range keys {
		conf.WriteString(k[0] + ": " + k[1] + "\n")
		options = append(options, "--"+k[0], k[1])
	}
	script.WriteString("#!/bin/sh\n")
	comment(&script, head(m)...)
	comment(&script, fmt.Sprintf("Use: sh %s.proxmox.sh VMID, while the VM is off.", m.Name))
	fmt.Fprintf(&script, "%s \"${1:?want the VMID}\" %s\n", words.Command(command...), words.Command(options...))
	return []File{{m.Name + ".proxmox.conf", conf.Bytes(), []*move.Move{m}}, {m.Name + ".proxmox.sh", script.Bytes(), []*move.Move{m}}}
}

// proxmoxKeys returns keys and values of the configuration, as qm(1) has them.
func proxmoxKeys(m *move.Move) [][2]string {
	s, at := m.Shape, m.Binding()
	out := [][2]string{{"memory", fmt.Sprint(mb(s.Memory))}, {"sockets", fmt.Sprint(s.Sockets)}, {"cores", fmt.Sprint(s.PerSocket())}}
	if s.VCPUs < s.Most() {
		out = append(out, [2]string{"vcpus", fmt.Sprint(s.VCPUs)}, [2]string{"hotplug", "disk,network,usb,cpu"})
	}
	if s.Most() > move.FewAPICs { // the default i440fx has at most as many
		out = append(out, [2]string{"machine", "q35,viommu=intel"})
	}
	if len(s.Cells) == 1 && at == nil && s.Page == 0 {
		return append(out, [2]string{"numa", "0"})
	}
	out = append(out, [2]string{"numa", "1"}) // without numaN it would make a node of each socket
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
