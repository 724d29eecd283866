package simulation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/rules/simulate"
	"example.org/homenode/rules/verdict/recording"
)

// Least returns the life with the minimum N%L; nil if there is none.
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

// Blind reports whether N%L of the VM is meaningless.
func (v *VM) Blind() bool {
	return slices.ContainsFunc(v.Lives, func(l *recording.VM) bool { return l.Blind })
}

// Hosts lists the hosts on which it ran, in the order of time.
func (v *VM) Hosts() []string {
	var names []string
	for _, l := range v.Lives {
		if n := len(names); n == 0 || names[n-1] != l.Rec.Host {
			names = append(names, l.Rec.Host)
		}
	}
	return names
}

// Ran returns its running time.
func (v *VM) Ran() time.Duration { return time.Duration(v.Out.Steps) * numa.Step }

// Missing returns the maximum amount of swapped or ballooned memory if it left moments of the
// VM without a speed.
func (v *VM) Missing() numa.Bytes {
	if v.Took == nil || v.Took.Unpriced == 0 {
		return 0
	}
	return v.Took.Taken()
}

// TakenText describes the maximum amounts of swapped and ballooned memory; "" for none.
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

// Index formats a performance index with its interval: "0.91 (0.89–0.96)*"; a star marks an
// extrapolated value.
func Index(s *simulate.Speed) string {
	text := fmt.Sprintf("%.2f (%.2f–%.2f)", s.Mean, s.Low, s.High)
	if s.Extrapolated {
		text += "*"
	}
	return text
}

// VCPUs returns its last number of vCPUs.
func (v *VM) VCPUs() int {
	if n := len(v.Lives); n > 0 && v.Lives[n-1].VCPUs > 0 {
		return v.Lives[n-1].VCPUs
	}
	return v.Config.VCPUs.Value
}
