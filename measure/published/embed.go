package published

import "embed"

// Shipped has the published topologies that homenode validate replays.
//
//go:embed testdata/*.txtar
var Shipped embed.FS

// Simulations has the published experiments that homenode validate --simulations replays.
//
//go:embed testdata/sim/*.txtar
var Simulations embed.FS

// Worlds has the recorded outcomes of the experiments' worlds.
//
//go:embed testdata/sim/worlds.txt
var Worlds []byte
