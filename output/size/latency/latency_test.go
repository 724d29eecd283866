package latency

import (
	"bytes"
	"testing"

	"homenode/internal/golden"
	"homenode/output/format"
	"homenode/size/latency"
)

// TestLatency checks the ladder with the user's own values beside the published ones.
func TestLatency(t *testing.T) {
	r, err := latency.Study(&latency.Ask{Remote: 0.5, Calls: 20, Budget: 10e-3, Samples: []latency.Sample{
		{Step: latency.RAM, Value: 90.5e-9, What: "Intel MLC, idle latency node 0 → node 0", Where: "mlc.txt:5"},
		{Step: latency.RAM, Value: 91.5e-9, What: "Intel MLC, idle latency node 1 → node 1", Where: "mlc.txt:6"},
		{Step: latency.RAMFar, Value: 210e-9, What: "Intel MLC, idle latency node 0 → node 1", Where: "mlc.txt:5"},
		{Step: latency.RAMOnly, Value: 260e-9, What: "Intel MLC, idle latency node 0 → node 2", Where: "mlc.txt:5"},
		{Step: latency.NVMeWrite, Value: 2e-6, What: "fio, write latency, mean", Where: "fio.json:9"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	a := Answer(r, Options{Files: []File{{"mlc.txt", 4}, {"fio.json", 1}}, Details: true})
	for _, tt := range []struct {
		file string
		form string
	}{
		{"latency.txt", "table"}, {"latency.csv", "csv"}, {"latency.svg", "svg"},
	} {
		var b bytes.Buffer
		if err := format.Write(&b, tt.form, a, format.Options{}); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, b.Bytes(), "testdata/"+tt.file)
	}
}
