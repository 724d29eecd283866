package script

import (
	"bytes"
	"strings"

	"example.org/homenode/change/fix"
	"example.org/homenode/internal/outside"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// govc prints shell scripts that call govc. The account comes from its variables, such as GOVC_URL.
var govc = &tool{
	about: []string{"For sh with govc and jq; the vCenter and the account are those of GOVC_URL, GOVC_USERNAME and GOVC_PASSWORD."},
	cannot: func(_ *fix.Change, e numa.Edit) string {
		switch e.Kind {
		case numa.EditCoresPerSocket, numa.EditCoresPerNUMANode, numa.EditVNUMAHotAdd, numa.EditCPUAffinity:
			return "govc vm.change has no flag for it"
		case numa.EditExtraConfig:
			if strings.Contains(e.Key, "=") {
				return "govc takes the key until the first ="
			}
		}
		return ""
	},
	finds: true,
	print: func(b *bytes.Buffer, f *form) { f.sh(b) },
}

// govcCommands returns the commands of a step. One vm.change has all edits that it supports.
func govcCommands(s *step) (out []string) {
	if s.host {
		for _, e := range s.edits {
			out = append(out, words.Command("govc", "host.option.set", "-host", kindHost+":"+s.id, e.Key, e.To.Text))
		}
		return out
	}
	flag := func(name string) string { return outside.Attribute("govc", name) }
	vm := kindVM + ":" + s.id
	change := []string{"govc", "vm.change", "-vm", vm}
	for _, e := range s.edits {
		switch e.Kind {
		case numa.EditHardware:
			out = append(out, words.Command("govc", "vm.upgrade", "-version="+e.To.Text, "-vm", vm))
		case numa.EditVCPUs:
			change = append(change, flag("-c"), e.To.Text)
		case numa.EditMemory:
			change = append(change, flag("-m"), e.To.Text)
		case numa.EditCPUHotAdd:
			change = append(change, flag("-cpu-hot-add-enabled")+"="+boolean(e))
		case numa.EditMemoryHotAdd:
			change = append(change, flag("-memory-hot-add-enabled")+"="+boolean(e))
		case numa.EditLatency:
			change = append(change, flag("-latency"), e.To.Text)
		case numa.EditMemoryReservation:
			change = append(change, flag("-mem.reservation"), e.To.Text)
		case numa.EditReserveAll:
			change = append(change, flag("-memory-pin")+"="+boolean(e))
		case numa.EditCPUReservation:
			change = append(change, flag("-cpu.reservation"), e.To.Text)
		case numa.EditExtraConfig: // an empty value removes it
			change = append(change, flag("-e"), e.Key+"="+e.To.Text)
		}
	}
	if len(change) > 4 {
		out = append(out, words.Command(change...))
	}
	return out
}

// boolean returns the target value of a boolean edit.
func boolean(e numa.Edit) string {
	if on(e) {
		return "true"
	}
	return "false"
}
