//go:build !linux

package lost

import "time"

// involuntary counts how often the system took the processor from this thread for another: other systems do not say.
func involuntary() (n int64, ok bool) { return 0, false }

// readAccounts reads what the system says of this thread: others say nothing.
func readAccounts(int) accounts { return accounts{} }

// RunDelay is not told here.
func RunDelay() (time.Duration, bool) { return 0, false }
