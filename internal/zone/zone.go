// Package zone finds time zones by their names, and names the near ones where there is none.
package zone

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"example.org/homenode/internal/alike"
)

// names has a line for each zone of the database that comes with Go (IANA); the test writes it.
//
//go:embed names.txt
var names string

// Load returns the zone of this name, such as Europe/Berlin, in any case of letters. The program has the database itself (time/tzdata), for
// systems without one. An error names zones that may be meant.
func Load(name string) (*time.Location, error) {
	known := strings.Fields(names)
	switch near, exact := alike.Of(name, known); {
	case exact:
		return time.LoadLocation(near)
	case near != "":
		return nil, fmt.Errorf("found the zone %q; did you mean %s?", name, near)
	}
	place := name[strings.LastIndexByte(name, '/')+1:] // Berlin, of a wrong continent or of none
	if near := alike.Names(strings.ReplaceAll(place, " ", "_"), known); place != "" && len(near) > 0 {
		return nil, fmt.Errorf("found the zone %q; did you mean %s?", name, strings.Join(near, ", "))
	}
	return nil, fmt.Errorf("found the zone %q, want a name of the IANA database such as Europe/Berlin, or UTC", name)
}
