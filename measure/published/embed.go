package published

import "embed"

// Shipped holds the published topologies that homenode validate replays.
//
//go:embed testdata/*.txtar
var Shipped embed.FS

// Simulations holds the published experiments that homenode validate --simulations
// replays.
//
//go:embed testdata/sim/*.txtar
var Simulations embed.FS

// Worlds is the record of the worlds that were played of the experiments.
//
//go:embed testdata/sim/worlds.txt
var Worlds []byte
