package recording

import (
	"fmt"

	"homenode/numa"
	"homenode/rules/rule"
)

// Rate writes a share of time with one digit below 10 %, where ready time matters.
func Rate(share float64) string {
	if p := share * 100; p < 9.95 {
		return fmt.Sprintf("%.1f %%", p)
	}
	return rule.Percent(share)
}

// Nodes writes home nodes as esxtop does, or what no home node means.
func Nodes(s numa.NodeSet) string {
	if s == 0 {
		return "not managed"
	}
	return s.String()
}
