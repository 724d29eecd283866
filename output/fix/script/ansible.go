package script

import (
	"bytes"
	"fmt"
	"strings"

	"example.org/homenode/change/fix"
	"example.org/homenode/internal/outside"
	"example.org/homenode/numa"
)

// ansible prints playbooks. They read facts with the module of community.vmware, because vmware.vmware.guest_info requires the vSphere Automation SDK.
var ansible = &tool{
	about: []string{"For ansible-playbook with these collections, pyVmomi and requests; the vCenter and the account",
		"are those of VMWARE_HOST, VMWARE_USER and VMWARE_PASSWORD. Fields and settings are two calls for the modules: a VM with both is not",
		"changed at once. vm_advanced_settings writes back all settings of the VM as it has read them; vm adds two IDE controllers to a VM",
		"that has none."},
	cannot: func(_ *fix.Change, e numa.Edit) string {
		switch e.Kind {
		case numa.EditCoresPerSocket:
			if e.From.Text == "0" || e.To.Text == "0" {
				return "vmware.vmware.vm does not tell cores per socket that are assigned at power-on from the same number set"
			}
			return ""
		case numa.EditVCPUs, numa.EditMemory, numa.EditCPUHotAdd, numa.EditMemoryHotAdd, numa.EditMemoryReservation, numa.EditReserveAll, numa.EditCPUReservation, numa.EditExtraConfig:
			return ""
		case numa.EditHardware:
			return "vmware.vmware.vm does not upgrade VMs"
		case numa.EditHostOption:
			return "vmware.vmware has no options of hosts"
		}
		return "vmware.vmware.vm has no such parameter"
	},
	off: reserves,
	print: func(b *bytes.Buffer, f *form) {
		b.WriteString("---\n")
		comment(b, "", f.comments()...)
		comment(b, "", "", "Exit code 0: all VMs are as planned. 2: drift, an error, or some were left as they are, and named.")
		fmt.Fprintf(b, "- name: Changes of VMs\n  hosts: localhost\n  connection: local\n  gather_facts: false\n  vars:\n    power: %t\n    left:%s\n", f.power, empty(len(f.unmade)))
		for _, l := range f.unmade {
			b.WriteString("      - " + yaml(l) + "\n")
		}
		fmt.Fprintf(b, "    changes:%s\n", empty(len(f.steps)))
		for i := range f.steps {
			f.steps[i].yaml(b)
		}
		b.WriteString(reading("ansible.yml", &inJinja))
		for i := range f.steps {
			f.steps[i].tasks(b, f.power)
		}
		b.WriteString(part("ansible-end.yml"))
	},
}

// reserves reports whether the edit changes a reservation. The module only changes reservations while the VM is off. It changes either the memory
// reservation or the reservation of all memory, not both.
func reserves(e numa.Edit) bool {
	return e.Kind == numa.EditMemoryReservation || e.Kind == numa.EditReserveAll || e.Kind == numa.EditCPUReservation
}

func empty(n int) string {
	if n == 0 {
		return " []"
	}
	return ""
}

// yaml prints the step as data.
func (s *step) yaml(b *bytes.Buffer) {
	comment(b, "      ", title(s))
	fmt.Fprintf(b, "      - id: %s\n        stop: %t\n        rows:%s\n", yaml(s.id), s.needs == numa.NeedsOff, empty(len(s.rows)))
	for _, r := range s.rows {
		fmt.Fprintf(b, "          - {what: %s", yaml(r.What))
		if r.Key != "" {
			b.WriteString(", key: " + yaml(r.Key))
		}
		fmt.Fprintf(b, ", from: %s, to: %s", yaml(r.From), yaml(r.To))
		for _, flag := range []struct {
			name string
			set  bool
		}{{"loose", r.Loose}, {"gone", r.Gone}, {"quiet", r.Quiet}} {
			if flag.set {
				b.WriteString(", " + flag.name + ": true")
			}
		}
		b.WriteString("}\n")
	}
}

