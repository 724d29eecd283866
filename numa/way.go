package numa

import (
	"slices"
	"strconv"
	"strings"
)

// A Way is one way to cure something: its words, and the change that they name.
type Way struct {
	Do string `json:"do"` // an imperative without a full stop: "clear numa.nodeAffinity"
	// Edits are the change: of the VM, or of the hosts that a finding is about. They have no From. None for a change that no edit
	// states: a move, the BIOS setup, a licence.
	Edits []Edit `json:"edits,omitempty"`
	Plan  bool   `json:"plan,omitempty"` // it is the plan of the VM, which its findings share
	Auto  bool   `json:"-"`              // a plan of changes takes it without being asked, beside the plan of the VM
}

// ByHand returns a way that no edit states.
func ByHand(do string) Way { return Way{Do: do} }

// Assign returns the edit that gives an advanced setting of a VM a value.
func Assign(key, value string) Edit { return Edit{Kind: EditExtraConfig, Key: key, To: Is(value)} }

// Unassign returns the edit that removes an advanced setting of a VM.
func Unassign(key string) Edit { return Edit{Kind: EditExtraConfig, Key: key} }

// To returns the edit that gives a property of a VM a number.
func (k EditKind) To(n int) Edit { return Edit{Kind: k, To: Is(strconv.Itoa(n))} }

// Either says in one sentence without a full stop that each of the ways cures alone: "Clear numa.nodeAffinity, or use at most
// 18 vCPUs"; "" for none.
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
