package scheduler

// ShortenLog lets the why-log keep so many decisions until the function that it returns
// is called.
func ShortenLog(most int) (undo func()) {
	before := mostDecisions
	mostDecisions = most
	return func() { mostDecisions = before }
}
