// Package policy holds what a fleet's owner wants judged otherwise: thresholds and
// severities of rules, and findings that are accepted until a date, each with the
// reason; and how careful homenode fix is. It reads homenode.yaml and applies it to findings.
package policy

import "homenode/rules/finding"

// DefaultFile is the name of the configuration that is taken from the working
// directory.
const DefaultFile = "homenode.yaml"

// A Policy is one configuration. The zero value changes nothing.
type Policy struct {
	File string // as given to Parse; stands in notes
	// Thresholds by rule and name: N005.seriousShare.
	Thresholds map[string]float64
	// Severities by rule ID: every finding of the rule gets this one.
	Severities map[string]finding.Severity
	Off        map[string]bool // by rule ID: nothing is reported
	Suppress   []Suppression
	Expect     []Expectation
	Fix        Fix

	watch map[string]bool // IDs of the rules that judge recordings
}

// A Suppression accepts findings of some rules about some VMs or hosts until a date.
type Suppression struct {
	Rules []string `json:"rules"` // IDs; nil means all
	// The findings that are meant: those that match one pattern of each list that is
	// not empty. At least one list is not.
	VM      []string `json:"vm,omitempty"`
	Tag     []string `json:"tag,omitempty"`
	Folder  []string `json:"folder,omitempty"`
	Cluster []string `json:"cluster,omitempty"`
	Host    []string `json:"host,omitempty"`
	Reason  string   `json:"reason"`
	Until   string   `json:"until"` // the last day it holds, 2027-01-31
	At      string   `json:"at"`    // file:line:col
}
