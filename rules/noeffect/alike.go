package noeffect

import (
	"strings"

	"homenode/esxi/rulebook"
	"homenode/internal/alike"
)

// known lists the numa.* settings of a VM (B-10).
var known = func() (keys []string) {
	for _, s := range rulebook.Settings {
		if !s.Host && strings.HasPrefix(s.Key, "numa.") {
			keys = append(keys, s.Key)
		}
	}
	return keys
}()

// misspelt returns the known setting that key is probably meant to be; nothing when
// key is known itself, no numa setting, or like none.
func misspelt(key string) string {
	nearest, exact := alike.Of(key, known)
	if exact || !strings.HasPrefix(strings.ToLower(key), "numa") {
		return ""
	}
	return nearest
}
