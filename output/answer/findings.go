package answer

import "homenode/rules"

// Findings are those of a judgement with what every form needs to print them.
type Findings struct {
	*rules.Judgement
}
