package rules

import (
	"time"

	"homenode/capture"
	"homenode/numa"
	"homenode/rules/earlyspill"
	"homenode/rules/flapping"
	"homenode/rules/lopsided"
	"homenode/rules/lowlocality"
	"homenode/rules/onebusynode"
	"homenode/rules/policy"
	"homenode/rules/readybesideidle"
	"homenode/rules/remotememory"
	"homenode/rules/rule"
)

// What a recording hangs on and no rule decides by.
const (
	// gap is the longest time between ticks that still hang together: whoever looks once
	// in five minutes, as cron does with a minute to spare, gets spells, and a night
	// between two files is none.
	gap = 6 * time.Minute
	// buckets bounds a timeline: a drawing is about 1,000 pixels wide, and a VM takes 20 to 40 KB.
	buckets = 512
)

// CaptureOptions returns what recordings count by: the thresholds of the rules that
// judge them, as the configuration sets them; policy may be nil. A recording is judged
// by the options it was made with.
func CaptureOptions(p *policy.Policy) capture.Options {
	set := (&Options{Policy: p}).thresholds()
	value := func(r *rule.Rule, name string) float64 {
		return (&rule.Watch{Rule: r, Thresholds: set}).Threshold(name)
	}
	memory := func(r *rule.Rule, name string) numa.Bytes {
		return numa.Bytes(value(r, name) * float64(numa.GiB))
	}
	return capture.Options{
		Locality:  value(lowlocality.Rule, "locality"),
		Remote:    memory(remotememory.Rule, "remote"),
		BusyNode:  value(onebusynode.Rule, "busy"),
		IdleNode:  value(onebusynode.Rule, "idle"),
		Ready:     value(readybesideidle.Rule, "ready"),
		SpillFree: memory(earlyspill.Rule, "free"),
		SpillStep: memory(earlyspill.Rule, "step"),
		Lopsided:  value(lopsided.Rule, "share"),
		Window:    time.Duration(value(flapping.Rule, "window") * float64(time.Minute)).Truncate(time.Millisecond),
		Gap:       gap,
		Buckets:   buckets,
	}
}
