package script

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/change/fix"
	"example.org/homenode/internal/outside"
	"example.org/homenode/numa"
)

// terraform prints arguments of the provider vmware/vsphere.
var terraform = &tool{
	about: []string{"Arguments for the resources of these VMs: put them into your configuration and read terraform plan,",
		"which is the comparison with what the VMs have. The labels are IDs: yours differ. The provider powers VMs off for most of this;",
		"shutdown_wait_timeout and force_power_off say how."},
	cannot: func(c *fix.Change, e numa.Edit) string {
		switch e.Kind {
		case numa.EditReserveAll:
			if !on(e) && after(c, numa.EditMemoryReservation) == after(c, numa.EditMemory) {
				return "the provider ends it only where memory_reservation is not memory"
			}
			return ""
		case numa.EditHardware, numa.EditVCPUs, numa.EditMemory, numa.EditCoresPerSocket, numa.EditCoresPerNUMANode, numa.EditCPUHotAdd, numa.EditMemoryHotAdd,
			numa.EditLatency, numa.EditMemoryReservation, numa.EditCPUReservation, numa.EditExtraConfig:
			return ""
		case numa.EditHostOption:
			return "the provider has no options of hosts"
		}
		return "vsphere_virtual_machine has no argument for it"
	},
	finds: true,
	print: func(b *bytes.Buffer, f *form) {
		comment(b, "", f.comments()...)
		for i := range f.steps {
			s := &f.steps[i]
			b.WriteString("\n")
			comment(b, "", title(s))
			comment(b, "", removed(s.edits)...)
			fmt.Fprintf(b, "resource \"vsphere_virtual_machine\" %s {\n%s}\n", hcl(label(s)), arguments("terraform", whole(s.edits, s.memory), terraformNames))
		}
	},
}

// label returns the name of the resource: a letter or underscore comes first.
func label(s *step) string {
	if s.byUUID {
		return "_" + s.id
	}
	return strings.ReplaceAll(s.id, ".", "_")
}

// terraformNames are the arguments of vsphere_virtual_machine.
var terraformNames = map[numa.EditKind]string{numa.EditVCPUs: "num_cpus", numa.EditCoresPerSocket: "num_cores_per_socket", numa.EditCoresPerNUMANode: "num_cores_per_numa_node", numa.EditCPUHotAdd: "cpu_hot_add_enabled",
	numa.EditMemory: "memory", numa.EditMemoryHotAdd: "memory_hot_add_enabled", numa.EditHardware: "hardware_version", numa.EditLatency: "latency_sensitivity",
	numa.EditMemoryReservation: "memory_reservation", numa.EditReserveAll: "memory_reservation_locked_to_max", numa.EditCPUReservation: "cpu_reservation", numa.EditExtraConfig: "extra_config"}

// after returns the value of a setting after the change; "" if it is not in the plan.
func after(c *fix.Change, kind numa.EditKind) string {
	if i := slices.IndexFunc(c.Edits, func(e numa.Edit) bool { return e.Kind == kind }); i >= 0 {
		return c.Edits[i].To.Text
	}
	if i := slices.IndexFunc(c.Basis, func(k fix.Known) bool { return k.Name == string(kind) }); i >= 0 {
		return c.Basis[i].Value
	}
	return ""
}

// whole adds the memory reservation to edits that reserve all memory, because the provider only locks a reservation that is equal to the memory.
func whole(edits []numa.Edit, memory string) []numa.Edit {
	locks := slices.ContainsFunc(edits, func(e numa.Edit) bool { return e.Kind == numa.EditReserveAll && on(e) })
	said := slices.ContainsFunc(edits, func(e numa.Edit) bool { return e.Kind == numa.EditMemoryReservation })
	if locks && !said && memory != "" {
		return append(slices.Clone(edits), numa.Edit{Kind: numa.EditMemoryReservation, To: numa.Is(memory)})
	}
	return edits
}

// arguments prints the edits as arguments, aligned like terraform fmt. names maps edits to arguments of the tool; other edits are omitted.
func arguments(tool string, edits []numa.Edit, names map[numa.EditKind]string) string {
	var lines, settings [][2]string
	for _, e := range edits {
		name := names[e.Kind]
		switch {
		case name == "":
		case e.Kind == numa.EditExtraConfig:
			if e.To.Text != "" {
				settings = append(settings, [2]string{hcl(e.Key), hcl(e.To.Text)})
			}
		case e.Kind == numa.EditCPUHotAdd || e.Kind == numa.EditMemoryHotAdd || e.Kind == numa.EditReserveAll:
			lines = append(lines, [2]string{outside.Attribute(tool, name), boolean(e)})
		case e.Kind == numa.EditCoresPerNUMANode && !e.To.Set: // the value before anyone set it
			lines = append(lines, [2]string{outside.Attribute(tool, name), "0"})
		case e.Kind == numa.EditLatency:
			lines = append(lines, [2]string{outside.Attribute(tool, name), hcl(e.To.Text)})
		default:
			lines = append(lines, [2]string{outside.Attribute(tool, name), number(e.To.Text, hcl)})
		}
	}
	var b strings.Builder
	aligned(&b, "  ", lines)
	if settings != nil {
		if lines != nil {
			b.WriteString("\n")
		}
		b.WriteString("  " + names[numa.EditExtraConfig] + " = {\n")
		aligned(&b, "    ", settings)
		b.WriteString("  }\n")
	}
	return b.String()
}

// number returns a number as a literal that all languages read alike, and any other text in quotes.
func number(s string, quote func(string) string) string {
	if n, err := strconv.ParseUint(s, 10, 63); err == nil {
		return strconv.FormatUint(n, 10)
	}
	return quote(s)
}

func aligned(b *strings.Builder, indent string, lines [][2]string) {
	width := 0
	for _, l := range lines {
		width = max(width, len(l[0]))
	}
	for _, l := range lines {
		fmt.Fprintf(b, "%s%-*s = %s\n", indent, width, l[0], l[1])
	}
}

// removed lists the settings that the edits remove.
func removed(edits []numa.Edit) (out []string) {
	for _, e := range edits {
		if e.Kind == numa.EditExtraConfig && e.To.Text == "" {
			out = append(out, "Take "+e.Key+" out of extra_config. Terraform removes it where Terraform has set it; else remove it by hand.")
		}
	}
	return out
}

// hcl returns the text as an HCL string in ASCII. It escapes $ and %, which begin templates.
func hcl(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r >= ' ' && r <= '~' && r != '$' && r != '%':
			b.WriteRune(r)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
