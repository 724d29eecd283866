package guest

import "slices"

// allTasks returns every task of the plan, in the order of execution. Parts that are not requested are removed
// later.
func allTasks(p *Plan) []Task {
	if !slices.ContainsFunc(Parts, func(part Part) bool { return part != Topology && p.Options.asks(part) }) {
		return nil
	}
	return slices.Concat(hiddenTasks(p), lostTasks(p), memoryTasks(p), coreTasks(p), ladderTasks(p))
}
