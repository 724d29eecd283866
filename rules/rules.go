// Package rules lists the rules and runs them over a fleet.
package rules

import (
	"homenode/rule"
	"homenode/rules/corespersocket"
	"homenode/rules/guestview"
	"homenode/rules/hotaddfits"
	"homenode/rules/hotaddwide"
	"homenode/rules/interleaving"
	"homenode/rules/memhotadd"
	"homenode/rules/memorysize"
	"homenode/rules/mixedcluster"
	"homenode/rules/notshown"
	"homenode/rules/observedlayout"
	"homenode/rules/preferht"
	"homenode/rules/socketspan"
	"homenode/rules/staleautosize"
	"homenode/rules/subnuma"
	"homenode/rules/toomanyvcpus"
	"homenode/rules/unequalmemory"
	"homenode/rules/unevensplit"
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
	observedlayout.Rule,
	guestview.Rule,
}
