package latency

import (
	"embed"

	"homenode/numa/unit"
	"homenode/size/sheet"
)

// published are the ladder, the sheet, and what the articles compute from their figures.
//
//go:embed *.txt *.sheet
var published embed.FS

// Checks returns the published figures on latency beside what they come to.
func Checks() []unit.Check { return calculator.Checks(published, sheet.Input{}, nil) }
