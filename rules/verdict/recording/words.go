package recording

// Words are the words that differ between verdicts on captures and on simulations: simulated
// results must never read like observations.
type Words struct {
	The  string // the assessed data: the capture
	Seen string // recorded
	// Lacks introduces the missing counters; "" to omit them: the limits of the model are in
	// its documentation.
	Lacks string
}

var ofCapture = Words{"the capture", "recorded", "The capture lacks "}
