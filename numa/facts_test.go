package numa

import (
	"reflect"
	"strings"
	"testing"
)

// TestVMFacts checks that each property has a fact of a VM that nobody else has, a JSON name that snapshots have, and a place where it is read.
func TestVMFacts(t *testing.T) {
	names := map[string]reflect.Type{}
	config := reflect.TypeFor[Config]()
	for i := range config.NumField() {
		name, _, _ := strings.Cut(config.Field(i).Tag.Get("json"), ",")
		names[name] = config.Field(i).Type
	}
	var v VM
	seen := map[any]string{}
	for _, p := range VMFacts {
		f := p.Fact(&v)
		if other := seen[f]; other != "" {
			t.Errorf("%s and %s are one fact", p.Word, other)
		}
		seen[f] = p.Word
		if names[p.JSON] == nil || reflect.PointerTo(names[p.JSON]) != reflect.TypeOf(f) {
			t.Errorf("%s: no member of a snapshot is called %q and of its type", p.Word, p.JSON)
		}
		if p.About == "" || p.Where == "" {
			t.Errorf("%s: what is it, and where is it read?", p.Word)
		}
		switch f.(type) {
		case *Fact[int]:
			if p.Most == 0 {
				t.Errorf("%s: a number without a limit", p.Word)
			}
		case *Fact[bool], *Fact[Bytes], *Fact[string], *Fact[PowerState], *Fact[[]int]:
		default:
			t.Errorf("%s: nobody reads a %T", p.Word, f)
		}
	}
}
