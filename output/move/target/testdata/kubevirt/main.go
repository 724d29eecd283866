// Command kubevirt lets KubeVirt's own types decode the VirtualMachine of each file that is named, strictly, and copies the rules of
// its webhook that NUMA is in. It prints a line for each file: its name, a tab, and what is wrong, or nothing.
//
// It is a module of its own, since the types bring Kubernetes with them.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/api/resource"
	v1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	for _, name := range os.Args[1:] {
		text := ""
		if err := check(name); err != nil {
			text = err.Error()
		}
		fmt.Printf("%s\t%q\n", name, text)
	}
}

func check(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var vm v1.VirtualMachine
	if err := yaml.UnmarshalStrict(data, &vm); err != nil {
		return err
	}
	// The type below spec.template.spec decodes itself and accepts any field: the domain is decoded on its own.
	var raw struct {
		Spec struct {
			Template struct {
				Spec struct {
					Domain json.RawMessage `json:"domain"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(data, &raw); err != nil {
		return err
	}
	var d v1.DomainSpec
	if err := yaml.UnmarshalStrict(raw.Spec.Template.Spec.Domain, &d); err != nil {
		return err
	}
	return webhook(&d)
}

// webhook has the rules of virt-api for NUMA (validateNUMA, validateHugepagesMemoryRequests and
// validateGuestMemoryLimit of v1.6.0).
func webhook(d *v1.DomainSpec) error {
	if d.CPU == nil || d.Memory == nil || d.Memory.Guest == nil {
		return fmt.Errorf("no cpu, or no memory.guest")
	}
	if d.CPU.MaxSockets != 0 && d.CPU.MaxSockets < d.CPU.Sockets {
		return fmt.Errorf("maxSockets %d, and %d sockets", d.CPU.MaxSockets, d.CPU.Sockets)
	}
	if d.CPU.NUMA != nil && d.CPU.NUMA.GuestMappingPassthrough != nil {
		if !d.CPU.DedicatedCPUPlacement {
			return fmt.Errorf("guestMappingPassthrough without dedicatedCpuPlacement")
		}
		if d.Memory.Hugepages == nil {
			return fmt.Errorf("guestMappingPassthrough without hugepages")
		}
	}
	if d.CPU.IsolateEmulatorThread && !d.CPU.DedicatedCPUPlacement {
		return fmt.Errorf("isolateEmulatorThread without dedicatedCpuPlacement")
	}
	if d.Memory.Hugepages != nil {
		page, err := resource.ParseQuantity(d.Memory.Hugepages.PageSize)
		if err != nil {
			return err
		}
		if d.Memory.Guest.Value()%page.Value() != 0 {
			return fmt.Errorf("%s of memory in pages of %s", d.Memory.Guest, &page)
		}
	}
	return nil
}
