package picture

import (
	"fmt"
	"strings"
)

// textures distinguish fills without colour.
var textures = [...]string{
	"", "M0 3H6", "M1.5 1.5h1.5v1.5h-1.5z", "M3 0V6", "M0 3H6M3 0V6", "M0 0 6 6", "M1 1.5h2M4 4.5h2", "M1 3h4M3 1v4",
}

// Textures is the number of distinguishable fills.
const Textures = len(textures)

// Fill returns the fill and class of item n of a sort: "kind", "soft" (drawn lightly) or "node".
func Fill(sort string, n int) string { return fmt.Sprintf("%s-%d", sort, n%Textures) }

// A hatch is a pattern with a special meaning: a repeated square, optionally tilted by 45 degrees.
type hatch struct {
	size  int
	tilt  bool
	marks string // path drawn on the background
}

var hatches = map[string]hatch{
	"remote":  {6, true, "M0 0V6"},
	"rest":    {6, true, "M0 0V6"},
	"reserve": {5, false, "M1 1h1.4M3.5 3.5h1.4"},
	"spread":  {5, false, "M.4 1.5a1.1 1.1 0 1 0 2.2 0a1.1 1.1 0 1 0-2.2 0z"},
}

// pattern returns the hatch of a fill and its class.
func pattern(fill string) (class string, h hatch) {
	sort, number, numbered := strings.Cut(fill, "-")
	switch {
	case !numbered:
		return fill, hatches[fill]
	case sort == "soft":
		return "soft kind-" + number, hatch{6, true, "M0 0V6"}
	}
	return fill, hatch{6, false, textures[number[0]-'0']}
}
