package size

import (
	"bytes"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/format"
	"example.org/homenode/size/dump"
	"example.org/homenode/size/latency"
	"example.org/homenode/size/sheet"
)

// TestAnswer pins answers and their pictures: bars of rows on a logarithmic axis, and bars of parts as asked and with each change.
func TestAnswer(t *testing.T) {
	ladder, err := latency.Study(&latency.Ask{Remote: 0.5, Calls: 20, Budget: 10e-3, Files: []string{"mlc.txt"}, Details: true, Samples: []latency.Sample{
		{Step: latency.RAM, Value: 90.5e-9, What: "Intel MLC, idle latency node 0 → node 0", Where: "mlc.txt:5"},
		{Step: latency.RAM, Value: 91.5e-9, What: "Intel MLC, idle latency node 1 → node 1", Where: "mlc.txt:6"},
		{Step: latency.RAMFar, Value: 210e-9, What: "Intel MLC, idle latency node 0 → node 1", Where: "mlc.txt:5"},
		{Step: latency.NVMeWrite, Value: 2e-6, What: "fio, write latency, mean", Where: "fio.json:9"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	host, err := dump.Answer(dump.Question{RAM: 1024 * numa.GiB, Release: numa.ESXi80 + 3, Boot: 33 * numa.GiB, Logs: 6 * numa.GiB, Reserve: 0.2, Media: "default"})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := format.Write(&text, "table", Answer("size test", ladder), format.Options{}); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, text.Bytes(), "testdata/latency.txt")
	for name, r := range map[string]*sheet.Run{"latency": ladder, "dump": host} {
		var drawn bytes.Buffer
		if err := picture.Write(&drawn, Answer("size test", r).Drawings[0].Picture(), true); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, drawn.Bytes(), "testdata/"+name+".svg")
	}
}
