package beside

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/source/machine"
	"example.org/homenode/source/measured"
)

// explained is the explanation of a VM of eight vCPUs with CPU hot add on nodes of four cores.
const explained = `{"format": "homenode-explanation", "version": 2, "result": {"vm": "db", "layout":
 {"vSockets": [4, 4], "coresPerSocket": 4, "vpds": [8], "ppds": [4, 4], "numaManaged": true, "homeNodes": 2, "guestL3Caches": 2}}}`

func guest(change func(*measured.Result)) *measured.Result {
	r := &measured.Result{Machine: &machine.Machine{Topology: machine.Topology{From: "/sys", Nodes: []machine.Node{{}}}}, Trust: measured.Trust{OK: true},
		Hidden: &measured.Hidden{Answer: measured.SeveralNodes, Says: "two nodes", Groups: [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}}}
	t := &r.Machine.Topology
	for i := range 8 {
		t.Processors = append(t.Processors, machine.Processor{Number: i, Online: true, Socket: i / 4})
		t.Nodes[0].CPUs = append(t.Nodes[0].CPUs, i)
	}
	for i := range 2 {
		t.Caches = append(t.Caches, machine.Cache{Level: 3, CPUs: []int{4 * i}}, machine.Cache{Level: 2, CPUs: []int{4 * i}})
	}
	if change != nil {
		change(r)
	}
	return r
}

func TestOf(t *testing.T) {
	const alike = "vCPUs 8|8 agrees; virtual sockets 2 × 4|2 × 4 agrees; virtual nodes (VPDs) 1 × 8|1 × 8 agrees; L3 caches 2|2 agrees; "
	for _, tt := range []struct {
		name   string
		change func(*measured.Result)
		want   string
	}{
		{"as predicted", nil, alike + "vCPUs by node of the host 2 × 4|2 × 4 agrees"},
		{"not looked for", func(r *measured.Result) { r.Hidden = nil },
			alike + "vCPUs by node of the host 2 × 4| cannot be seen from inside (nodes of the host were not looked for: homenode measure hidden)"},
		{"one kind", func(r *measured.Result) {
			r.Hidden = &measured.Hidden{Answer: measured.OneKind, Says: "all near, all far, or one node"}
		}, alike + "vCPUs by node of the host 2 × 4| cannot be seen from inside (all near, all far, or one node)"},
		{"a client is cut", func(r *measured.Result) { r.Hidden.Groups = [][]int{{0, 1}, {2, 3, 4, 5, 6, 7}} }, alike + "vCPUs by node of the host 2 × 4|2 + 6 differs"},
		{"one socket, two nodes, no caches", func(r *measured.Result) {
			top := &r.Machine.Topology
			for i := range top.Processors {
				top.Processors[i].Socket, top.Processors[i].Node = 0, i/4
			}
			top.Nodes, top.Caches = append(top.Nodes, machine.Node{ID: 1}), nil
		}, "vCPUs 8|8 agrees; virtual sockets 2 × 4|1 × 8 differs; virtual nodes (VPDs) 1 × 8|2 × 4 differs; L3 caches 2| cannot be seen from inside (the guest is told of none); vCPUs by node of the host 2 × 4|2 × 4 agrees"},
		{"emulated", func(r *measured.Result) { r.Machine.Identity.Emulated = numa.ReadAt(true, "") }, strings.Join([]string{"vCPUs 8|", "virtual sockets 2 × 4|", "virtual nodes (VPDs) 1 × 8|", "L3 caches 2|", "vCPUs by node of the host 2 × 4|"},
			" cannot be seen from inside (the machine is emulated by software: its topology and its latencies are not those of a host); ") + " cannot be seen from inside (the machine is emulated by software: its topology and its latencies are not those of a host)"},
	} {
		l, err := Read("x.json", strings.NewReader(explained))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range Of(guest(tt.change), l) {
			s := fmt.Sprintf("%s %s|%s %s", c.Name, c.Predicted, c.Measured, c.Verdict)
			if c.Why != "" {
				s += " (" + c.Why + ")"
			}
			got = append(got, s)
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestRead takes what explain writes, also as PowerShell redirects it, and names the command for all else.
func TestRead(t *testing.T) {
	var l vnuma.Layout
	wide := []byte{0xff, 0xfe}
	for _, c := range utf16.Encode([]rune(explained)) {
		wide = binary.LittleEndian.AppendUint16(wide, c)
	}
	got, err := Read("x.json", bytes.NewReader(wide))
	if err != nil || json.Unmarshal([]byte(`{"vSockets": [4, 4], "vpds": [8], "ppds": [4, 4]}`), &l) != nil || !got.PPDs.Equal(l.PPDs) || got.L3s != 2 {
		t.Errorf("found %+v, %v", got, err)
	}
	for _, tt := range []struct{ in, want string }{
		{"host esx01", "x.json: found no JSON, or JSON that is cut off, want that of " + Command},
		{"[1]", "x.json: no explanation of a VM (found array): " + Command},
		{`{"format": "homenode-explanation", "result": 7}`, "x.json: no explanation of a VM (found number in result): " + Command},
		{`{"format": "homenode-assessment"}`, `x.json: found the format "homenode-assessment", want that of an explanation: ` + Command},
		{`{"format": "homenode-explanation"}`, "x.json: no explanation of a VM (it has no layout): " + Command},
		{`{"format": "homenode-explanation", "result": {"layout": {"refused": "too wide"}}}`, "x.json: no explanation of a VM (the VM does not power on: too wide): " + Command},
		{"", "x.json: found no JSON, or JSON that is cut off, want that of " + Command},
	} {
		if _, err := Read("x.json", strings.NewReader(tt.in)); err == nil || err.Error() != tt.want {
			t.Errorf("%q: found %v, want %s", tt.in, err, tt.want)
		}
	}
}
