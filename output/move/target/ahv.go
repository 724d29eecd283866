package target

import (
	"bytes"
	"encoding/json"
	"fmt"

	"example.org/homenode/change/move"
	"example.org/homenode/internal/words"
)

// ahv writes the aCLI command, and the content of spec.resources for a request of the v3 API.
func ahv(m *move.Move) []File {
	s := m.Shape
	vnuma := len(s.Cells)
	if m.Floats {
		vnuma = 0 // off; 1 would keep the VM on one node
	}
	var b bytes.Buffer
	b.WriteString("#!/bin/sh\n")
	comment(&b, head(m)...)
	comment(&b, "Nothing of this ran in the tests of homenode: confirm the parameters on the cluster with acli vm.update help. The VM must be off.",
		fmt.Sprintf("Use: sh %s.ahv.sh [NAME]", m.Name))
	name := called(&b, m)
	fmt.Fprintf(&b, "vm=${1:-}\n[ -n \"$vm\" ] || vm=%s\n", words.Command(name))
	fmt.Fprintf(&b, "acli vm.update \"$vm\" num_vcpus=%d num_cores_per_vcpu=%d num_threads_per_core=%d memory=%dM num_vnuma_nodes=%d\n", s.Sockets, s.Cores, s.Threads, mb(s.Memory), vnuma)
	var resources struct {
		Sockets int `json:"num_sockets"`
		Cores   int `json:"num_vcpus_per_socket"`
		Threads int `json:"num_threads_per_core"`
		Memory  int `json:"memory_size_mib"`
		VNUMA   struct {
			Nodes int `json:"num_vnuma_nodes"`
		} `json:"vnuma_config"`
	}
	resources.Sockets, resources.Cores, resources.Threads, resources.Memory = s.Sockets, s.Cores, s.Threads, int(mb(s.Memory))
	resources.VNUMA.Nodes = vnuma
	data, err := json.MarshalIndent(map[string]any{"spec": map[string]any{"resources": resources}}, "", "  ")
	if err != nil {
		panic(err) // cannot fail for plain values
	}
	return []File{{m.Name + ".ahv.sh", b.Bytes(), []*move.Move{m}}, {m.Name + ".ahv.json", append(data, '\n'), []*move.Move{m}}}
}
