package fleet

import (
	"fmt"

	"example.org/homenode/internal/words"
	"example.org/homenode/rules"
)

// Observed counts the observations of a fleet by their agreement with the predictions.
type Observed struct{ VMs, All, Agree, Differ int }

// CountObserved counts the observations of the assessed VMs.
func CountObserved(r *rules.Result) (n Observed) {
	for v := range r.EachVM() {
		if len(v.Seen) > 0 {
			n.VMs++
		}
		for i := range v.Seen {
			n.All++
			switch s := &v.Seen[i]; {
			case s.Agrees():
				n.Agree++
			case s.Comparable():
				n.Differ++
			}
		}
	}
	return n
}

// String returns "4 VMs, 6 observations: 5 agree with the prediction, 1 differs", or "" without
// observations.
func (n Observed) String() string {
	if n.All == 0 {
		return ""
	}
	text := fmt.Sprintf("%s, %s: %s with the prediction, %s", words.Plural(n.VMs, "VM"), words.Plural(n.All, "observation"), words.Verb(n.Agree, "agrees", "agree"), words.Verb(n.Differ, "differs", "differ"))
	if rest := n.All - n.Agree - n.Differ; rest > 0 {
		text += fmt.Sprintf(", %d cannot be compared", rest)
	}
	return text
}