// attributeOf returns the name of an attribute in a task, with its colon.
func attributeOf(attribute string) string { return outside.Attribute("ansible", attribute) + ": " }

// tasks prints the tasks that change the VM. They do not include its name, because names of tasks are templates.
func (s *step) tasks(b *bytes.Buffer, power bool) {
	var cpu, memory, first, last, set, remove []string // first and last also have memory edits
	name := attributeOf
	for _, e := range s.edits {
		switch e.Kind {
		case numa.EditVCPUs:
			cpu = append(cpu, name("cores")+number(e.To.Text, yaml))
		case numa.EditCoresPerSocket:
			cpu = append(cpu, name("cores_per_socket")+number(e.To.Text, yaml))
		case numa.EditCPUHotAdd:
			cpu = append(cpu, name("enable_hot_add")+boolean(e))
		case numa.EditMemory:
			memory = append(memory, name("size_mb")+number(e.To.Text, yaml))
		case numa.EditMemoryHotAdd:
			memory = append(memory, name("enable_hot_add")+boolean(e))
		case numa.EditCPUReservation:
			cpu = append(cpu, name("reservation")+number(e.To.Text, yaml))
		case numa.EditMemoryReservation:
			memory = append(memory, name("reservation")+number(e.To.Text, yaml))
		case numa.EditReserveAll:
			if on(e) {
				last = append(last, name("reserve_all_memory")+"true")
			} else {
				first = append(first, name("reserve_all_memory")+"false")
			}
		case numa.EditExtraConfig:
			if e.To.Text == "" {
				remove = append(remove, yaml(e.Key)+`: ""`)
			} else {
				set = append(set, yaml(e.Key)+": "+yaml(e.To.Text))
			}
		}
	}
	s.play(b, power && s.needs == numa.NeedsOff, cpu, memory, first, last, set, remove)
}

// play prints the tasks for the edits of each module, between a shutdown and a power-on if the VM stops for them.
func (s *step) play(b *bytes.Buffer, stops bool, cpu, memory, first, last, set, remove []string) {
	id, name := yaml(s.id), attributeOf
	task := func(indent, module string, lines ...string) {
		fmt.Fprintf(b, "%s- %s:\n%s    moid: %s\n", indent, module, indent, id)
		for _, line := range lines {
			b.WriteString(indent + "    " + line + "\n")
		}
	}
	fmt.Fprintf(b, "    - name: %s\n      vars:\n        id: %s\n      when: id in work\n      block:\n", yaml("Change "+s.id), id)
	running := "          when: has[id].power == 'poweredOn'\n"
	if stops {
		task("        ", "vmware.vmware.vm_powerstate", `datacenter: ""`, "state: shutdown-guest", "timeout: 600")
		b.WriteString(running)
	}
	change := func(cpu, memory []string) {
		var lines []string
		if cpu != nil {
			lines = append(lines, "cpu: {"+strings.Join(cpu, ", ")+"}")
		}
		if memory != nil {
			lines = append(lines, "memory: {"+strings.Join(memory, ", ")+"}")
		}
		if lines != nil {
			task("        ", "vmware.vmware.vm", lines...)
		}
	}
	change(nil, first)
	change(cpu, memory)
	change(nil, last)
	if set != nil {
		task("        ", "vmware.vmware.vm_advanced_settings", name("settings")+"{"+strings.Join(set, ", ")+"}")
	}
	if remove != nil {
		task("        ", "vmware.vmware.vm_advanced_settings", "state: absent", name("settings")+"{"+strings.Join(remove, ", ")+"}")
	}
	if stops {
		b.WriteString("      always:\n")
		task("        ", "vmware.vmware.vm_powerstate", `datacenter: ""`, "state: powered-on")
		b.WriteString(running)
	}
}

// yaml returns the text in quotes for YAML. !unsafe prevents Ansible from evaluating templates in it.
func yaml(s string) string {
	var b strings.Builder
	if strings.Contains(s, "{") {
		b.WriteString("!unsafe ")
	}
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r >= ' ' && r <= '~':
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
