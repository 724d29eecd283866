// Package archive merges what files of captures hold: a few, or the thousands of an archive,
// read by one process or each by another one. What one reading held is a Result, which can
// be packed for another process, so that the recordings are the same in whatever way the
// files were shared.
//
//	files ──► Reading ──► Result ─┐
//	files ──► Reading ──► Result ─┴─ Merger ──► one recording a host
package archive

import (
	"time"

	"homenode/capture"
)

// Options say how files are recorded.
type Options struct {
	Capture capture.Options
	// From and To leave out the ticks before and after; zero is no bound.
	From, To time.Time
}
