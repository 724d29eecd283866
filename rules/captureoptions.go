package rules

import (
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/rules/check/earlyspill"
	"example.org/homenode/rules/check/flapping"
	"example.org/homenode/rules/check/lopsided"
	"example.org/homenode/rules/check/lowlocality"
	"example.org/homenode/rules/check/onebusynode"
	"example.org/homenode/rules/check/readybesideidle"
	"example.org/homenode/rules/check/remotememory"
	"example.org/homenode/rules/policy"
	"example.org/homenode/rules/rule"
)

// Settings of recordings that no rule uses.
const (
	// gap is the longest time between two ticks of one spell: with a tick every five minutes, as
	// from cron with a minute of tolerance, there are spells, but a night between two files does
	// not belong to one.
	gap = 6 * time.Minute
	// buckets limits a timeline: a drawing is about 1,000 pixels wide, and a VM needs 20 to 40 KB.
	buckets = 512
)

// CaptureOptions returns the options of recordings: the thresholds of the rules that assess them,
// with the values of the configuration; policy may be nil. A recording is assessed with the
// options that it was made with.
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
