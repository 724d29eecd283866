package fleet

import (
	"bytes"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/output/format"
	"example.org/homenode/rules"
	"example.org/homenode/source/scenario/given"
)

const observedFleet = `release 7.0U3
cluster prod
host esx01 nodes=2 cores=18 memory=1024GB
vm sql01 vcpus=32 memory=384GB
seen sql01 by=vmware.log time=2026-02-01T10:20:30Z start=power-on nodes=2x16 clients=2x16
seen sql01 by=lscpu hotAdd=on nodes=32
vm odd01 vcpus=8 memory=16GB
seen odd01 by=numactl nodes=4+4
seen odd01 by=vmware.log vcpus=4 start=first
`

// TestObserved checks the words for observations in every form.
func TestObserved(t *testing.T) {
	f := given.Fleet(t, "in", []byte(observedFleet))
	a := Assess(rules.Run(f, rules.Options{}), Options{})
	for name, want := range map[string][]string{
		"table": {"observed  2 VMs, 4 observations: 2 agree with the prediction, 1 differs, 1 cannot be compared\n"},
		"html": {`<td class="bad">1 × 8</td>`, "2 VMs, 4 observations", "<td>vmware.log, in:5</td><td>2026-02-01 10:20 power-on</td>",
			"agrees; beside the prediction for esx01, power-cycle; ran with CPU hot add = true; the inventory has false"},
		"json": {`"verdict": "differs"`, `"predicted": "1 × 8"`},
	} {
		var b bytes.Buffer
		if err := format.Write(&b, name, a, format.Options{}); err != nil {
			t.Fatal(err)
		}
		for _, text := range want {
			if !strings.Contains(b.String(), text) {
				t.Errorf("%s lacks %s", name, text)
			}
		}
	}
	rows := a.Tables[1].Rows
	if first, second := rows[0], rows[1]; first[0].Text != "odd01" || !strings.HasPrefix(first[6].Text, "differs; beside the prediction for esx01, power-cycle; it is what numa.vcpu.maxPerVirtualNode = 4 with numa.vcpu.min = 8 would give") || !strings.HasPrefix(second[6].Text, "not compared") || second[4].Text != "–" {
		t.Errorf("what differs does not come first: %v", rows)
	}
}

// TestMinute shows the times of several hosts in one zone.
func TestMinute(t *testing.T) {
	for in, want := range map[string]string{
		"2024-01-01T03:30:00.000+05:00": "2023-12-31 22:30", "2024-01-01T03:30:59Z": "2024-01-01 03:30", "": "", "noon": "noon",
	} {
		if got := minute(&numa.Observation{Time: in}); got != want {
			t.Errorf("minute(%q) = %q, want %q", in, got, want)
		}
	}
}
