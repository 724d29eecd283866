package numa

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Way is one way to fix a problem: its text, and the corresponding change.
type Way struct {
	Do string `json:"do"` // an imperative without a full stop: "clear numa.nodeAffinity"
	// Edits are the changes of the VM, or of the hosts of a finding. They have no From. Empty for a change without edits: a move, the
	// BIOS setup, a licence.
	Edits []Edit `json:"edits,omitempty"`
	Plan  bool   `json:"plan,omitempty"` // it is the VM's plan, shared by its findings
	Auto  bool   `json:"-"`              // included in a plan of changes without confirmation, in addition to the plan of the VM
}

// ByHand returns a way without edits.
func ByHand(do string) Way { return Way{Do: do} }

// Assign returns the edit that sets an advanced setting of a VM.
func Assign(key, value string) Edit { return Edit{Kind: EditExtraConfig, Key: key, To: Is(value)} }

// Unassign returns the edit that removes an advanced setting of a VM.
func Unassign(key string) Edit { return Edit{Kind: EditExtraConfig, Key: key} }

// To returns the edit that sets a property of a VM to a number.
func (k EditKind) To(n int) Edit { return Edit{Kind: k, To: Is(strconv.Itoa(n))} }

// Either joins alternative ways into one sentence without a full stop: "Clear numa.nodeAffinity, or use at most 18 vCPUs"; "" for none.
func Either(ways []Way) string {
	var parts []string
	for i := range ways {
		parts = append(parts, lower(ways[i].Do))
	}
	glue := ", or "
	if slices.ContainsFunc(parts, func(s string) bool {
		return strings.Contains(s, ", ") || strings.Contains(s, ": ") || strings.Contains(s, "; ") || strings.Contains(s, ". ")
	}) {
		glue = ", or: "
	}
	text := strings.Join(parts, glue)
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// lower returns a sentence with its first letter in lower case, unless it begins with an abbreviation.
func lower(s string) string {
	if len(s) < 2 || s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// An Impossible is a stated value that vSphere rejects.
type Impossible struct {
	Text string
	By   []EditKind // the edits that vSphere rejects with it
	Cure Edit       // the edit that removes it
}

// Impossible returns the values in the configuration that vSphere rejects (vSphere Virtual Machine Administration: allocate memory
// resources, GUID-49D7217C; configure processor scheduling affinity; for limits the API's reservation and limit of an allocation). Less
// memory is not rejected: vSphere lowers the reservation with it.
func (c *Config) Impossible() (out []Impossible) {
	if most, has := c.CPULimit.Value, c.CPUReservation.Value; c.CPULimit.Known() && most > 0 && has > most {
		out = append(out, Impossible{fmt.Sprintf("the CPU reservation of %d MHz is above the CPU limit of %d MHz", has, most),
			[]EditKind{EditCPUReservation}, EditCPUReservation.To(most)})
	}
	has := c.MemoryReservation.Value
	if most, ok := c.LimitedTo(); ok && has > most {
		out = append(out, Impossible{fmt.Sprintf("the memory reservation of %s is above the memory limit of %s", has, most),
			[]EditKind{EditMemoryReservation}, EditMemoryReservation.To(int(most.Whole() / MiB))})
	} else if most := c.Memory.Value; c.Memory.Known() && has > most {
		out = append(out, Impossible{fmt.Sprintf("the memory reservation of %s is above the memory of the VM, %s", has, most),
			[]EditKind{EditMemoryReservation}, EditMemoryReservation.To(int(most / MiB))})
	}
	if has := len(c.CPUAffinity.Value); c.VCPUs.Known() && has > 0 && has < c.VCPUs.Value {
		out = append(out, Impossible{fmt.Sprintf("the CPU affinity has %d PCPUs, fewer than the %d vCPUs", has, c.VCPUs.Value),
			[]EditKind{EditCPUAffinity, EditVCPUs}, Edit{Kind: EditCPUAffinity, To: Is("")}})
	}
	return out
}
