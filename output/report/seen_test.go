package report

import (
	"bytes"
	"strings"
	"testing"

	"homenode/numa"
	"homenode/rules"
	"homenode/source/scenario"
)

const observedFleet = `release 7.0U3
cluster prod
host esx01 nodes=2 cores=18 memory=1024GB
vm sql01 vcpus=32 memory=384GB
seen sql01 by=vmware.log time=2026-02-01T10:20:30Z start=power-on nodes=2x16 clients=2x16
seen sql01 by=lscpu hotAdd=on nodes=32
vm odd01 vcpus=8 memory=16GB
seen odd01 by=numactl nodes=5+3
seen odd01 by=vmware.log vcpus=4 start=first
`

// TestSeen checks the words for observations in every form.
func TestSeen(t *testing.T) {
	f, err := scenario.Read("in", []byte(observedFleet))
	if err != nil {
		t.Fatal(err)
	}
	r := rules.Run(f, rules.Options{})
	if got, want := seenCounts(r), "2 VMs, 4 observations: 2 agree with the prediction, 1 differs, 1 cannot be compared"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var b bytes.Buffer
	p := &printer{w: &b}
	for _, v := range r.Clusters[0].VMs {
		p.seen(&Explanation{VM: v})
	}
	const want = `
  observed
      vmware.log  2026-02-01 10:20  power-on  agrees  virtual nodes (VPDs) 2 × 16; NUMA clients (PPDs) 2 × 16
      lscpu                                   agrees  virtual nodes (VPDs) 1 × 32
      vmware.log: in:5, beside the prediction for esx01, power-cycle
      lscpu: in:6, beside the prediction for esx01, power-cycle
        it ran with CPU hot add = true; the inventory has false

  observed
      numactl      differs                     virtual nodes (VPDs) 5 + 3, predicted 1 × 8
      vmware.log  first power-on  not compared
`
	if got := b.String(); !strings.HasPrefix(got, want[:strings.Index(want, "      numactl")]) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	rows, cut := seenRows(r, 2)
	if len(rows) != 2 || cut != 2 || rows[0].VM != "odd01" || rows[0].Verdict != "differs" || rows[1].Verdict != "not compared" || rows[1].Fields[0].Observed != "–" {
		t.Errorf("%d rows, %d cut: %+v", len(rows), cut, rows)
	}
	b.Reset()
	if err := HTML(&b, r, HTMLOptions{}); err != nil || !strings.Contains(b.String(), `<td class="bad">1 × 8</td>`) || !strings.Contains(b.String(), "2 VMs, 4 observations") {
		t.Errorf("the page lacks the observations: %v", err)
	}
	b.Reset()
	if err := AssessJSON(&b, r); err != nil || !strings.Contains(b.String(), `"verdict": "differs"`) {
		t.Errorf("the JSON lacks the observations: %v", err)
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
