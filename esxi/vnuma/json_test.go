package vnuma

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestLayoutJSON holds that the groups of a layout come back from its JSON, for every split that a prediction makes.
func TestLayoutJSON(t *testing.T) {
	for n := int32(1); n <= 40; n++ {
		for size := int32(1); size <= n; size++ {
			for limit := int32(1); limit <= size; limit++ {
				vpds := fill(n, size)
				l := Layout{VSockets: fill(n, limit), VPDs: vpds, PPDs: vpds.within(limit), Managed: true, CoresPerSocket: int(limit), L3s: 3, HomeNodes: 2}
				b, err := json.Marshal(&l)
				if err != nil {
					t.Fatal(err)
				}
				var got Layout
				if err := json.Unmarshal(b, &got); err != nil {
					t.Fatalf("%s: %v", b, err)
				}
				for _, s := range [][2]Split{{l.VSockets, got.VSockets}, {l.VPDs, got.VPDs}, {l.PPDs, got.PPDs}} {
					for v := range int(n) {
						if s[0].Of(v) != s[1].Of(v) {
							t.Fatalf("%s: vCPU %d is in group %d, read %d", b, v, s[0].Of(v), s[1].Of(v))
						}
					}
				}
				if got.L3s != 3 || got.HomeNodes != 2 || !got.Managed || got.CoresPerSocket != int(limit) {
					t.Fatalf("read %+v", got)
				}
			}
		}
	}
}

func TestLayoutJSONErrors(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"refused": "more than the host has"}`, "the VM does not power on: more than the host has"},
		{`{"vSockets": [2], "vpds": [0], "ppds": [2]}`, "vpds: found [0], want the vCPUs of each group"},
		{`{"vSockets": [2], "vpds": [1, 3, 2, 9], "ppds": [2]}`, "vpds: found [1 3 2 9], want the vCPUs of each group"},
		{`{"vSockets": [2], "vpds": [2], "ppds": []}`, "ppds: found [], want the vCPUs of each group"},
		{`{"vSockets": [2], "vpds": [2], "ppds": [2, 2]}`, "found 2 vCPUs in sockets, 2 in nodes and 4 in clients"},
	} {
		var l Layout
		if err := json.Unmarshal([]byte(tt.in), &l); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: found %v, want %s", tt.in, err, tt.want)
		}
	}
	if s, ok := splitOf([]int{6, 6, 10}); !ok || !slices.Equal(s.Sizes(), []int{6, 6, 10}) {
		t.Errorf("22 vCPUs in nodes of 12 + 10 and clients of 10: %v", s)
	}
}
