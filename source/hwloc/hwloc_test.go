package hwloc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// text writes a machine in one line: nodes with memory, cores and pages, then distances.
func machine(t *Topology) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", t.HostName)
	for _, n := range t.Nodes {
		fmt.Fprintf(&b, " node %d %s %v %v;", n.ID, n.Memory.Value, n.Cores, n.Pages)
	}
	fmt.Fprintf(&b, " %v", t.Distance)
	return b.String()
}

func TestRead(t *testing.T) {
	data, err := os.ReadFile("testdata/host.xml")
	if err != nil {
		t.Fatal(err)
	}
	if !Detect(data) {
		t.Error("it is not recognised")
	}
	got, err := Read("host.xml", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	// CPU 7 is offline; node 2 has the CPUs of both others and none of its own.
	const want = "kvm07: node 0 32 GB [[0 4] [1 5]] [{4 KB 8388608} {1 GB 4}]; node 1 32 GB [[2 6] [3]] []; node 2 64 GB [] []; [[10 21 30] [21 10 30] [30 30 10]]"
	if s := machine(got); s != want {
		t.Errorf("read\n%s, want\n%s", s, want)
	}
	if len(got.File().Facts) != 10 {
		t.Errorf("facts: %+v", got.File().Facts)
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"no machine", "<topology/>", `x.xml: found no <object type="Machine">`},
		{"cut", "<topology>\n<object type=\"Machine\" cpuset=\"0x1\">", "x.xml:2: unexpected EOF"},
		{"set", "<topology>\n<object type=\"Machine\" cpuset=\"0xf...f\"/></topology>", `x.xml:2:1: cpuset: found "0xf...f", want words such as 0x0000ffff`},
		{"node", "<topology><object type=\"Machine\">\n  <object type=\"NUMANode\"/></object></topology>", `x.xml:2:3: found a NUMANode with os_index "", want a number below 1024`},
		{"memory", "<topology><object type=\"Machine\">\n  <object type=\"NUMANode\" os_index=\"0\" local_memory=\"much\"/></object></topology>", `x.xml:2:3: found local_memory "much", want bytes`},
		{"twice", "<topology><object type=\"Machine\">\n<object type=\"NUMANode\" os_index=\"0\"/>\n<object type=\"NUMANode\" os_index=\"0\"/></object></topology>", `x.xml:3:1: found NUMA node 0 twice`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Read("x.xml", strings.NewReader(tt.in)); err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

// TestSamples reads public files beside the checkout; they are not part of the project.
func TestSamples(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/samples/kvm/hwloc/*.xml")
	if files == nil {
		t.Skip("no samples beside the checkout")
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Read(f, bytes.NewReader(data))
		if err != nil || len(got.Nodes) == 0 || !Detect(data) {
			t.Errorf("%s: %v", f, err)
			continue
		}
		t.Log(filepath.Base(f), len(got.Nodes), len(got.Nodes[0].Cores), got.Distance != nil)
	}
}

func FuzzRead(f *testing.F) {
	data, err := os.ReadFile("testdata/host.xml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, err := Read("x", bytes.NewReader(data)); err == nil && len(got.Nodes) == 0 {
			t.Error("a machine without nodes")
		}
	})
}
