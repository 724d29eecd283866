package ask

import (
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/open"
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
	if _, err := open.AssumedHost("nodes=2"); err == nil || !strings.Contains(err.Error(), "how many cores does each node have?") {
		t.Error(err)
	}
}

// TestHostWords: a host to assume is written as a shape or in the words of a scenario, and is the same.
func TestHostWords(t *testing.T) {
	shape, err := open.AssumedHost(hostWords("2x18c/1TB release=7.0U3"))
	if err != nil {
		t.Fatal(err)
	}
	words, err := open.AssumedHost(hostWords("packages=2 nodes=2 cores=18 memory=1024GB release=7.0U3"))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := fmt.Sprint(shape.Nodes.Value), fmt.Sprint(words.Nodes.Value); a != b || shape.Release.Value != words.Release.Value {
		t.Errorf("%s of %s, want %s of %s", a, shape.Release.Value, b, words.Release.Value)
	}
	for _, text := range []string{"", "release=8.0U3", "2x18", "many cores"} {
		if got := hostWords(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
