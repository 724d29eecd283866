package latency

import (
	"embed"

	"example.org/homenode/numa/unit"
	"example.org/homenode/size/sheet"
)

// published are the ladder, the sheet, and the figures that the articles compute.
//
//go:embed *.txt *.sheet
var published embed.FS

// Checks returns the published figures on latency with the recomputed ones.
func Checks() []unit.Check { return calculator.Checks(published, sheet.Input{}, nil) }
