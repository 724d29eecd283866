// Command kubevirt decodes the VirtualMachine in each named file strictly with KubeVirt's own types, and checks the NUMA rules of
// its webhook, which are copied here. It prints a line for each file: its name, a tab, and the errors, if any.
//
// It is a separate module, because the types depend on Kubernetes.
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
	// The type below spec.template.spec has its own decoder, which accepts unknown fields. The domain is therefore decoded
	// separately.
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
