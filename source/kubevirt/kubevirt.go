// Package kubevirt reads VirtualMachines and VirtualMachineInstances of KubeVirt, and the templates of their pools and replica sets, from YAML or JSON: the CPUs and the memory of their domains.
package kubevirt

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"example.org/homenode/internal/outside"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/definition"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/text"
)

// maxFile is the maximum size of a file in bytes, more than any manifest has.
const maxFile = 4 << 20

// group matches the group of the VMs of KubeVirt where a document states it, and not a remark that names it.
var group = pattern.Of(`(?m)^[ -]{0,4}apiVersion:\s*["']?kubevirt\.io/|"apiVersion":\s*"kubevirt\.io/`)

var kind = pattern.Of(`(?m)^[ -]{0,4}kind:\s*"?VirtualMachine(?:Instance|InstanceReplicaSet|Pool)?"?\s*$|"apiVersion":\s*"kubevirt\.io/[^}]*?"kind":\s*"VirtualMachine(?:Instance|InstanceReplicaSet|Pool)?"`)

// operator is the group of the VMs of VMware's VM Operator, which have the same name.
const operator = "vmoperator.vmware.com/"

// Detect reports whether head, the beginning of a file, contains a KubeVirt VM.
func Detect(head []byte) bool {
	return kind.Match(head) && (!bytes.Contains(head, []byte(operator)) || group.Match(head))
}

// architectures maps KubeVirt names to those of libvirt.
var architectures = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// A vm is a VM while it is read.
type vm struct{ *definition.VM }

// Read reads the VMs of a file, in their order: documents, or items of a list as printed by kubectl get. An invalid VM does not affect the
// others.
func Read(name string, r io.Reader) (out []fact.Document, err error) {
	in := yaml.NewDecoder(io.LimitReader(r, maxFile))
	for {
		var doc yaml.Node
		if bad := in.Decode(&doc); bad != nil {
			if !errors.Is(bad, io.EOF) {
				err = cmp.Or(err, mistake(name, bad))
			}
			return out, err
		}
		objects := []*yaml.Node{&doc}
		if items := find(&doc, "items"); items != nil && items.Kind == yaml.SequenceNode {
			objects = items.Content
		}
		for _, object := range objects {
			v, wrong := read(name, object)
			if err = cmp.Or(err, wrong); v != nil {
				out = append(out, v)
			}
		}
	}
}

// lineOf matches the place in a YAML error.
var lineOf = pattern.Of(`^yaml: (?:[a-z ]+ )?line (\d+)(?:, column (\d+))?: `)

// mistake returns a YAML error with its place stated once.
func mistake(name string, err error) error {
	e := &numa.SyntaxError{File: name, Line: 1, Col: 1, Msg: err.Error()}
	if part := lineOf.FindStringSubmatch(e.Msg); part != nil {
		e.Line, _ = strconv.Atoi(part[1]) // digits
		if part[2] != "" {
			e.Col, _ = strconv.Atoi(part[2])
		}
		e.Msg = e.Msg[len(part[0]):]
	}
	return e
}

