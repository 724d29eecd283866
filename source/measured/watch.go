package measured

import (
	"time"

	"homenode/source/machine"
)

// WatchFormat begins every line of homenode measure watch.
const WatchFormat = "homenode-measure-watch"

// A WatchRound is one round of homenode measure watch: a line of JSON. What could not be measured is left out and stands in Missing.
type WatchRound struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Name    string    `json:"name,omitempty"`
	Round   int       `json:"round"` // from 1
	At      time.Time `json:"at"`

	// Same and Fresh are what the latencies of the same pages in every round show, and of pages that were touched in this round, by
	// node of the guest, if it sees several.
	Same  []WatchHidden `json:"same,omitempty"`
	Fresh []WatchHidden `json:"fresh,omitempty"`
	// Changes are what is otherwise than in the rounds before.
	Changes []WatchChange `json:"changes,omitempty"`

	Pairs     []Pair  `json:"pairs,omitempty"` // up to 32 pairs of logical processors, the same in all rounds
	Lost      *Lost   `json:"lost,omitempty"`
	Stun      float64 `json:"longestStunSeconds"` // the longest time since the last round in which no watched processor ran
	CounterHz float64 `json:"counterHz"`
	CoreHz    float64 `json:"coreHz,omitempty"`
	// CPUSeconds is the processor time that this process took since the last round.
	CPUSeconds float64           `json:"cpuSeconds"`
	Missing    []machine.Missing `json:"missing,omitempty"`
}

// WatchHidden is Hidden in short.
type WatchHidden struct {
	Node   *int    `json:"node,omitempty"`
	Answer Answer  `json:"answer"`
	Why    string  `json:"why,omitempty"`
	Median float64 `json:"medianNs"` // of the pages, for all vCPUs
	Delta  float64 `json:"deltaNs,omitempty"`
	Groups [][]int `json:"groups,omitempty"`
	Shares []Share `json:"shares,omitempty"`
}

// A WatchChange is what a round found changed.
type WatchChange struct {
	What  string `json:"what"` // "pages moved", "vCPUs moved", "vCPUs or memory moved", "probably vMotion"
	Says  string `json:"says"`
	Node  *int   `json:"node,omitempty"`
	Pages int    `json:"pages,omitempty"`
	CPUs  []int  `json:"cpus,omitempty"`
}
