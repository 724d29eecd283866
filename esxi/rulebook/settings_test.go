package rulebook_test

import (
	"slices"
	"strings"
	"testing"

	"homenode/esxi/rulebook"
	"homenode/numa"
)

// TestSettings checks that each setting says what it does by statements that there are, and that every option of hosts is there once.
func TestSettings(t *testing.T) {
	var seen, options []string
	for _, s := range rulebook.Settings {
		if slices.Contains(seen, s.Key) || s.Text == "" || s.Book == "" {
			t.Errorf("%+v is not whole, or there twice", s)
		}
		seen = append(seen, s.Key)
		if s.Host {
			options = append(options, s.Key)
		}
		for id := range strings.FieldsSeq(s.Book) {
			if _, ok := rulebook.Find(id); !ok {
				t.Errorf("%s rests on %s, which the rule book lacks", s.Key, id)
			}
		}
		if !s.Host && !numa.KeepSetting(s.Key) && !strings.HasPrefix(s.Key, "sched.") {
			t.Errorf("%s is no setting that is kept of a VM", s.Key)
		}
	}
	if !slices.Equal(options, numa.OptionNames) {
		t.Errorf("options of hosts: %v, want %v", options, numa.OptionNames)
	}
	if s, ok := rulebook.FindSetting("NUMA.VCPU.PREFERHT"); !ok || s.Host {
		t.Errorf("NUMA.VCPU.PREFERHT: %+v", s)
	}
	for _, key := range []string{"numa.LocalityWeightActionAffinity", "Numa.LocalityWeightActionAffinity"} { // of a VM and of a host
		if s, ok := rulebook.FindSetting(key); !ok || s.Key != key {
			t.Errorf("%s: %+v", key, s)
		}
	}
}