// read reads a VM from an object; nil for another kind of object.
func read(name string, object *yaml.Node) (*definition.VM, error) {
	if k := find(object, "kind"); k == nil || !strings.HasPrefix(k.Value, "VirtualMachine") {
		return nil, nil
	}
	if v := find(object, "apiVersion"); v != nil && strings.HasPrefix(v.Value, operator) {
		return nil, nil
	}
	spec := find(object, "spec")
	if t := find(spec, "virtualMachineTemplate", "spec"); t != nil { // of a VirtualMachinePool
		spec = t
	}
	kind := find(spec, "instancetype")
	preference := find(spec, "preference")
	if t := find(spec, "template", "spec"); t != nil {
		spec = t
	}
	domain := find(spec, "domain")
	if kind == nil && preference != nil && find(domain, "cpu", "cores") == nil && find(domain, "cpu", "sockets") == nil {
		kind = preference
	}
	at := cmp.Or(domain, kind)
	if at == nil {
		return nil, nil
	}
	v := vm{definition.New(&fact.File{Name: name, Format: "VirtualMachine of KubeVirt"}, at.Line, at.Column)}
	if n := find(object, "metadata", "name"); n != nil {
		v.Name, v.Key = n.Value, n.Value
		if space := find(object, "metadata", "namespace"); space != nil {
			v.Key = space.Value + "/" + n.Value
		}
	}
	v.Stated.Running = find(object, "kind").Value == "VirtualMachineInstance"
	if n := find(spec, "architecture"); n != nil {
		v.Arch = cmp.Or(architectures[n.Value], n.Value)
	}
	if kind != nil { // https://kubevirt.io/user-guide/user_workloads/instancetypes/
		v.Stated = nil
		v.Why = "its vCPUs and memory are those of an instancetype or preference, which is not in the file: unknown; the VirtualMachineInstance of one that runs states them"
		return v.VM, nil
	}
	if err := v.read(domain); err != nil {
		return nil, err
	}
	v.File().Sort()
	return v.VM, nil
}

// find returns the value at a path of keys; nil if there is none.
func find(n *yaml.Node, path ...string) *yaml.Node {
	if n != nil && n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	for _, key := range path {
		var found *yaml.Node
		for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				found = n.Content[i+1]
			}
		}
		if n = found; n == nil {
			return nil
		}
	}
	return n
}

func (v vm) at(n *yaml.Node) string { return numa.Place(v.File().Name, n.Line, n.Column) }

// number returns a number below the processor, or otherwise if it is not stated.
func (v vm) number(cpu *yaml.Node, key string, otherwise int) (int, error) {
	n := find(cpu, key)
	if n == nil {
		return otherwise, nil
	}
	value, err := strconv.Atoi(n.Value)
	if err != nil || value < 1 || value > numa.MaxVCPUs {
		return 0, &numa.SyntaxError{File: v.File().Name, Line: n.Line, Col: n.Column, Msg: fmt.Sprintf("%s: found %q, want a number from 1", key, text.Short(n.Value))}
	}
	v.File().Add(n.Line, n.Column, "VM "+v.Name, key, value, "")
	return value, nil
}

// read reads the domain of a VM. With dedicated CPUs, the guest has one node for each host node of these CPUs, which a manifest does not
// state.
func (v vm) read(domain *yaml.Node) error {
	s, cpu := v.Stated, find(domain, "cpu")
	var number [4]int
	for i, key := range []string{"sockets", "cores", "threads", "maxSockets"} {
		n, err := v.number(cpu, key, 1)
		if err != nil {
			return err
		}
		number[i] = n
	}
	if cpu != nil {
		s.TopologyAt, s.VCPUsAt = v.at(cpu), v.at(cpu)
	}
	if n := cmp.Or(find(domain, "resources", "limits", "cpu"), find(domain, "resources", "requests", "cpu")); n != nil &&
		cmp.Or(find(cpu, "sockets"), find(cpu, "cores"), find(cpu, "threads")) == nil { // SetDefaultGuestCPUTopology
		count, ok := quantity(n.Value)
		if !ok || count > numa.MaxVCPUs {
			return &numa.SyntaxError{File: v.File().Name, Line: n.Line, Col: n.Column, Msg: fmt.Sprintf("cpu: found %q, want such as 4 or 1500m", text.Short(n.Value))}
		}
		number[0], s.TopologyAt, s.VCPUsAt = max(1, int(count)), v.at(n), v.at(n)
		v.File().Add(n.Line, n.Column, "VM "+v.Name, "sockets", number[0], "")
	}
	if most := find(cpu, "maxSockets"); most != nil && number[0] > number[3] {
		v.Stray(most.Line, most.Column, true, "%d sockets, and maxSockets is %d: KubeVirt refuses it", number[0], number[3])
	}
	s.Sockets, s.Dies, s.Cores, s.Threads = max(number[0], number[3]), 1, number[1], number[2]
	s.Platform, s.ACPI = "KubeVirt", numa.DerivedFrom(true, "KubeVirt's own")
	present := number[0] * s.PerSocket()
	memory := cmp.Or(find(domain, "memory", "guest"), find(domain, "resources", "requests", "memory"), find(domain, "resources", "limits", "memory"))
	if memory != nil {
		size, ok := quantity(memory.Value)
		if !ok {
			return &numa.SyntaxError{File: v.File().Name, Line: memory.Line, Col: memory.Column, Msg: fmt.Sprintf("memory: found %q, want such as 64Gi", text.Short(memory.Value))}
		}
		s.Shape.Memory, s.MemoryAt = size, v.at(memory)
		v.File().Add(memory.Line, memory.Column, "VM "+v.Name, "memory", memory.Value, "")
	}
	v.limits(domain, memory)
	if n := s.Most(); n > outside.FewAPICs && cpu != nil && v.Arch != "aarch64" {
		v.Doubt(cpu.Line, cpu.Column, "%d vCPUs, with those that can be added: libvirt before 10.10 refuses more than %d without a virtual IOMMU, which it adds from 10.10 on; KubeVirt 1.4.0 has 10.5", n, outside.FewAPICs)
	}
	if page := find(domain, "memory", "hugepages", "pageSize"); page != nil {
		if size, ok := quantity(page.Value); ok && size > 0 {
			v.Pages([]numa.HugePages{{Size: size}}, 0, page.Line, page.Column)
		}
	}
	v.dedicated(cpu, domain, present)
	v.Close(s.Most(), present)
	return nil
}

