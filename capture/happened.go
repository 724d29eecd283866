package capture

import "time"

// An Event is one thing that happened to a host or VM, as a drawing of what followed marks it.
type Event struct {
	Time time.Time
	Text string // a few words
	Note string // more of it, shown when it is pointed at
}

// A Count is how often something happened, since the moment before.
type Count struct {
	Time time.Time
	N    int64
}
