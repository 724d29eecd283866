// Package effect assesses whether a change of VMs helped, from a measure of each VM and day, before and after, compared with VMs
// that were not changed. It does no input or output.
//
// The number is a difference in differences: the gain of the changed VMs minus the gain of their controls on the same days. Its p is
// the share of ways to choose the "changed" VMs that give as large a difference. That is correct if all VMs vary alike. They do not
// if, for example, N%L of the controls is 100 % every day. So the difference must also be improbable given the daily variation of
// each group; p is the larger of both. TestNoEffect measures the error rates of both.
//
// Limitation: VMs that were chosen because their last days were bad improve by themselves, changed or not. Of 20 similar VMs, the 5
// worst of 7 days were assessed as helped in half of the fleets (TestChosenBad). Findings about settings do not select VMs this way.
// If you select VMs by observations, exclude those days.
package effect

import (
	"time"

	"example.org/homenode/internal/stat"
	"example.org/homenode/measure/quantity"
)

// An Answer states whether the change helped.
type Answer string

// The answers. NotKnown also covers effects that are too small to matter, and no effect.
const (
	Helped   Answer = "helped"
	Worse    Answer = "worse"
	NotKnown Answer = "not known yet"
	// AsPredicted is the answer for a change as a whole without measurements: its effect was observed, and is as predicted.
	AsPredicted Answer = "as predicted"
	// TakenBack and PartlyBack are the answers for a run that was taken back.
	TakenBack  Answer = "taken back"
	PartlyBack Answer = "taken back in part"
)

const (
	// Level is the limit for p.
	Level = 0.05

	// Power is the probability with which an effect that is called visible is detected.
	Power = 0.80

	// LeastControls is the minimum number of unchanged VMs in a cluster.
	LeastControls = 10

	// LeastChanged is the minimum number of changed VMs for a test: with one, the effects of the change and of the VM cannot be
	// separated.
	LeastChanged = 2

	// Similar is the maximum ratio between the vCPUs of a changed VM and its controls. It is an assumption.
	Similar = 2

	// Window is the maximum number of days before and after the change. It is an assumption: two weeks have each weekday twice, and
	// older days are less representative.
	Window = 14
)

// A VM is one VM of a cluster, changed or not.
type VM struct {
	ID      string // unique
	Name    string
	Cluster string
	VCPUs   int
	// Changed is the time at which the change was written; zero for an unchanged VM.
	Changed time.Time
	// Effective is the time at which it took effect: the power-on after Changed, or Changed if no power-on is needed; zero if it has
	// not yet.
	Effective time.Time
	PowerOns  []time.Time
	Stays     []Stay           // in time order
	Days      map[string][]Day // by Measure.Name: the result of DaysOf
}

// A Result is the outcome of one measure for a group of VMs.
type Result struct {
	Measure quantity.Quantity `json:"measure"`
	Answer  Answer            `json:"answer"`
	Why     string            `json:"why,omitempty"` // reason for NotKnown

	VMs      []Changed `json:"vms"`      // the changed VMs, by cluster and ID
	Controls []Control `json:"controls"` // the VMs that they are compared with
	Left     []Left    `json:"left,omitempty"`

	Tested int     `json:"tested"` // number of VMs in the test
	Before int     `json:"daysBefore"`
	After  int     `json:"daysAfter"` // minimum over the VMs, like Before
	Spread *Spread `json:"spread,omitempty"`
	*Test          // nil without a test
}

// A Test is the difference and its certainty, in the unit of the measure.
type Test struct {
	Effect float64 `json:"effect"` // gain of the changed VMs minus gain of the controls; Measure.Higher tells whether more is better
	stat.Interval
	P      float64 `json:"p"`      // two-sided: the larger of the next two
	Chosen float64 `json:"pWays"`  // by permutation of the changed VMs
	Daily  float64 `json:"pDaily"` // by the variation of the VMs from day to day, or of their gains
	Ways   int     `json:"ways"`   // number of permutations tried, including the true one: Chosen cannot be below 1 ÷ Ways
	All    bool    `json:"all"`    // all existing permutations were tried
}

// A Changed has the numbers of a changed VM, in the unit of the measure.
type Changed struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Cluster    string   `json:"cluster"`
	Before     *float64 `json:"before,omitempty"` // mean of its days; nil without any
	After      *float64 `json:"after,omitempty"`
	DaysBefore int      `json:"daysBefore"` // valid days
	DaysAfter  int      `json:"daysAfter"`
	Gain       *float64 `json:"gain,omitempty"`  // after − before, minus the gain of the controls on the same days
	Alone      string   `json:"alone,omitempty"` // why it is not in the test
	Note       string   `json:"note,omitempty"`  // other changes
}

// A Control is an unchanged VM for comparison.
type Control struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Cluster string   `json:"cluster"`
	Before  float64  `json:"before"`          // mean of the days before the first change of its cluster (After: after it), in the unit of the measure
	After   *float64 `json:"after,omitempty"` // nil without any day yet
}

// A Left is a VM in the cluster of a changed VM that was rejected as a control.
type Left struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Why  string `json:"why"`
}
