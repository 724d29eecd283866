package ask

import (
	"strings"
	"testing"

	"homenode/numa"
	"homenode/rules"
	"homenode/source/open"
)

// TestAdviceForHosts: the words that a note gives for a host are those that it takes, and with them its VMs are judged.
func TestAdviceForHosts(t *testing.T) {
	for name, lacks := range map[string]func(*numa.Host){
		"nodes":         func(*numa.Host) {},
		"cores":         func(h *numa.Host) { h.Cores, h.Threads = numa.Fact[int]{}, numa.Fact[int]{} },
		"memory":        func(h *numa.Host) { h.Memory = numa.Fact[numa.Bytes]{} },
		"release":       func(h *numa.Host) { h.Release = numa.Fact[numa.Release]{} },
		"an even share": func(h *numa.Host) { h.Cores, h.Threads = numa.ReadAt(7, "test"), numa.Fact[int]{} },
		"memory and a half": func(h *numa.Host) {
			h.Cores, h.Threads, h.Memory = numa.ReadAt(6, "test"), numa.Fact[int]{}, numa.Fact[numa.Bytes]{}
		},
	} {
		h := numa.Host{ID: "h", Name: "h", Release: numa.ReadAt(numa.ESXi70+3, "test"), Cores: numa.ReadAt(32, "test"), Memory: numa.ReadAt(512*numa.GiB, "test")}
		lacks(&h)
		fleet := &numa.Fleet{Hosts: []numa.Host{h}, VMs: []numa.VM{{ID: "v", Name: "v", Host: "h", Config: numa.Config{VCPUs: numa.ReadAt(4, "test"), Memory: numa.ReadAt(numa.GiB, "test")}}}}
		_, why := rules.Run(fleet, rules.Options{}).Missed()
		words := strings.Split(strings.Join(why, " ")+"''", "'")
		if err := (open.Options{AssumeHost: words[1]}).Apply(fleet); err != nil {
			t.Errorf("%s: %s: %v", name, words[1], err)
		}
		if r := rules.Run(fleet, rules.Options{}); r.VMs != 1 {
			t.Errorf("%s: %s: nothing is judged: %v", name, words[1], r.Unjudged)
		}
	}
	if _, err := open.AssumedHost("nodes=2"); err == nil || !strings.Contains(err.Error(), "how many cores does a node have?") {
		t.Error(err)
	}
}
