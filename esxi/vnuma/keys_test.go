package vnuma

import (
	"example.org/homenode/internal/golden"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestKeys checks that Keys are the settings that predictions read.
func TestKeys(t *testing.T) {
	var read []string
	for _, one := range []struct{ file, pattern string }{
		{"guest.go", `(?:number|truth|Lookup|isTrue|isSet)\((?:v\.Settings\.Value, )?"([^"]+)"`},
		{"machine.go", `(?:h\.Options\.Value, |h\.Options\.Value\.Lookup\()"([^"]+)"`},
	} {
		b := golden.Read(t, one.file)
		for _, m := range regexp.MustCompile(one.pattern).FindAllStringSubmatch(string(b), -1) {
			read = append(read, m[1])
		}
	}
	if len(read) < 20 {
		t.Fatalf("found %d settings: the test looks at nothing", len(read))
	}
	var names []string
	for _, k := range Keys {
		names = append(names, k.Name)
		if !slices.Contains(read, k.Name) {
			t.Errorf("%s is not read", k.Name)
		}
		if k.Does == "" || k.Book == "" || k.Host != (k.Name[0] >= 'A' && k.Name[0] <= 'Z') || slices.ContainsFunc(Keys, func(o Key) bool { return strings.EqualFold(o.Name, k.Name) && o.Name != k.Name }) {
			t.Errorf("%+v", k)
		}
	}
	for _, name := range read {
		if !slices.Contains(names, name) {
			t.Errorf("%s is read, and not among Keys", name)
		}
	}
}
