// Package archive merges the contents of capture files: a few, or the thousands of an archive,
// read by one process or by one process each. The contents of one reading are a Result, which
// can be packed for another process. The recordings are the same however the files were shared
// among processes.
//
//	files ──► Reading ──► Result ─┐
//	files ──► Reading ──► Result ─┴─ Merger ──► one recording a host
package archive

import (
	"time"

	"example.org/homenode/capture"
)

// Options control how files are recorded.
type Options struct {
	Capture capture.Options
	// From and To exclude the ticks before and after; zero means no bound.
	From, To time.Time
}
