package script

import (
	"bytes"
	"encoding/json"
	"strconv"

	"homenode/internal/words"
	"homenode/numa"
)

// rest prints shell scripts that call the vSphere Automation API (/api, vSphere 7.0 Update 2 and later).
var rest = &tool{
	about: []string{"For sh with curl and jq; the vCenter and the account are those of VSPHERE_SERVER, VSPHERE_USER and VSPHERE_PASSWORD; CURL_CA_BUNDLE",
		"names its certificate. vCPUs and memory are two calls: a change of both is not made at once."},
	cannot: restCannot,
	reads: func(r *row) bool {
		return r.What == identity || restCannot(numa.Edit{Kind: numa.EditKind(r.What), From: numa.Is(r.From), To: numa.Is(r.To)}) == ""
	},
	print: func(b *bytes.Buffer, f *form) { f.sh(b, "rest", restCommands) },
}

func restCannot(e numa.Edit) string {
	switch e.Kind {
	case numa.EditHardware, numa.EditVCPUs, numa.EditMemory, numa.EditCPUHotAdd, numa.EditMemoryHotAdd:
		return ""
	case numa.EditCoresPerSocket:
		if e.From.Text != "0" && e.To.Text != "0" {
			return ""
		}
		return "/api/vcenter/vm/{vm}/hardware/cpu has no cores per socket that are assigned at power-on"
	case numa.EditExtraConfig:
		return "/api/vcenter/vm has no advanced settings"
	}
	return "/api/vcenter has no such setting"
}

// restCommands returns the calls for a step.
func restCommands(s *step) (out []string) {
	cpu, memory := map[string]any{}, map[string]any{}
	vm := "vcenter/vm/" + s.id
	for _, e := range s.edits {
		n, _ := strconv.Atoi(e.To.Text) // the plan checked it
		switch e.Kind {
		case numa.EditHardware:
			out = append(out, words.Command("call", "POST", vm+"/hardware?action=upgrade", object(map[string]any{"version": hardwareName(n)})))
		case numa.EditVCPUs:
			cpu["count"] = n
		case numa.EditCoresPerSocket:
			cpu["cores_per_socket"] = n
		case numa.EditCPUHotAdd:
			cpu["hot_add_enabled"] = on(e)
		case numa.EditMemory:
			memory["size_MiB"] = n
		case numa.EditMemoryHotAdd:
			memory["hot_add_enabled"] = on(e)
		}
	}
	if len(cpu) > 0 {
		out = append(out, words.Command("call", "PATCH", vm+"/hardware/cpu", object(cpu)))
	}
	if len(memory) > 0 {
		out = append(out, words.Command("call", "PATCH", vm+"/hardware/memory", object(memory)))
	}
	return out
}

func object(m map[string]any) string {
	data, _ := json.Marshal(m) // numbers and booleans
	return string(data)
}

// hardwareName returns a hardware version as the Automation API writes it.
func hardwareName(n int) string {
	if n < 10 {
		return "VMX_0" + strconv.Itoa(n)
	}
	return "VMX_" + strconv.Itoa(n)
}
