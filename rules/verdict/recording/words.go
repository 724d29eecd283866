package recording

// Words are those in which a verdict on captures and one on a simulation differ: what was
// simulated must never read as if it had been seen.
type Words struct {
	The  string // what was judged: the capture
	Seen string // recorded
	// Lacks introduces the counters that are not there; "" where that is not said: what the
	// model does not have is in its documentation.
	Lacks string
}

var ofCapture = Words{"the capture", "recorded", "The capture lacks "}
