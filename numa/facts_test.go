package numa

import (
	"reflect"
	"strings"
	"testing"
)

// TestFacts checks that each property has a fact of a VM or host that nobody else has, a JSON name that snapshots have, and a place where it is read.
func TestFacts(t *testing.T) {
	testFacts(t, VMFacts)
	testFacts(t, HostFacts)
	for _, kind := range vmEdits {
		if e := (Edit{Kind: kind}); kind != EditCoresPerNUMANode && e.fact(&Config{}) == nil {
			t.Errorf("%s changes no fact", kind)
		}
	}
}

func testFacts[T any](t *testing.T, facts []Property[T]) {
	names := map[string]reflect.Type{}
	owner := reflect.TypeFor[T]()
	for i := range owner.NumField() {
		name, _, _ := strings.Cut(owner.Field(i).Tag.Get("json"), ",")
		names[name] = owner.Field(i).Type
	}
	var of T
	seen := map[any]string{}
	for _, p := range facts {
		f := p.Fact(&of)
		if other := seen[f]; other != "" {
			t.Errorf("%s and %s are one fact", p.Word, other)
		}
		seen[f] = p.Word
		if names[p.JSON] == nil || reflect.PointerTo(names[p.JSON]) != reflect.TypeOf(f) {
			t.Errorf("%s: no member of a snapshot is called %q and of its type", p.Word, p.JSON)
		}
		if p.About == "" || p.Where == "" && !strings.HasPrefix(p.Word, "llc") { // no source but a scenario has caches
			t.Errorf("%s: what is it, and where is it read?", p.Word)
		}
		switch f.(type) {
		case *Fact[int], *Fact[Bytes]:
			if p.Most == 0 && !p.Nodes {
				t.Errorf("%s: a number without a limit", p.Word)
			}
		case *Fact[bool], *Fact[string], *Fact[PowerState], *Fact[Release], *Fact[[]int]:
		case *Fact[[]Node], *Fact[[]Attached]: // words of their own
		default:
			t.Errorf("%s: nobody reads a %T", p.Word, f)
		}
	}
}
