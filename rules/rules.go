// Package rules lists the rules and runs them over a fleet.
package rules

import (
	"homenode/rule"
	"homenode/rules/affinity"
	"homenode/rules/clientlimits"
	"homenode/rules/cookie"
	"homenode/rules/corespersocket"
	"homenode/rules/fakenodes"
	"homenode/rules/guestview"
	"homenode/rules/hotaddfits"
	"homenode/rules/hotaddwide"
	"homenode/rules/interleaving"
	"homenode/rules/latency"
	"homenode/rules/manualcps20"
	"homenode/rules/manualfit"
	"homenode/rules/memhotadd"
	"homenode/rules/memorysize"
	"homenode/rules/mixedcluster"
	"homenode/rules/nodeaffinity"
	"homenode/rules/noeffect"
	"homenode/rules/notshown"
	"homenode/rules/observedlayout"
	"homenode/rules/overlap"
	"homenode/rules/preferht"
	"homenode/rules/preferhtlate"
	"homenode/rules/socketspan"
	"homenode/rules/staleautosize"
	"homenode/rules/subnuma"
	"homenode/rules/toomanyvcpus"
	"homenode/rules/unequalmemory"
	"homenode/rules/unevensplit"
	"homenode/rules/vnumahotadd"
	"homenode/rules/vpdspan"
	"homenode/rules/widerthanneeded"
)

// All lists the rules by ID.
var All = []*rule.Rule{
	interleaving.Rule,
	unequalmemory.Rule,
	subnuma.Rule,
	hotaddwide.Rule,
	hotaddfits.Rule,
	memhotadd.Rule,
	vpdspan.Rule,
	memorysize.Rule,
	widerthanneeded.Rule,
	unevensplit.Rule,
	corespersocket.Rule,
	socketspan.Rule,
	staleautosize.Rule,
	notshown.Rule,
	preferht.Rule,
	toomanyvcpus.Rule,
	mixedcluster.Rule,
	fakenodes.Rule,
	cookie.Rule,
	manualfit.Rule,
	clientlimits.Rule,
	noeffect.Rule,
	preferhtlate.Rule,
	manualcps20.Rule,
	vnumahotadd.Rule,
	affinity.Rule,
	overlap.Rule,
	nodeaffinity.Rule,
	latency.Rule,
	observedlayout.Rule,
	guestview.Rule,
}
