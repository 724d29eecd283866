package target

import (
	"bytes"
	"fmt"
	"strings"

	"example.org/homenode/change/move"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// flavors writes one flavor for each shape. VMs share flavors.
func flavors(moves []*move.Move) File {
	type flavor struct {
		name  string
		specs [][2]string
		of    *move.Move
		vms   []string
	}
	var list []*flavor
	byText, used := map[string]*flavor{}, map[string]int{}
	for _, m := range moves {
		specs := extraSpecs(m)
		text := fmt.Sprint(m.Shape.VCPUs, m.Shape.Memory, specs)
		f := byText[text]
		if f == nil {
			f = &flavor{flavorName(m), specs, m, nil}
			if used[f.name]++; used[f.name] > 1 {
				f.name += fmt.Sprintf("-%d", used[f.name])
			}
			byText[text] = f
			list = append(list, f)
		}
		f.vms = append(f.vms, texttab.Line(m.Title))
	}
	var b bytes.Buffer
	b.WriteString("#!/bin/sh\n")
	comment(&b, "Flavors of the shapes of these VMs. NUMATopologyFilter must be among the filters of the scheduler. The image states no nodes:",
		"Nova refuses nodes of both (ImageNUMATopologyForbidden).")
	b.WriteString("set -e\n")
	for _, f := range list {
		b.WriteByte('\n')
		comment(&b, nodes(f.of.Shape)+", "+f.of.Shape.Topology()+": "+strings.Join(f.vms, ", "))
		if f.of.Exclusive {
			comment(&b, f.of.Platform.Can[move.Exclusive].Limit)
		}
		for _, need := range f.of.Needs() {
			comment(&b, "It does not start without "+need+".")
		}
		b.WriteString(words.Command("openstack", "flavor", "create", "--vcpus", fmt.Sprint(f.of.Shape.VCPUs), "--ram", fmt.Sprint(mb(f.of.Shape.Memory)), "--disk", "0", f.name) + "\n")
		command := []string{"openstack", "flavor", "set"}
		for _, s := range f.specs {
			command = append(command, "--property", s[0]+"="+s[1])
		}
		b.WriteString(words.Command(append(command, f.name)...) + "\n")
	}
	return File{"nova-flavors.sh", b.Bytes(), moves}
}

// extraSpecs returns the extra specs of a Nova flavor.
func extraSpecs(m *move.Move) [][2]string {
	s := m.Shape
	out := [][2]string{{"hw:cpu_sockets", fmt.Sprint(s.Sockets)}, {"hw:cpu_cores", fmt.Sprint(s.Cores)}, {"hw:cpu_threads", fmt.Sprint(s.Threads)}}
	if !m.Floats { // without it a VM with one node floats over the whole host
		out = append(out, [2]string{"hw:numa_nodes", fmt.Sprint(len(s.Cells))})
	}
	if len(s.Cells) > 1 { // both are required for every cell; gaps are an error
		for i, c := range s.Cells {
			out = append(out, [2]string{fmt.Sprintf("hw:numa_cpus.%d", i), ranges(c.CPUs, ",")}, [2]string{fmt.Sprintf("hw:numa_mem.%d", i), fmt.Sprint(mb(c.Memory))})
		}
	}
	if m.Exclusive {
		threads := "isolate" // the default, prefer, puts two vCPUs on the threads of one core
		if s.Threads > 1 {
			threads = "require"
		}
		out = append(out, [2]string{"hw:cpu_policy", "dedicated"}, [2]string{"hw:cpu_thread_policy", threads}, [2]string{"hw:emulator_threads_policy", "share"})
	}
	if s.Most() > move.FewAPICs {
		out = append(out, [2]string{"hw:viommu_model", "intel"})
	}
	if bits := move.AddressBits(s); bits > 0 {
		out = append(out, [2]string{"hw:maxphysaddr_mode", "emulate"}, [2]string{"hw:maxphysaddr_bits", fmt.Sprint(bits)})
	}
	if s.Page > 0 {
		out = append(out, [2]string{"hw:mem_page_size", fmt.Sprint(int64(s.Page / numa.KiB))})
	}
	return out
}

// flavorName returns a name based on the shape: numa-2x12c-192g.
func flavorName(m *move.Move) string {
	s := m.Shape
	sizes := s.Sizes()
	name := fmt.Sprintf("numa-%dx%dc", len(sizes), sizes[0])
	if !s.Even() {
		parts := words.Texts(sizes, func(n int) string { return fmt.Sprint(n) })
		name = "numa-" + strings.Join(parts, "-") + "c"
	}
	if s.Memory%numa.GiB == 0 {
		name += fmt.Sprintf("-%dg", s.Memory/numa.GiB)
	} else {
		name += fmt.Sprintf("-%dm", mb(s.Memory))
	}
	if m.Exclusive {
		name += "-dedicated"
	}
	return name
}
