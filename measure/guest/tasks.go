package guest

import "slices"

// allTasks returns every task of the plan, in the order in which they run. What was not asked for is left out later.
func allTasks(p *Plan) []Task {
	if !slices.ContainsFunc(Parts, func(part Part) bool { return part != Topology && p.Options.asks(part) }) {
		return nil
	}
	return slices.Concat(hiddenTasks(p), lostTasks(p), memoryTasks(p), coreTasks(p), ladderTasks(p))
}
