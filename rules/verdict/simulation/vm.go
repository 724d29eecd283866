package simulation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"homenode/numa"
	"homenode/rules/simulate"
	"homenode/rules/verdict/recording"
)

// Least returns the life with the least N%L; nil when it has none.
func (v *VM) Least() *recording.VM {
	var lowest *recording.VM
	least := 0.0
	for _, life := range v.Lives {
		if share, ok := life.LeastLocality(); ok && !life.Blind && (lowest == nil || share < least) {
			lowest, least = life, share
		}
	}
	return lowest
}

// Blind reports whether N%L of the VM means nothing.
func (v *VM) Blind() bool {
	return slices.ContainsFunc(v.Lives, func(l *recording.VM) bool { return l.Blind })
}

// Hosts names the hosts that it ran on, in the order of time.
func (v *VM) Hosts() []string {
	var names []string
	for _, l := range v.Lives {
		if n := len(names); n == 0 || names[n-1] != l.Rec.Host {
			names = append(names, l.Rec.Host)
		}
	}
	return names
}

// Ran returns how long it ran.
func (v *VM) Ran() time.Duration { return time.Duration(v.Out.Steps) * numa.Step }

// Missing returns the most memory that was swapped or ballooned when that left moments of
// the VM without a price.
func (v *VM) Missing() numa.Bytes {
	if v.Took == nil || v.Took.Unpriced == 0 {
		return 0
	}
	return v.Took.Taken()
}

// TakenText says how much memory was swapped and ballooned at the most; "" for none.
func (v *VM) TakenText() string {
	if v.Took == nil {
		return ""
	}
	var parts []string
	if n := v.Took.Swapped; n > 0 {
		parts = append(parts, n.String()+" swapped")
	}
	if n := v.Took.Balloon; n > 0 {
		parts = append(parts, n.String()+" ballooned")
	}
	return strings.Join(parts, ", ")
}

// Index writes a performance index with its interval: "0.91 (0.89–0.96)*"; a star marks
// that it is extrapolated.
func Index(s *simulate.Speed) string {
	text := fmt.Sprintf("%.2f (%.2f–%.2f)", s.Mean, s.Low, s.High)
	if s.Extrapolated {
		text += "*"
	}
	return text
}

// VCPUs returns how many vCPUs it had at the last.
func (v *VM) VCPUs() int {
	if n := len(v.Lives); n > 0 && v.Lives[n-1].VCPUs > 0 {
		return v.Lives[n-1].VCPUs
	}
	return v.Config.VCPUs.Value
}
