package script

import (
	"regexp"
	"testing"

	"example.org/homenode/internal/outside"
)

// TestAttributes: scripts write attributes alone that the table of tools has, so that one which no version has, or one that a version
// takes away, shows in one place.
func TestAttributes(t *testing.T) {
	for _, name := range terraformNames {
		outside.Attribute("terraform", name)
	}
	for _, name := range packerNames {
		outside.Attribute("packer", name)
	}
	for _, m := range regexp.MustCompile(`\$spec\.(\w+)`).FindAllStringSubmatch(part("powercli.ps1"), -1) {
		outside.Attribute("powercli", m[1])
	}
	defer func() {
		if recover() == nil {
			t.Error("an attribute that no table has is written")
		}
	}()
	outside.Attribute("terraform", "numa_nodes")
}
