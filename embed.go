// Package homenode holds the files that the program carries with it.
package homenode

import "embed"

// Published holds the published topologies that homenode validate replays.
//
//go:embed testdata/published/*.txtar
var Published embed.FS

// Simulations holds the published experiments that homenode validate --simulations
// replays.
//
//go:embed testdata/published/sim/*.txtar
var Simulations embed.FS
