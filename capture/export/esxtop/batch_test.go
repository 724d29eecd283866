package esxtop_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	batch "example.org/homenode/capture/export/esxtop"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/esxtop"
	"example.org/homenode/source/incident"
)

// write returns the incident as a batch file.
func write(t *testing.T, in *incident.Incident, host string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := batch.NewWriter(&b)
	err := in.Ticks(func(k *numa.Tick) error {
		if k.Host != host {
			return nil
		}
		return w.Add(k)
	})
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestForm checks the bytes of a small file, with a VM that appears and one that ends.
func TestForm(t *testing.T) {
	in, err := incident.Read("x", []byte(`every 5s
host esx01 free=10GB minFree=1GB state=soft
node 0 memory=8GB free=8GB busy=50% used=40%
node 1 memory=8GB free=2GB busy=5% used=4%
vm db"01 gid=7 vcpus=2 memory=4GB homes=0,1 local=3GB remote=1GB ready=5% costop=0.12%
5s vm db"01 off
5s vm web01 gid=8 vcpus=1 homes=-
5s end
`))
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, write(t, in, "esx01"), "testdata/small.csv")
}

// TestRead checks that the reader of batch files gives back what was written, to the
// hundredth that esxtop writes.
func TestRead(t *testing.T) {
	in, err := demo.Capture()
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range in.Hosts() {
		ticks, err := esxtop.NewTicks("x", bytes.NewReader(write(t, in, host)), esxtop.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		err = in.Ticks(func(want *numa.Tick) error {
			if want.Host != host {
				return nil
			}
			n++
			if !ticks.Scan() {
				t.Fatalf("%s: no tick %d: %v", host, n, ticks.Err())
			}
			compare(t, ticks.Tick(), want)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if ticks.Scan() || ticks.Err() != nil {
			t.Errorf("%s: more than %d ticks, or %v", host, n, ticks.Err())
		}
		if got := fmt.Sprint(ticks.Warnings()); !strings.Contains(got, warnings[host]) {
			t.Errorf("%s: warnings %s, want %s", host, got, warnings[host])
		}
		ticks.Close()
	}
}

// warnings are what the reader says of the demo's files: stream01 is powered on later,
// and a batch file does not say its release.
var warnings = map[string]string{
	"esx02.demo":  "x:482:1: found another header with 693 columns",
	"epyc01.demo": "Kernel State 2 is read as soft",
}

// compare reports where a tick is not what was written.
func compare(t *testing.T, got, want *numa.Tick) {
	t.Helper()
	at := want.Host + " " + want.Time.String()
	if !got.Time.Equal(want.Time) || got.Has != want.Has || got.State != want.State || !near(got.Free, want.Free) ||
		!near(got.Memory, want.Memory) || !near(got.Shared, want.Shared) || !near(got.Common, want.Common) {
		t.Fatalf("%s: got %+v", at, got)
	}
	for i := range want.Nodes {
		g, w := got.Nodes[i], want.Nodes[i]
		if g.ID != w.ID || g.Has != w.Has || !near(g.Free, w.Free) || !near(g.Total, w.Total) || math.Abs(g.Core-w.Core) > 0.00006 {
			t.Fatalf("%s: node %+v, want %+v", at, g, w)
		}
	}
	vms := map[int64]numa.VMTick{}
	for _, v := range got.VMs {
		vms[v.GID] = v
	}
	if len(vms) != len(want.VMs) {
		t.Fatalf("%s: %d VMs, want %d", at, len(vms), len(want.VMs))
	}
	for _, w := range want.VMs {
		g := vms[w.GID]
		share := math.Abs(g.Ready-w.Ready) < 0.00006 && math.Abs(g.CoStop-w.CoStop) < 0.00006 && math.Abs(g.Used-w.Used) < 0.00006
		if g.Name != w.Name || g.VCPUs != w.VCPUs || g.Has != w.Has&^numa.HasKinds || g.Homes != w.Homes || g.Percent != w.Percent ||
			g.Moves.All != w.Moves.All || !near(g.Local, w.Local) || !near(g.Remote, w.Remote) || !near(g.Size, w.Size) || !share ||
			!near(g.Granted, w.Granted) || !near(g.Consumed, w.Consumed) || !near(g.Active, w.Active) || !near(g.Shared, w.Shared) ||
			!near(g.Saved, w.Saved) || !near(g.Zero, w.Zero) || !near(g.Hint, w.Hint) || !near(g.Compressed, w.Compressed) {
			t.Fatalf("%s: VM %+v, want %+v", at, g, w)
		}
	}
}

// near allows for the hundredths of a MiB that esxtop writes.
func near(a, b numa.Bytes) bool {
	return math.Abs(float64(a-b)) <= float64(numa.MiB)/200+1 && !strings.HasPrefix(a.String(), "-")
}

// TestUnknown checks that what a tick does not state is an empty cell, as a 0 would state it.
func TestUnknown(t *testing.T) {
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	full := numa.Tick{Host: "esx01", Time: at, Has: numa.HasFree, Free: numa.GiB,
		Nodes: []numa.NodeTick{{ID: 0, Has: numa.HasUtil | numa.HasFree, Util: 0.5, Free: numa.GiB}, {ID: 1, Has: numa.HasFree, Free: numa.GiB}},
		VMs:   []numa.VMTick{{GID: 7, Name: "db", VCPUs: 1, Has: numa.HasMemory | numa.HasReady | numa.HasHomes | numa.HasSize, Homes: numa.SetOf(1), Local: numa.GiB, Ready: 0.5, Size: numa.GiB}}}
	bare := numa.Tick{Host: "esx01", Time: at.Add(5 * time.Second), Nodes: []numa.NodeTick{{ID: 0}}, VMs: []numa.VMTick{{GID: 7, Name: "db", VCPUs: 1}}}
	var b bytes.Buffer
	w := batch.NewWriter(&b)
	for _, k := range []*numa.Tick{&full, &bare} {
		if err := w.Add(k); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	columns := strings.Count(lines[0], `\\esx01\`)
	if want := `"11/21/2026 10:00:05",` + strings.Repeat(`"",`, columns); lines[2] != want {
		t.Errorf("the row is %s\nwant %s", lines[2], want)
	}
}

// TestFirstTick checks that what the first tick lacks has a column when the second states
// it, and that a tick alone is written.
func TestFirstTick(t *testing.T) {
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	ticks := []numa.Tick{
		{Host: "esx01", Time: at, VMs: []numa.VMTick{{GID: 7, Name: "db", Has: numa.HasSize, Size: numa.GiB}}},
		{Host: "esx01", Time: at.Add(20 * time.Second), VMs: []numa.VMTick{{GID: 7, Name: "db", Has: numa.HasSize | numa.HasReady, Size: numa.GiB, Ready: 0.5}}},
	}
	const size = `\\esx01\Group Memory(7:db)\Memory Size MBytes",` + "\n"
	for _, tt := range []struct {
		ticks int
		want  string
	}{
		{1, `"(PDH-CSV 4.0) (UTC)(0)","` + size + `"11/21/2026 10:00:00","1024.00",` + "\n"},
		{2, `"(PDH-CSV 4.0) (UTC)(0)","\\esx01\Group Cpu(7:db)\% Ready","` + size +
			`"11/21/2026 10:00:00","","1024.00",` + "\n" + `"11/21/2026 10:00:20","50.00","1024.00",` + "\n"},
	} {
		var b bytes.Buffer
		w := batch.NewWriter(&b)
		for i := range tt.ticks {
			k := ticks[i]
			if err := w.Add(&k); err != nil {
				t.Fatal(err)
			}
			k.Host, k.VMs = "borrowed", nil
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if b.String() != tt.want {
			t.Errorf("%d ticks:\n%swant\n%s", tt.ticks, b.String(), tt.want)
		}
	}
}
