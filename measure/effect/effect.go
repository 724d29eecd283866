// Package effect says whether a change of VMs helped: a measure of each VM and day, before and after,
// beside that of VMs that were not changed. It does no input or output.
//
// The number is a difference in differences: what the changed VMs gained, less what their controls gained in the same
// days. Its p is the share of ways to choose which VMs "were changed" that give as large a difference. That is right
// when all VMs vary alike. They do not when, say, N%L of the controls is 100 % every day, so the difference must also be
// improbable by how much each group varies from day to day; p is the larger of both. TestNoEffect measures how
// often either errs.
//
// What it cannot know: VMs that were chosen because their last days were bad get better by themselves, changed or not. Of
// 20 like VMs the 5 worst of 7 days were called helped in half of the fleets (TestChosenBad). Findings about settings do
// not choose so; who chooses by what was observed leaves out those days.
package effect

import (
	"time"

	"homenode/internal/stat"
	"homenode/measure/quantity"
)

// An Answer says whether the change helped.
type Answer string

// The answers. NotKnown is also said of an effect that is too small to matter, and of none.
const (
	Helped   Answer = "helped"
	Worse    Answer = "worse"
	NotKnown Answer = "not known yet"
	// AsPredicted is said of a change as a whole, where nothing was measured: what is in effect was seen, and is what was predicted.
	AsPredicted Answer = "as predicted"
)

const (
	// Level is below which p has to be.
	Level = 0.05

	// Power is how often an effect is seen that is said to be visible.
	Power = 0.80

	// LeastControls is how many VMs a cluster needs that were not changed.
	LeastControls = 10

	// LeastChanged is how many changed VMs are tested: of one alone it cannot be told what is the change and what
	// the VM.
	LeastChanged = 2

	// Similar is how many times the vCPUs of a changed VM its controls have at most, and it theirs. It is assumed.
	Similar = 2

	// Window is how many days are taken before the change and after it at most. It is assumed: two
	// weeks have each weekday twice, and older days say less of now.
	Window = 14
)

// A VM is what is known of one VM of a cluster, changed or not.
type VM struct {
	ID      string // tells VMs from each other
	Name    string
	Cluster string
	VCPUs   int
	// Changed is when the change was written; zero for a VM that was not changed. To ask before a change
	// how many days it takes to see it, set both to now (Spread.DaysFor).
	Changed time.Time
	// Effective is when it took effect: the power-on after Changed, or Changed where none is needed; zero while it
	// has not.
	Effective time.Time
	PowerOns  []time.Time
	Stays     []Stay           // in the order of time
	Days      map[string][]Day // by Measure.Name: what DaysOf makes
}

// A Result is what became of one measure of a group of VMs.
type Result struct {
	Measure quantity.Quantity `json:"measure"`
	Answer  Answer            `json:"answer"`
	Why     string            `json:"why,omitempty"` // of NotKnown

	VMs      []Changed `json:"vms"`      // that were changed, by cluster and ID
	Controls []Control `json:"controls"` // that they were compared with
	Left     []Left    `json:"left,omitempty"`

	Tested int     `json:"tested"` // of VMs, those that the test has
	Before int     `json:"daysBefore"`
	After  int     `json:"daysAfter"` // of the VM with the fewest; as Before
	Spread *Spread `json:"spread,omitempty"`
	*Test          // nil when there was none
}

// A Test is the difference and how sure it is, in the unit of the measure.
type Test struct {
	Effect float64 `json:"effect"` // what the changed VMs gained, less what the controls did; Measure.Higher says whether more is better
	stat.Interval
	P      float64 `json:"p"`      // two-sided: the larger of the next two
	Chosen float64 `json:"pWays"`  // by permutation of which VMs were changed
	Daily  float64 `json:"pDaily"` // by how much the VMs vary from day to day, or their gains from each other
	Ways   int     `json:"ways"`   // that were tried, the true one among them: Chosen cannot be below 1 ÷ Ways
	All    bool    `json:"all"`    // these are all that exist
}

// A Changed is the numbers of a changed VM, in the unit of the measure.
type Changed struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Cluster    string   `json:"cluster"`
	Before     *float64 `json:"before,omitempty"` // mean of its days; nil without any
	After      *float64 `json:"after,omitempty"`
	DaysBefore int      `json:"daysBefore"` // that count
	DaysAfter  int      `json:"daysAfter"`
	Gain       *float64 `json:"gain,omitempty"`  // after − before, less what the controls gained in the same days
	Alone      string   `json:"alone,omitempty"` // why the test has it not
	Note       string   `json:"note,omitempty"`  // what else changed
}

// A Control is a VM that was not changed and is compared with.
type Control struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Cluster string   `json:"cluster"`
	Before  float64  `json:"before"`          // mean of the days before and after the first change of its cluster, in the unit of the measure
	After   *float64 `json:"after,omitempty"` // nil when there is no day yet
}

// A Left is a VM of a changed one's cluster that was not taken as control.
type Left struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Why  string `json:"why"`
}
