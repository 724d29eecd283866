// Package policy contains the configuration of a fleet's owner: thresholds and severities of
// rules, findings that are accepted until a date, each with the reason, and limits for homenode
// fix. It reads homenode.yaml and applies it to findings.
package policy

import "example.org/homenode/rules/finding"

// DefaultFile is the name of the configuration that is read from the working directory.
const DefaultFile = "homenode.yaml"

// A Policy is one configuration. The zero value changes nothing.
type Policy struct {
	File string // as given to Parse; used in notes
	// Thresholds by rule and name: N005.seriousShare.
	Thresholds map[string]float64
	// Severities by rule ID: every finding of the rule gets this one.
	Severities map[string]finding.Severity
	Off        map[string]bool // by rule ID: nothing is reported
	Suppress   []Suppression
	Expect     []Expectation
	Fix        Fix

	watch map[string]bool // IDs of the rules that assess recordings
}

// A Suppression accepts findings of some rules about some VMs or hosts until a date.
type Suppression struct {
	Rules []string `json:"rules"` // IDs; nil means all
	// The matching findings: those that match one pattern of each list that is not empty. At
	// least one list is not empty.
	VM      []string `json:"vm,omitempty"`
	Tag     []string `json:"tag,omitempty"`
	Folder  []string `json:"folder,omitempty"`
	Cluster []string `json:"cluster,omitempty"`
	Host    []string `json:"host,omitempty"`
	Reason  string   `json:"reason"`
	Until   string   `json:"until"` // the last day on which it applies, 2027-01-31
	At      string   `json:"at"`    // file:line:col
}
