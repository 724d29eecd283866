package coefficients

import (
	"slices"

	"example.org/homenode/size/calibrate"
	"example.org/homenode/size/iocost"
)

// Entries returns the costs to store, without lower bounds. Next to costs of hosts, those of guests
// are only counted.
func Entries(costs []calibrate.Cost) (entries []Entry, guests int) {
	// The host's cost is preferred to the guest's part of it, and a curve has only one of them.
	hosts := slices.ContainsFunc(costs, func(cost calibrate.Cost) bool { return cost.Scope == calibrate.Host })
	for i := range costs {
		cost := &costs[i]
		switch {
		case cost.AtLeast():
		case hosts && cost.Scope != calibrate.Host:
			guests++
		default:
			point := cost.Point
			point.Scope = iocost.Scope(cost.Scope)
			entries = append(entries, Entry{Point: point, Method: cost.Method, Sources: cost.Sources, Measured: cost.Started})
		}
	}
	return entries, guests
}
