//go:build !unix

package esxtop

import "time"

// cpuTime returns 0: nothing portable tells it.
func cpuTime() time.Duration { return 0 }