// limits finds a VM without memory, or with more memory than its pod may use (ValidateVirtualMachineInstanceMandatoryFields and
// validateGuestMemoryLimit in the admitters of KubeVirt's webhook).
func (v vm) limits(domain, memory *yaml.Node) {
	if memory == nil && find(domain, "memory", "hugepages") == nil {
		v.Stray(domain.Line, domain.Column, true, "no memory is stated (memory.guest, or requests): KubeVirt refuses it; or the file breaks off")
	}
	guest, limit := find(domain, "memory", "guest"), find(domain, "resources", "limits", "memory")
	if guest == nil || limit == nil {
		return
	}
	if most, ok := quantity(limit.Value); ok && most > 0 && most < v.Stated.Shape.Memory {
		v.Stray(limit.Line, limit.Column, false, "limits.memory of %s is below the %s of the guest: KubeVirt refuses it, or with the rollout strategy LiveUpdate "+
			"the pod is killed when the guest uses more", text.Short(limit.Value), text.Short(guest.Value))
	}
}

// dedicated checks the requirements of dedicated CPUs.
func (v vm) dedicated(cpu, domain *yaml.Node, present int) {
	on := func(path ...string) *yaml.Node {
		if n := find(cpu, path...); n != nil && n.Value == "true" {
			return n
		}
		return nil
	}
	passthrough := find(cpu, "numa", "guestMappingPassthrough")
	v.Stated.Partial = passthrough != nil // the nodes depend on the CPUs that the kubelet assigns
	if passthrough != nil && on("dedicatedCpuPlacement") == nil {
		v.Stray(passthrough.Line, passthrough.Column, true, "guestMappingPassthrough without dedicatedCpuPlacement: KubeVirt refuses it")
	}
	if passthrough != nil && find(domain, "memory", "hugepages") == nil {
		v.Stray(passthrough.Line, passthrough.Column, true, "guestMappingPassthrough without huge pages: KubeVirt refuses it")
	}
	if placed := on("dedicatedCpuPlacement"); placed != nil {
		v.Stated.Dedicated = true
		v.equal(placed, domain, present)
		v.threads(cpu)
	}
	if realtime := find(cpu, "realtime"); realtime != nil { // validateCPURealtime, validateMemoryRealtime
		var lacks []string
		if !v.Stated.Dedicated {
			lacks = append(lacks, "dedicatedCpuPlacement")
		}
		if passthrough == nil {
			lacks = append(lacks, "numa.guestMappingPassthrough, which wants huge pages")
		}
		if lacks != nil {
			v.Stray(realtime.Line, realtime.Column, true, "realtime without %s: KubeVirt refuses it", strings.Join(lacks, " and "))
		}
	}
	isolate := on("isolateEmulatorThread")
	switch {
	case isolate == nil:
	case on("dedicatedCpuPlacement") == nil:
		v.Stray(isolate.Line, isolate.Column, true, "isolateEmulatorThread without dedicatedCpuPlacement: KubeVirt refuses it")
	case present%2 == 0: // https://github.com/kubevirt/kubevirt/pull/10757
		v.Doubt(isolate.Line, isolate.Column, "isolateEmulatorThread takes a CPU more, %d together: only a kubelet with full-pcpus-only refuses an odd number, unless the object KubeVirt "+
			"of the cluster has the annotation alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity", present+1)
	}
}

