package capture

import "time"

// An Event is one event of a host or VM, as charts mark it.
type Event struct {
	Time time.Time
	Text string // a few words
	Note string // details, shown when it is pointed at
}

// A Count is the number of occurrences since the previous moment.
type Count struct {
	Time time.Time
	N    int64
}
