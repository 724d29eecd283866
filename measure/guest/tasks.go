package guest

// allTasks returns every task of the plan, in the order in which they run. What was not asked for is left out later.
func allTasks(p *Plan) []Task {
	return ladderTasks(p)
}
