package move

import (
	"strings"
	"testing"
)

// TestPlatform checks what a page says of one platform: each word is in the item of that kind, once, or there is none.
func TestPlatform(t *testing.T) {
	const small, wide, high = "vcpus=8 coresPerSocket=8 memory=64GB", "vcpus=24 coresPerSocket=12 memory=64GB", " latency=high reserveAll=on cpuReservation=20000"
	for _, tt := range []struct {
		to, vm string
		kind   Kind
		item   string // what it is about
		want   string // in what it becomes and why
	}{
		{"ahv", small + high, Lost, "a CPU for each vCPU", "hard pinning takes the first cores of the host"},
		{"nova", small + high, Changed, "a CPU for each vCPU", "isolate, which asks for hosts without SMT"},
		{"nova", small, Changed, "home node", "a node of the host for each node of the guest, which the platform chooses: fixed when it starts"},
		{"nova", wide, Changed, "home node", "which the platform chooses"},
		{"nova", wide + " hotAdd=on", Lost, "home node", "no node is asked for"}, // one node, on two clients
		{"nova", small + " cpuAffinity=0-7", Lost, "home node", "no node is asked for"},
		{"nova", "vcpus=8 coresPerSocket=8 memory=300GB", Lost, "home node", "no node is asked for"}, // more than a node has
		{"ahv", small, Changed, "home node", "which the platform chooses"},
		{"kubevirt", wide, Changed, "distances", "none is stated: the guest sees 20"},
		{"kubevirt", small, Lost, "home node", "the kubelet chooses"},
	} {
		t.Run(tt.to+" "+tt.item, func(t *testing.T) {
			m := Make(vm(t, host+"vm vm host=esx01 "+tt.vm+"\n"), PlatformOf(tt.to), Options{})
			var of []Item
			for _, i := range m.Items {
				if i.What == tt.item {
					of = append(of, i)
				}
			}
			if len(of) != 1 || of[0].Kind != tt.kind || !strings.Contains(of[0].Then+": "+of[0].Why, tt.want) {
				t.Errorf("%+v, want one that is %s: %s", of, tt.kind, tt.want)
			}
		})
	}
}
