package effect

import (
	"fmt"
	"slices"

	"example.org/homenode/internal/words"
)

// A Truth answers one question about a change.
type Truth string

// The truths.
const (
	Yes     Truth = "yes"
	No      Truth = "no"
	Unknown Truth = "not known yet"
)

// A Check is the outcome of the change of one VM or host.
type Check struct {
	ID       string `json:"moref"`
	Name     string `json:"name"`
	Written  Truth  `json:"written"`  // its settings match the plan
	InEffect Truth  `json:"inEffect"` // a power cycle was observed since, and no observation contradicts the prediction
	Observed bool   `json:"observed"` // its layout was observed since, and is as predicted
	Why      string `json:"why,omitempty"`
	// Cures are the rules whose findings the change cures; a requested change may have none.
	Cures []string `json:"cures,omitempty"`
	// Measure, From and To are the predicted difference; Measure is "" if none is predicted.
	Measure string  `json:"measure,omitempty"`
	From    float64 `json:"from"`
	To      float64 `json:"to"`
}

// A Verdict states whether a change is written, in effect, and helped.
type Verdict struct {
	Plan    string  `json:"plan"`
	Undo    bool    `json:"undo,omitempty"` // it was taken back; Written of a check is then whether the object is as it was before
	Journal string  `json:"journal"`
	Checks  []Check `json:"checks"`
	// Measured is the comparison before and after; nil without samples. NoSamples is the reason.
	Measured  *Report `json:"measured,omitempty"`
	NoSamples string  `json:"noSamples,omitempty"`
	// Helped is the overall answer. Helped: everything is written, in effect, and measured to help. AsPredicted: nothing was
	// measured, and observations are as predicted. Worse: something is not written, was undone by others, or is measured to
	// harm. TakenBack: everything is as it was before, and in effect. PartlyBack: something is not.
	Helped Answer `json:"helped"`
	Why    string `json:"why"`
}

// Conclude sets Helped and Why.
func (v *Verdict) Conclude() {
	cures := true
	var unseen, waiting []string // objects whose layout was not observed, and whose change is not known to be in effect, with the reason
	for i := range v.Checks {
		c := &v.Checks[i]
		if cures = cures && len(c.Cures) > 0; !c.Observed {
			unseen = append(unseen, c.Name)
		}
		if c.Written == Unknown || c.InEffect == Unknown {
			waiting = append(waiting, fmt.Sprintf("%s (%s)", c.Name, c.Why))
		}
	}
	of := func(names []string) string {
		return fmt.Sprintf("%d of %s: %s", len(names), words.Plural(len(v.Checks), "object"), words.Few(names))
	}
	tested := v.Measured != nil && v.Measured.Main.Test != nil
	switch {
	case len(v.Checks) == 0:
		v.Helped, v.Why = NotKnown, "nothing was changed"
	case v.Undo:
		v.undone()
	case slices.ContainsFunc(v.Checks, func(c Check) bool { return c.Written == No }):
		v.Helped, v.Why = Worse, "something is not written, or is no longer as the plan left it"
	case v.Measured != nil && len(v.Measured.Worse()) > 0:
		v.Helped, v.Why = Worse, v.Measured.Worse()[0].Measure.Title+" got worse"
	case slices.ContainsFunc(v.Checks, func(c Check) bool { return c.InEffect == No }):
		v.Helped, v.Why = Worse, "what is in effect is not what was predicted"
	case waiting != nil:
		v.Helped, v.Why = NotKnown, "the change is not known to be in effect for "+of(waiting)
	case v.Measured != nil && v.Measured.Main.Answer == Helped:
		v.Helped, v.Why = Helped, v.Measured.Main.Measure.Title+" got better, measured beside VMs that were not changed"
	case unseen == nil && cures && !tested:
		v.Helped, v.Why = AsPredicted, "the layout was seen and is the predicted one; what it gains was not measured"
	case tested:
		v.Helped, v.Why = NotKnown, "it is written and in effect, but no effect on "+v.Measured.Main.Measure.Title+" can be told from chance"
	case unseen != nil:
		v.Helped, v.Why = NotKnown, "all is written and in effect, but no layout was seen for "+of(unseen)+"; give the vmware.log of each, from its folder on the datastore, with --evidence (a simulated vCenter writes none)"
	default:
		v.Helped, v.Why = NotKnown, "it is written and in effect, but no effect was measured"
	}
}

// undone sets Helped and Why of a run that was taken back, by its objects: of one that is back and one that stays each counts.
func (v *Verdict) undone() {
	var back, stay, open []string
	for i := range v.Checks {
		c := &v.Checks[i]
		list := &back
		switch {
		case c.Written == No || c.InEffect == No:
			list = &stay
		case c.Written == Unknown || c.InEffect == Unknown:
			list = &open
		}
		*list = words.Once(*list, c.Name)
	}
	stays := words.Verb(len(stay), "object stays", "objects stay") + " as the run left it, or in part: " + words.Few(stay)
	switch {
	case stay == nil && open == nil:
		v.Helped, v.Why = TakenBack, words.Verb(len(back), "object is", "objects are")+" as before the run"
	case stay == nil:
		v.Helped, v.Why = NotKnown, "the run was taken back, but that is not in effect everywhere: "+words.Few(open)
	case back == nil:
		v.Helped, v.Why = PartlyBack, stays
	default:
		v.Helped, v.Why = PartlyBack, fmt.Sprintf("%s: as before the run; %s", words.Few(back), stays)
	}
}