// threads finds threads per core that dedicated CPUs do not support (validateThreadCountOnDedicatedCPUPlacement and
// validateThreadCountOnArchitecture in the admitters of KubeVirt's webhook).
func (v vm) threads(cpu *yaml.Node) {
	n := find(cpu, "threads")
	switch {
	case n == nil:
	case v.Stated.Threads > 2:
		v.Stray(n.Line, n.Column, true, "dedicatedCpuPlacement, and %d threads of a core: KubeVirt takes 2 at most", v.Stated.Threads)
	case v.Stated.Threads > 1 && v.Arch == "aarch64":
		v.Stray(n.Line, n.Column, true, "dedicatedCpuPlacement, and %d threads of a core on arm64: KubeVirt takes 1", v.Stated.Threads)
	}
}

// equal finds requests and limits that are invalid with dedicated CPUs (validateCPUPinning in the admitters of KubeVirt's webhook).
func (v vm) equal(placed, domain *yaml.Node, present int) {
	values := func(key string) (out []numa.Bytes) {
		for _, of := range []string{"requests", "limits"} {
			n := find(domain, "resources", of, key)
			if n == nil {
				continue
			}
			if value, ok := quantity(n.Value); ok {
				out = append(out, value)
			}
			if exact, ok := text.Quantity(n.Value); ok && math.Abs(exact-math.Round(exact)) > 1e-4 && key == "cpu" { // validateCPURequestIsInteger
				v.Stray(n.Line, n.Column, true, "dedicatedCpuPlacement, and %s.cpu of %s is no whole number: KubeVirt refuses it", of, text.Short(n.Value))
			}
		}
		return out
	}
	if memory := values("memory"); len(memory) == 2 && memory[0] != memory[1] { // validateMemoryRequestsAndLimits
		v.Stray(placed.Line, placed.Column, true, "dedicatedCpuPlacement, and requests.memory of %s differs from limits.memory of %s: KubeVirt refuses it",
			text.Short(find(domain, "resources", "requests", "memory").Value), text.Short(find(domain, "resources", "limits", "memory").Value))
	}
	stated := values("cpu")
	switch {
	case len(stated) == 2 && stated[0] != stated[1]:
		v.Stray(placed.Line, placed.Column, true, "dedicatedCpuPlacement, and requests.cpu of %d differs from limits.cpu of %d: KubeVirt refuses it", stated[0], stated[1])
	case len(stated) > 0 && stated[0] != numa.Bytes(present):
		v.Stray(placed.Line, placed.Column, true, "dedicatedCpuPlacement, and %d vCPUs beside %d CPUs of resources: KubeVirt refuses it", present, stated[0])
	}
}

// quantity parses memory such as 64Gi, or CPUs such as 1500m, rounded up as in Kubernetes.
func quantity(s string) (numa.Bytes, bool) {
	n, ok := text.Quantity(s)
	return numa.Bytes(math.Ceil(n)), ok
}
